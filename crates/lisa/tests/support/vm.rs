//! The kernels for the VM that `make setup` fetched.

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of a kernel; prints if it is not there.
pub fn fetched(version: &str) -> Option<PathBuf> {
    let cache = std::env::var("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.unwrap_or(PathBuf::from(std::env::var("HOME").unwrap()).join(".cache"));
    let found = cache.join("lisa/kernels").join(version);
    if !found.exists() {
        eprintln!("skipped: no kernel for the VM in {}", found.display());
        return None;
    }
    Some(found)
}

/// The vmlinuz of a kernel's folder.
pub fn vmlinuz(kernel: &Path) -> PathBuf {
    let mut boot = fs::read_dir(kernel.join("boot")).unwrap();
    boot.next().expect("a kernel").unwrap().path()
}
