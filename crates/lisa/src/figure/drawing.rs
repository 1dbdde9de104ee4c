//! The file of a figure.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::format;
use crate::output::Failure;

/// A file that a figure will be written into. A file that did not exist before is deleted unless the figure is written.
pub struct Drawing<'a> {
    option: &'static str,
    path: &'a Path,
    delete: bool,
}

impl<'a> Drawing<'a> {
    /// Opens the file before the runs, so that a path that cannot be written fails at once. `option` names the file in errors.
    pub fn open(option: &'static str, path: &'a Path) -> Result<Self, Failure> {
        let delete = !path.exists();
        let opened = File::options().create(true).append(true).open(path);
        opened.map_err(|error| Self::unwritable(option, path, &error))?;
        Ok(Self {
            option,
            path,
            delete,
        })
    }

    /// Writes the figure, an SVG, in the format of the file's ending.
    pub fn write(mut self, svg: &str) -> Result<(), Failure> {
        let bytes = format::encode(svg, self.path).map_err(|error| {
            Failure::new(format!("{} {}: {error}", self.option, self.path.display()))
        })?;
        fs::write(self.path, bytes)
            .map_err(|error| Self::unwritable(self.option, self.path, &error))?;
        self.delete = false;
        Ok(())
    }

    fn unwritable(option: &str, path: &Path, error: &io::Error) -> Failure {
        Failure::new(format!("{option} {}: {error}", path.display()))
    }
}

impl Drop for Drawing<'_> {
    fn drop(&mut self) {
        if self.delete {
            let _ = fs::remove_file(self.path);
        }
    }
}
