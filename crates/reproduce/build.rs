//! Embeds the files of the papers' experiments, and identifies the code that decides the results of a run.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

use sha2::{Digest, Sha256};

/// Folders of `experiments/`: the claims, and the scenarios of each paper.
const FOLDERS: [&str; 5] = ["papers/claims", "lisa", "css", "lia-olia", "nmcc"];

/// All that decides the results of a run, in the repository.
const ALL: [&str; 6] = [
    "Cargo.lock",
    "cc",
    "crates/mpcc/src",
    "crates/netsim/src",
    "crates/topology/src",
    "crates/scenario/src",
];
/// What also decides those of a simulation, and those of a run on a kernel.
const SIMULATOR: [&str; 1] = ["crates/transport/src"];
const KERNEL: [&str; 3] = ["bpf", "crates/kernel/src", "crates/lab/src"];

fn main() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = repository.canonicalize().expect("the repository");
    let mut table = String::from("&[\n");
    for name in FOLDERS {
        let folder = repository.join("experiments").join(name);
        println!("cargo:rerun-if-changed={}", folder.display());
        for file in files(&folder) {
            if file
                .extension()
                .is_some_and(|extension| extension == "toml")
            {
                let file_name = file.file_name().expect("a name").to_string_lossy();
                let _ = writeln!(
                    table,
                    "({:?}, include_str!({file:?})),",
                    format!("{name}/{file_name}")
                );
            }
        }
    }
    table.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("files.rs"), table).expect("OUT_DIR is writable");

    for (name, own) in [
        ("SIMULATOR_BUILD", &SIMULATOR[..]),
        ("KERNEL_BUILD", &KERNEL),
    ] {
        let build = digest(&repository, ALL.iter().chain(own));
        println!("cargo:rustc-env={name}={build}");
    }
}

/// Digest of files and folders of the repository.
fn digest<'a>(repository: &Path, parts: impl Iterator<Item = &'a &'a str>) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        let part = repository.join(part);
        println!("cargo:rerun-if-changed={}", part.display());
        for file in files(&part) {
            let name = file
                .strip_prefix(repository)
                .expect("a file of the repository");
            hash.update(name.to_string_lossy().as_bytes());
            hash.update(fs::read(&file).expect("a readable file"));
        }
    }
    let mut build = String::new();
    for byte in &hash.finalize()[..8] {
        let _ = write!(build, "{byte:02x}");
    }
    build
}

/// The files below a folder, or the file itself, in the order of their names.
fn files(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.into()];
    }
    let entries = fs::read_dir(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut entries: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    entries.iter().flat_map(|entry| files(entry)).collect()
}
