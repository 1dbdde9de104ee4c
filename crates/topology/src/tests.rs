//! What the builders make, counted by hand.

use std::collections::BTreeSet;

use crate::*;
use netsim::{Outage, Rate, Span, Time};

fn rate(mbit: u64) -> Rate {
    Rate::from_bits_per_second(mbit * 1_000_000)
}

fn bottleneck() -> Properties {
    Properties::shaped(rate(5), Queue::DropTailPackets(17), Span::ZERO)
}

fn fat_tree(k: u32) -> FatTree {
    FatTree {
        k,
        rate: rate(100),
        core_rate: Some(rate(50)),
        delay: Span::from_micros(100),
        queue: Queue::DropTailPackets(100),
    }
}

fn names(graph: &Graph, links: &[LinkIndex]) -> Vec<String> {
    links
        .iter()
        .map(|link| graph.link(*link).name.clone())
        .collect()
}

/// Each link begins where the one before ends, and the way back is over the same nodes.
fn assert_symmetric(graph: &Graph, path: &Path) {
    let nodes = |links: &[LinkIndex]| -> Vec<NodeIndex> {
        for pair in links.windows(2) {
            assert_eq!(graph.link(pair[0]).to, graph.link(pair[1]).from);
        }
        let first = links.iter().take(1).map(|link| graph.link(*link).from);
        first
            .chain(links.iter().map(|link| graph.link(*link).to))
            .collect()
    };
    let mut back = nodes(&path.reverse);
    back.reverse();
    assert_eq!(nodes(&path.forward), back);
    assert!(path.forward.iter().all(|link| !path.reverse.contains(link)));
}

pub(crate) fn check(graph: &Graph) {
    let unique: BTreeSet<_> = graph.links().iter().map(|link| &link.name).collect();
    assert_eq!(
        unique.len(),
        graph.links().len(),
        "links have names of their own"
    );
    for (name, index) in graph.nodes().iter().zip(0..) {
        assert_eq!(graph.node(name), Some(NodeIndex(index)), "so have nodes");
    }
    for path in graph.sets().iter().flat_map(|set| &set.paths) {
        assert_symmetric(graph, path);
        assert!(graph.hosts().contains(&graph.link(path.forward[0]).from));
        assert!(graph.hosts().contains(&graph.link(path.reverse[0]).from));
    }
}

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
    // The odd nanosecond is on the way back to the client.
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
    spec.access = Some(Access {
        rate: rate(100),
        delay: Span::from_millis(10),
        queue: Queue::DropTailPackets(1000),
    });
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
        spec.access = Some(Access {
            rate: rate(100),
            delay: Span::from_millis(2),
            queue: Queue::DropTailPackets(9),
        });
    }
}

#[test]
fn a_fat_tree_has_as_many_of_all_as_the_paper_says() {
    for k in [2, 4, 6, 8] {
        let graph = fat_tree(k).build().unwrap();
        check(&graph);
        let (k, half) = (k as usize, k as usize / 2);
        // k³/4 hosts; k/2 edge and k/2 aggregation switches in each pod; (k/2)² cores.
        assert_eq!(graph.hosts().len(), k * k * k / 4);
        assert_eq!(graph.nodes().len(), k * k * k / 4 + k * k + half * half);
        // As many links below each layer as hosts, in two directions: 48 for k = 4.
        assert_eq!(graph.links().len(), 2 * 3 * k * k * k / 4);
        let core = graph
            .links()
            .iter()
            .filter(|link| link.properties.rate == Some(rate(50)));
        assert_eq!(core.count(), 2 * k * k * k / 4);
        // Each switch has k ports.
        let ports = |node: &usize| graph.leaving[*node].len();
        let switches = (0..graph.nodes().len()).filter(|node| !graph.is_host[*node]);
        assert!(switches.map(|node| ports(&node)).all(|ports| ports == k));
    }
    for k in [0, 1, 3, 50, u32::MAX] {
        assert_eq!(fat_tree(k).build().unwrap_err().key, "k");
    }
}

#[test]
fn shortest_paths_of_a_fat_tree() {
    let graph = fat_tree(4).build().unwrap();
    let hosts = graph.hosts();
    let paths = |from: usize, to: usize| graph.shortest_paths(hosts[from], hosts[to]);
    // Under one edge switch, in one pod, between pods.
    let cases = [(0, 1, 1, 2), (0, 2, 2, 4), (0, 4, 4, 6), (15, 0, 4, 6)];
    for (from, to, count, links) in cases {
        let paths = paths(from, to);
        assert_eq!(paths.count(), count, "from {from} to {to}");
        let all: Vec<Path> = (0..count).map(|n| paths.nth(n).unwrap()).collect();
        for path in &all {
            assert_symmetric(&graph, path);
            assert_eq!((path.forward.len(), path.reverse.len()), (links, links));
            assert_eq!(graph.link(path.forward[0]).from, hosts[from]);
            assert_eq!(graph.link(path.forward[links - 1]).to, hosts[to]);
            assert_eq!(graph.rtt(path), Span::from_micros(100 * 2 * links as u64));
        }
        let different: BTreeSet<_> = all.iter().map(|path| &path.forward).collect();
        assert_eq!(different.len() as u64, count);
        assert_eq!(paths.nth(count), None);
    }
    assert_eq!(paths(3, 3).count(), 0);
    assert_eq!(paths(3, 3).nth(0), None);
    // k = 8: each of 128 hosts to another, 16 paths between pods.
    let graph = fat_tree(8).build().unwrap();
    let hosts = graph.hosts();
    for (from, to) in hosts.iter().zip(hosts.iter().rev()) {
        let paths = graph.shortest_paths(*from, *to);
        assert_eq!(paths.count(), 16);
        assert_symmetric(&graph, &paths.nth(15).unwrap());
    }
}

