//! Outcomes of finished runs on the disk, by the key of the run, so that none runs twice.
//!
//! A file for each build of the simulator or the lab, `BUILD.runs`; files of other builds are removed. A line has the
//! outcomes of up to 64 runs, which have most of their text in common: their keys, each followed by a space; the outcomes, each a line of
//! JSON, together compressed (DEFLATE) in base64; and a full stop. It is written at once. A line that is incomplete, after a crash, is ignored.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD as BASE64;
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use scenario::Outcome;

use crate::Error;

/// Extension of the file.
const EXTENSION: &str = "runs";
/// Extension of files that were not compressed.
const EXTENSION_BEFORE: &str = "jsonl";

/// Number of outcomes of a line.
const LINE: usize = 64;

/// An open store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    /// Place of each outcome, by key.
    records: HashMap<String, Place>,
    /// End of the part that was read.
    end: u64,
    /// Keys and JSON of outcomes that are not yet written.
    pending: Vec<Pending>,
    /// The line that was read last: the runs of a point follow each other.
    last: RefCell<Line>,
}

/// An outcome that is not yet written.
#[derive(Debug)]
struct Pending {
    key: String,
    json: String,
}

/// Outcomes of a line.
#[derive(Debug, Default)]
struct Line {
    offset: u64,
    /// JSON of each.
    outcomes: Vec<String>,
}

/// Place of an outcome in the file.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Offset of the base64 of its line.
    offset: u64,
    /// Length of the base64, bytes.
    length: usize,
    /// Number in the line.
    number: usize,
}

impl Store {
    /// Opens or creates the store of a build in a folder.
    ///
    /// # Errors
    /// If the folder or file cannot be created, read or written.
    pub fn open(folder: &Path, build: &str) -> Result<Self, Error> {
        let path = folder.join(format!("{build}.{EXTENSION}"));
        let open = || -> io::Result<File> {
            fs::create_dir_all(folder)?;
            for entry in fs::read_dir(folder)? {
                let other = entry?.path();
                let is_store = |name: &OsStr| name == EXTENSION || name == EXTENSION_BEFORE;
                if other != path && other.extension().is_some_and(is_store) {
                    fs::remove_file(other)?;
                }
            }
            OpenOptions::new()
                .read(true)
                .append(true)
                .create(true)
                .open(&path)
        };
        let file = open().map_err(|error| failed(&path, error))?;
        let mut store = Self {
            path,
            file,
            records: HashMap::new(),
            end: 0,
            pending: Vec::new(),
            last: RefCell::default(),
        };
        store
            .end_line()
            .map_err(|error| failed(&store.path, error))?;
        store.update()?;
        Ok(store)
    }

    /// Ends a line that a crash has left incomplete.
    fn end_line(&mut self) -> io::Result<()> {
        let mut last = [0];
        if self.file.seek(SeekFrom::End(0))? > 0 {
            self.file.seek(SeekFrom::End(-1))?;
            self.file.read_exact(&mut last)?;
            if last != *b"\n" {
                self.file.write_all(b"\n")?;
            }
        }
        Ok(())
    }

    /// Writes what was added, and reads what this and other processes have written since.
    ///
    /// # Errors
    /// If the file cannot be written or read.
    pub fn update(&mut self) -> Result<(), Error> {
        self.flush()?;
        let path = self.path.clone();
        self.scan().map_err(|error| failed(&path, error))
    }

    fn scan(&mut self) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.end))?;
        let mut reader = BufReader::new(&self.file);
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            if line.last() != Some(&b'\n') {
                break;
            }
            if let Some(before) = line.strip_suffix(b".\n") {
                let at = before.iter().rposition(|byte| *byte == b' ');
                let keys = at.map_or(&[][..], |at| &before[..at]);
                let length = before.len() - at.map_or(0, |at| at + 1);
                let keys = keys.split(|byte| *byte == b' ').enumerate();
                for (number, key) in keys {
                    let place = Place {
                        offset: self.end + (before.len() - length) as u64,
                        length,
                        number,
                    };
                    let key = String::from_utf8_lossy(key).into_owned();
                    self.records.insert(key, place);
                }
            }
            self.end += line.len() as u64;
            line.clear();
        }
        Ok(())
    }

    /// Whether the run has finished.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.records.contains_key(key)
    }

    /// Outcome of a run; none of one that has not finished.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<Outcome> {
        let place = self.records.get(key)?;
        let mut last = self.last.borrow_mut();
        if last.outcomes.is_empty() || last.offset != place.offset {
            *last = self.line(*place)?;
        }
        serde_json::from_str(last.outcomes.get(place.number)?).ok()
    }

    fn line(&self, place: Place) -> Option<Line> {
        use std::os::unix::fs::FileExt;
        let mut bytes = vec![0; place.length];
        self.file.read_exact_at(&mut bytes, place.offset).ok()?;
        let compressed = BASE64.decode(bytes).ok()?;
        let mut json = String::new();
        let mut decoder = DeflateDecoder::new(compressed.as_slice());
        decoder.read_to_string(&mut json).ok()?;
        Some(Line {
            offset: place.offset,
            outcomes: json.lines().map(str::to_owned).collect(),
        })
    }

    /// Adds the outcome of a run. It is on the disk after the next [`flush`](Self::flush), or once a line is full;
    /// [`get`](Self::get) has it after the next [`update`](Self::update).
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, key: &str, outcome: &Outcome) -> Result<(), Error> {
        let json = serde_json::to_string(outcome);
        let json = json.map_err(|error| failed(&self.path, error.into()))?;
        self.pending.push(Pending {
            key: key.into(),
            json,
        });
        match self.pending.len() < LINE {
            true => Ok(()),
            false => self.flush(),
        }
    }

    /// Writes what was added.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn flush(&mut self) -> Result<(), Error> {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return Ok(());
        }
        let write = || -> io::Result<()> {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            let mut line = String::new();
            for Pending { key, json } in &pending {
                line += key;
                line.push(' ');
                writeln!(encoder, "{json}")?;
            }
            line += &BASE64.encode(encoder.finish()?);
            line += ".\n";
            (&self.file).write_all(line.as_bytes())
        };
        write().map_err(|error| failed(&self.path, error))
    }
}

impl Drop for Store {
    /// An error elsewhere must not cost the runs that have finished.
    fn drop(&mut self) {
        let _ = self.flush();
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::Store {
        file: path.display().to_string(),
        error,
    }
}

#[cfg(test)]
#[path = "store_tests.rs"]
mod tests;
