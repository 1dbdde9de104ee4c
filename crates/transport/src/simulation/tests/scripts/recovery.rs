//! Losses detected by ACKs: retransmissions and window reductions.

use super::*;
use mpcc::State;

#[test]
fn three_segments_beyond_a_gap_start_a_recovery_that_halves_the_window() {
    let mut script = linux(1000);
    script.numbers();
    script.sack(100, 0, &[(1, 2)]);
    script.sack(102, 0, &[(1, 3)]);
    // Limited transmit: one new segment for each that has left the network (RFC 3042).
    assert_eq!(script.numbers(), [10, 11]);
    script.sack(104, 0, &[(1, 4)]);
    assert_eq!(script.sent(), [(104, 0, true)]);
    assert_eq!(script.info().snd_ssthresh, 5);
    // PRR: a segment is sent for every second ACK.
    let mut sent = 0;
    for (i, end) in (5..13).enumerate() {
        script.sack(103 + i as u64, 0, &[(1, end)]);
        sent += script.numbers().len();
    }
    assert!((3..=5).contains(&sent), "{sent}");
    script.ack_with(202, 12, &[], false, ANSWERS_RETRANSMISSION);
    assert_eq!(script.cwnd(), 5);
    assert_eq!(script.info().ca_state, State::Open);
}

/// A delayed ACK covers a segment in order and reports one beyond a gap: no reordering (Linux: prior_fack).
#[test]
fn a_delayed_ack_that_reports_a_gap_is_not_reordering() {
    let mut script = linux(1000);
    script.numbers();
    script.sack(100, 1, &[(2, 3)]);
    script.sack(102, 1, &[(2, 4)]);
    script.numbers();
    script.sack(104, 1, &[(2, 5)]);
    assert_eq!(script.sent(), [(104, 1, true)]);
}

#[test]
fn rack_retransmits_a_lost_retransmission() {
    let mut script = linux(1000);
    script.numbers();
    for end in 2..=10 {
        script.sack(99 + end, 0, &[(1, end)]);
    }
    let sent = script.sent();
    let again: Vec<_> = sent.iter().filter(|s| s.2).collect();
    assert_eq!(again, [&(103, 0, true)]);
    let new = sent
        .iter()
        .filter(|s| !s.2)
        .map(|s| s.1)
        .collect::<Vec<_>>();
    // The new segments arrive a round trip later, the retransmission does not.
    for (i, seq) in new.iter().enumerate() {
        script.sack(203 + i as u64, 0, &[(1, u64::from(*seq) + 1)]);
    }
    let again = script
        .sent()
        .into_iter()
        .filter(|s| s.2)
        .map(|s| s.1)
        .collect::<Vec<_>>();
    assert_eq!(again, [0]);
}

#[test]
fn a_spurious_recovery_is_undone_by_a_dsack() {
    let mut script = linux(1000);
    script.numbers();
    for end in 2..=4 {
        script.sack(99 + end, 0, &[(1, end)]);
    }
    assert_eq!(script.info().ca_state, State::Recovery);
    // The first segment was delayed, not lost: its ACK arrives, then a DSACK for it.
    script.ack_with(110, 4, &[], false, ANSWERS_RETRANSMISSION);
    script.ack_with(202, 4, &[(0, 1)], true, ANSWERS_RETRANSMISSION);
    assert!(script.cwnd() >= 10, "{}", script.cwnd());
    assert_eq!(script.info().ca_state, State::Open);
}

#[test]
fn newreno_retransmits_one_segment_a_round_trip() {
    let mut script = Script::new(Profile::ns3_newreno(), "reno", 1000);
    script.numbers();
    // Segments 0 and 4 are lost: eight duplicate ACKs.
    for i in 0..8 {
        script.ack(100 + i, 0);
    }
    let sent = script.sent();
    assert_eq!(
        sent[2],
        (102, 0, true),
        "after two segments of limited transmit: {sent:?}"
    );
    assert_eq!(script.info().snd_ssthresh, 5);
    script.ack(202, 4);
    assert_eq!(script.sent()[0], (202, 4, true));
    let high = script.nxt();
    script.ack(302, high);
    script.ack(303, high + 1);
    assert_eq!(script.info().ca_state, State::Open);
}

