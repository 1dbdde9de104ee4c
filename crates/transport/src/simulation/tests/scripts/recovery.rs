//! Losses that ACKs tell of: what is sent again, and how the window goes down.

use super::*;
use mpcc::State;

#[test]
fn three_segments_beyond_a_gap_start_a_recovery_that_halves_the_window() {
    let mut script = linux(1000);
    script.numbers();
    script.sack(100, 0, &[(1, 2)]);
    script.sack(102, 0, &[(1, 3)]);
    // One new segment for each that has left, the window being what it was (RFC 3042).
    assert_eq!(script.numbers(), [10, 11]);
    script.sack(104, 0, &[(1, 4)]);
    assert_eq!(script.sent(), [(104, 0, true)]);
    assert_eq!(script.sender().tcp.ssthresh, 5);
    // PRR: of the rest of the window every second segment is answered with one.
    let mut sent = 0;
    for (i, end) in (5..13).enumerate() {
        script.sack(103 + i as u64, 0, &[(1, end)]);
        sent += script.numbers().len();
    }
    assert!((3..=5).contains(&sent), "{sent}");
    script.ack_with(202, 12, &[], false, ANSWERS_COPY);
    assert_eq!(script.cwnd(), 5);
    assert_eq!(script.sender().state, State::Open);
}

/// A segment had waited for its ACK when one came beyond a gap: nothing was overtaken (Linux: prior_fack).
#[test]
fn a_late_ack_that_tells_of_a_gap_is_no_reordering() {
    let mut script = linux(1000);
    script.numbers();
    script.sack(100, 1, &[(2, 3)]);
    script.sack(102, 1, &[(2, 4)]);
    script.numbers();
    script.sack(104, 1, &[(2, 5)]);
    assert_eq!(script.sent(), [(104, 1, true)]);
}

#[test]
fn rack_sends_again_what_was_lost_twice() {
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
    // The new segments arrive a round trip later, the one that was sent again does not.
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
fn a_needless_recovery_is_undone_when_the_receiver_has_it_twice() {
    let mut script = linux(1000);
    script.numbers();
    for end in 2..=4 {
        script.sack(99 + end, 0, &[(1, end)]);
    }
    assert_eq!(script.sender().state, State::Recovery);
    // The first segment was late, not lost: its ACK, then one that says that it came twice.
    script.ack_with(110, 4, &[], false, ANSWERS_COPY);
    script.ack_with(202, 4, &[(0, 1)], true, ANSWERS_COPY);
    assert!(script.cwnd() >= 10, "{}", script.cwnd());
    assert_eq!(script.sender().state, State::Open);
}

#[test]
fn newreno_repairs_one_segment_a_round_trip() {
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
        "after two by limited transmit: {sent:?}"
    );
    assert_eq!(script.sender().tcp.ssthresh, 5);
    script.ack(202, 4);
    assert_eq!(script.sent()[0], (202, 4, true));
    let high = script.nxt();
    script.ack(302, high);
    script.ack(303, high + 1);
    assert_eq!(script.sender().state, State::Open);
}

#[test]
fn fack_takes_all_but_the_last_three_before_the_highest_for_lost() {
    let mut script = Script::new(Profile::linux_3_14(), "reno", 1000);
    script.numbers();
    script.sack(100, 0, &[(6, 7)]);
    // 0 to 3 are lost; PRR lets one go.
    assert_eq!(script.sent(), [(100, 0, true)]);
    assert_eq!(script.sender().scoreboard.lost_out(), 4);
}

#[test]
fn segments_overtaken_within_a_quarter_of_the_round_trip_are_not_sent_again() {
    let mut script = linux(1000);
    script.numbers();
    // One segment is late, by less than a quarter of 100 ms, and two that were sent after it are there: no more.
    script.sack(100, 0, &[(1, 3)]);
    script.until(110);
    script.ack(111, 3);
    script.until(180);
    assert!(script.sent().iter().all(|s| !s.2));
    assert_eq!(script.sender().tally.losses, 0);
    // Of the next ones one does not come: after the quarter, 25 ms (and two jiffies of the timer), it is sent again.
    let mut script = linux(1000);
    script.numbers();
    script.sack(100, 0, &[(1, 3)]);
    script.until(180);
    let again: Vec<_> = script.sent().into_iter().filter(|s| s.2).collect();
    // An eighth of the smoothed round trip, where that is less (Linux: srtt >> 3).
    let wait = (RTT / 4).min(RTT / 8);
    assert_eq!(again.len(), 1, "{again:?}");
    assert_eq!(again[0].1, 0);
    assert!(
        (100 + wait..=100 + 25 + 9).contains(&again[0].0),
        "{again:?}"
    );
}

