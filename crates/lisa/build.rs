//! Makes the pages in docs/algorithms known by their names, for `lisa algorithms`.

use std::{fs, path::Path};

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
}