#[test]
fn fack_marks_all_but_the_last_three_before_the_highest_sacked_lost() {
    let mut script = Script::new(Profile::linux_3_14(), "reno", 1000);
    script.numbers();
    script.sack(100, 0, &[(6, 7)]);
    // Segments 0 to 3 are lost; PRR sends one.
    assert_eq!(script.sent(), [(100, 0, true)]);
    assert_eq!(script.info().lost, 4);
}

#[test]
fn segments_reordered_by_less_than_a_quarter_of_the_rtt_are_not_retransmitted() {
    let mut script = linux(1000);
    script.numbers();
    // One segment is delayed by less than a quarter of 100 ms, and two that were sent after it have arrived.
    script.sack(100, 0, &[(1, 3)]);
    script.until(110);
    script.ack(111, 3);
    script.until(180);
    assert!(script.sent().iter().all(|s| !s.2));
    assert_eq!(script.info().reductions, 0);
    // Segment 0 is lost: it is retransmitted after a quarter of the RTT, 25 ms (and two jiffies of the timer).
    let mut script = linux(1000);
    script.numbers();
    script.sack(100, 0, &[(1, 3)]);
    script.until(180);
    let again: Vec<_> = script.sent().into_iter().filter(|s| s.2).collect();
    // An eighth of the smoothed RTT if that is less (Linux: srtt >> 3).
    let wait = (RTT / 4).min(RTT / 8);
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!(again[0].1, 0);
    assert!(
        (100 + wait..=100 + 25 + 9).contains(&again[0].0),
        "{again:?}"
    );
}

/// RFC 6937, appendix A, first example: 20 segments, the first lost, a window that is reduced to 10: every second ACK
/// sends a segment.
#[test]
fn prr_sends_a_segment_for_every_second_ack() {
    let mut script = linux(10_000);
    script.numbers();
    script.ack(100, 10);
    assert_eq!(script.numbers().len(), 20);
    // 10..30 are out, 10 is lost. Two segments are sent by limited transmit, then 10 is retransmitted.
    let mut sent = Vec::new();
    for end in 12..=30 {
        script.sack(176 + 2 * end, 10, &[(11, end)]);
        sent.push(script.numbers().len());
    }
    assert_eq!(script.info().snd_ssthresh, 10);
    assert_eq!(sent[..3], [1, 1, 1]);
    // One for every second of 17 ACKs, until the flight is the new window.
    let total: usize = sent[2..].iter().sum();
    assert!((8..=9).contains(&total), "{sent:?}");
    assert!(
        sent[3..].windows(2).all(|pair| pair[0] + pair[1] <= 1 + 1),
        "{sent:?}"
    );
    assert_eq!(script.sender().flight(), 10);
    assert_eq!(script.cwnd(), 10);
}

#[test]
fn without_rack_a_retransmission_is_lost_when_a_newer_segment_arrives() {
    let mut script = Script::new(Profile::linux_3_14(), "reno", 1000);
    script.numbers();
    script.sack(100, 0, &[(1, 4)]);
    let copies = |script: &mut Script| script.sent().iter().filter(|sent| sent.2).count();
    assert_eq!(copies(&mut script), 1);
    // Segments sent before the retransmission do not indicate its loss, however late they arrive.
    for end in 5..=10 {
        script.sack(200 + end, 0, &[(1, end)]);
    }
    assert_eq!(copies(&mut script), 0);
    script.sack(302, 0, &[(1, 11)]);
    assert_eq!(script.sent()[0], (302, 0, true));
}

