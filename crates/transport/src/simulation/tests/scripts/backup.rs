//! Backup subflows (RFC 8684, 3.3.8): their choice by the scheduler and by the connection's retransmission timer.

use super::*;

const MSS: u32 = 1424;
/// Size of the first piece of the stream, bytes.
const PIECE: u32 = 32_728;

/// Two subflows. The second joins with flag B in its SYN if `backup`.
fn joined(backup: bool) -> Script {
    let file = Application::File(3000 * u64::from(MSS));
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    script.receive(Segment::Syn {
        subflow: subflow(1),
        backup,
    });
    script.until(101);
    script.receive(handshake_ack(1));
    script.until(103);
    script
}

/// An ACK on subflow `on` of its bytes before `seq` and of those of the stream before `data`.
fn ack(script: &mut Script, ms: u64, on: u8, seq: u32, data: u32) {
    script.until(ms);
    script.receive(Segment::Ack(Ack {
        subflow: subflow(on),
        seq,
        data_ack: data,
        window: 5000 * MSS,
        sack: 0,
        echo_us: 0,
        flags: 0,
    }));
}

/// Number of segments that a subflow has sent, and whether more are queued.
fn sent(script: &Script, subflow: usize) -> (u64, bool) {
    let nxt = script.simulation.tcp_info(subflow).snd_nxt;
    let unsent = script.simulation.unsent(subflow);
    (nxt.div_ceil(MSS.into()), !unsent.is_empty())
}

/// Data sequence number of segment `seq` on the backup.
fn data(script: &Script, seq: usize) -> u32 {
    let on_backup = |(data, again): &&(Data, bool)| data.subflow == subflow(1) && !again;
    let sent = script.data.iter().filter(on_backup).nth(seq);
    sent.expect("it was sent").0.dsn
}

/// mptcp_subflow_get_send counts the active subflows that are not backups, regardless of their send buffers.
#[test]
fn a_backup_sends_nothing_while_another_subflow_can_send() {
    let mut script = joined(true);
    assert!(script.simulation.sender(1).is_backup());
    assert!(!script.sender().has_room(), "the send buffer is full");
    for seq in 1..200 {
        ack(&mut script, 110 + u64::from(seq), 0, seq * MSS, seq * MSS);
    }
    assert!(sent(&script, 0).0 > 200);
    assert_eq!(sent(&script, 1), (0, false));
    let other = joined(false);
    assert!(sent(&other, 1).0 > 0, "without flag B the subflow sends");
}

/// mptcp_subflow_get_retrans chooses a backup if no subflow has received an ACK for two intervals of the connection's
/// timer. After five the first subflow is stale (mptcp_pm_nl_subflow_chk_stale), and the backup carries all of the
/// stream until an ACK arrives on the first (mptcp_subflow_active).
#[test]
fn a_backup_takes_over_when_the_others_receive_no_ack() {
    let mut script = joined(true);
    let mut now = 103;
    let mut wait_for = |script: &mut Script, count: u32| {
        while script.simulation.stale_intervals(0) < count {
            now += 4;
            script.until(now);
        }
        now
    };
    wait_for(&mut script, 1);
    assert_eq!(sent(&script, 1), (0, false), "after one interval");
    let mut at = wait_for(&mut script, 2);
    assert_eq!(sent(&script, 1), (10, true), "after two intervals");
    assert_eq!(data(&script, 0), 0, "the first unacknowledged byte");
    // The first piece has 23 segments. ACKs on the backup do not count for the first subflow.
    for seq in (2..=22).step_by(2).chain([23]) {
        at += 1;
        let bytes = (seq * MSS).min(PIECE);
        ack(&mut script, at, 1, bytes, bytes);
    }
    assert_eq!(sent(&script, 1), (23, false), "only the first piece");
    assert_eq!(script.simulation.subflow_state(0), SubflowState::Open);
    wait_for(&mut script, 5);
    assert_eq!(script.simulation.subflow_state(0), SubflowState::Stalled);
    let (before, more) = sent(&script, 1);
    assert!(before > 23 && more, "{before}");
    assert_eq!(
        data(&script, 23),
        PIECE,
        "from the first unacknowledged byte on"
    );
    // The first subflow receives an ACK. The backup sends its queued segments and gets no new data.
    let now = script.simulation.env.now.as_nanos() / 1_000_000 - RTT;
    ack(&mut script, now + 1, 0, 10 * MSS, PIECE);
    assert_eq!(script.simulation.subflow_state(0), SubflowState::Open);
    let until = |script: &Script| script.simulation.unsent(1).into_iter().last();
    let handed = until(&script);
    for seq in 1..20 {
        let data = PIECE + seq * MSS;
        ack(&mut script, now + 1 + u64::from(seq), 1, data, data);
    }
    assert_eq!(until(&script), handed);
}

/// A backup is used at once if every other subflow is closed.
#[test]
fn a_backup_sends_when_the_others_are_closed() {
    let mut script = joined(true);
    script.receive(Segment::Reset {
        subflow: subflow(0),
    });
    assert_eq!(script.simulation.subflow_state(0), SubflowState::Closed);
    assert_eq!(sent(&script, 1), (10, true));
    assert_eq!(data(&script, 0), 0);
}
