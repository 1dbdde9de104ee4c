//! Errors of requests.

/// Kind of an error; the server maps it to a status of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The request names something that does not exist, or contradicts itself (422).
    Invalid,
    /// The request is not allowed to this token (403).
    Forbidden,
    /// The session or the number of the report is over (409).
    Conflict,
    /// A limit is reached (413).
    TooMany,
    /// There is no such thing (404).
    NotFound,
    /// The database failed (500).
    Store,
}

/// An error in one line: what, where, what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text}")]
pub struct Error {
    /// Kind.
    pub kind: Kind,
    /// What, where, what to do.
    pub text: String,
}

impl Error {
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        let text = text.into();
        Self { kind, text }
    }

    pub(crate) fn invalid(text: impl Into<String>) -> Self {
        Self::new(Kind::Invalid, text)
    }
}

/// Result of a request.
pub type Result<T, E = Error> = std::result::Result<T, E>;
