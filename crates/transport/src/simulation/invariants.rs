//! Invariants that are checked after every event in debug builds.

use crate::environment::timers::Timers;
use crate::profile::Detection;
use crate::subflow::sender::{Sender, SubflowState};
use crate::{connection::Connection, environment::TimerOwner};

/// Checks the counts and the timer of a sender.
///
/// # Panics
/// If an invariant does not hold.
pub(crate) fn sender(sender: &Sender, timers: &Timers<TimerOwner>) {
    let (id, out) = (sender.id, sender.packets_out());
    (sender.scoreboard).check(sender.profile.detection != Detection::DuplicateAcks);
    assert!(sender.tcp.cwnd >= 1, "{id:?}: the window is 0");
    if matches!(
        sender.subflow_state,
        SubflowState::Open | SubflowState::Stalled
    ) {
        assert!(
            out == 0 || timers.is_set(sender.timer),
            "{id:?} has {out} packets out and no timer"
        );
    }
}

/// Checks a connection's stream: no byte is sent that was not written or is beyond the receive window, no byte is
/// acknowledged that has not arrived.
///
/// # Panics
/// If an invariant does not hold.
pub(crate) fn connection(connection: &Connection) {
    let (send, receive) = (&connection.send, &connection.receive);
    send.stream.check(receive.stream.next());
    receive.check(send.stream.end);
    let sent: u64 = (send.subflows.iter())
        .map(|sender| sender.scoreboard.nxt())
        .sum();
    assert!(send.stream.una <= sent, "unsent bytes are acknowledged");
}
