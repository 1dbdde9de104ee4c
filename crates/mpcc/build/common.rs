//! Compilation of cc/ and generation of its types for Rust: shared by the build scripts of mpcc, mpcc-harness and lisa-kernel.

use std::{env, path::Path, path::PathBuf};

/// Flags of everything that includes cc/. A socket's private memory is read under another type than the kernel's
/// (`-fno-strict-aliasing`).
pub(crate) const FLAGS: [&str; 5] = [
    "-ffreestanding",
    "-fno-strict-aliasing",
    "-Wall",
    "-Wextra",
    "-Werror",
];

/// Root of the source tree.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("../..")
}

/// Folder for the results of the build script.
pub(crate) fn out() -> PathBuf {
    PathBuf::from(env::var("OUT_DIR").unwrap())
}

/// The headers of cc/. The build script runs again when one changes.
pub(crate) fn headers() -> PathBuf {
    let cc = root().join("cc");
    println!("cargo:rerun-if-changed={}", cc.display());
    cc
}

/// Writes the types and constants of `header` whose names match one of the patterns, as Rust, to `OUT_DIR/name`.
pub(crate) fn bindings(header: &Path, patterns: &[&str], name: &str) {
    let builder = bindgen::Builder::default()
        .header(header.display().to_string())
        .clang_args([
            format!("-I{}", headers().display()),
            "-ffreestanding".into(),
            // Functions are hidden by default in WebAssembly, and bindgen leaves hidden ones out.
            "-fvisibility=default".into(),
        ])
        .default_enum_style(bindgen::EnumVariation::ModuleConsts)
        .derive_default(true)
        .derive_eq(true)
        .use_core()
        .generate_comments(false);
    patterns
        .iter()
        .fold(builder, |builder, pattern| builder.allowlist_item(pattern))
        .generate()
        .unwrap_or_else(|error| panic!("{}: {error}", header.display()))
        .write_to_file(out().join(name))
        .expect("OUT_DIR is writable");
}
