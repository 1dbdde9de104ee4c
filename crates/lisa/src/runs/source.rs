//! The text of a scenario.

use std::path::{Path, PathBuf};

use scenario::{Error, Scenario};

use crate::output::Failure;

/// The text of a scenario, read once: standard input has no second time.
pub struct Source {
    /// The file, or `standard input`, as errors name it.
    pub name: PathBuf,
    /// The text.
    pub text: String,
}

impl Source {
    /// Reads the file of the arguments, or standard input for `-`.
    pub fn read(file: &Path) -> Result<Self, Failure> {
        if file.as_os_str() == "-" {
            let name = PathBuf::from("standard input");
            let text = scenario::read_text_from(&name, std::io::stdin().lock())?;
            return Ok(Self { name, text });
        }
        Ok(Self {
            name: file.into(),
            text: scenario::read_text(file)?,
        })
    }

    /// The scenario with these overrides.
    pub fn scenario(&self, set: &[impl AsRef<str>]) -> Result<Scenario, Error> {
        Scenario::parse_with(&self.text, &self.name, set)
    }
}
