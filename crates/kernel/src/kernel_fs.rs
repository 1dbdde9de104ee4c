//! Reads of /proc and /sys. A file that is missing shows what the kernel lacks, unless the file system itself is not mounted; a file that
//! cannot be read shows nothing.

use crate::{Error, Result};
use nix::sys::statfs::{FsType, PROC_SUPER_MAGIC, SYSFS_MAGIC, statfs};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

/// A file system of the kernel: its usual place, type and magic number.
pub(crate) struct KernelFs(&'static str, &'static str, FsType);

/// procfs.
pub(crate) const PROC: KernelFs = KernelFs("/proc", "proc", PROC_SUPER_MAGIC);
/// sysfs.
pub(crate) const SYS: KernelFs = KernelFs("/sys", "sysfs", SYSFS_MAGIC);

impl KernelFs {
    /// Checks that it is mounted at its place.
    ///
    /// # Errors
    /// [`Error::NotMounted`].
    pub(crate) fn check(&self) -> Result<()> {
        let &Self(path, kind, magic) = self;
        match statfs(path) {
            Ok(found) if found.filesystem_type() == magic => Ok(()),
            Ok(_) => Err(Error::NotMounted { path, kind }),
            Err(nix::Error::ENOENT) => Err(Error::NotMounted { path, kind }),
            Err(errno) => Err(Error::io(path)(errno.into())),
        }
    }

    /// Whether it has this file.
    ///
    /// # Errors
    /// If that cannot be known.
    pub(crate) fn has(&self, path: &str) -> Result<bool> {
        let exists = Path::new(path).try_exists().map_err(Error::io(path))?;
        if !exists {
            self.check()?;
        }
        Ok(exists)
    }
}

/// The text of a file of /proc.
///
/// # Errors
/// [`Error::NotMounted`]; [`Error::Io`] with the path.
pub(crate) fn read_proc(path: &str) -> Result<String> {
    fs::read_to_string(path).map_err(proc_error(path))
}

/// For `map_err`: the error of a file of /proc.
pub(crate) fn proc_error(path: &str) -> impl FnOnce(io::Error) -> Error {
    move |error| match (error.kind(), PROC.check()) {
        (ErrorKind::NotFound, Err(not_mounted)) => not_mounted,
        _ => Error::io(path)(error),
    }
}
