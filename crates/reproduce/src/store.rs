//! Outcomes of finished runs on the disk, by the key of the run, so that none runs twice.
//!
//! A file for each build of the simulator or the lab, `BUILD.jsonl`; files of other builds are removed. A record is a line, written at once: the key, a
//! space, and the outcome as JSON. A line that is incomplete, after a crash, is ignored.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use scenario::Outcome;

use crate::Error;

/// An open store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    file: File,
    /// Offset and length of each outcome.
    records: HashMap<String, (u64, usize)>,
    /// End of the part that was read.
    end: u64,
}

impl Store {
    /// Opens or creates the store of a build in a folder.
    ///
    /// # Errors
    /// If the folder or file cannot be created, read or written.
    pub fn open(folder: &Path, build: &str) -> Result<Self, Error> {
        let path = folder.join(format!("{build}.jsonl"));
        let open = || -> io::Result<File> {
            fs::create_dir_all(folder)?;
            for entry in fs::read_dir(folder)? {
                let other = entry?.path();
                if other != path && other.extension().is_some_and(|e| e == "jsonl") {
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
            let complete = line.ends_with(b"}\n");
            if let Some(at) = line
                .iter()
                .position(|byte| *byte == b' ')
                .filter(|_| complete)
            {
                let key = String::from_utf8_lossy(&line[..at]).into_owned();
                let begin = self.end + at as u64 + 1;
                self.records.insert(key, (begin, line.len() - at - 2));
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
        let (begin, length) = *self.records.get(key)?;
        let mut bytes = vec![0; length];
        self.file.read_exact_at(&mut bytes, begin).ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// Adds the outcome of a run. [`get`](Self::get) has it after the next [`update`](Self::update).
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn add(&mut self, key: &str, outcome: &Outcome) -> Result<(), Error> {
        let json = serde_json::to_string(outcome);
        let written = json
            .map_err(io::Error::from)
            .and_then(|json| self.file.write_all(format!("{key} {json}\n").as_bytes()));
        written.map_err(|error| failed(&self.path, error))
    }
}

fn failed(path: &Path, error: io::Error) -> Error {
    Error::Store {
        file: path.display().to_string(),
        error,
    }
}
