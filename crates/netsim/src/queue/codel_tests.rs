//! The control law and the states, against RFC 8289.

use super::*;
use crate::queue::testing::{Segment, segment};

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

/// A queue that packets enter at once and leave every millisecond from 1 ms on: when each one was
/// dropped or, if ECN-capable, marked.
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
    // The packet that leaves at 5 ms waited that long, so at 105 ms an interval has passed. Then
    // 100 ms / √count to the next drop, which happens with the first packet that leaves after it.
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
    // A packet that is not capable is dropped by a queue that marks, too.
    assert_eq!(hits(CoDel::new().ecn(), 5000, 1500, false), drops);
}

#[test]
fn a_short_wait_or_a_short_queue_is_left_alone() {
    let patient = CoDel::new().times(Span::from_secs(10), Span::from_millis(100));
    assert_eq!(hits(patient, 5000, 1500, false), [0; 0]);
    // 300 bytes of 1-byte packets are less than one packet of the MTU.
    assert_eq!(hits(CoDel::new(), 300, 1, false), [0; 0]);
}

#[test]
fn the_last_of_a_queue_are_not_dropped() {
    // 200 packets: while the last leaves nothing is behind it, so it is sent.
    let hits = hits(CoDel::new(), 120, 1500, false);
    assert_eq!(hits, [105]);
}

#[test]
fn dropping_resumes_at_the_rate_it_had() {
    let codel = CoDel::new();
    let interval = Span::from_millis(100);
    let mut control = Control {
        count: 12,
        last_count: 2,
        drop_next: us(0),
        ..Control::default()
    };
    // Within 16 intervals: ten drops were needed last time.
    let now = us(1_599_999);
    control.begin(&codel, now);
    assert_eq!((control.count, control.last_count), (10, 10));
    // 100 ms / √10, rounded down to the nanosecond.
    assert_eq!(control.drop_next, now + Span::from_nanos(31_622_776));
    // Later: from the start.
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
