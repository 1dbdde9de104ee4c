//! Scenarios A, B and C of draft-khalili-mptcp-performance-issues-04.

use netsim::{Rate, Span};

use super::{check, rate};
use crate::*;

#[test]
fn users_of_the_draft_share_the_bottlenecks_of_the_draft() {
    let rtt = Span::from_millis(100);
    let a = TwoKinds {
        n1: 30,
        n2: 10,
        c1: Capacity::PerUser(rate(1)),
        c2: Capacity::PerUser(rate(1)),
        rtt,
        queues: [(); 2].map(|()| Queue::RedForRate(RedForRate::default())),
    };
    let b = ScenarioB {
        users: 15,
        cx: rate(27),
        cy: rate(100),
        cz: rate(100),
        ct: rate(36),
        rtt,
        queues: [(); 4].map(|()| Queue::RedForRate(RedForRate::default())),
    };
    let c = TwoKinds {
        queues: [(); 2].map(|()| Queue::DropTailPackets(9)),
        ..a.clone()
    };
    let build_a = |users| Spec::ScenarioA(users).build();
    let build_c = |users| Spec::ScenarioC(users).build();
    // Links of a path that have a rate.
    let crossed = |graph: &Graph, set: &str, path: usize| {
        let path = graph.set(set).unwrap().paths[path].clone();
        assert_eq!(graph.rtt(&path), rtt);
        let shaped = path.forward.iter().map(|link| graph.link(*link));
        let names = shaped
            .filter(|link| link.properties.rate.is_some())
            .map(|link| link.name.clone());
        names.collect::<Vec<_>>().join(", ")
    };
    let graph = build_a(a.clone()).unwrap();
    check(&graph);
    assert_eq!(crossed(&graph, "type1", 0), "R1 down");
    assert_eq!(crossed(&graph, "type1", 1), "R1 down, R2 down");
    assert_eq!(crossed(&graph, "type2", 0), "R2 down");
    assert_eq!(graph.set("type1").unwrap().users, Some(30));
    let r1 = graph
        .links()
        .iter()
        .find(|link| link.name == "R1 down")
        .unwrap();
    assert_eq!(r1.properties.rate, Some(rate(30)));
    let graph = b.build().unwrap();
    check(&graph);
    assert_eq!(crossed(&graph, "blue", 0), "Z down, X down");
    assert_eq!(crossed(&graph, "blue", 1), "Z down, T down, Y down");
    assert_eq!(crossed(&graph, "red", 0), "T down, Y down");
    assert_eq!(crossed(&graph, "red", 1), "T down, X down");

    let graph = build_c(c.clone()).unwrap();
    check(&graph);
    assert_eq!(crossed(&graph, "multipath", 0), "AP1 down");
    assert_eq!(crossed(&graph, "multipath", 1), "AP2 down");
    assert_eq!(crossed(&graph, "single-path", 0), "AP2 down");

    assert_eq!(
        build_a(TwoKinds { n1: 0, ..a.clone() }).unwrap_err().key,
        "n1"
    );
    let fast = Rate::from_bits_per_second(u64::MAX);
    assert_eq!(
        build_a(TwoKinds {
            c2: Capacity::PerUser(fast),
            ..a
        })
        .unwrap_err()
        .key,
        "c2"
    );
    assert_eq!(
        ScenarioB { users: 0, ..b }.build().unwrap_err().key,
        "users"
    );
    assert_eq!(
        build_c(TwoKinds { n2: u32::MAX, ..c }).unwrap_err().key,
        "n2"
    );
}

/// Each bottleneck has its own rate and queue in both directions. The other links have no rate.
#[test]
fn the_drafts_bottlenecks_have_rates_and_queues_of_their_own() {
    let rtt = Span::from_millis(100);
    let two = TwoKinds {
        n1: 30,
        n2: 10,
        c1: Capacity::Link(rate(40)),
        c2: Capacity::PerUser(rate(2)),
        rtt,
        queues: [9, 17].map(Queue::DropTailPackets),
    };
    let b = ScenarioB {
        users: 15,
        cx: rate(1),
        cy: rate(2),
        cz: rate(3),
        ct: rate(4),
        rtt,
        queues: [1, 2, 3, 4].map(Queue::DropTailPackets),
    };
    for (spec, bottlenecks) in [
        (
            Spec::ScenarioA(two.clone()),
            &[("R1", 40, 9), ("R2", 20, 17)][..],
        ),
        (Spec::ScenarioC(two), &[("AP1", 40, 9), ("AP2", 20, 17)]),
        (
            Spec::ScenarioB(b),
            &[("X", 1, 1), ("Y", 2, 2), ("Z", 3, 3), ("T", 4, 4)],
        ),
    ] {
        let graph = spec.build().unwrap();
        let mut expected = Vec::new();
        for (name, mbit, packets) in bottlenecks {
            for direction in ["down", "up"] {
                let queue = Queue::DropTailPackets(*packets);
                expected.push((format!("{name} {direction}"), rate(*mbit), queue));
            }
        }
        let shaped = graph.links().iter().filter_map(|link| {
            let properties = &link.properties;
            Some((
                link.name.clone(),
                properties.rate?,
                properties.queue.clone(),
            ))
        });
        let mut shaped: Vec<_> = shaped.collect();
        shaped.sort_by(|a, b| a.0.cmp(&b.0));
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(shaped, expected);
    }
}
