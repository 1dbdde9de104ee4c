//! The oldest clang that README names compiles each object of bpf/, in a minute and a gibibyte.

use libbpf_cargo::SkeletonBuilder;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{self, Command};

/// Seconds for one object.
const SECONDS: u32 = 60;

/// Largest address space of the compiler, KiB. It contains the compiler's memory.
const KIB: u32 = 1 << 20;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The version in README: `To build: clang 16 or later`.
fn oldest() -> u32 {
    let readme = fs::read_to_string(root().join("README.md")).expect("README.md");
    let (_, rest) = readme.split_once("To build: clang ").expect("a version");
    let digits = rest.split(' ').next().expect("a word");
    digits.parse().expect("a number")
}

#[test]
fn the_oldest_compiler_compiles_each_object() {
    let clang = format!("clang-{}", oldest());
    if Command::new(&clang).arg("--version").output().is_err() {
        eprintln!("skipped: no {clang} here; Debian 12 and Ubuntu 24.04 have it as a package");
        return;
    }
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("compilers-{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    // A compiler with limits.
    let limited = folder.join("clang");
    let script = format!("#!/bin/sh\nulimit -v {KIB}\nexec timeout {SECONDS} {clang} \"$@\"\n");
    fs::write(&limited, script).expect("a script");
    fs::set_permissions(&limited, Permissions::from_mode(0o755)).expect("executable");
    let include = |folder: &str| format!("-I{}", root().join(folder).display());
    let pattern = root().join("bpf/*.bpf.c").display().to_string();
    let sources: Vec<_> = glob::glob(&pattern).expect("a pattern").collect();
    assert!(sources.len() > 5, "{sources:?}");
    for source in sources {
        let source = source.expect("a file");
        SkeletonBuilder::new()
            .source(&source)
            .obj(folder.join("object.o"))
            .clang(&limited)
            .clang_args([
                &include("cc"),
                "-ffreestanding",
                "-fno-strict-aliasing",
                "-Wall",
                "-Wextra",
                "-Werror",
                "-Wno-unused-parameter",
                "-mcpu=v3",
            ])
            .build()
            .unwrap_or_else(|error| panic!("{}: {error:#}", source.display()));
    }
    fs::remove_dir_all(&folder).expect("removed");
}
