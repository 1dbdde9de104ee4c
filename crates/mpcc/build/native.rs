//! cc/ as native code.

use crate::common::{FLAGS, bindings, headers};
use std::path::Path;

/// The compilation of `src/native.c`. Its types go to `OUT_DIR/cc.rs`.
pub(crate) fn build() -> cc::Build {
    let source = Path::new("src/native.c");
    println!("cargo:rerun-if-changed={}", source.display());
    bindings(source, &["(mpcc|MPCC)_.*"], "cc.rs");
    let mut build = cc::Build::new();
    build
        .file(source)
        .include(headers())
        .flag("-std=gnu11")
        .flags(FLAGS)
        .opt_level(2);
    build
}
