//! Amount of data that an observer of a simulation holds in memory.

use transport::{Observer, Quiet};

/// An observer that counts its records.
pub(super) trait Recording: Observer {
    /// Number of rows of the trace.
    fn rows(&self) -> usize;

    /// Number of captured packets.
    fn packets(&self) -> usize {
        0
    }
}

impl Recording for Quiet {
    fn rows(&self) -> usize {
        0
    }
}
