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
    /// Replies. A reply is written one gap after the last byte of the reply before was acknowledged.
    Requests {
        /// Bytes of the reply that is being written, or is the next one.
        bytes: u64,
        /// Replies after it, in order.
        later: VecDeque<Reply>,
    },
    /// One segment at a time at a pace, endless.
    Paced(Pace),
}

/// A reply that follows another one.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// Time from the ACK of the last byte of the reply before.
    pub gap: Span,
    /// Size, bytes.
    pub bytes: u64,
}
