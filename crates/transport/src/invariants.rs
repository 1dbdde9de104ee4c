//! What must hold after every event. Debug builds recount it from what each segment is marked with.

use crate::board::mark;
use crate::connection::Connection;
use crate::profile::{Detection, Profile};
use crate::sender::{Life, Sender};
use crate::timers::Timers;

/// A sender's counts against its board.
///
/// # Panics
/// Where they differ.
pub(crate) fn sender(sender: &Sender, profile: &Profile, timers: &Timers) {
    let (me, out) = (sender.me, sender.out());
    let count = |marks: u8| {
        let segments = sender.una..sender.nxt;
        segments
            .filter(|seq| sender.board.at(*seq).is(marks))
            .count() as u32
    };
    assert_eq!(sender.lost, count(mark::LOST), "lost of {me}");
    assert_eq!(sender.again, count(mark::AGAIN), "sent again of {me}");
    assert_eq!(sender.buffers, count(mark::FIRST), "buffers of {me}");
    if profile.detection == Detection::DuplicateAcks {
        assert!(sender.sacked + sender.lost <= out, "duplicate ACKs of {me}");
    } else {
        assert_eq!(sender.sacked, count(mark::SACKED), "sacked of {me}");
        let both = |seq: &u64| {
            let sent = sender.board.at(*seq);
            sent.is(mark::SACKED) && sent.is(mark::LOST)
        };
        assert!(
            !(sender.una..sender.nxt).any(|seq| both(&seq)),
            "lost and there, of {me}"
        );
        assert!(out + sender.again >= sender.sacked + sender.lost);
    }
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
    let sent = |sender: &Sender| sender.nxt * u64::from(sender.mss) - sender.missing;
    let sent: u64 = senders.iter().map(sent).sum();
    assert!(connection.una <= sent, "acknowledged and never sent");
}
