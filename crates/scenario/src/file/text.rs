//! Text of a file, within a limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Location};

/// Longest file, bytes: far more than a graph with the largest number of links has.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// Reads a regular file of UTF-8 text.
pub(super) fn read(path: &Path) -> Result<String, Error> {
    let wrong = |problem: String| Error {
        file: path.display().to_string(),
        location: Location::File,
        key: String::new(),
        problem,
    };
    let refused = |error: io::Error| wrong(error.to_string());
    let opened = File::open(path).map_err(refused)?;
    if !opened.metadata().map_err(refused)?.is_file() {
        return Err(wrong("not a file".into()));
    }
    let mut text = Vec::new();
    let limit = MAX_BYTES as u64 + 1;
    opened.take(limit).read_to_end(&mut text).map_err(refused)?;
    if text.len() > MAX_BYTES {
        return Err(wrong(format!("longer than {MAX_BYTES} bytes")));
    }
    String::from_utf8(text).map_err(|_| wrong("not UTF-8 text".into()))
}
