//! Turns, sparse flows and the limit, against RFC 8290.

use super::*;
use crate::queue::testing::{Segment, segment};

const NOW: Time = Time::ZERO;

/// Gives different hashes to the small flow numbers of these tests.
const PERTURBATION: u64 = 7;

fn queue(fq: FqCoDel) -> FqCoDelQueue<Segment> {
    FqCoDelQueue::new(fq, PERTURBATION)
}

/// Dequeues `count` packets: flow and number of each.
fn take(queue: &mut FqCoDelQueue<Segment>, count: usize) -> Vec<(u64, u64)> {
    let mut ledger = Ledger::new();
    let packets = std::iter::from_fn(|| queue.dequeue(NOW, &mut ledger));
    packets
        .take(count)
        .map(|packet| (packet.payload.flow, packet.payload.number))
        .collect()
}

/// A queue with 98 large packets of flow 1. Two packets have been sent, so that its turn as a new queue is over.
fn behind_a_fat_flow() -> FqCoDelQueue<Segment> {
    let mut queue = queue(FqCoDel::new());
    for number in 0..100 {
        queue.enqueue(NOW, segment(1, number, 1500), &mut Ledger::new());
    }
    take(&mut queue, 2);
    queue
}

#[test]
fn two_flows_share_bytes_evenly() {
    // One flow sends large packets, the other small ones: they share bytes, not packets.
    let mut queue = queue(FqCoDel::new());
    let mut ledger = Ledger::new();
    for number in 0..2000 {
        queue.enqueue(NOW, segment(1, number, 1500), &mut ledger);
        queue.enqueue(NOW, segment(2, number, 300), &mut ledger);
    }
    let first = take(&mut queue, 1200);
    let large = first.iter().filter(|(flow, _)| *flow == 1).count() as i64;
    let small = first.len() as i64 - large;
    // Within a quantum and a packet.
    assert!(
        (large * 1500 - small * 300).abs() <= 1514 + 1500,
        "{large} and {small}"
    );
    // Each flow's packets are in order.
    for flow in [1, 2] {
        let numbers = first
            .iter()
            .filter(|packet| packet.0 == flow)
            .map(|packet| packet.1);
        assert!(numbers.eq(0..if flow == 1 {
            large as u64
        } else {
            small as u64
        }));
    }
}

#[test]
fn a_turn_is_a_quantum() {
    // Three flows of 1000 bytes a packet; a quantum of 2500 is three packets (the third overdraws
    // by 500), and the next turn is 2000, two packets.
    let mut queue = queue(FqCoDel::new().quantum(2500));
    let mut ledger = Ledger::new();
    for number in 0..20 {
        for flow in [1, 2, 3] {
            queue.enqueue(NOW, segment(flow, number, 1000), &mut ledger);
        }
    }
    let flows: Vec<u64> = take(&mut queue, 15).iter().map(|packet| packet.0).collect();
    assert_eq!(flows, [1, 1, 1, 2, 2, 2, 3, 3, 3, 1, 1, 2, 2, 3, 3]);
}

#[test]
fn a_sparse_flow_does_not_wait_behind_a_fat_one() {
    let mut queue = behind_a_fat_flow();
    queue.enqueue(NOW, segment(2, 0, 100), &mut Ledger::new());
    assert_eq!(take(&mut queue, 1), [(2, 0)]);
}

#[test]
fn sparse_flows_do_not_starve_a_fat_one() {
    // One of two flows sends whenever the other's queue is empty: if an empty queue were removed at once, one of the two would always
    // be new (RFC 8290 section 4.2).
    let (mut queue, mut ledger) = (behind_a_fat_flow(), Ledger::new());
    queue.enqueue(NOW, segment(2, 0, 100), &mut ledger);
    queue.enqueue(NOW, segment(3, 0, 100), &mut ledger);
    assert_eq!(take(&mut queue, 1), [(2, 0)]);
    let mut fat = 0;
    for number in 1..60 {
        match take(&mut queue, 1)[0].0 {
            1 => fat += 1,
            flow => queue.enqueue(NOW, segment(5 - flow, number, 100), &mut ledger),
        }
    }
    assert!(fat >= 10, "{fat} of 59");
}

#[test]
fn the_limit_drops_half_of_the_fattest_from_its_head() {
    let mut queue = queue(FqCoDel::new().limit(20));
    let mut ledger = Ledger::new();
    for number in 0..8 {
        queue.enqueue(NOW, segment(1, number, 1500), &mut ledger);
    }
    for number in 0..13 {
        // More packets, fewer bytes.
        queue.enqueue(NOW, segment(2, number, 100), &mut ledger);
    }
    let dropped: Vec<(u64, u64)> = ledger
        .dropped
        .iter()
        .map(|packet| (packet.payload.flow, packet.payload.number))
        .collect();
    assert_eq!(dropped, [(1, 0), (1, 1), (1, 2), (1, 3)]);
    assert_eq!((queue.len(), ledger.drops), (17, 4));
    // At most 64 packets at once.
    let mut queue = self::queue(FqCoDel::new().limit(300));
    let mut ledger = Ledger::new();
    for number in 0..301 {
        queue.enqueue(NOW, segment(1, number, 1500), &mut ledger);
    }
    assert_eq!((queue.len(), ledger.drops), (237, 64));
}

#[test]
fn each_flow_has_a_codel_of_its_own() {
    // Packets of a flow that builds a queue are dropped, those of a sparse flow are not.
    let mut queue = queue(FqCoDel::new());
    let mut ledger = Ledger::new();
    for number in 0..1000 {
        queue.enqueue(NOW, segment(1, number, 1500), &mut ledger);
    }
    for ms in 1..400 {
        let now = NOW + Span::from_millis(ms);
        if ms % 10 == 0 {
            queue.enqueue(now, segment(2, ms, 100), &mut ledger);
        }
        queue.dequeue(now, &mut ledger);
    }
    assert!(ledger.drops > 3);
    assert!(ledger.dropped.iter().all(|packet| packet.payload.flow == 1));
}

#[test]
fn the_seed_decides_which_flows_share_a_queue() {
    let collisions = |perturbation| {
        let mut queue = FqCoDelQueue::new(FqCoDel::new(), perturbation);
        let place =
            |queue: &mut FqCoDelQueue<Segment>, flow| queue.place(&segment(flow, 0, 1).payload);
        (0..200u64)
            .filter(|flow| place(&mut queue, *flow) < *flow as u16)
            .collect::<Vec<_>>()
    };
    assert_ne!(collisions(1), collisions(2));
    assert_eq!(collisions(1), collisions(1));
}
