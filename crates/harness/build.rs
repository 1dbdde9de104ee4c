//! Compiles the test harness of cc/ and generates its types for Rust.

#[cfg(feature = "bpf")]
#[path = "../mpcc/build/bpf.rs"]
mod bpf;
#[path = "../mpcc/build/common.rs"]
mod common;
#[path = "../mpcc/build/native.rs"]
mod native;

use std::env;

fn main() {
    let mut build = native::build();
    if env::var_os("CARGO_FEATURE_TRAP").is_some() {
        // C lets unsigned numbers wrap; cc/ does so only where the source says MPCC_WRAPS. Without optimization, because an
        // optimizer merges traps.
        let clang = env::var("DEP_MPCC_CLANG").expect("clang is missing: `make setup` installs it");
        build.compiler(clang).opt_level(0).flags([
            "-fsanitize=undefined,unsigned-integer-overflow,unsigned-shift-base",
            "-fsanitize-trap=all",
            "-fno-sanitize=alignment",
        ]);
    }
    build.compile("mpcc_harness");
    vectors();
    #[cfg(feature = "bpf")]
    {
        println!("cargo:rustc-env=BPF_CLANG={}", version(&bpf::clang()));
        bpf::compile("harness");
    }
}

/// Embeds every file of worked examples, so that the tests also run without a source tree (in a VM).
fn vectors() {
    let pattern = common::headers()
        .join("**/*.vectors.toml")
        .display()
        .to_string();
    let files = glob::glob(&pattern).expect("a pattern").map(Result::unwrap);
    let mut list = String::from("&[");
    for file in files {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let path = file.canonicalize().unwrap();
        list += &format!("({name:?}, include_str!({path:?})),");
    }
    std::fs::write(common::out().join("vectors.rs"), list + "]").expect("OUT_DIR is writable");
}

/// The major version of clang: the verifier's counts depend on it.
#[cfg(feature = "bpf")]
fn version(clang: &str) -> String {
    let output = std::process::Command::new(clang)
        .arg("--version")
        .output()
        .expect(clang);
    let output = String::from_utf8_lossy(&output.stdout).into_owned();
    let version = output
        .split("clang version ")
        .nth(1)
        .and_then(|rest| rest.split('.').next());
    version.unwrap_or("unknown").to_owned()
}
