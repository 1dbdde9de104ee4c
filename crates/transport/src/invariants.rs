//! What must hold after every event, in debug builds.

use crate::connection::Connection;
use crate::profile::{Detection, Profile};
use crate::sender::{Life, Sender};
use crate::timers::Timers;

/// A sender's counts and its timer.
///
/// # Panics
/// Where they differ.
pub(crate) fn sender(sender: &Sender, profile: &Profile, timers: &Timers) {
    let (me, out) = (sender.me, sender.out());
    (sender.scoreboard).check(profile.detection != Detection::DuplicateAcks);
    assert!(sender.tcp.cwnd >= 1, "no window at {me}");
    if matches!(sender.life, Life::Open | Life::Stalled) {
        assert!(
            out == 0 || timers.is_set(sender.timer),
            "{me} has {out} out and waits for nothing"
        );
    }
}

/// A connection's stream: nothing is sent that was not written or that the receiver does not take, nothing is
/// acknowledged that has not arrived.
///
/// # Panics
/// Where it is otherwise.
pub(crate) fn connection(connection: &Connection, senders: &[Sender]) {
    connection.check();
    let sent: u64 = senders.iter().map(|sender| sender.scoreboard.nxt()).sum();
    assert!(connection.una <= sent, "acknowledged and never sent");
}