/// RFC 6937's slow start reduction bound: with less in flight than the new window, each ACK sends as many segments as
/// it delivers, and one more if it advances snd_una.
#[test]
fn prr_sends_one_for_one_after_heavy_losses() {
    let mut script = linux(10_000);
    script.numbers();
    script.ack(100, 10);
    script.numbers();
    // The first 15 of 10..30 are lost.
    let mut sent = Vec::new();
    for end in 26..=30 {
        script.sack(148 + 2 * end, 10, &[(25, end)]);
        sent.push(script.numbers().len());
    }
    assert_eq!(script.info().snd_ssthresh, 10);
    assert_eq!(sent, [1, 1, 1, 1, 1]);
    // ACKs of the two segments sent by limited transmit, and of the first retransmission.
    script.sack(305, 10, &[(25, 32)]);
    assert_eq!(script.numbers().len(), 2);
    script.ack_with(306, 11, &[(25, 32)], false, ANSWERS_RETRANSMISSION);
    assert_eq!(script.numbers().len(), 2);
}

/// PRR does not send the additional segment while losses are still detected, also by an ACK that repairs as many.
#[test]
fn an_ack_that_repairs_one_loss_and_reports_another_sends_no_additional_segment() {
    let mut script = linux(10_000);
    script.numbers();
    script.ack(100, 10);
    script.numbers();
    // Only 28 of 10..30 arrives, which releases a segment beyond the window. That segment and the retransmission of 10
    // arrive. 29, sent before it, is lost.
    script.sack(200, 10, &[(28, 29)]);
    script.until(240);
    assert_eq!(script.numbers(), [30, 10]);
    let lost = script.info().lost;
    script.ack_with(
        340,
        11,
        &[(30, 31), (28, 29)],
        false,
        ANSWERS_RETRANSMISSION,
    );
    assert_eq!(script.info().lost, lost);
    assert_eq!(script.numbers(), [11, 12]);
}

/// The reordering window grows by a quarter of the minimum RTT once a round trip with a DSACK, up to the smoothed RTT,
/// and is reset after 16 recoveries without one (RFC 8985, 6.2, step 4; tcp_rack_update_reo_wnd).
#[test]
fn the_reordering_window_grows_with_dsacks_and_is_reset() {
    let mut script = linux(100_000);
    // All segments in flight are acknowledged, and the next window is sent.
    let mut at = 0;
    let round = |script: &mut Script, at: &mut u64| {
        *at += RTT;
        let sent = script.nxt();
        script.ack(*at, sent);
    };
    let quarters = |script: &Script| {
        let sender = script.sender();
        let quarter = u64::from(script.info().min_rtt) / 4 * 1000;
        (sender.reordering_window() + quarter / 2) / quarter
    };
    round(&mut script, &mut at);
    assert_eq!(quarters(&script), 1);
    for expected in [2, 3, 4, 4] {
        let before = script.una();
        let duplicate = [(u64::from(before) - 2, u64::from(before) - 1)];
        script.ack_with(at + 1, before, &duplicate, true, 0);
        // Another DSACK in the same round trip does not count.
        script.ack_with(at + 2, before, &duplicate, true, 0);
        assert_eq!(quarters(&script), expected, "at most the RTT");
        round(&mut script, &mut at);
    }
    for recovery in 0..16 {
        assert_eq!(quarters(&script), 4, "after {recovery} recoveries");
        at += RTT;
        let (una, nxt) = (script.una(), script.nxt());
        assert!(nxt > una + 4, "more than four segments are out");
        script.sack(at, una, &[(u64::from(una) + 1, u64::from(nxt))]);
        assert_eq!(script.info().ca_state, State::Recovery);
        at += RTT;
        let sent = script.nxt();
        script.ack_with(at, sent, &[], false, ANSWERS_RETRANSMISSION);
        assert_eq!(script.info().ca_state, State::Open);
        // The window grows again.
        for _ in 0..6 {
            round(&mut script, &mut at);
        }
    }
    assert_eq!(quarters(&script), 1);
}