#[test]
fn the_drafts_scenarios_share_what_they_should() {
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
    // What of a path has a rate.
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

/// Each bottleneck has its own rate and queue, in both directions; what has none has still none.
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

#[test]
fn the_network_gets_what_is_meant() {
    let with = |queue| Properties {
        queue,
        ..bottleneck()
    };
    let shown = |properties: Properties| format!("{:?}", properties.to_netsim());
    let built = |queue: netsim::Queue| {
        format!("{:?}", netsim::LinkSpec::shaped(rate(5), queue, Span::ZERO))
    };
    let red = Red {
        min: 5,
        max: 15,
        max_p: 0.1,
        gentle: true,
        limit: 60,
        weight: 0.5,
        ecn: true,
    };
    let expected = netsim::Red::new(5.0, 15.0, 0.1)
        .gentle(30.0)
        .weight(0.5)
        .limit(60)
        .ecn();
    assert_eq!(shown(with(Queue::Red(red))), built(expected.into()));
    assert_eq!(
        shown(with(Queue::RedForRate(RedForRate::default()))),
        built(netsim::Red::lia_olia(rate(5)).into())
    );
    assert_eq!(
        shown(with(Queue::DropTailBytes(9))),
        built(netsim::DropTail::bytes(9).into())
    );
    let (target, interval) = (Span::from_millis(1), Span::from_millis(20));
    let codel = Queue::CoDel {
        target,
        interval,
        limit: 9,
        ecn: true,
    };
    let expected = netsim::CoDel::new().times(target, interval).limit(9).ecn();
    assert_eq!(shown(with(codel)), built(expected.into()));
    let fair = Queue::FqCoDel {
        target,
        interval,
        limit: 9,
        quantum: 300,
    };
    let expected = netsim::FqCoDel::new()
        .times(target, interval)
        .limit(9)
        .quantum(300);
    assert_eq!(shown(with(fair)), built(expected.into()));

    let trace: netsim::Trace = "1\n4\n".parse().unwrap();
    let [enter, leave, bad, good] = [0.1, 0.2, 0.9, 0.01];
    let mobile = Properties {
        rate: None,
        rate_trace: Some(trace.clone()),
        loss: Some(Loss::Bursty {
            enter,
            leave,
            bad,
            good,
        }),
        reorder: Some(Reorder {
            share: 0.3,
            delay: target,
        }),
        down: vec![Outage::for_good(Time::ZERO)],
        ..bottleneck()
    };
    let expected = netsim::LinkSpec::traced(trace, netsim::DropTail::new(17), Span::ZERO)
        .loss(netsim::Loss::gilbert_elliott(0.1, 0.2, 0.01, 0.9))
        .reorder(netsim::Reorder::new(0.3, target))
        .down(vec![Outage::for_good(Time::ZERO)]);
    assert_eq!(shown(mobile), format!("{expected:?}"));
}

/// Whatever the kind, each round trip is twice as long with delays twice as long.
#[test]
fn delays_are_changed_in_every_kind() {
    let rtt = Span::from_millis(40);
    let access = || {
        Some(Access {
            rate: rate(100),
            delay: Span::from_millis(1),
            queue: Queue::DropTailPackets(100),
        })
    };
    let users = || TwoKinds {
        n1: 2,
        n2: 2,
        c1: Capacity::PerUser(rate(1)),
        c2: Capacity::PerUser(rate(1)),
        rtt,
        queues: [(); 2].map(|()| Queue::RedForRate(RedForRate::default())),
    };
    let late = Properties::shaped(rate(5), Queue::DropTailPackets(17), Span::from_millis(3));
    let link = |from: &str, to: &str| SpelledLink {
        name: None,
        from: from.into(),
        to: to.into(),
        properties: late.clone(),
        one_way: false,
    };
    for mut spec in [
        Spec::SharedBottleneck(SharedBottleneck {
            bottleneck: late.clone(),
            rtts: vec![rtt, rtt + rtt],
            access: access(),
        }),
        Spec::NonSharedBottleneck(NonSharedBottleneck {
            paths: vec![PathSpec {
                bottleneck: late.clone(),
                rtt,
            }],
            access: access(),
        }),
        Spec::FatTree(fat_tree(4)),
        Spec::ScenarioA(users()),
        Spec::ScenarioB(ScenarioB {
            users: 2,
            cx: rate(1),
            cy: rate(1),
            cz: rate(1),
            ct: rate(1),
            rtt,
            queues: [(); 4].map(|()| Queue::RedForRate(RedForRate::default())),
        }),
        Spec::ScenarioC(users()),
        Spec::SpelledOut(SpelledOut {
            hosts: vec!["a".into(), "b".into()],
            routers: vec!["r".into()],
            links: vec![link("a", "r"), link("r", "b")],
            paths: Vec::new(),
        }),
    ] {
        let delays = |spec: &Spec| -> Vec<Span> {
            let graph = spec.build().unwrap();
            graph.links().iter().map(|l| l.properties.delay).collect()
        };
        let before = delays(&spec);
        assert!(before.iter().any(|delay| *delay > Span::ZERO));
        spec.map_delays(|delay| delay + delay);
        let twice: Vec<Span> = before.iter().map(|delay| *delay + *delay).collect();
        assert_eq!(delays(&spec), twice, "{spec:?}");
    }
}
