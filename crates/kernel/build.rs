//! Compiles bpf/ and makes its contract known to Rust.

use libbpf_cargo::SkeletonBuilder;
use std::{env, path::PathBuf, process::Command};

/// The major version of clang, which decides what the verifier gets to see: for the tests.
fn version(clang: &str) -> String {
    let said = Command::new(clang).arg("--version").output().expect(clang);
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    let version = said
        .split("clang version ")
        .nth(1)
        .and_then(|rest| rest.split('.').next());
    version.unwrap_or("unknown").to_owned()
}

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let (bpf, cc) = (root.join("bpf"), root.join("cc"));
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    println!("cargo:rerun-if-changed={}", bpf.display());
    println!("cargo:rerun-if-changed={}", cc.display());

    // From the build script of mpcc.
    let clang = env::var("DEP_MPCC_CLANG").expect("clang is missing: `make setup` installs it");
    println!("cargo:rustc-env=BPF_CLANG={}", version(&clang));

    // -mcpu=v3: atomics that return what was there, Linux 5.12.
    let include = format!("-I{}", cc.display());
    let flags = [
        &include,
        "-ffreestanding",
        "-mcpu=v3",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-Wno-unused-parameter",
    ];
    for name in ["lisa", "group", "bench", "other_subflow"] {
        SkeletonBuilder::new()
            .source(bpf.join(format!("{name}.bpf.c")))
            .clang(&clang)
            .clang_args(flags)
            .build_and_generate(out.join(format!("{name}.skel.rs")))
            .unwrap_or_else(|error| panic!("{name}.bpf.c: {error}"));
    }

    bindgen::Builder::default()
        .header(bpf.join("contract.h").display().to_string())
        .clang_args([&include, "-ffreestanding"])
        .allowlist_item("(lisa|LISA)_.*")
        .blocklist_item("(mpcc|MPCC)_.*")
        .raw_line("use mpcc::ffi::*;")
        .default_enum_style(bindgen::EnumVariation::ModuleConsts)
        .derive_default(true)
        .generate_comments(false)
        .generate()
        .expect("contract.h is readable by libclang")
        .write_to_file(out.join("contract.rs"))
        .expect("OUT_DIR is writable");
}
