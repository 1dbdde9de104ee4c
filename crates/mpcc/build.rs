//! Compiles cc/ and makes its types known to Rust.

use std::{env, path::PathBuf, process::Command};

/// clang: `$CLANG`, else the newest that is installed under a usual name. The build scripts of crates that depend on this
/// one find it in DEP_MPCC_CLANG.
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

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let cc = root.join("cc");
    println!("cargo:rerun-if-changed={}", cc.display());
    println!("cargo:rerun-if-changed=src/native.c");

    let clang = clang();
    let mut build = cc::Build::new();
    let trap = env::var_os("CARGO_FEATURE_TRAP").is_some();
    if trap {
        // Unsigned numbers may wrap in C, and here only where the source says so (MPCC_WRAPS). An optimizer would make one
        // trap of many.
        let clang = clang.expect("clang is missing: `make setup` installs it");
        build.compiler(clang).flags([
            "-fsanitize=undefined,unsigned-integer-overflow,unsigned-shift-base",
            "-fsanitize-trap=all",
            "-fno-sanitize=alignment",
        ]);
    }
    build
        .file("src/native.c")
        .include(&cc)
        .flags([
            "-std=gnu11",
            "-ffreestanding",
            "-Wall",
            "-Wextra",
            "-Werror",
        ])
        .opt_level(if trap { 0 } else { 2 })
        .force_frame_pointer(false)
        .compile("mpcc");

    bindgen::Builder::default()
        .header("src/native.c")
        .clang_args([format!("-I{}", cc.display()), "-ffreestanding".into()])
        .allowlist_item("(mpcc|MPCC)_.*")
        .default_enum_style(bindgen::EnumVariation::ModuleConsts)
        .derive_default(true)
        .derive_eq(true)
        .use_core()
        .layout_tests(true)
        .generate_comments(false)
        .generate()
        .expect("cc/ is readable by libclang")
        .write_to_file(PathBuf::from(env::var("OUT_DIR").unwrap()).join("cc.rs"))
        .expect("OUT_DIR is writable");
}
