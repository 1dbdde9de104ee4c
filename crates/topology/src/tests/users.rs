//! Scenarios A, B and C of draft-khalili-mptcp-performance-issues-04.

use netsim::Span;

use super::{check, rate, red};
use crate::*;

#[test]
fn users_of_the_draft_share_the_bottlenecks_of_the_draft() {
    let rtt = Span::from_millis(100);
    let a = TwoKinds {
        n1: 30,
        n2: 10,
        bottlenecks: [30, 10].map(red),
        rtt,
    };
    let b = ScenarioB {
        users: 15,
        bottlenecks: Box::new([27, 100, 100, 36].map(red)),
        rtt,
    };
    let c = TwoKinds {
        bottlenecks: [(); 2].map(|()| super::bottleneck()),
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
    assert_eq!(
        ScenarioB { users: 0, ..b }.build().unwrap_err().key,
        "users"
    );
    assert_eq!(
        build_c(TwoKinds { n2: u32::MAX, ..c }).unwrap_err().key,
        "n2"
    );
}

/// Each bottleneck has its own rate and queue in either direction. The other links have no rate.
#[test]
fn the_drafts_bottlenecks_have_rates_and_queues_of_their_own() {
    let rtt = Span::from_millis(100);
    let bottleneck = |(mbit, packets)| {
        let queue = Queue::DropTailPackets(packets);
        let down = Properties::shaped(rate(mbit), queue, Span::ZERO);
        down.with_rates([rate(mbit + 1), rate(mbit)])
    };
    let two = TwoKinds {
        n1: 30,
        n2: 10,
        bottlenecks: [(40, 9), (20, 17)].map(bottleneck),
        rtt,
    };
    let b = ScenarioB {
        users: 15,
        bottlenecks: Box::new([(1, 1), (2, 2), (3, 3), (4, 4)].map(bottleneck)),
        rtt,
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
            for (direction, mbit) in [("down", *mbit), ("up", *mbit + 1)] {
                let queue = Queue::DropTailPackets(*packets);
                expected.push((format!("{name} {direction}"), rate(mbit), queue));
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
