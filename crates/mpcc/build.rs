//! Compiles cc/ and makes its types known to Rust.

use std::{env, path::PathBuf};

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..");
    let cc = root.join("cc");
    println!("cargo:rerun-if-changed={}", cc.display());
    println!("cargo:rerun-if-changed=src/native.c");

    cc::Build::new()
        .file("src/native.c")
        .include(&cc)
        .flags([
            "-std=gnu11",
            "-ffreestanding",
            "-Wall",
            "-Wextra",
            "-Werror",
        ])
        .opt_level(2)
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
