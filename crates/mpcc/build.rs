//! Compiles cc/ and generates its types for Rust.

#[path = "build/common.rs"]
mod common;
#[path = "build/native.rs"]
mod native;

use std::{env, process::Command};

/// Passes clang to the build scripts of dependent crates, as DEP_MPCC_CLANG: `$CLANG`, else the newest version that is installed
/// under a usual name.
fn clang() -> Option<String> {
    println!("cargo:rerun-if-env-changed=CLANG");
    let usual = ["clang-20", "clang-19", "clang-18", "clang"].map(String::from);
    let found = env::var("CLANG")
        .into_iter()
        .chain(usual)
        .find(|name| Command::new(name).arg("--version").output().is_ok())?;
    println!("cargo:clang={found}");
    Some(found)
}

/// Whether the target is this machine and `$CC` names no compiler for it, or the target is WebAssembly, which gcc does not know.
fn chooses_compiler() -> bool {
    println!("cargo:rerun-if-env-changed=CC");
    let is_wasm = env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm");
    is_wasm || env::var("HOST") == env::var("TARGET") && env::var_os("CC").is_none()
}

fn main() {
    let clang = clang();
    let mut build = native::build();
    // The callback of an ACK has a sixth fewer instructions than with gcc (bench/README.md).
    if let Some(clang) = clang.filter(|_| chooses_compiler()) {
        build.compiler(clang);
    }
    build.force_frame_pointer(false).compile("mpcc");
}
