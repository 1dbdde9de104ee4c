//! BPF programs of the tests.

use super::Folder;
use kernel::registry::Registered;
use libbpf_cargo::SkeletonBuilder;
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions};
use libbpf_rs::{Iter, MapCore, MapHandle, ObjectBuilder, libbpf_sys};
use std::io::{Error, Read};
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Compiles a BPF program as crates/kernel/build.rs does, with the headers that libbpf-cargo brings.
pub fn compile(source: &Path, folder: &Folder, define: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let object = folder.join("object.bpf.o");
    let include = |folder| format!("-I{}", root.join(folder).display());
    SkeletonBuilder::new()
        .source(source)
        .obj(&object)
        .clang(env!("BPF_CLANG"))
        .clang_args([
            &include("bpf"),
            &include("cc"),
            "-ffreestanding",
            "-mcpu=v3",
            define,
        ])
        .build()
        .unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    object
}

/// Number of sockets with storage of this algorithm, which the pairs with CUBIC have.
pub fn with_storage(registered: &Registered) -> usize {
    count_storage(registered, &storage_counter())
}

/// The program that counts such sockets, for kernels without a compiler beside them.
pub fn storage_counter() -> Vec<u8> {
    let folder = Folder::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/support/storage.bpf.c");
    std::fs::read(compile(&source, &folder, "-DCOUNT")).expect("an object")
}

/// As [`with_storage`], with this program.
pub fn count_storage(registered: &Registered, counter: &[u8]) -> usize {
    let object = ObjectBuilder::default().open_memory(counter);
    let object = object.expect("an object").load().expect("loads");
    let map = map(registered, "sockets");
    let program = object.progs_mut().next().expect("a program");
    let link = program.attach_iter(map.as_fd()).expect("an iterator");
    let mut bytes = Vec::new();
    let mut iterator = Iter::new(&link).expect("an iterator");
    iterator.read_to_end(&mut bytes).expect("it is read");
    bytes.len()
}

/// The kernel counts the runs and the time of BPF programs until this is dropped.
pub struct Counting(OwnedFd);

impl Counting {
    pub fn begin() -> Self {
        // SAFETY: a system call that returns a file descriptor, ours from then on, or an error.
        let counting = unsafe {
            let fd = libbpf_sys::bpf_enable_stats(libbpf_sys::BPF_STATS_RUN_TIME);
            assert!(fd >= 0, "counting calls: {}", Error::from_raw_os_error(-fd));
            OwnedFd::from_raw_fd(fd)
        };
        Self(counting)
    }
}

/// A map of this algorithm, by its name in bpf/.
pub fn map(registered: &Registered, name: &str) -> MapHandle {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    ProgInfoIter::with_query_opts(options)
        .filter(|program| registered.program_ids().contains(&program.id))
        .flat_map(|program| program.map_ids)
        .map(|id| MapHandle::from_map_id(id).expect("a map"))
        .find(|map| map.name() == name)
        .unwrap_or_else(|| panic!("no map {name}"))
}
