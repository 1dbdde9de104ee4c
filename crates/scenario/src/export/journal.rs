//! The journal of a sweep: the outcome of each run, on the disk as soon as the run has finished, in any order.
//!
//! A process that is killed loses no finished run: each record is one `write`. The file begins with a record of the sweep's
//! identity, so that another sweep does not continue it.
//!
//! | record | bytes |
//! | --- | --- |
//! | length of the payload | 4, little-endian |
//! | start of the payload's SHA-256 | 4 |
//! | payload, compressed with Snappy | |
//!
//! The payload of the first record is an [`Identity`] as JSON. The others have the number of the run (8 bytes, little-endian)
//! and its [`Finished`] as JSON. A record that is incomplete or damaged ends the journal: [`Journal::resume`] cuts it off.

use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::columns::with_path;
use crate::outcome::Outcome;
use crate::sample::Samples;

/// Length of a record's head, bytes.
const HEAD: usize = 8;
/// Longest payload, bytes: far more than an outcome of the largest scenario has.
const MAX_PAYLOAD: usize = 1 << 30;
/// Longest value of an identity that is stored as such; of a longer one the digest is.
const MAX_VALUE: usize = 100;
/// Offset of a run that has not finished.
const NONE: u64 = u64::MAX;

/// All that decides the runs of a sweep, by name. Long values are digests.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Identity(Vec<[String; 2]>);

impl Identity {
    /// Adds a value.
    pub fn add(&mut self, name: &str, value: impl Into<String>) {
        let mut value = value.into();
        if value.len() > MAX_VALUE {
            let mut digest = "SHA-256 ".to_owned();
            for byte in Sha256::digest(value.as_bytes()) {
                let _ = write!(digest, "{byte:02x}");
            }
            value = digest;
        }
        self.0.push([name.into(), value]);
    }

    /// First difference, as a phrase.
    fn difference(&self, other: &Self) -> Option<String> {
        for [name, value] in &self.0 {
            let found = other.0.iter().find(|[of, _]| of == name);
            match found {
                Some([_, found]) if found == value => {}
                Some([_, found])
                    if value.starts_with("SHA-256 ") || found.starts_with("SHA-256 ") =>
                {
                    return Some(format!("other {name}"));
                }
                Some([_, found]) => return Some(format!("{name} `{found}`, not `{value}`")),
                None => return Some(format!("no {name}")),
            }
        }
        None
    }
}

/// Results of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finished {
    /// Results in numbers.
    pub outcome: Outcome,
    /// Time series, if the run was sampled.
    pub samples: Samples,
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    /// Offset of each run's record, or [`NONE`].
    offsets: Vec<u64>,
    /// End of the last record.
    end: u64,
    finished: usize,
}

impl Journal {
    /// Creates or replaces the journal of a sweep with at most this many runs.
    ///
    /// # Errors
    /// Errors of all methods begin with the file's name.
    pub fn create(path: &Path, identity: &Identity, runs: usize) -> io::Result<Self> {
        let file = files::open_or_create(path).map_err(|error| with_path(path, error))?;
        file.set_len(0).map_err(|error| with_path(path, error))?;
        let mut journal = Self::empty(file, path, runs);
        journal.write(&serde_json::to_vec(&identity.0)?)?;
        Ok(journal)
    }

    fn empty(file: File, path: &Path, runs: usize) -> Self {
        Self {
            file,
            path: path.into(),
            offsets: vec![NONE; runs],
            end: 0,
            finished: 0,
        }
    }

    /// Opens the journal of the same sweep, and cuts off an incomplete record.
    ///
    /// # Errors
    /// For a file that is not a journal, or that of another sweep; the error names the difference.
    pub fn resume(path: &Path, identity: &Identity, runs: usize) -> io::Result<Self> {
        let wrong = |problem: String| io::Error::new(io::ErrorKind::InvalidData, problem);
        let file = files::open_or_create(path);
        let file = file.map_err(|error| with_path(path, error))?;
        let mut journal = Self::empty(file, path, runs);
        let mut records = Records {
            from: BufReader::with_capacity(1 << 16, journal.file.try_clone()?),
        };
        let first = records.next().map_err(|error| with_path(path, error))?;
        let first = first.and_then(|record| serde_json::from_slice(&record.payload).ok());
        let Some(found) = first.map(Identity) else {
            return Err(with_path(
                path,
                wrong("not a journal of `lisa sweep`".into()),
            ));
        };
        if let Some(difference) = identity.difference(&found) {
            let problem =
                format!("the journal of another sweep: {difference}; --force begins anew");
            return Err(with_path(path, wrong(problem)));
        }
        journal.end = Record::length_of(&serde_json::to_vec(&found.0)?)?;
        while let Some(record) = records.next().map_err(|error| with_path(path, error))? {
            let Some((number, _)) = record.payload.split_first_chunk() else {
                break;
            };
            let number = u64::from_le_bytes(*number) as usize;
            let Some(offset) = journal.offsets.get_mut(number) else {
                break;
            };
            if *offset == NONE {
                journal.finished += 1;
            }
            *offset = journal.end;
            journal.end += record.length;
        }
        drop(records);
        let cut = journal.file.set_len(journal.end);
        cut.map_err(|error| with_path(path, error))?;
        Ok(journal)
    }

