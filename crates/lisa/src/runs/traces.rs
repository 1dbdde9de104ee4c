//! Files with the events and packets of runs.

use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use scenario::export::columns::Format;
use scenario::{Run, Watch, export};

use crate::output::Failure;

/// Directory and format of trace files.
pub struct TraceFiles {
    pub directory: PathBuf,
    pub format: Format,
    /// Whether there are files of samples.
    pub samples: bool,
}

/// Directories of trace files and packet captures, which threads write at the same time.
pub struct Traces {
    /// Start of the names of all files ([`export::stem`]).
    stem: String,
    trace: Option<TraceFiles>,
    pcap: Option<PathBuf>,
    /// False once [`close`](Self::close) was called. Each write holds the lock for reading, so that `close` waits for all.
    open: RwLock<bool>,
}

impl Traces {
    /// Traces and captures in these directories, which exist.
    pub fn new(stem: String, trace: Option<TraceFiles>, pcap: Option<PathBuf>) -> Self {
        Self {
            stem,
            trace,
            pcap,
            open: RwLock::new(true),
        }
    }

    /// The recordings that a run needs for these files.
    pub fn watch(&self) -> Watch {
        Watch {
            trace: self.trace.is_some(),
            capture: self.pcap.is_some(),
            segments: false,
            sample: None, // the job's
        }
    }

    /// Writes the files of a run. After [`close`](Self::close) it writes nothing.
    pub fn write(&self, run: &Run) -> Result<(), Failure> {
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        if !*open {
            return Ok(());
        }
        if let Some(trace) = &self.trace {
            export::write_trace(run, &trace.directory, &self.stem, trace.format)?;
            if trace.samples {
                export::write_samples(run, &trace.directory, &self.stem, trace.format)?;
            }
        }
        if let Some(directory) = &self.pcap {
            export::write_capture(run, directory, &self.stem)?;
        }
        Ok(())
    }

    /// Waits for the writes in progress and prevents further ones, because the end of the process would leave half a file.
    pub fn close(&self) {
        *self.open.write().unwrap_or_else(PoisonError::into_inner) = false;
    }
}
