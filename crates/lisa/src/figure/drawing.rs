//! The file of a figure.

use std::io::{self, Write};
use std::path::Path;

use ::files::NewFile;

use super::format;
use crate::output::Failure;

/// A file that a figure will be written into.
pub struct Drawing<'a> {
    option: &'static str,
    path: &'a Path,
    file: NewFile,
}

impl<'a> Drawing<'a> {
    /// Opens the file before the runs, so that a path that cannot be written fails at once. `option` names the file in errors.
    pub fn open(option: &'static str, path: &'a Path) -> Result<Self, Failure> {
        let file = NewFile::create(path).map_err(|error| unwritable(option, path, &error))?;
        Ok(Self { option, path, file })
    }

    /// Writes the figure, an SVG, in the format of the file's ending.
    pub fn write(mut self, svg: &str) -> Result<(), Failure> {
        let (option, path) = (self.option, self.path);
        let bytes = format::encode(svg, path)
            .map_err(|error| Failure::new(format!("{option} {}: {error}", path.display())))?;
        let written = self.file.write_all(&bytes);
        written
            .and_then(|()| self.file.finish())
            .map_err(|error| unwritable(option, path, &error))
    }
}

fn unwritable(option: &str, path: &Path, error: &io::Error) -> Failure {
    Failure::new(format!("{option} {}: {error}", path.display()))
}
