//! Congestion window and receive window: initial window, idle restart, application limit, receive window, ECN.

use super::*;
use mpcc::State;

#[test]
fn the_initial_window_and_slow_start() {
    let mut script = linux(1000);
    assert_eq!(
        script.sent(),
        (0..10).map(|seq| (0, seq, false)).collect::<Vec<_>>()
    );
    script.ack(100, 1);
    assert_eq!(script.numbers(), [10, 11]);
    script.ack(101, 3);
    assert_eq!(script.numbers(), [12, 13, 14, 15]);
    assert_eq!(script.cwnd(), 13);
}

#[test]
fn an_idle_connection_restarts_with_a_smaller_window() {
    let application = Application::Requests {
        bytes: 60 * 1448,
        later: [reply(100, 60 * 1448), reply(700, 60 * 1448)].into(),
    };
    let mut script = Script::with(Profile::linux(), "reno", application);
    let mut at = 0;
    let mut windows = Vec::new();
    let mut reply = |script: &mut Script, gap: u64| {
        while script.info().unacked > 0 {
            at += 100;
            let nxt = script.nxt();
            script.ack(at, nxt);
        }
        windows.push(script.cwnd());
        at += gap;
        script.until(at);
        windows.push(script.cwnd());
    };
    reply(&mut script, 100);
    reply(&mut script, 700);
    // After 100 ms the window is unchanged; 700 ms are two timeouts of 300 ms.
    assert_eq!(windows[0], windows[1]);
    assert_eq!(windows[3], windows[2] / 4, "{windows:?}");
}

#[test]
fn an_unused_window_shrinks_and_does_not_grow() {
    let application = Application::Paced(Pace::new(
        netsim::Rate::from_bits_per_second(1448 * 8 * 100),
        None,
    ));
    let mut script = Script::with(Profile::linux(), "reno", application);
    // One segment every 10 ms at an RTT of 100 ms: 10 are out, of a window of 100.
    script.simulation.set_cwnd(100);
    script.simulation.set_ssthresh(50);
    let mut windows = Vec::new();
    for i in 0..400 {
        script.until(i * 10);
        let out = script.nxt() - script.una();
        if out >= 10 {
            script.ack(i * 10, script.una() + 1);
        }
        windows.push(script.cwnd());
    }
    // In slow start a window below twice the packets out counts as the limit, and grows.
    let down = windows.iter().position(|window| *window < 20).unwrap();
    assert!(
        windows[..=down].windows(2).all(|pair| pair[1] <= pair[0]),
        "{windows:?}"
    );
    assert!(
        windows[down..]
            .iter()
            .all(|window| (10..=20).contains(window)),
        "{windows:?}"
    );
    // The window halves its distance to 10 at every timeout of 300 ms.
    assert_eq!(
        [windows[25], windows[45], windows[75], windows[105]],
        [100, 55, 32, 21]
    );
    // The slow start threshold is three quarters of the window before.
    assert_eq!(script.info().snd_ssthresh, 75);
}

#[test]
fn ecn_halves_the_window_and_sends_cwr_once_a_round_trip() {
    let mut script = linux(1000);
    script.simulation.enable_ecn();
    script.numbers();
    script.ack_with(100, 2, &[], false, flag::ECE);
    assert_eq!(script.info().snd_ssthresh, 5);
    for i in 3..=10u32 {
        script.ack_with(98 + u64::from(i), i, &[], false, flag::ECE);
    }
    assert_eq!(script.info().reductions, 1, "one reduction per window");
    assert_eq!(script.info().ca_state, State::Cwr);
    let says_so = |script: &Script| {
        let data = script
            .data
            .iter()
            .filter(|(data, _)| data.flags & flag::CWR != 0);
        data.map(|(data, _)| data.seq / 1448).collect::<Vec<_>>()
    };
    assert_eq!(says_so(&script), [10], "the first new segment");
    let nxt = script.nxt();
    script.ack(201, nxt);
    script.ack(202, script.nxt());
    assert_eq!(script.info().ca_state, State::Open);
    assert_eq!(says_so(&script), [10]);
    script.ack_with(301, script.nxt(), &[], false, flag::ECE);
    assert_eq!(script.info().reductions, 2);
    script.ack(401, script.nxt());
    assert_eq!(says_so(&script).len(), 2);
}

