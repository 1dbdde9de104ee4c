//! Which subflow is handed which part of the stream.

use super::*;

/// The numbers in the stream of what a subflow has sent.
fn data(script: &Script, subflow: usize) -> Vec<u32> {
    let sender = &script.simulation.senders[subflow];
    (0..sender.nxt)
        .map(|seq| sender.board.at(seq).data)
        .collect()
}

/// What the subflows still have to send.
fn waiting(script: &Script) -> [Vec<u64>; 2] {
    [0, 1].map(|i| script.simulation.senders[i].queue.iter().collect())
}

fn range(numbers: std::ops::Range<u64>) -> Vec<u64> {
    numbers.collect()
}

/// Seen on Linux 6.18 with 300 KB: 65 456 bytes were written at first, 130 912 when the second subflow was there.
#[test]
fn pieces_wait_at_the_subflows_and_the_application_is_ahead_by_their_buffers() {
    let file = Application::File(300 * 1424);
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    assert_eq!(data(&script, 0), (0..10).collect::<Vec<_>>());
    assert_eq!(waiting(&script), [range(10..46), vec![]]);
    script.simulation.senders[0].tcp.ssthresh = 10; // it does not come to the end of what it has
    script.ack(100, 2);
    assert_eq!(waiting(&script), [range(12..46), vec![]]);
    script.handshake(1, Kind::Syn);
    script.until(101);
    script.handshake(1, Kind::Established);
    assert_eq!(data(&script, 1), [], "the application has not been woken");
    script.until(102);
    assert_eq!(data(&script, 1), (46..56).collect::<Vec<_>>());
    assert_eq!(waiting(&script), [range(12..46), range(56..92)]);
    // The first goes on with its own; the buffers of both are 96 256 bytes, 68 segments.
    for ack in [12, 22, 24] {
        script.ack(100 + u64::from(ack), ack);
        assert_eq!(waiting(&script)[1], range(56..92));
        assert!(waiting(&script)[0].iter().all(|seq| *seq < 46));
    }
    script.ack(130, 25);
    // It would be done sooner than the second, which has 46.
    assert!(waiting(&script)[0].ends_with(&range(92..115)));
    assert_eq!(script.simulation.connections[0].nxt, 115);
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
    assert_eq!(data(&script, 1), (14..24).collect::<Vec<_>>());
}
