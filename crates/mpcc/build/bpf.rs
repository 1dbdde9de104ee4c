//! Programs of bpf/.

use crate::common::{FLAGS, headers, out, root};
use libbpf_cargo::SkeletonBuilder;
use std::path::PathBuf;
use std::{env, fs};

/// The compiler, chosen by the build script of mpcc.
pub(crate) fn clang() -> String {
    env::var("DEP_MPCC_CLANG").expect("clang is missing: `make setup` installs it")
}

/// Compiles `bpf/NAME.bpf.c` into `OUT_DIR/NAME.o`. Its skeleton goes to `OUT_DIR/NAME.skel.rs`.
pub(crate) fn compile(name: &str) {
    let folder = root().join("bpf");
    println!("cargo:rerun-if-changed={}", folder.display());
    let include = format!("-I{}", headers().display());
    // -mcpu=v3: atomic operations that return the previous value (Linux 5.12).
    let flags = [include.as_str(), "-mcpu=v3", "-Wno-unused-parameter"];
    SkeletonBuilder::new()
        .source(folder.join(format!("{name}.bpf.c")))
        .clang(clang())
        .clang_args(FLAGS.into_iter().chain(flags))
        .obj(object(name))
        .build_and_generate(out().join(format!("{name}.skel.rs")))
        .unwrap_or_else(|error| panic!("{name}.bpf.c: {error}"));
}

fn object(name: &str) -> PathBuf {
    out().join(format!("{name}.o"))
}

/// A hash of a compiled object, FNV-1a with 64 bits (the IETF's draft-eastlake-fnv).
#[allow(dead_code)] // not every build script that includes this file uses it
pub(crate) fn object_hash(name: &str) -> u64 {
    let bytes = fs::read(object(name)).expect("the object was compiled");
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
