//! Reads the status of all loaded algorithms again and again.

use std::time::{Duration, Instant};

use kernel::holders::{Detail, Holders, Lister, Storage};
use kernel::registry;
use kernel::status::{self, Status};

use crate::output::Failure;

/// Least time between two searches for the processes of connections: a search reads all file descriptors of the host.
const SEARCH: Duration = Duration::from_secs(5);

/// Reads the status of all loaded algorithms.
pub struct Reader<'o> {
    lister: Lister<'o>,
    searched: Option<Instant>,
    /// Number of connections whose process is not known.
    unknown: usize,
}

impl<'o> Reader<'o> {
    /// Loads the programs that list sockets.
    pub fn new(storage: &'o mut Storage) -> Result<Self, Failure> {
        registry::find()?; // the error of a user who may list neither
        Ok(Self {
            lister: Lister::new(storage)?,
            searched: None,
            unknown: 0,
        })
    }

    /// Reads the status of all loaded algorithms.
    pub fn read(&mut self) -> Result<Vec<Status>, Failure> {
        let is_due = |time: Instant| self.unknown > 0 && time.elapsed() >= SEARCH;
        let detail = match self.searched.is_none_or(is_due) {
            true => Detail::Processes,
            false => Detail::Sockets,
        };
        let all = registry::find()?;
        let mut found = self.lister.list(detail)?;
        if detail == Detail::Processes {
            self.searched = Some(Instant::now());
        }
        let statuses = all.iter().map(|registered| {
            let holders = found.take(registered);
            let mut status = status::status(registered, holders)?;
            status.holders = Holders::default(); // not shown
            Ok(status)
        });
        let statuses: Vec<Status> = statuses.collect::<Result<_, Failure>>()?;
        let connections = statuses.iter().flat_map(|status| &status.connections);
        self.unknown = connections.filter(|c| c.process.is_none()).count();
        Ok(statuses)
    }
}
