//! Passes the names of the pages in docs/algorithms to `lisa algorithms`, and the path of clang to tests that compile BPF.

use std::{env, fs, path::Path};

fn main() {
    let pages = Path::new("../../docs/algorithms");
    println!("cargo:rerun-if-changed={}", pages.display());
    let mut names: Vec<String> = fs::read_dir(pages)
        .expect("docs/algorithms")
        .map(|page| page.expect("a page").path())
        .filter_map(|page| Some(page.file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    println!("cargo:rustc-env=ALGORITHM_PAGES={}", names.join(" "));
    // From the build script of mpcc.
    let clang = env::var("DEP_MPCC_CLANG").expect("clang is missing: `make setup` installs it");
    println!("cargo:rustc-env=BPF_CLANG={clang}");
}
