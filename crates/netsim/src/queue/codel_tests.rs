//! The control law and the states, against RFC 8289.

use super::*;
use crate::queue::testing::{Segment, segment};

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// Times of drops or, for ECN-capable packets, of marks, ms. All packets enter at 0 and one leaves every millisecond from 1 ms on.
fn hits(codel: CoDel, packets: u64, bytes: u32, capable: bool) -> Vec<u64> {
    let mut queue: CoDelQueue<Segment> = CoDelQueue::new(codel.limit(usize::MAX));
    let mut ledger = Ledger::new();
    for number in 0..packets {
        let mut packet = segment(0, number, bytes);
        packet.payload.capable = capable;
        queue.enqueue(us(0), packet, true).unwrap();
    }
    let mut hits = Vec::new();
    for ms in 1.. {
        let sent = queue.dequeue(us(1000 * ms), &mut ledger);
        let marked = sent.is_some_and(|packet| packet.payload.marked);
        let dropped = ledger.dropped.drain(..).count();
        hits.extend(std::iter::repeat_n(ms, dropped + usize::from(marked)));
        if sent.is_none() {
            break;
        }
    }
    hits
}

#[test]
fn drops_follow_the_control_law() {
    // The packet that leaves at 5 ms has waited for the target, so an interval ends at 105 ms. The next drop is due 100 ms / √count
    // later, and happens with the first packet that leaves after that.
    let mut expected = vec![105];
    let mut at = 105.0;
    for count in 1..30_u32 {
        at += 100.0 / f64::from(count).sqrt();
        expected.push(at.ceil() as u64);
    }
    let hits = hits(CoDel::new(), 5000, 1500, false);
    assert_eq!(hits[..30], expected);
}

#[test]
fn marks_follow_the_same_law() {
    let drops = hits(CoDel::new(), 5000, 1500, false);
    let marks = hits(CoDel::new().ecn(), 5000, 1500, true);
    assert_eq!(drops[..20], marks[..20]);
    // A queue with ECN drops packets that are not ECN-capable.
    assert_eq!(hits(CoDel::new().ecn(), 5000, 1500, false), drops);
}

#[test]
fn a_short_wait_or_a_short_queue_has_no_drops() {
    let long_target = CoDel::new().times(Span::from_secs(10), Span::from_millis(100));
    assert_eq!(hits(long_target, 5000, 1500, false), [0; 0]);
    // 300 bytes of 1-byte packets are less than one packet of the MTU.
    assert_eq!(hits(CoDel::new(), 300, 1, false), [0; 0]);
}

#[test]
fn the_last_packet_of_a_queue_is_not_dropped() {
    // 120 packets: no packet is behind the last one, which is sent.
    let hits = hits(CoDel::new(), 120, 1500, false);
    assert_eq!(hits, [105]);
}

#[test]
fn dropping_resumes_at_the_last_rate() {
    let codel = CoDel::new();
    let interval = Span::from_millis(100);
    let mut control = Control {
        count: 12,
        last_count: 2,
        drop_next: us(0),
        ..Control::default()
    };
    // Within 16 intervals: `count` resumes at the ten drops of the last time.
    let now = us(1_599_999);
    control.begin(&codel, now);
    assert_eq!((control.count, control.last_count), (10, 10));
    // 100 ms / √10, rounded down to the nanosecond.
    assert_eq!(control.drop_next, now + Span::from_nanos(31_622_776));
    // Later: `count` restarts at 1.
    control.drop_next = us(0);
    control.count = 30;
    control.begin(&codel, us(1_600_000));
    assert_eq!((control.count, control.last_count), (1, 1));
    assert_eq!(control.drop_next, us(1_600_000) + interval);
}

#[test]
fn a_limit_holds() {
    let mut queue: CoDelQueue<Segment> = CoDelQueue::new(CoDel::new().limit(3));
    let mut accepted = |must_wait| queue.enqueue(us(0), segment(0, 0, 1500), must_wait).is_ok();
    assert_eq!((0..9).filter(|_| accepted(true)).count(), 3);
    assert!(accepted(false));
}
