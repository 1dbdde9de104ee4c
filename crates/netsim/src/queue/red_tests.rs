//! The curve, the average and the gaps, compared with the papers.

use super::*;
use crate::queue::testing::{Segment, segment};
use crate::random::Purpose;

fn queue(red: Red) -> RedQueue<Segment> {
    let rate = Rate::from_bits_per_second(10_000_000);
    RedQueue::new(red, rate, RandomStream::new(1, 0, Purpose::Queue))
}

/// Fraction of 20 000 packets that are lost at a queue of constant `length`, and the mean square of the gaps between losses, divided
/// by their squared mean.
fn sample(red: Red, length: usize) -> (f64, f64) {
    const PACKETS: u64 = 20_000;
    let mut queue = queue(red);
    let mut ledger = Ledger::new();
    for number in 0..length as u64 {
        queue.backlog.push(Time::ZERO, segment(0, number, 1500));
    }
    let (mut gaps, mut last) = (Vec::new(), 0);
    for number in 0..PACKETS {
        let packet = segment(0, number, 1500);
        if queue.enqueue(Time::ZERO, packet, true, &mut ledger).is_ok() {
            queue.dequeue(Time::ZERO);
        } else {
            gaps.push((number - last) as f64);
            last = number;
        }
    }
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let square = gaps.iter().map(|gap| gap * gap).sum::<f64>() / gaps.len() as f64;
    (gaps.len() as f64 / PACKETS as f64, square / (mean * mean))
}

#[test]
fn the_curve_of_lia_olia() {
    // draft-khalili-mptcp-performance-issues-04 section 3, at 10 Mbit/s and in proportion.
    let points = [
        (10, 0.0),
        (25, 0.0),
        (30, 0.02),
        (40, 0.06),
        (50, 0.1),
        (60, 0.28),
        (75, 0.55),
        (90, 0.82),
        (100, 1.0),
        (150, 1.0),
    ];
    for (packets, p) in points {
        for (rate, length) in [(10, packets), (100, 10 * packets)] {
            let red = Red::lia_olia(Rate::from_bits_per_second(rate * 1_000_000)).limit(9999);
            let (share, _) = sample(red.weight(1.0), length);
            // Four standard deviations of 20 000 draws.
            let error = 4.0 * (p * (1.0 - p) / 20_000.0_f64).sqrt();
            assert!(
                (share - p).abs() <= error,
                "{length} packets: {share} lost, not {p}"
            );
        }
    }
    // Click's weight is 1/16: sixteen samples of 100 packets move the average from 0 to 64.4.
    let mut queue = queue(Red::lia_olia(Rate::from_bits_per_second(10_000_000)));
    for number in 0..100 {
        queue.backlog.push(Time::ZERO, segment(0, number, 1500));
    }
    (0..16).for_each(|_| queue.sample(Time::ZERO));
    let expected = 100.0 * (1.0 - 0.9375f64.powi(16));
    assert!((queue.average - expected).abs() < 1e-9 && (64.3..64.5).contains(&expected));
    // 1 Mbit/s: 2.5, 5 and 10 packets.
    let slow = Red::lia_olia(Rate::from_bits_per_second(1_000_000));
    let at = [2.5, 5.0, 7.5, 10.0].map(|packets| slow.probability(packets));
    assert_eq!(at, [0.0, 0.1, 0.55, 1.0]);
}

#[test]
fn even_gaps_are_uniform() {
    // FJ section VII, with the count of its pseudocode, which is 1 for the packet after a loss: at
    // p_b = 1/20 gaps are uniform on 1 ..= 19. Their mean is 10, their mean square 130.
    let red = Red::new(10.0, 30.0, 0.1).weight(1.0);
    let (share, square) = sample(red, 20);
    assert!((share - 0.1).abs() < 0.004, "{share}");
    assert!((square - 1.3).abs() < 0.05, "{square}");
    // A geometric gap has a mean square of nearly twice its squared mean.
    let independent = Red {
        even_gaps: false,
        ..red
    };
    let (share, square) = sample(independent, 20);
    assert!((share - 0.05).abs() < 0.007, "{share}");
    assert!((square - 2.0).abs() < 0.3, "{square}");
}

#[test]
fn the_average_follows_slowly_and_decays_while_idle() {
    // 1500 bytes at 10 Mbit/s: 1.2 ms.
    let mut queue = queue(Red::new(900.0, 1000.0, 0.1).weight(0.25));
    queue.backlog.push(Time::ZERO, segment(0, 0, 1500));
    let averages: Vec<f64> = (0..3)
        .map(|_| {
            queue.sample(Time::ZERO);
            queue.average
        })
        .collect();
    assert_eq!(averages, [0.25, 0.4375, 0.578_125]);
    // Empty from 2 ms on. 2.4 ms later: two idle packets and the arriving one.
    let ms = |ms| Time::ZERO + Span::from_micros(ms);
    queue.dequeue(ms(2_000));
    queue.sample(ms(4_400));
    assert_eq!(queue.average, 0.578_125 * 0.75 * 0.75 * 0.75);
    // Another packet at the same time: the idle time is not counted twice.
    queue.sample(ms(4_400));
    assert_eq!(queue.average, 0.578_125 * 0.75 * 0.75 * 0.75 * 0.75);
}

#[test]
fn capable_packets_are_marked_below_certainty_and_dropped_above() {
    for (length, certain) in [(20, false), (40, true)] {
        let mut queue = queue(Red::new(10.0, 30.0, 1.0).weight(1.0).ecn());
        for number in 0..length {
            queue.backlog.push(Time::ZERO, segment(0, number, 1500));
        }
        let (mut refused, mut ledger) = (0, Ledger::new());
        for number in 0..100 {
            let mut packet = segment(0, number, 1500);
            packet.payload.capable = true;
            match queue.enqueue(Time::ZERO, packet, true, &mut ledger) {
                Ok(()) => drop(queue.dequeue(Time::ZERO)),
                Err(_) => refused += 1,
            }
        }
        let expected = if certain { (100, 0) } else { (0, ledger.marks) };
        assert_eq!((refused, ledger.marks), expected);
        assert_eq!(ledger.marks > 0, !certain);
    }
}

#[test]
fn a_limit_is_independent_of_the_average() {
    let mut queue = queue(Red::new(10.0, 30.0, 0.1).limit(5));
    let mut ledger = Ledger::new();
    let mut accepted = |must_wait| {
        let packet = segment(0, 0, 1500);
        queue
            .enqueue(Time::ZERO, packet, must_wait, &mut ledger)
            .is_ok()
    };
    assert_eq!((0..9).filter(|_| accepted(true)).count(), 5);
    assert!(accepted(false));
}
