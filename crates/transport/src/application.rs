//! Applications: the data that they write, at which pace.

pub(crate) mod pace;
pub(crate) mod udp;

use netsim::Span;
use pace::Pace;
use std::collections::VecDeque;

/// What a connection's server has to send.
#[derive(Debug)]
pub enum Application {
    /// For ever.
    Endless,
    /// So many bytes.
    File(u64),
    /// Replies of `bytes` each; the next is written that long after the last byte of the one before was acknowledged.
    Requests {
        /// Bytes of each reply.
        bytes: u64,
        /// The pauses between replies: one fewer than replies.
        gaps: VecDeque<Span>,
    },
    /// Segment by segment at a pace, for ever.
    Paced(Pace),
}