/// RFC 6937, appendix A's first example: 20 segments, the first lost, RFC 6937 with the window going to 10: every second
/// ACK sends one.
#[test]
fn prr_answers_every_second_segment_of_a_halved_window() {
    let mut script = linux(10_000);
    script.numbers();
    script.ack(100, 10);
    assert_eq!(script.numbers().len(), 20);
    // 10..30 are out, 10 is lost. Two by limited transmit, then the first again.
    let mut sent = Vec::new();
    for end in 12..=30 {
        script.sack(176 + 2 * end, 10, &[(11, end)]);
        sent.push(script.numbers().len());
    }
    assert_eq!(script.sender().tcp.ssthresh, 10);
    assert_eq!(sent[..3], [1, 1, 1]);
    // Half of 17 ACKs, until no more than the new window is under way.
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
fn without_rack_a_copy_is_lost_when_something_newer_arrives() {
    let mut script = Script::new(Profile::linux_3_14(), "reno", 1000);
    script.numbers();
    script.sack(100, 0, &[(1, 4)]);
    let copies = |script: &mut Script| script.sent().iter().filter(|sent| sent.2).count();
    assert_eq!(copies(&mut script), 1);
    // What was sent before the copy says nothing of it, however late it comes.
    for end in 5..=10 {
        script.sack(200 + end, 0, &[(1, end)]);
    }
    assert_eq!(copies(&mut script), 0);
    script.sack(302, 0, &[(1, 11)]);
    assert_eq!(script.sent()[0], (302, 0, true));
}

/// RFC 6937's slow start reduction bound: where less is under way than the new window, each ACK that tells of one segment
/// sends one, and one more when it is a progress.
#[test]
fn prr_sends_one_for_one_after_heavy_losses() {
    let mut script = linux(10_000);
    script.numbers();
    script.ack(100, 10);
    script.numbers();
    // Of 10..30 the first 15 are lost.
    let mut sent = Vec::new();
    for end in 26..=30 {
        script.sack(148 + 2 * end, 10, &[(25, end)]);
        sent.push(script.numbers().len());
    }
    assert_eq!(script.sender().tcp.ssthresh, 10);
    assert_eq!(sent, [1, 1, 1, 1, 1]);
    // The two that limited transmit had sent, and the first one that was sent again.
    script.sack(305, 10, &[(25, 32)]);
    assert_eq!(script.numbers().len(), 2);
    script.ack_with(306, 11, &[(25, 32)], false, ANSWERS_COPY);
    assert_eq!(script.numbers().len(), 2);
}

/// PRR sends one for one, and not one more, while losses go on to be found: also by an ACK that repairs as many.
#[test]
fn an_ack_that_repairs_one_loss_and_finds_another_is_no_clean_progress() {
    let mut script = linux(10_000);
    script.numbers();
    script.ack(100, 10);
    script.numbers();
    // Of 10..30 only 28 arrives, and with it one goes beyond the window, which arrives as the copy of 10 does. 29, sent
    // before that, is lost, too.
    script.sack(200, 10, &[(28, 29)]);
    script.until(240);
    assert_eq!(script.numbers(), [30, 10]);
    let lost = script.sender().scoreboard.lost_out();
    script.ack_with(340, 11, &[(30, 31), (28, 29)], false, ANSWERS_COPY);
    assert_eq!(script.sender().scoreboard.lost_out(), lost);
    assert_eq!(script.numbers(), [11, 12]);
}

/// The reordering window grows by a quarter of the least RTT once a round trip in which the receiver reports a duplicate, up to the
/// smoothed RTT, and shrinks after 16 recoveries without one (RFC 8985, 6.2, step 4; tcp_rack_update_reo_wnd).
#[test]
fn the_reordering_window_grows_with_duplicates_and_expires() {
    let mut script = linux(100_000);
    // All of what is in flight is acknowledged, and the next window is sent.
    let mut at = 0;
    let round = |script: &mut Script, at: &mut u64| {
        *at += RTT;
        let sent = script.nxt();
        script.ack(*at, sent);
    };
    let quarters = |script: &Script| {
        let sender = script.sender();
        let quarter = u64::from(sender.rtt.least) / 4 * 1000;
        (sender.reordering_window() + quarter / 2) / quarter
    };
    round(&mut script, &mut at);
    assert_eq!(quarters(&script), 1);
    for expected in [2, 3, 4, 4] {
        let before = script.una();
        let duplicate = [(u64::from(before) - 2, u64::from(before) - 1)];
        script.ack_with(at + 1, before, &duplicate, true, 0);
        // Another one in the same round trip does not count.
        script.ack_with(at + 2, before, &duplicate, true, 0);
        assert_eq!(quarters(&script), expected, "no more than the RTT");
        round(&mut script, &mut at);
    }
    for recovery in 0..16 {
        assert_eq!(quarters(&script), 4, "after {recovery} recoveries");
        at += RTT;
        let (una, nxt) = (script.una(), script.nxt());
        assert!(nxt > una + 4, "a window of four segments and more");
        script.sack(at, una, &[(u64::from(una) + 1, u64::from(nxt))]);
        assert_eq!(script.sender().state, State::Recovery);
        at += RTT;
        let sent = script.nxt();
        script.ack_with(at, sent, &[], false, ANSWERS_COPY);
        assert_eq!(script.sender().state, State::Open);
        // The window opens again.
        for _ in 0..6 {
            round(&mut script, &mut at);
        }
    }
    assert_eq!(quarters(&script), 1);
}
