//! The systems that `make setup` made, unpacked for a test.

use super::packages::run;
use super::support::Folder;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// A release's files in a folder that is deleted at the end of the test.
pub struct Root {
    folder: Folder,
}

impl Root {
    /// Unpacks a release, such as `debian-12`. `None`, with the reason printed, if it cannot run here.
    pub fn unpack(release: &str) -> Option<Self> {
        if !nix::unistd::geteuid().is_root() {
            eprintln!("skipped: only root can install a package");
            return None;
        }
        let tar = cache().join("roots").join(format!("{release}.tar"));
        if !tar.exists() {
            eprintln!("skipped: no {}; `make setup` makes it", tar.display());
            return None;
        }
        let folder = Folder::new();
        let mut unpack = Command::new("tar");
        run(unpack
            .args(["--xattrs-include=*", "-x", "-f"])
            .arg(tar)
            .arg("-C")
            .arg(&*folder));
        Some(Self { folder })
    }

    /// Its folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Copies a file of the host into it.
    pub fn copy(&self, from: &Path, to: &str) {
        std::fs::copy(from, self.path().join(to)).expect("it is copied");
    }

    /// Runs a shell command in it, without a network and without the host's processes.
    pub fn output(&self, command: &str) -> Output {
        let mut unshare = Command::new("unshare");
        unshare
            .args(["--net", "--mount", "--pid", "--fork", "--root"])
            .arg(self.path())
            .args(["/bin/sh", "-c", command])
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin")
            .env("DEBIAN_FRONTEND", "noninteractive")
            .env("LC_ALL", "C.UTF-8");
        unshare.output().expect("unshare starts")
    }

    /// Runs a command that must succeed. Returns its output.
    pub fn run(&self, command: &str) -> String {
        let output = self.output(command);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{command}: {text}{errors}");
        text
    }
}

/// This project's cache.
pub fn cache() -> PathBuf {
    let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
    cache
        .unwrap_or_else(|_| PathBuf::from(std::env::var("HOME").unwrap()).join(".cache"))
        .join("lisa")
}
