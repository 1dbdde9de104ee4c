//! Networks between one server and one client.

use netsim::Span;

use super::{bottleneck, check, names, rate};
use crate::*;

#[test]
fn a_shared_bottleneck_is_crossed_by_all_paths() {
    let nanos = Span::from_nanos;
    let mut spec = SharedBottleneck {
        bottleneck: bottleneck(),
        rtts: vec![nanos(200_000_001), nanos(20_000_000)],
        access: None,
    };
    let graph = spec.build().unwrap();
    check(&graph);
    let path = &graph.sets()[0].paths[0];
    // The server sends.
    assert_eq!(
        names(&graph, &path.forward),
        ["path 1 down", "bottleneck down"]
    );
    assert_eq!(names(&graph, &path.reverse), ["bottleneck up", "path 1 up"]);
    let rtts: Vec<_> = graph.sets()[0]
        .paths
        .iter()
        .map(|path| graph.rtt(path))
        .collect();
    assert_eq!(rtts, spec.rtts);
    // The odd nanosecond is part of the direction to the client.
    assert_eq!(
        graph.link(path.reverse[1]).properties.delay,
        nanos(100_000_000)
    );
    assert_eq!(
        graph.link(path.forward[0]).properties.delay,
        nanos(100_000_001)
    );
    assert_eq!((graph.nodes().len(), graph.links().len()), (3, 6));

    // CSS: 10 ms, the bottleneck's 30 ms, 10 ms.
    spec.rtts = vec![Span::from_millis(100); 2];
    spec.access = Some(Properties::shaped(
        rate(100),
        Queue::DropTailPackets(1000),
        Span::from_millis(10),
    ));
    let graph = spec.build().unwrap();
    check(&graph);
    let path = &graph.sets()[0].paths[1];
    let expected = [
        "path 2 server down",
        "path 2 down",
        "bottleneck down",
        "path 2 client down",
    ];
    assert_eq!(names(&graph, &path.forward), expected);
    assert_eq!(graph.rtt(path), Span::from_millis(100));
    let delays: Vec<_> = path
        .forward
        .iter()
        .map(|link| graph.link(*link).properties.delay)
        .collect();
    assert_eq!(delays, [10, 30, 0, 10].map(Span::from_millis));
    spec.rtts[1] = Span::from_millis(39);
    assert_eq!(spec.build().unwrap_err().key, "rtt");
}

#[test]
fn separate_bottlenecks_share_no_link() {
    let path = |rtt| PathSpec {
        bottleneck: bottleneck(),
        rtt: Span::from_millis(rtt),
    };
    let mut spec = NonSharedBottleneck {
        paths: vec![path(200), path(20)],
        access: None,
    };
    for (links, nodes) in [(1, 2), (3, 6)] {
        let graph = spec.build().unwrap();
        check(&graph);
        let [one, two] = &graph.sets()[0].paths[..] else {
            panic!()
        };
        assert_eq!((one.forward.len(), graph.nodes().len()), (links, nodes));
        assert!(one.forward.iter().all(|link| !two.forward.contains(link)));
        assert_eq!(graph.rtt(one), Span::from_millis(200));
        assert_eq!(graph.rtt(two), Span::from_millis(20));
        spec.access = Some(Properties::shaped(
            rate(100),
            Queue::DropTailPackets(9),
            Span::from_millis(2),
        ));
    }
}
