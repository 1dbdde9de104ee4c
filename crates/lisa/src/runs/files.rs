//! Files that commands write. An existing file is replaced only with `--force`.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::output::Failure;

/// Checks before the first run that a file can be written: it does not exist, or may be replaced, and its directory exists.
/// `option` names the file in the error.
pub fn check(option: &str, path: &Path, force: bool) -> Result<(), Failure> {
    let shown = path.display();
    if path.is_dir() {
        return Err(Failure::new(format!("{option} {shown}: is a directory")));
    }
    let existing = path.symlink_metadata().ok();
    // A link is replaced. A device such as /dev/null would be, too.
    if existing
        .as_ref()
        .is_some_and(|file| !file.is_file() && !file.is_symlink())
    {
        return Err(Failure::new(format!(
            "{option} {shown}: not a regular file"
        )));
    }
    if existing.is_some() && !force {
        return Err(Failure::new(format!(
            "{option} {shown}: the file exists; choose another name, or --force to replace the file"
        )));
    }
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    match directory.map_or(Ok(true), Path::try_exists) {
        Ok(true) => Ok(()),
        Ok(false) => Err(Failure::new(format!(
            "{option} {shown}: No such file or directory"
        ))),
        Err(error) => Err(Failure::new(format!("{option} {shown}: {error}"))),
    }
}

/// The path with a further extension: `rows.csv.part`.
pub fn beside(path: &Path, extension: &str) -> PathBuf {
    let mut name: OsString = path.into();
    name.push(extension);
    name.into()
}
