//! The computation, the burst allowance and the even distances, against RFC 8033.

use super::*;
use crate::queue::testing::{Segment, segment};
use crate::random::Purpose;

fn us(us: u64) -> Time {
    Time::ZERO + Span::from_micros(us)
}

fn random() -> RandomStream {
    RandomStream::new(1, 0, Purpose::Queue)
}

/// The probability after a computation at this one, with these waits (ms).
fn computed(probability: f64, wait: u64, last_wait: u64) -> f64 {
    let mut control = Control {
        probability,
        wait: Span::from_millis(wait),
        last_wait: Span::from_millis(last_wait),
        ..Control::new()
    };
    control.compute(&Pie::new());
    control.probability
}

#[test]
fn the_probability_follows_the_wait_and_its_trend() {
    // 0.125 · (0.055 − 0.015) + 1.25 · (0.055 − 0.035) = 0.005 + 0.025 = 0.03, divided by the range of the probability.
    for (from, divisor) in [
        (0.0, 2048.0),
        (0.000_005, 512.0),
        (0.000_05, 128.0),
        (0.000_5, 32.0),
        (0.005, 8.0),
        (0.05, 2.0),
    ] {
        let expected = from + 0.03 / divisor;
        assert!(
            (computed(from, 55, 35) - expected).abs() < 1e-12,
            "{from} {expected}"
        );
    }
    // From a tenth on: at most 0.02 up, as much as the wait says down.
    assert!((computed(0.3, 55, 35) - 0.32).abs() < 1e-12);
    assert!((computed(0.3, 15, 55) - 0.25).abs() < 1e-12);
    // An empty queue: −0.001875 / 2, and 2 % less.
    assert!((computed(0.05, 0, 0) - (0.05 - 0.000_937_5) * 0.98).abs() < 1e-12);
    // A probability is within 0 and 1.
    assert_eq!(computed(0.0, 0, 60), 0.0);
    assert_eq!(computed(0.99, 2000, 0), 1.0);
}

#[test]
fn a_burst_passes_and_then_drops_begin() {
    let mut control = Control {
        burst: MAX_BURST,
        probability: 0.9,
        wait: Span::from_millis(80),
        last_wait: Span::from_millis(80),
        ..Control::new()
    };
    let (pie, mut random) = (Pie::new(), random());
    // Ten computations use the allowance of 150 ms up.
    for update in 1..=10 {
        assert!(!control.hits(&pie, 90_000, &mut random), "{update}");
        control.catch_up(&pie, us(15_000 * update));
    }
    let drops = (0..10).filter(|_| control.hits(&pie, 90_000, &mut random));
    assert!(drops.count() > 5);
}

#[test]
fn a_short_queue_and_a_short_wait_have_no_drops() {
    let (pie, mut random) = (Pie::new(), random());
    let control = Control {
        probability: 0.19,
        wait: Span::from_millis(40),
        last_wait: Span::from_millis(40),
        ..Control::new()
    };
    let mut drops = |mut control: Control, bytes| {
        let hits = (0..1000).filter(|_| control.hits(&pie, bytes, &mut random));
        hits.count()
    };
    assert_eq!(drops(control, 3000), 0);
    assert!(drops(control, 3001) > 100);
    let low = |millis, probability| Control {
        last_wait: Span::from_millis(millis),
        probability,
        ..control
    };
    assert_eq!(drops(low(7, 0.19), 90_000), 0);
    assert!(drops(low(8, 0.19), 90_000) > 100);
    assert!(drops(low(7, 0.2), 90_000) > 100);
}

#[test]
fn drops_are_at_even_distances() {
    let (pie, mut random) = (Pie::new(), random());
    let mut control = Control {
        probability: 0.01,
        wait: Span::from_millis(40),
        last_wait: Span::from_millis(40),
        ..Control::new()
    };
    let mut gaps = Vec::new();
    let mut gap = 0_u32;
    for _ in 0..1_000_000 {
        gap += 1;
        if control.hits(&pie, 90_000, &mut random) {
            gaps.push(std::mem::take(&mut gap));
        }
    }
    // The sum reaches 0.85 at the 85th packet, and 8.5 at the 850th, or by rounding at the next one; the mean is 84 and 1/p.
    assert!(gaps.iter().all(|gap| (85..=851).contains(gap)));
    let mean = 1e6 / gaps.len() as f64;
    assert!((180.0..188.0).contains(&mean), "{mean}");
}

/// 1.25 packets arrive for each that leaves, in 1 ms: a fifth of them must go, and those that stay wait for the target.
#[test]
fn an_overload_is_held_at_the_target() {
    for capable in [false, true] {
        let pie = if capable {
            Pie::new().ecn()
        } else {
            Pie::new()
        };
        let mut queue: PieQueue<Segment> = PieQueue::new(pie.limit(usize::MAX), random());
        let mut ledger = Ledger::new();
        let (mut refused, mut arrived, mut waits) = (0_u64, 0_u64, Vec::new());
        for step in 0..400_000_u64 {
            // Steps of 200 µs: an arrival every four, a departure every five.
            let now = us(200 * step);
            if step % 4 == 0 {
                let mut packet = segment(0, step, 1500);
                packet.payload.capable = capable;
                let late = step > 100_000;
                arrived += u64::from(late);
                let is_refused = queue.enqueue(now, packet, true, &mut ledger).is_err();
                refused += u64::from(late && is_refused);
            }
            if step % 5 == 0 {
                queue.dequeue(now);
                if step > 100_000 {
                    waits.push(queue.control.wait.as_secs_f64());
                }
            }
        }
        let share = refused as f64 / arrived as f64;
        assert!((0.19..0.21).contains(&share), "{share}");
        let wait = waits.iter().sum::<f64>() / waits.len() as f64;
        assert!((0.010..0.020).contains(&wait), "{wait}");
        // Marks alone would not hold it: above a tenth packets are dropped.
        assert_eq!(ledger.marks > 0, capable);
    }
}

#[test]
fn the_limit_holds_whatever_the_probability_is() {
    let mut queue: PieQueue<Segment> = PieQueue::new(Pie::new().limit(3), random());
    let mut ledger = Ledger::new();
    let mut admit = |number| queue.enqueue(us(0), segment(0, number, 1500), true, &mut ledger);
    assert!((0..3).all(|number| admit(number).is_ok()));
    assert!(admit(3).is_err());
}

#[test]
fn the_last_packet_leaves_no_wait_and_a_short_queue_renews_the_allowance() {
    let mut queue: PieQueue<Segment> = PieQueue::new(Pie::new(), random());
    let mut ledger = Ledger::new();
    for number in 0..2 {
        let admitted = queue.enqueue(us(0), segment(0, number, 1500), true, &mut ledger);
        assert!(admitted.is_ok());
    }
    assert_eq!(queue.control.burst, MAX_BURST);
    let wait_after = |queue: &mut PieQueue<Segment>, at| {
        assert!(queue.dequeue(at).is_some());
        queue.control.wait
    };
    assert_eq!(wait_after(&mut queue, us(9000)), Span::from_millis(9));
    assert_eq!(wait_after(&mut queue, us(10_000)), Span::ZERO);
}
