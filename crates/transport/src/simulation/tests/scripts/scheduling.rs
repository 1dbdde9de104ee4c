//! Distribution of the stream over the subflows.

use super::*;

const MSS: u64 = 1424;

/// Segments that a subflow has sent: data sequence number and size, bytes.
fn data(script: &Script, subflow: usize) -> Vec<(u64, u64)> {
    let on = |(data, again): &&(Data, bool)| data.subflow.index() == subflow && !again;
    let sent = script.data.iter().filter(on);
    sent.map(|(data, _)| (data.dsn.into(), data.len.into()))
        .collect()
}

/// `count` full segments from this byte on.
fn full(from: u64, count: u64) -> Vec<(u64, u64)> {
    (0..count).map(|i| (from + i * MSS, MSS)).collect()
}

/// Ranges that the subflows have queued: first byte and byte after the last. Adjacent buffers are merged.
fn waiting(script: &Script) -> [Vec<(u64, u64)>; 2] {
    [0, 1].map(|i| {
        let mut parts: Vec<(u64, u64)> = Vec::new();
        for buffer in script.simulation.unsent(i).into_iter() {
            match parts.last_mut() {
                Some(last) if last.1 == buffer.start => last.1 = buffer.end,
                _ => parts.push((buffer.start, buffer.end)),
            }
        }
        parts
    })
}

/// Linux 6.18 with 300 KB writes 65 456 bytes at first, and 130 912 after the join of the second subflow.
#[test]
fn pieces_are_queued_at_subflows_and_writes_fill_their_send_buffers() {
    let file = Application::File(300 * 1424);
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    assert_eq!(data(&script, 0), full(0, 10));
    assert_eq!(waiting(&script), [vec![(10 * MSS, 65_456)], vec![]]);
    script.simulation.set_ssthresh(10); // so that its queue does not run empty
    script.ack(100, 2);
    assert_eq!(waiting(&script), [vec![(12 * MSS, 65_456)], vec![]]);
    script.receive(syn(1));
    script.until(101);
    script.receive(handshake_ack(1));
    assert_eq!(data(&script, 1), [], "the application has not been woken");
    script.until(102);
    assert_eq!(data(&script, 1), full(65_456, 10));
    let second = vec![(65_456 + 10 * MSS, 130_912)];
    assert_eq!(waiting(&script), [vec![(12 * MSS, 65_456)], second.clone()]);
    // The first subflow sends its own queue; the send buffers of both are 96 256 bytes.
    for ack in 3..=24 {
        script.ack(102 + u64::from(ack), ack);
        assert_eq!(waiting(&script)[1], second);
        assert!(waiting(&script)[0].iter().all(|part| part.1 == 65_456));
    }
    script.ack(130, 25);
    assert!(
        waiting(&script)[0].iter().all(|part| part.1 == 65_456),
        "segments released by the ACK leave before the application writes"
    );
    script.until(131);
    // The first subflow would drain sooner than the second, which has two pieces.
    assert!(waiting(&script)[0].ends_with(&[(130_912, 163_640)]));
    assert_eq!(script.simulation.stream_nxt(), 163_640);
}

/// A write of the application triggers the subflows that are given data. A subflow whose send buffer is full and which
/// defers a single segment is not triggered (__mptcp_push_pending).
#[test]
fn a_write_triggers_the_subflows_that_are_given_data() {
    let file = Application::File(3000 * 1424);
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    let sent = |script: &Script| script.nxt();
    for ack in 1..40 {
        script.ack(100 + u64::from(ack), ack);
    }
    script.until(150);
    script.simulation.mark_all_queued();
    let cwnd = script.cwnd();
    script.simulation.set_cwnd(cwnd + 1);
    let before = sent(&script);
    script.simulation.push_all(None);
    assert_eq!(sent(&script), before);
    script.simulation.push_all(Some(0));
    assert!(sent(&script) > before, "its own ACK triggers the subflow");
}

