//! Losses detected by timers: loss probes (RFC 8985), timeouts (RFC 6298), and spurious timeouts (RFC 5682, RFC 3522).

use super::*;
use mpcc::State;

#[test]
fn a_lost_tail_is_probed_after_two_round_trips_and_then_times_out() {
    let mut script = linux(4);
    assert_eq!(script.numbers(), [0, 1, 2, 3]);
    // A loss probe after two smoothed RTTs and 2 ms, by jiffies: the last segment is retransmitted.
    script.until(1200);
    let sent = script.sent();
    assert_eq!(sent[0], (208, 3, true));
    // The timeout was started by the probe: 100 ms + max(4 · 50, 200) ms, rounded to eight jiffies.
    assert_eq!(sent[1], (540, 0, true));
    assert_eq!(sent[2].0, 540 + 608, "the second timeout is twice as long");
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
    assert_eq!(waits, [608, 1216, 2656, 4864], "600, 1200, … in jiffies");
    assert_eq!(script.cwnd(), 1);
    assert_eq!(script.info().snd_ssthresh, 5);
    assert_eq!(script.info().timeouts, 5);
}

/// A timeout has marked all segments lost, so that nothing is in flight (tcp_event_data_sent).
#[test]
fn a_retransmission_with_nothing_in_flight_reports_tx_start() {
    let mut script = linux(4);
    assert_eq!(script.info().idle_ms, 0);
    // The probe leaves at 208 ms, beside four segments in flight.
    script.until(500);
    assert_eq!(script.info().idle_ms, 0);
    // The first timeout is at 540 ms, the second at 1148 ms.
    script.until(541);
    assert_eq!(script.info().idle_ms, 540 - 208);
    script.until(1149);
    assert_eq!(script.info().idle_ms, 1148 - 540);
}

#[test]
fn a_loss_probe_repeats_the_last_segment() {
    let mut script = linux(10);
    script.numbers();
    script.ack(100, 9);
    script.until(400);
    let sent = script.sent();
    assert_eq!(sent.len(), 1, "{sent:?}");
    assert_eq!((sent[0].1, sent[0].2), (9, true));
    assert_eq!(script.info().snd_cwnd, 19);
}

#[test]
fn a_spurious_timeout_is_undone() {
    let mut script = linux(1000);
    script.numbers();
    // The path stalls for 600 ms, and then all ACKs arrive.
    script.until(560);
    assert_eq!(script.info().ca_state, State::Loss);
    script.ack(600, 1); // echoes the timestamp of the original: Eifel
    assert_eq!(script.info().ca_state, State::Open);
    assert!(script.cwnd() >= 10, "{}", script.cwnd());
    assert!(script.info().snd_ssthresh > 1 << 20);
}

#[test]
fn frto_finds_a_spurious_timeout_without_timestamps() {
    let mut script = linux(1000);
    script.numbers();
    script.until(560);
    // The retransmission is acknowledged, and then a segment that was sent once, before the timeout.
    script.ack_with(600, 1, &[], false, ANSWERS_RETRANSMISSION);
    assert_eq!(script.info().ca_state, State::Loss);
    script.ack_with(601, 2, &[], false, 0);
    assert_eq!(script.info().ca_state, State::Open);
    assert!(script.cwnd() >= 10, "{}", script.cwnd());
}

#[test]
fn a_loss_probe_that_repaired_a_loss_halves_the_window_at_the_next_ack() {
    let application = Application::Requests {
        bytes: 10 * 1448,
        later: [reply(10, 10 * 1448)].into(),
    };
    let mut script = Script::with(Profile::linux(), "reno", application);
    script.numbers();
    script.ack(100, 9);
    script.until(400);
    script.sent();
    // The probe fills the gap. The original was lost if no DSACK follows.
    script.ack_with(408, 10, &[], false, ANSWERS_RETRANSMISSION);
    assert_eq!(script.cwnd(), 20);
    script.until(420);
    script.sent();
    // The window was not the limit for a timeout: it is reduced by half of its unused part.
    assert_eq!(script.cwnd(), 15);
    script.ack(520, 11);
    assert_eq!(script.cwnd(), 7, "{:?}", script.info());
    assert_eq!(script.info().ca_state, State::Open);
}

#[test]
fn a_spurious_loss_probe_does_not_change_the_window() {
    let mut script = linux(10);
    script.numbers();
    script.ack(100, 9);
    script.until(400);
    script.sent();
    script.ack_with(401, 9, &[(8, 9)], true, 0);
    assert_eq!(script.cwnd(), 19);
    assert_eq!(script.info().reductions, 0);
}

#[test]
fn a_loss_probe_carries_new_data_if_the_receive_window_allows() {
    // All ten segments of the window are out: the probe exceeds it (RFC 8985, 7.3).
    let mut script = linux(1000);
    script.numbers();
    script.until(250);
    assert_eq!(script.sent(), [(208, 10, false)]);
}

/// Regression test: a delivered loss probe was counted as a retransmission in flight, and lost segments were not
/// retransmitted.
#[test]
fn a_timeout_retransmits_losses_beside_a_delivered_loss_probe() {
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
    script.ack_with(2100, 2, &[], false, ANSWERS_RETRANSMISSION);
    assert_eq!(script.simulation.report(0).bytes, 2 * 1448);
}

#[test]
fn the_timeout_backs_off_to_two_minutes_until_a_sample() {
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
    assert_eq!(script.info().rto, Span::from_millis(120_000));
    // The ACK of the last retransmission is a sample of 100 ms.
    script.ack_with(last + 100, 1, &[], false, ANSWERS_RETRANSMISSION);
    assert!(script.info().rto < Span::from_millis(301));
}

#[test]
fn frto_retransmits_without_new_data() {
    let mut script = linux(10);
    script.numbers();
    script.until(560);
    script.sent();
    // The original of the first segment was lost: the others are retransmitted without another timeout (RFC 5682, 2.1,
    // 2b).
    script.ack_with(610, 1, &[], false, ANSWERS_RETRANSMISSION);
    let again: Vec<u32> = script.numbers();
    assert_eq!(again, [1, 2], "a window of two");
}

/// Each timeout of an episode is reported: NMCC excludes a subflow that has timed out since its last ACK.
#[test]
fn every_timeout_is_reported_to_the_algorithm() {
    let mut script = Script::new(Profile::linux(), "nmcc", 1000);
    script.numbers();
    script.until(560);
    let published_rtt = |script: &Script| script.simulation.published_srtt8(0);
    assert_eq!(published_rtt(&script), 0, "excluded");
    script.ack_with(600, 1, &[], false, ANSWERS_RETRANSMISSION);
    assert_eq!(script.info().ca_state, State::Loss);
    assert!(published_rtt(&script) > 0, "an ACK has arrived");
    script.until(2000);
    assert_eq!(script.info().timeouts, 2);
    assert_eq!(published_rtt(&script), 0, "excluded again");
}
