//! The text of a scenario.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::file::text;
use crate::scenario::Scenario;

/// The text of a scenario, read once: standard input has no second time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The file, or `standard input`, as errors name it.
    pub name: PathBuf,
    /// The text.
    pub text: String,
}

impl Source {
    /// Reads a file, or standard input for `-`.
    ///
    /// # Errors
    /// As [`read_text`](crate::read_text).
    pub fn read(file: &Path) -> Result<Self, Error> {
        if file.as_os_str() == "-" {
            let name = PathBuf::from("standard input");
            let text = text::read_from(&name, std::io::stdin().lock())?;
            return Ok(Self { name, text });
        }
        Self::read_file(file)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`read_text`](crate::read_text).
    pub fn read_file(file: &Path) -> Result<Self, Error> {
        Ok(Self {
            name: file.into(),
            text: text::read(file)?,
        })
    }

    /// The scenario with these overrides.
    ///
    /// # Errors
    /// As [`Scenario::parse_with`].
    pub fn scenario(&self, set: &[impl AsRef<str>]) -> Result<Scenario, Error> {
        Scenario::parse_with(&self.text, &self.name, set)
    }
}
