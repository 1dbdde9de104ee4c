//! Entries of the scoreboard (struct sk_buff), which count as memory.

use super::*;

/// First segment of each entry, and the one after its last.
fn buffers(script: &Script) -> Vec<(u64, u64)> {
    let mss = u64::from(script.mss());
    let entries = script.simulation.retransmit_queue().into_iter();
    entries
        .map(|skb| (skb.start / mss, skb.end.div_ceil(mss)))
        .collect()
}

#[test]
fn sack_blocks_split_and_join_entries() {
    let mut script = linux(1000);
    assert_eq!(buffers(&script), [(0, 2), (2, 4), (4, 6), (6, 8), (8, 10)]);
    script.sack(100, 0, &[(1, 2)]);
    assert_eq!(buffers(&script)[..3], [(0, 1), (1, 2), (2, 4)]);
    // The SACKed part of the next entry is joined to the entry before.
    script.sack(101, 0, &[(1, 3)]);
    assert_eq!(buffers(&script)[..4], [(0, 1), (1, 3), (3, 4), (4, 6)]);
    script.sack(102, 0, &[(5, 6), (1, 3)]);
    // The segment on its left is not SACKed by this ACK: no join.
    script.sack(103, 0, &[(4, 6), (1, 3)]);
    let parts = [(0, 1), (1, 3), (3, 4), (4, 5), (5, 6), (6, 8)];
    assert_eq!(buffers(&script)[..6], parts);
    // A gap is closed: one entry behind it is joined.
    script.sack(104, 0, &[(1, 6)]);
    assert_eq!(buffers(&script)[..4], [(0, 1), (1, 5), (5, 6), (6, 8)]);
    // Acknowledged segments are removed.
    script.ack(105, 7);
    assert_eq!(buffers(&script)[..2], [(7, 8), (8, 10)]);
    // A short segment is not joined to a full one.
    let file = Application::File(9 * 1448 + 100);
    let mut script = Script::with(Profile::linux(), "reno", file);
    script.sack(100, 0, &[(8, 9)]);
    script.sack(101, 0, &[(8, 10)]);
    assert_eq!(buffers(&script)[4..], [(8, 9), (9, 10)]);
}

#[test]
fn a_retransmission_splits_its_entry() {
    let mut script = linux(1000);
    while !script.sent().iter().any(|(_, _, again)| *again) {
        let next = script.simulation.env.timers.next();
        script.until(next.as_nanos() / 1_000_000 - RTT + 1);
    }
    assert_eq!(buffers(&script)[..3], [(0, 1), (1, 2), (2, 4)], "a timeout");
    let mut script = linux(10);
    script.until(250);
    assert_eq!(script.sent().last().unwrap().1, 9);
    assert_eq!(buffers(&script)[3..], [(6, 8), (8, 9), (9, 10)], "a probe");
    // The window has room for both segments.
    let mut script = linux(1000);
    script.sack(100, 0, &[(2, 10)]);
    assert!(script.sent().contains(&(100, 1, true)));
    assert_eq!(buffers(&script)[..2], [(0, 2), (2, 10)]);
}

/// Data that is put into one buffer of a subflow is one mapping of the stream.
#[test]
fn entries_of_two_mappings_are_not_joined() {
    let file = Application::File(3000 * 1424);
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    let rest = ByteRange::new(10 * 1424, 40 * 1424);
    script.simulation.replace_unsent(&[rest], 3 * 1424);
    script.ack(100, 4);
    let sent = [(10, 12), (12, 13), (13, 15), (15, 16), (16, 18)];
    assert!(buffers(&script).ends_with(&sent));
    script.sack(101, 4, &[(10, 14)]);
    assert!(buffers(&script).ends_with(&[(10, 13), (13, 14), (14, 15), (15, 16), (16, 18)]));
}

/// A retransmission is at most a burst at the present pacing rate.
#[test]
fn a_lost_entry_is_retransmitted_in_bursts() {
    let mut script = linux(1000);
    script.simulation.set_cwnd(600);
    script.ack(100, 2);
    let parts = buffers(&script);
    let large = *parts.iter().find(|part| part.1 - part.0 > 4).unwrap();
    script.simulation.set_cwnd(60);
    assert_eq!(script.sender().burst_size(), 2);
    let nxt = u64::from(script.nxt());
    script.ack(201, large.0 as u32);
    script.sack(202, large.0 as u32, &[(large.1, nxt)]);
    assert_eq!(script.sent().iter().filter(|sent| sent.2).count(), 1);
    let simulation = &mut script.simulation;
    simulation.set_cwnd(60);
    simulation.retransmit_lost();
    let parts = buffers(&script);
    let sizes: Vec<u64> = (parts.iter().take_while(|part| part.0 < large.1))
        .map(|part| part.1 - part.0)
        .collect();
    assert_eq!(sizes, [1, 2, 2, 2, 2, 2]);
}

/// tcp_sndbuf_expand: room for twice the window at 2304 bytes of memory a segment. It does not shrink.
#[test]
fn the_send_buffer_grows_with_the_window() {
    let mut script = linux(10_000);
    let size = |script: &Script| script.info().send_buffer;
    assert_eq!(size(&script), 2 * 10 * 2304);
    let mut largest = 0;
    for round in 1..=5 {
        let sent = script.nxt();
        while script.una() < sent {
            let ack = (script.una() + 2).min(sent);
            script.ack(round * 100, ack);
            largest = largest.max(script.cwnd());
        }
        let frames = size(&script) / 2304;
        let window = u64::from(script.cwnd());
        assert!((window..=2 * window).contains(&frames), "{frames} {window}");
    }
    assert!(largest > 200, "{largest}");
    let before = size(&script);
    script.until(2000);
    assert_eq!(script.cwnd(), 1, "a timeout");
    assert_eq!(size(&script), before);
}

/// When a gap closes, the entry behind it is joined only if its segments have the same size.
#[test]
fn a_short_segment_behind_a_gap_is_not_joined() {
    let file = Application::File(9 * 1448 + 100);
    let mut script = Script::with(Profile::linux(), "reno", file);
    script.sack(100, 0, &[(9, 10)]);
    script.sack(101, 0, &[(7, 8), (9, 10)]);
    script.sack(102, 0, &[(7, 10)]);
    assert_eq!(buffers(&script)[3..], [(6, 7), (7, 9), (9, 10)]);
}
