//! Errors of building a graph.

use std::fmt;

/// A setting from which no graph can be built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Key of the setting, as in the topology of a scenario file: `k`, `rtt`, `link.3.from`.
    pub key: String,
    /// The problem, and the values that are allowed.
    pub problem: String,
}

impl Error {
    /// An error of the setting `key`.
    pub(crate) fn new(key: impl Into<String>, problem: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "topology: `{}`: {}", self.key, self.problem)
    }
}

impl std::error::Error for Error {}
