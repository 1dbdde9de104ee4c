//! The package in two versions: built from the program under test, and the version before.

use super::support::{Folder, LISA};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The version before: no real one, but lower than any.
pub const BEFORE: &str = "0.0.1";

/// Files of the package.
pub struct Packages {
    /// Where they are, until this is dropped.
    folder: Folder,
    /// The package.
    pub new: PathBuf,
    /// The same with the version [`BEFORE`].
    pub before: PathBuf,
}

/// The folder of this repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether the explorer's page was built, which is installed if so.
pub fn has_explorer() -> bool {
    repository().join("out/explorer/index.html").exists()
}

/// Runs a command. Returns its standard output; panics if it fails.
pub fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let (out, errors) = (output.stdout, output.stderr);
    let errors = String::from_utf8_lossy(&errors).into_owned();
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8_lossy(&out).into_owned()
}

impl Packages {
    /// Builds both. `None`, with the reason printed, without the tools.
    pub fn build() -> Option<Self> {
        if Command::new("dh").arg("--help").output().is_err() {
            eprintln!("skipped: no debhelper; `scripts/setup.sh deb` installs it");
            return None;
        }
        let folder = Folder::new();
        let mut deb = Command::new(repository().join("packaging/deb.sh"));
        deb.arg(&*folder)
            .env("LISA_PROGRAM", LISA)
            .env("LISA_COMPRESSION", "none");
        let new = PathBuf::from(run(&mut deb).trim());
        let before = repacked(&new, &folder);
        Some(Self {
            folder,
            new,
            before,
        })
    }

    /// A package of this version with another /etc/lisa.toml.
    pub fn with_other_file(&self, text: &str) -> PathBuf {
        change(&self.new, &self.folder.join("other.deb"), |tree| {
            fs::write(tree.join("etc/lisa.toml"), text).unwrap();
        })
    }
}

/// The package with the version [`BEFORE`].
fn repacked(package: &Path, folder: &Folder) -> PathBuf {
    change(package, &folder.join("before.deb"), |tree| {
        let control = tree.join("DEBIAN/control");
        let text = fs::read_to_string(&control).unwrap();
        let line = text.lines().find(|line| line.starts_with("Version: "));
        let text = text.replace(line.unwrap(), &format!("Version: {BEFORE}"));
        fs::write(control, text).unwrap();
    })
}

fn change(package: &Path, to: &Path, change: impl FnOnce(&Path)) -> PathBuf {
    let tree = to.with_extension("tree");
    run(Command::new("dpkg-deb").arg("-R").args([package, &tree]));
    change(&tree);
    let mut build = Command::new("dpkg-deb");
    build.args(["-Znone", "--root-owner-group", "-b"]);
    run(build.args([&tree, &to.to_path_buf()]));
    fs::remove_dir_all(tree).unwrap();
    to.into()
}
