//! Wrong values of options, and words that no message has.

/// Values that most options refuse.
pub const WRONG: [&str; 8] = [
    "",
    "-1",
    "0",
    "text",
    "wörd",
    "99999999999999999999",
    "a\nb\u{1b}[1m",
    "stop=",
];

/// Words of libraries that say nothing to a user, and signs of a program's error.
pub const FOREIGN: [&str; 11] = [
    "invalid digit",
    "target type",
    "empty string",
    "as a value, use",
    "invalid value",
    "invalid socket address",
    "invalid float",
    "possible values",
    "this is text",
    "panicked",
    "Err(",
];
