//! Programs of bpf/.

use crate::common::{FLAGS, headers, out, root};
use libbpf_cargo::SkeletonBuilder;
use std::env;

/// The compiler, chosen by the build script of mpcc.
pub(crate) fn clang() -> String {
    env::var("DEP_MPCC_CLANG").expect("clang is missing: `make setup` installs it")
}

/// Compiles `bpf/NAME.bpf.c`. Its skeleton goes to `OUT_DIR/NAME.skel.rs`.
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
        .build_and_generate(out().join(format!("{name}.skel.rs")))
        .unwrap_or_else(|error| panic!("{name}.bpf.c: {error}"));
}
