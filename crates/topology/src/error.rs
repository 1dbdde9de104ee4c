//! What a network cannot be.

use std::fmt;

/// Why a graph could not be built or used: which setting, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The setting, as a scenario file calls it within its topology: `k`, `rtt`, `link.3.from`.
    pub key: String,
    /// What is wrong, and what is allowed.
    pub problem: String,
}

impl Error {
    /// `key` is wrong because of `problem`.
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
