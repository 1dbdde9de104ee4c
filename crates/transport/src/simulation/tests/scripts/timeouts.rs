//! Losses that only time tells of: probes of the tail (RFC 8985), timeouts (RFC 6298), and those that were too early
//! (RFC 5682, RFC 3522).

use super::*;
use mpcc::State;

#[test]
fn a_lost_tail_is_probed_after_two_round_trips_and_then_times_out() {
    let mut script = linux(4);
    assert_eq!(script.numbers(), [0, 1, 2, 3]);
    // Two smoothed RTTs and 2 ms, by ticks: the last segment once more.
    script.until(1200);
    let sent = script.sent();
    assert_eq!(sent[0], (208, 3, true));
    // Then the timeout, which the probe's sending has started: 100 ms + max(4 · 50, 200) ms, and to the next eighth tick.
    assert_eq!(sent[1], (540, 0, true));
    assert_eq!(sent[2].0, 540 + 608, "the second waits twice as long");
}

#[test]
fn timeouts_double_and_the_window_is_one_segment() {
    let mut script = linux(1000);
    script.numbers();
    script.until(10_000);
    let again: Vec<u64> = script
        .sent()
        .into_iter()
        .filter(|s| s.1 == 0)
        .map(|s| s.0)
        .collect();
    let waits: Vec<u64> = again.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits, [608, 1216, 2656, 4864], "600, 1200, … by ticks");
    assert_eq!(script.cwnd(), 1);
    assert_eq!(script.sender().tcp.ssthresh, 5);
    assert_eq!(script.sender().tally.timeouts, 5);
}

/// A timeout has marked all segments lost, so that nothing is in flight (tcp_event_data_sent).
#[test]
fn a_retransmission_with_nothing_in_flight_is_a_start_of_sending() {
    let mut script = linux(4);
    assert_eq!(script.sender().tcp.idle_ms, 0);
    // The probe leaves at 208 ms, beside four segments in flight.
    script.until(500);
    assert_eq!(script.sender().tcp.idle_ms, 0);
    // The first timeout is at 540 ms, the second at 1148 ms.
    script.until(541);
    assert_eq!(script.sender().tcp.idle_ms, 540 - 208);
    script.until(1149);
    assert_eq!(script.sender().tcp.idle_ms, 1148 - 540);
}

#[test]
fn a_probe_that_repaired_a_loss_halves_the_window() {
    let mut script = linux(10);
    script.numbers();
    script.ack(100, 9);
    script.until(400);
    let sent = script.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!((sent[0].1, sent[0].2), (9, true));
    assert_eq!(script.sender().tcp.cwnd, 19);
}

#[test]
fn a_spurious_timeout_is_undone() {
    let mut script = linux(1000);
    script.numbers();
    // The path stops for 600 ms, and then all ACKs come.
    script.until(560);
    assert_eq!(script.sender().state, State::Loss);
    script.ack(600, 1); // answers the first copy: Eifel
    assert_eq!(script.sender().state, State::Open);
    assert!(script.cwnd() >= 10, "{}", script.cwnd());
    assert!(script.sender().tcp.ssthresh > 1 << 20);
}

#[test]
fn frto_finds_a_spurious_timeout_without_timestamps() {
    let mut script = linux(1000);
    script.numbers();
    script.until(560);
    // The retransmission is acknowledged, and then what was sent once and before the timeout.
    script.ack_with(600, 1, &[], false, ANSWERS_COPY);
    assert_eq!(script.sender().state, State::Loss);
    script.ack_with(601, 2, &[], false, 0);
    assert_eq!(script.sender().state, State::Open);
    assert!(script.cwnd() >= 10, "{}", script.cwnd());
}

#[test]
fn a_probe_that_repaired_the_tail_halves_the_window_with_the_next_ack() {
    let application = Application::Requests {
        bytes: 10 * 1448,
        gaps: [Span::from_millis(10)].into(),
    };
    let mut script = Script::with(Profile::linux(), "reno", application);
    script.numbers();
    script.ack(100, 9);
    script.until(400);
    script.sent();
    // The probe fills the hole: whether its first copy was lost shows when nobody tells of a second one.
    script.ack_with(408, 10, &[], false, ANSWERS_COPY);
    assert_eq!(script.cwnd(), 20);
    script.until(420);
    script.sent();
    // A timeout's time passed in which the window was not what held it back: half of what was not used is gone.
    assert_eq!(script.cwnd(), 15);
    script.ack(520, 11);
    assert_eq!(script.cwnd(), 7, "{:?}", script.sender().tcp);
    assert_eq!(script.sender().state, State::Open);
}