#[test]
fn the_receive_window_is_never_exceeded() {
    let mut script = linux(1000);
    script.numbers();
    script.ack(100, 10);
    // The receive window is 5 segments.
    script.simulation.set_window_end(35 * 1448);
    let mut highest = 0;
    for ack in 11..=30 {
        script.until(100 + u64::from(ack));
        script.receive(Segment::Ack(Ack {
            subflow: subflow(0),
            seq: ack * 1448,
            data_ack: ack * 1448,
            window: 5 * 1448,
            sack: 0,
            echo_us: 0,
            flags: 0,
        }));
        highest = script.numbers().into_iter().max().unwrap_or(highest);
        assert!(highest < 35.max(ack + 5), "{highest} at {ack}");
    }
}

/// By hand: after the ACK of 10 segments the window ends 5 segments and 700 bytes beyond. TCP_NODELAY cuts the sixth one
/// short (tcp_mss_split_point), and the rest of it waits for room for a full segment (tcp_snd_wnd_test).
#[test]
fn a_segment_is_cut_short_at_the_end_of_the_receive_window() {
    let mut script = linux(1000);
    script.numbers();
    let window = |script: &mut Script, ms: u64, ack: u32, window: u32| {
        script.until(ms);
        script
            .simulation
            .set_window_end(u64::from(ack * 1448 + window));
        script.receive(Segment::Ack(Ack {
            subflow: subflow(0),
            seq: ack * 1448,
            data_ack: ack * 1448,
            window,
            sack: 0,
            echo_us: 0,
            flags: 0,
        }));
        let sent = script.data.drain(..).map(|(data, _)| data.len);
        sent.collect::<Vec<_>>()
    };
    script.data.clear();
    let sent = window(&mut script, 100, 10, 5 * 1448 + 700);
    assert_eq!(sent, [1448, 1448, 1448, 1448, 1448, 700]);
    // 748 bytes of the sixth segment and 652 more do not fill a segment.
    let sent = window(&mut script, 101, 10, 5 * 1448 + 700 + 1400);
    assert_eq!(sent, []);
}

#[test]
fn retransmissions_are_not_ecn_capable_and_one_new_segment_carries_cwr() {
    let mut script = linux(10_000);
    script.simulation.enable_ecn();
    script.numbers();
    for end in 2..=10 {
        script.sack(98 + end, 0, &[(1, end)]);
    }
    script.ack_with(210, 10, &[], false, ANSWERS_RETRANSMISSION);
    script.ack(300, script.nxt());
    let is = |data: &Data, flag: u8| data.flags & flag != 0;
    let with_cwr = script.data.iter().filter(|(data, _)| is(data, flag::CWR));
    assert_eq!(with_cwr.count(), 1);
    assert!(script.data.iter().any(|(_, again)| *again));
    // The first ten segments were sent before the test enabled ECN.
    for (data, again) in &script.data[10..] {
        assert_eq!(*again, !is(data, flag::ECT), "{data:?}");
        assert!(!(*again && is(data, flag::CWR)));
    }
}

/// RFC 5681's windows grow for each ACK; CSS's, in slow start, for acknowledged bytes.
#[test]
fn a_sender_that_counts_acks_grows_by_one_for_two_segments() {
    for (profile, algorithm, cwnd) in [
        (Profile::linux(), "reno", 12),
        (Profile::ns3_newreno(), "reno", 11),
    ] {
        let mut script = Script::new(profile, algorithm, 1000);
        script.ack(100, 2);
        assert_eq!(script.cwnd(), cwnd, "{algorithm}");
    }
    let mut script = Script::new(Profile::ns3_newreno(), "css", 1000);
    script.ack(100, 4); // 4 · 0.49999, not 1 · 0.49999
    assert_eq!(script.cwnd(), 11);
}

/// tcp_tso_should_defer.
#[test]
fn a_single_segment_is_deferred_while_the_next_ack_is_overdue() {
    let mut script = linux(1000);
    script.numbers();
    script.ack(100, 10);
    assert_eq!(script.numbers().len(), 20);
    script.simulation.set_ssthresh(10);
    let mut sent = |ms, ack| {
        script.ack(ms, ack);
        script.numbers().len()
    };
    // The next ACK is expected 9 ms later.
    assert_eq!([sent(190, 11), sent(190, 12)], [1, 1]);
    // The next ACK is overdue by 100 ms. The last transmission is older than a millisecond at the first of these ACKs,
    // and not at the second.
    assert_eq!([sent(300, 13), sent(300, 14), sent(301, 15)], [1, 0, 2]);
}