/// TCP's write queue: buffers of 45 segments, or of half of the first window, are filled up regardless of memory. The
/// first takes from the next what a burst needs. A single remaining segment is not deferred.
#[test]
fn tcp_fills_up_its_last_buffer() {
    let buffers = |script: &Script| -> Vec<u64> {
        let ranges = script.simulation.unsent(0).into_iter();
        ranges.map(|buffer| buffer.len() / 1448).collect()
    };
    let mut script = linux(1000);
    // Send buffer of 46 080 bytes: one buffer of 45 segments fits, of which ten are sent.
    assert_eq!(buffers(&script), [35]);
    script.ack(100, 2);
    script.until(102);
    // The last unsent buffer is filled up.
    assert_eq!(buffers(&script)[0], 45);
    let segments = |start: u64, count: u64| ByteRange::new(start, start + count * 1448);
    let start = script.simulation.unsent(0)[0].start;
    let two = [segments(start, 1), segments(start + 100 * 1448, 45)];
    script.simulation.replace_unsent(&two, 45 * 1448);
    script.simulation.sender_mut(0).grow_buffer(1);
    assert_eq!(
        buffers(&script),
        [1, 45],
        "the first buffer suffices for one segment"
    );
    let cwnd = script.sender().flight() + 2;
    script.simulation.set_cwnd(cwnd);
    let before = script.info().snd_nxt;
    script.simulation.push_all(None);
    assert_eq!(
        script.info().snd_nxt,
        before + 2 * 1448,
        "both segments at once"
    );
    assert_eq!(buffers(&script), [44]);
}

#[test]
fn other_profiles_send_as_windows_open() {
    let file = Application::File(300 * 1424);
    let mut script = Script::with_subflows(Profile::linux_3_14(), "reno", file, 2);
    script.ack(100, 2);
    assert_eq!(waiting(&script), [vec![], vec![]]);
    script.receive(syn(1));
    script.until(101);
    script.receive(handshake_ack(1));
    assert_eq!(data(&script, 1), full(14 * MSS, 10));
}

/// MPTCP 0.89 keeps the mapping of each sk_buff: SACKed ones are not joined (tcp_shift_skb_data), and the data of a
/// subflow that times out is reinjected with its own data sequence numbers.
#[test]
fn a_timeout_reinjects_sacked_segments_of_two_mappings() {
    let file = Application::File(26 * MSS);
    let mut script = Script::with_subflows(Profile::linux_3_14(), "reno", file, 2);
    script.ack(100, 2);
    script.receive(syn(1));
    script.until(101);
    script.receive(handshake_ack(1));
    script.ack(102, 3);
    let first = [full(0, 14), full(24 * MSS, 2)].concat();
    assert_eq!(data(&script, 0), first);
    assert_eq!(data(&script, 1), full(14 * MSS, 10));
    script.receive(Segment::Ack(Ack {
        subflow: subflow(1),
        seq: 10 * MSS as u32,
        data_ack: 3 * MSS as u32,
        window: 5000 * MSS as u32,
        sack: 0,
        echo_us: 0,
        flags: 0,
    }));
    // Segment 13 of the subflow is at 13 MSS of the stream, the next one at 24 MSS.
    script.sack(103, 3, &[(13, 15)]);
    script.until(900);
    assert_eq!(script.info().timeouts, 1);
    let reinjected = &data(&script, 1)[10..];
    assert_eq!(reinjected, &first[3..]);
}

/// The connection's timer waits as long as the longest of its subflows' timers, in jiffies of 4 ms, and fires at the
/// next one.
#[test]
fn the_retransmission_timer_of_the_connection_is_in_jiffies() {
    let file = Application::File(3000 * 1424);
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    let simulation = &mut script.simulation;
    let timer = simulation.sender(0).timer;
    simulation.env.timers.set(timer, after_handshake(5));
    simulation.update_retransmission_interval();
    simulation.restart_retransmission_timer();
    let retransmission = |script: &Script| -> Time { script.simulation.retransmission_due() };
    assert_eq!(retransmission(&script), after_handshake(8));
    script.until(8);
    // The subflow's timer fires at 12 ms and was set for 8: no jiffy of its wait remains.
    let simulation = &mut script.simulation;
    assert!(simulation.env.timers.is_set(timer));
    simulation.update_retransmission_interval();
    let interval = simulation.retransmission_interval();
    assert_eq!(interval, Span::from_millis(200));
    assert_eq!(retransmission(&script), after_handshake(12));
    script.until(12);
    assert!(
        retransmission(&script) > after_handshake(12),
        "the timer has fired and restarted"
    );
}
