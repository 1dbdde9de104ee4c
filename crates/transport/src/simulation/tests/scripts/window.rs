//! How much is sent: the initial window, after idling, where the application or the receiver limits, after ECN marks.

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
fn an_idle_connection_begins_with_a_smaller_window() {
    let application = Application::Requests {
        bytes: 60 * 1448,
        gaps: [Span::from_millis(100), Span::from_millis(700)].into(),
    };
    let mut script = Script::with(Profile::linux(), "reno", application);
    let mut at = 0;
    let mut windows = Vec::new();
    let mut reply = |script: &mut Script, gap: u64| {
        while script.sender().out() > 0 {
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
    // After 100 ms it goes on as it was; 700 ms are two timeouts of 300 ms.
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
    // A segment each 10 ms, and 100 ms of round trip: 10 are out, of a window of 100.
    script.simulation.sender_mut(0).tcp.cwnd = 100;
    script.simulation.sender_mut(0).tcp.ssthresh = 50;
    let mut windows = Vec::new();
    for i in 0..400 {
        script.until(i * 10);
        let out = script.nxt() - script.una();
        if out >= 10 {
            script.ack(i * 10, script.una() + 1);
        }
        windows.push(script.cwnd());
    }
    // Below twice of what is out it is limited by itself in slow start, and grows.
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
    // A timeout is 300 ms: half of the way to 10, each 300 ms.
    assert_eq!(
        [windows[25], windows[45], windows[75], windows[105]],
        [100, 55, 32, 21]
    );
    // What it was counts on: three quarters of it.
    assert_eq!(script.sender().tcp.ssthresh, 75);
}

#[test]
fn ecn_halves_the_window_once_a_round_trip_and_says_so_once() {
    let mut script = linux(1000);
    script.simulation.sender_mut(0).ecn = true;
    script.numbers();
    script.ack_with(100, 2, &[], false, flag::ECE);
    assert_eq!(script.sender().tcp.ssthresh, 5);
    for i in 3..=10u32 {
        script.ack_with(98 + u64::from(i), i, &[], false, flag::ECE);
    }
    assert_eq!(script.sender().tally.losses, 1, "once for what was out");
    assert_eq!(script.sender().state, State::Cwr);
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
    assert_eq!(script.sender().state, State::Open);
    assert_eq!(says_so(&script), [10]);
    script.ack_with(301, script.nxt(), &[], false, flag::ECE);
    assert_eq!(script.sender().tally.losses, 2);
    script.ack(401, script.nxt());
    assert_eq!(says_so(&script).len(), 2);
}

#[test]
fn the_receive_window_is_never_exceeded() {
    let mut script = linux(1000);
    script.numbers();
    script.ack(100, 10);
    // The receiver takes 5 beyond what it has.
    script.simulation.connection_mut().send.stream.window_end = 35 * 1448;
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

#[test]
fn what_is_sent_again_is_not_ecn_capable_and_new_data_tells_of_the_reduction_once() {
    let mut script = linux(10_000);
    script.simulation.sender_mut(0).ecn = true;
    script.numbers();
    for end in 2..=10 {
        script.sack(98 + end, 0, &[(1, end)]);
    }
    script.ack_with(210, 10, &[], false, ANSWERS_COPY);
    script.ack(300, script.nxt());
    let is = |data: &Data, flag: u8| data.flags & flag != 0;
    let told = script.data.iter().filter(|(data, _)| is(data, flag::CWR));
    assert_eq!(told.count(), 1);
    assert!(script.data.iter().any(|(_, again)| *again));
    // The first ten were sent before the test turned it on.
    for (data, again) in &script.data[10..] {
        assert_eq!(*again, !is(data, flag::ECT), "{data:?}");
        assert!(!(*again && is(data, flag::CWR)));
    }
}

/// RFC 5681's windows grow for each ACK, whatever it acknowledges; CSS's, in slow start, for bytes.
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
    script.ack(100, 4); // 4 · 0.49999, and not 1 · 0.49999
    assert_eq!(script.cwnd(), 11);
}

/// tcp_tso_should_defer.
#[test]
fn a_single_place_waits_for_another_where_the_next_ack_is_overdue() {
    let mut script = linux(1000);
    script.numbers();
    script.ack(100, 10);
    assert_eq!(script.numbers().len(), 20);
    script.simulation.sender_mut(0).tcp.ssthresh = 10;
    let mut sent = |ms, ack| {
        script.ack(ms, ack);
        script.numbers().len()
    };
    // The next one is expected 9 ms later.
    assert_eq!([sent(190, 11), sent(190, 12)], [1, 1]);
    // It should have come 100 ms ago; what was sent before is older than a millisecond, and then it is not.
    assert_eq!([sent(300, 13), sent(300, 14), sent(301, 15)], [1, 0, 2]);
}