#[test]
fn a_probe_that_the_receiver_had_already_leaves_the_window_alone() {
    let mut script = linux(10);
    script.numbers();
    script.ack(100, 9);
    script.until(400);
    script.sent();
    script.ack_with(401, 9, &[(8, 9)], true, 0);
    assert_eq!(script.cwnd(), 19);
    assert_eq!(script.sender().tally.losses, 0);
}

#[test]
fn a_probe_takes_new_data_where_the_receiver_has_room_for_it() {
    // All ten are out, and the window has no room for an eleventh: the probe goes beyond it (RFC 8985, 7.3).
    let mut script = linux(1000);
    script.numbers();
    script.until(250);
    assert_eq!(script.sent(), [(208, 10, false)]);
}

/// What once made lost segments wait for ever: a probe that arrived counted as one of them under way.
#[test]
fn a_timeout_sends_again_what_is_lost_beside_a_probe_that_arrived() {
    let mut script = linux(2);
    script.numbers();
    script.until(250);
    assert_eq!(script.sent(), [(208, 1, true)]);
    script.sack(300, 0, &[(1, 2)]);
    script.until(2000);
    let again = script.sent();
    assert!(
        !again.is_empty() && again.iter().all(|s| s.1 == 0),
        "{again:?}"
    );
    script.ack_with(2100, 2, &[], false, ANSWERS_COPY);
    assert_eq!(script.simulation.report(0).bytes, 2 * 1448);
}

#[test]
fn the_timeout_backs_off_to_two_minutes_and_a_sample_ends_that() {
    let mut script = linux(1000);
    script.numbers();
    script.until(1_200_000);
    let at: Vec<u64> = script
        .sent()
        .into_iter()
        .filter(|s| s.2)
        .map(|s| s.0)
        .collect();
    let waits: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(waits[..4], [608, 1216, 2656, 4864]);
    let longest = 120_000..=120_000 + 2048 + 4;
    assert!(
        waits[8..].iter().all(|wait| longest.contains(wait)),
        "{waits:?}"
    );
    let last = *at.last().unwrap();
    let mut script = linux(1000);
    script.until(last);
    assert_eq!(script.sender().rtt.timeout(), Span::from_millis(120_000));
    // It answers the last copy, and that is a sample of 100 ms.
    script.ack_with(last + 100, 1, &[], false, ANSWERS_COPY);
    assert!(script.sender().rtt.timeout() < Span::from_millis(301));
}

#[test]
fn frto_repairs_where_there_is_nothing_new_to_send() {
    let mut script = linux(10);
    script.numbers();
    script.until(560);
    script.sent();
    // The first copy of the first one was lost: the others follow without another timeout (RFC 5682, 2.1, 2b).
    script.ack_with(610, 1, &[], false, ANSWERS_COPY);
    let again: Vec<u32> = script.numbers();
    assert_eq!(again, [1, 2], "a window of two");
}

/// Each timeout of an episode is told: NMCC leaves a subflow out that was heard since the first one.
#[test]
fn every_timeout_is_told_to_the_algorithm() {
    let mut script = Script::new(Profile::linux(), "nmcc", 1000);
    script.numbers();
    script.until(560);
    let published_rtt = |script: &Script| {
        script
            .simulation
            .connection()
            .send
            .stream
            .coupled
            .published_srtt8(0)
    };
    assert_eq!(published_rtt(&script), 0, "silent");
    script.ack_with(600, 1, &[], false, ANSWERS_COPY);
    assert_eq!(script.sender().state, State::Loss);
    assert!(published_rtt(&script) > 0, "heard");
    script.until(2000);
    assert_eq!(script.sender().tally.timeouts, 2);
    assert_eq!(published_rtt(&script), 0, "silent again");
}
