//! Errors of the endpoint.

/// An error in one line: what, where, what to do.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

/// Result of the endpoint.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub(crate) fn new(what: impl std::fmt::Display, error: impl std::fmt::Display) -> Self {
        Self(format!("{what}: {error}"))
    }
}
