//! Which subflow is handed which part of the stream.

use super::*;

const MSS: u64 = 1424;

/// What a subflow has sent, segment by segment: the first byte of the stream, and how many.
fn data(script: &Script, subflow: usize) -> Vec<(u64, u64)> {
    let sender = &script.simulation.senders[subflow];
    let sent = (0..sender.nxt).map(|seq| sender.board.at(seq));
    sent.map(|sent| (sent.data.into(), sent.len.into()))
        .collect()
}

/// So many full segments from this byte on.
fn full(from: u64, count: u64) -> Vec<(u64, u64)> {
    (0..count).map(|i| (from + i * MSS, MSS)).collect()
}

/// What the subflows still have to send, whatever buffers it is in: first byte and the one after the last.
fn waiting(script: &Script) -> [Vec<(u64, u64)>; 2] {
    [0, 1].map(|i| {
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for (from, until) in script.simulation.senders[i].queue.ranges() {
            match parts.last_mut() {
                Some(last) if last.1 == from => last.1 = until,
                _ => parts.push((from, until)),
            }
        }
        parts
    })
}

/// Seen on Linux 6.18 with 300 KB: 65 456 bytes were written at first, 130 912 when the second subflow was there.
#[test]
fn pieces_wait_at_the_subflows_and_the_application_is_ahead_by_their_buffers() {
    let file = Application::File(300 * 1424);
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    assert_eq!(data(&script, 0), full(0, 10));
    assert_eq!(waiting(&script), [vec![(10 * MSS, 65_456)], vec![]]);
    script.simulation.senders[0].tcp.ssthresh = 10; // it does not come to the end of what it has
    script.ack(100, 2);
    assert_eq!(waiting(&script), [vec![(12 * MSS, 65_456)], vec![]]);
    script.handshake(1, Kind::Syn);
    script.until(101);
    script.handshake(1, Kind::Established);
    assert_eq!(data(&script, 1), [], "the application has not been woken");
    script.until(102);
    assert_eq!(data(&script, 1), full(65_456, 10));
    let second = vec![(65_456 + 10 * MSS, 130_912)];
    assert_eq!(waiting(&script), [vec![(12 * MSS, 65_456)], second.clone()]);
    // The first goes on with its own; the buffers of both are 96 256 bytes.
    for ack in 3..=24 {
        script.ack(102 + u64::from(ack), ack);
        assert_eq!(waiting(&script)[1], second);
        assert!(waiting(&script)[0].iter().all(|part| part.1 == 65_456));
    }
    script.ack(130, 25);
    assert!(
        waiting(&script)[0].iter().all(|part| part.1 == 65_456),
        "what the ACK lets out goes before what the application writes"
    );
    script.until(131);
    // It would be done sooner than the second, which has two pieces.
    assert!(waiting(&script)[0].ends_with(&[(130_912, 163_640)]));
    assert_eq!(script.simulation.connections[0].nxt, 163_640);
}

#[test]
fn other_profiles_fill_whatever_window_opens() {
    let file = Application::File(300 * 1424);
    let mut script = Script::with_subflows(Profile::linux_3_14(), "reno", file, 2);
    script.ack(100, 2);
    assert_eq!(waiting(&script), [vec![], vec![]]);
    script.handshake(1, Kind::Syn);
    script.until(101);
    script.handshake(1, Kind::Established);
    assert_eq!(data(&script, 1), full(14 * MSS, 10));
}
