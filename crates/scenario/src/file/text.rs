//! Text of a file, within a limit.

use std::io::Read;
use std::path::Path;

use crate::error::Error;

/// Longest file, bytes: far more than a graph with the largest number of links has.
pub(super) const MAX_BYTES: usize = 16 << 20;

/// Reads a regular file of UTF-8 text, such as a scenario.
///
/// # Errors
/// For a path that is not a file of text, and for a file of more than 16 MiB.
pub fn read(path: &Path) -> Result<String, Error> {
    utf8(path, read_bytes(path)?)
}

/// Reads a regular file of any encoding, such as a map.
///
/// # Errors
/// For a path that is not a file, and for a file of more than 16 MiB.
pub(crate) fn read_bytes(path: &Path) -> Result<Vec<u8>, Error> {
    #[cfg(target_family = "wasm")]
    if let Some(text) = provided::find(path) {
        return Ok(text.into_bytes());
    }
    let opened = files::open(path).map_err(|error| wrong(path, error.to_string()))?;
    bytes_from(path, opened)
}

/// Reads UTF-8 text to its end. `name` is the name of the source, for errors.
///
/// # Errors
/// As [`read`].
pub fn read_from(name: &Path, from: impl Read) -> Result<String, Error> {
    utf8(name, bytes_from(name, from)?)
}

fn bytes_from(name: &Path, from: impl Read) -> Result<Vec<u8>, Error> {
    let read = files::read_from(from, MAX_BYTES as u64);
    read.map_err(|error| wrong(name, error.to_string()))
}

fn utf8(name: &Path, bytes: Vec<u8>) -> Result<String, Error> {
    String::from_utf8(bytes).map_err(|_| wrong(name, "not UTF-8 text"))
}

fn wrong(name: &Path, problem: impl Into<String>) -> Error {
    Error {
        file: name.display().to_string(),
        ..Error::whole(problem)
    }
}

/// Files of a program in WebAssembly, which has no file system.
#[cfg(target_family = "wasm")]
pub mod provided {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::path::{Path, PathBuf};

    thread_local! {
        static FILES: RefCell<BTreeMap<PathBuf, String>> = const { RefCell::new(BTreeMap::new()) };
    }

    /// Makes a file available under this path, and replaces an earlier one.
    pub fn provide(path: PathBuf, text: String) {
        FILES.with_borrow_mut(|files| files.insert(path, text));
    }

    /// The file of this path, else the one with this name: a browser gives the names of files without their folders.
    pub(super) fn find(path: &Path) -> Option<String> {
        let name = path.file_name().map(Path::new);
        FILES.with_borrow(|files| {
            let text = files.get(path).or_else(|| files.get(name?));
            text.cloned()
        })
    }
}