    /// Number of runs in the journal.
    #[must_use]
    pub fn finished(&self) -> usize {
        self.finished
    }

    /// Whether the journal has the run.
    #[must_use]
    pub fn has(&self, number: usize) -> bool {
        self.offsets
            .get(number)
            .is_some_and(|offset| *offset != NONE)
    }

    /// Appends the results of a run.
    ///
    /// # Panics
    /// For a number beyond that of [`create`](Self::create).
    pub fn append(&mut self, number: usize, run: &Finished) -> io::Result<()> {
        let mut payload = (number as u64).to_le_bytes().to_vec();
        serde_json::to_writer(&mut payload, run)?;
        let at = self.end;
        self.write(&payload)?;
        self.offsets[number] = at;
        self.finished += 1;
        Ok(())
    }

    /// Results of a run that the journal has.
    pub fn read(&self, number: usize) -> io::Result<Finished> {
        let named = |error| with_path(&self.path, error);
        let at = self.offsets[number];
        let mut head = [0; HEAD];
        self.file.read_exact_at(&mut head, at).map_err(named)?;
        let mut compressed = vec![0; length(&head)];
        let read = self.file.read_exact_at(&mut compressed, at + HEAD as u64);
        read.map_err(named)?;
        let payload = decompress(&compressed).map_err(named)?;
        let json = payload.get(8..).unwrap_or_default();
        serde_json::from_slice(json).map_err(|error| named(error.into()))
    }

    fn write(&mut self, payload: &[u8]) -> io::Result<()> {
        let record = Record::encode(payload)?;
        let written = self.file.write_all_at(&record, self.end);
        written.map_err(|error| with_path(&self.path, error))?;
        self.end += record.len() as u64;
        Ok(())
    }
}

/// A record that was read.
struct Record {
    payload: Vec<u8>,
    /// Length in the file, bytes.
    length: u64,
}

impl Record {
    fn encode(payload: &[u8]) -> io::Result<Vec<u8>> {
        let compressed = snap::raw::Encoder::new().compress_vec(payload);
        let compressed = compressed.map_err(io::Error::other)?;
        let mut record = Vec::with_capacity(HEAD + compressed.len());
        record.extend((compressed.len() as u32).to_le_bytes());
        record.extend(&Sha256::digest(&compressed)[..4]);
        record.extend(compressed);
        Ok(record)
    }

    fn length_of(payload: &[u8]) -> io::Result<u64> {
        Ok(Self::encode(payload)?.len() as u64)
    }
}

/// The records of a journal, in the order of the file.
struct Records {
    from: BufReader<File>,
}

impl Records {
    /// The next complete record; none at the end and before a damaged record.
    fn next(&mut self) -> io::Result<Option<Record>> {
        let mut head = [0; HEAD];
        if !fill(&mut self.from, &mut head)? || length(&head) > MAX_PAYLOAD {
            return Ok(None);
        }
        let mut compressed = Vec::new();
        let wanted = length(&head) as u64;
        let read = self
            .from
            .by_ref()
            .take(wanted)
            .read_to_end(&mut compressed)?;
        if read as u64 != wanted || Sha256::digest(&compressed)[..4] != head[4..] {
            return Ok(None);
        }
        Ok(decompress(&compressed).ok().map(|payload| Record {
            payload,
            length: HEAD as u64 + wanted,
        }))
    }
}

/// Fills the buffer; false at the end of the file.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

fn length(head: &[u8; HEAD]) -> usize {
    u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize
}

fn decompress(compressed: &[u8]) -> io::Result<Vec<u8>> {
    let payload = snap::raw::Decoder::new().decompress_vec(compressed);
    payload.map_err(io::Error::other)
}

#[cfg(test)]
#[path = "journal_tests.rs"]
mod tests;
