//! Disciplines that distribute the stream of a connection over its subflows. A connection has one discipline; events
//! branch on it once.

use super::SendStream;
use crate::environment::Env;
use crate::profile::Profile;
use crate::subflow::sender::limits::Limit;
use crate::subflow::sender::send_queue::FirstBuffer;
use crate::subflow::sender::{Piece, Sender};
use crate::trace::Observer;

/// Discipline of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Discipline {
    /// Linux's MPTCP scheduler: pieces wait in the send buffers of the subflows (`scheduler.rs`).
    Mptcp,
    /// Each segment goes to the subflow with room and the lowest RTT (`lowest_rtt.rs`).
    LowestRtt,
    /// Linux's TCP: one subflow with a write queue of sk_buffs (`tcp.rs`).
    Tcp,
}

impl Discipline {
    /// Discipline of a connection with this profile.
    pub(crate) fn of(profile: &Profile, mptcp: bool) -> Self {
        match (profile.write_queues, mptcp) {
            (false, _) => Self::LowestRtt,
            (true, true) => Self::Mptcp,
            (true, false) => Self::Tcp,
        }
    }
}

/// Decisions of a discipline. The code of a connection's events is compiled for each discipline.
pub(crate) trait Distribute {
    const IS_MPTCP: bool = false;
    const IS_TCP: bool = false;
    /// Whether unsent data waits in the send queues of subflows.
    const BUFFERS: bool = Self::IS_MPTCP || Self::IS_TCP;

    /// The sk_buff from which a subflow sends next.
    fn first(stream: &SendStream, sender: &Sender) -> FirstBuffer;

    /// Takes at most `max` unsent segments for a subflow.
    fn take(stream: &mut SendStream, sender: &mut Sender, max: u32) -> Option<Piece>;

    /// Whether a segment waits for this subflow and fits the receive window.
    fn can_send(stream: &SendStream, sender: &Sender) -> bool;

    /// Whether other subflows may have become able to send, too, when the window of subflow `index` has opened.
    fn may_affect_others(stream: &SendStream, subflows: &[Sender], index: usize) -> bool;

    /// All subflows send as far as their windows allow. `trigger`: the subflow whose ACK is the reason. Returns whether
    /// `trigger` has set its timer.
    fn push_all<O: Observer>(
        stream: &mut SendStream,
        subflows: &mut [Sender],
        env: &mut Env<O>,
        trigger: Option<usize>,
    ) -> bool;

    /// Whether the application has free send buffer after an ACK of this subflow.
    fn is_writable(stream: &SendStream, sender: &Sender) -> bool;

    /// What holds back a subflow whose congestion window has room.
    fn limit(stream: &SendStream, subflows: &[Sender], index: usize) -> Limit;

    /// The application writes to the send buffers.
    fn write(stream: &mut SendStream, subflows: &mut [Sender]);

    /// Called after a subflow has sent as far as its window allows.
    #[inline(always)]
    fn after_push(_: &mut SendStream) {}
}
