//! Applications: their data and their pace.

pub(crate) mod pace;
pub(crate) mod udp;

use netsim::Span;
use pace::Pace;
use std::collections::VecDeque;

/// Data that a connection's server sends.
#[derive(Debug)]
pub enum Application {
    /// Endless data, always available.
    Endless,
    /// A file of this many bytes.
    File(u64),
    /// Replies of `bytes` each. A reply is written one gap after the last byte of the reply before was acknowledged.
    Requests {
        /// Bytes of each reply.
        bytes: u64,
        /// Gaps between replies, one fewer than replies.
        gaps: VecDeque<Span>,
    },
    /// One segment at a time at a pace, endless.
    Paced(Pace),
}
