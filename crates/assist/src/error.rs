//! Errors of the endpoint.

/// An error in one line: what, where, what to do. It may quote a manager, so that it is printed safely and not at any length.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{}", shown(.0))]
pub struct Error(pub String);

/// Longest error, characters.
const LONGEST: usize = 500;

fn shown(text: &str) -> String {
    let text: String = text.chars().take(LONGEST).collect();
    kernel::printable(text.as_bytes())
}

/// Result of the endpoint.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(what: impl std::fmt::Display, error: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}
