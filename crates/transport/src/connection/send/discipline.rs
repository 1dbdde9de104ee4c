//! How a connection gives its stream to its subflows: one choice for each connection, made once for each event.

use super::SendStream;
use crate::environment::Env;
use crate::profile::Profile;
use crate::subflow::sender::{Piece, Sender};
use crate::trace::Observer;

/// The disciplines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discipline {
    /// Linux's MPTCP scheduler: pieces wait in the send buffers of the subflows (`scheduler.rs`).
    Mptcp,
    /// Segment by segment, to the subflow with room and the lowest RTT (`lowest_rtt.rs`).
    LowestRtt,
    /// Linux's TCP: one subflow with a write queue of sk_buffs (`tcp.rs`).
    Tcp,
}

impl Discipline {
    /// That of a connection.
    pub(crate) fn of(profile: &Profile, mptcp: bool) -> Self {
        match (profile.write_queues, mptcp) {
            (false, _) => Self::LowestRtt,
            (true, true) => Self::Mptcp,
            (true, false) => Self::Tcp,
        }
    }
}

/// What a discipline decides. The code of a connection's events is compiled for each.
pub(crate) trait Distribute {
    const IS_MPTCP: bool = false;
    const IS_TCP: bool = false;
    /// Whether unsent data waits in the send buffers of subflows.
    const BUFFERS: bool = Self::IS_MPTCP || Self::IS_TCP;

    /// Bytes that wait for a subflow in one sk_buff, and whether none wait behind them.
    fn first(stream: &SendStream, sender: &Sender) -> (u64, bool);

    /// Takes at most `most` unsent segments for a subflow.
    fn take(stream: &mut SendStream, sender: &mut Sender, most: u32) -> Option<Piece>;

    /// Whether a segment waits for this subflow that the receiver takes.
    fn can_send(stream: &SendStream, sender: &Sender) -> bool;

    /// Whether other subflows than this one may have something to send, now that its window has opened.
    fn concerns_all(stream: &SendStream, subflows: &[Sender], place: usize) -> bool;

    /// All subflows send what their windows allow. `trigger`: the subflow whose ACK is the reason. Returns whether that one has
    /// set its timer.
    fn push_all<O: Observer>(
        stream: &mut SendStream,
        subflows: &mut [Sender],
        env: &mut Env<O>,
        trigger: Option<usize>,
    ) -> bool;

    /// Whether the application has come to have room, after an ACK of this subflow.
    fn is_writable(stream: &SendStream, sender: &Sender) -> bool;

    /// The application writes to the send buffers.
    fn write(stream: &mut SendStream, subflows: &mut [Sender]);

    /// A subflow has sent what it could.
    #[inline(always)]
    fn after_push(_: &mut SendStream) {}
}
