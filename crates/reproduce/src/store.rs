//! Outcomes of finished runs on the disk, by the key of the run, so that none runs twice.
//!
//! A file for each build of the simulator or the lab, `BUILD.runs`; files of other builds are removed. A record is a line, written at
//! once: the key, a space, the outcome as compressed JSON (DEFLATE, in base64), and a full stop. A line that is incomplete, after a crash, is
//! ignored.

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

/// An open store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    /// Place of each outcome, by key.
    records: HashMap<String, Place>,
    /// End of the part that was read.
    end: u64,
}

/// Place of an outcome in the file.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Offset of its base64.
    offset: u64,
    /// Length of its base64, bytes.
    length: usize,
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

    /// Reads the records that were added since.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn update(&mut self) -> Result<(), Error> {
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
            let complete = line.ends_with(b".\n");
            if let Some(at) = line
                .iter()
                .position(|byte| *byte == b' ')
                .filter(|_| complete)
            {
                let key = String::from_utf8_lossy(&line[..at]).into_owned();
                let place = Place {
                    offset: self.end + at as u64 + 1,
                    length: line.len() - at - 3,
                };
                self.records.insert(key, place);
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
        use std::os::unix::fs::FileExt;
        let place = self.records.get(key)?;
        let mut bytes = vec![0; place.length];
        self.file.read_exact_at(&mut bytes, place.offset).ok()?;
        let compressed = BASE64.decode(bytes).ok()?;
        let mut json = Vec::new();
        let mut decoder = DeflateDecoder::new(compressed.as_slice());
        decoder.read_to_end(&mut json).ok()?;
        serde_json::from_slice(&json).ok()
    }

    /// Adds the outcome of a run. [`get`](Self::get) has it after the next [`update`](Self::update).
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&self, key: &str, outcome: &Outcome) -> Result<(), Error> {
        let write = || -> io::Result<()> {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
            encoder.write_all(&serde_json::to_vec(outcome)?)?;
            let record = format!("{key} {}.\n", BASE64.encode(encoder.finish()?));
            (&self.file).write_all(record.as_bytes())
        };
        write().map_err(|error| failed(&self.path, error))
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::Store {
        file: path.display().to_string(),
        error,
    }
}
