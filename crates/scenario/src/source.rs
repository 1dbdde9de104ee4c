//! The text of a scenario.

use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::file::{self, text};
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

    /// The text with these overrides, without comments; without overrides the text itself.
    ///
    /// # Errors
    /// Those of the syntax of the file, and of an override.
    pub fn changed(&self, set: &[impl AsRef<str>]) -> Result<String, Error> {
        file::changed_text(&self.text, &self.name, set)
    }

    /// The scenario with these overrides.
    ///
    /// # Errors
    /// As [`Scenario::parse_with`].
    pub fn scenario(&self, set: &[impl AsRef<str>]) -> Result<Scenario, Error> {
        Scenario::parse_with(&self.text, &self.name, set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changed_text_is_that_of_the_changed_scenario() {
        let file =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/examples/dumbbell.toml");
        let source = Source::read_file(&file).unwrap();
        assert_eq!(source.changed(&[""; 0]).unwrap(), source.text);
        let set = [
            "topology.link.1.queue={ kind = 'red', min = 3, max = 9, max_p = 0.1 }",
            "connection.short.bytes=1MB",
            "connection.long.bytes=5MB",
            "connection.*.mss=",
            "rtt_spread=10%",
        ];
        let changed = Source {
            text: source.changed(&set).unwrap(),
            ..source.clone()
        };
        assert_eq!(
            changed.scenario(&[""; 0]).unwrap(),
            source.scenario(&set).unwrap()
        );
        assert!(changed.text.contains("bytes = \"1MB\"") && !changed.text.contains("mss"));
        // Tables keep their order.
        let place = |text: &str| changed.text.find(text).unwrap();
        assert!(
            place("title") < place("[topology]") && place("[topology]") < place("[[connection]]")
        );
    }
}
