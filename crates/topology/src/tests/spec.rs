//! All kinds of network.

use netsim::Span;

use super::{fat_tree, rate, red};
use crate::*;

/// In each kind of network, doubled delays double the round-trip times.
#[test]
fn delays_are_changed_in_every_kind() {
    let rtt = Span::from_millis(40);
    let access = || {
        let queue = Queue::DropTailPackets(100);
        Some(Properties::shaped(rate(100), queue, Span::from_millis(1)))
    };
    let users = || TwoKinds {
        n1: 2,
        n2: 2,
        bottlenecks: [red(1), red(1)],
        rtt,
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
            bottlenecks: Box::new([1; 4].map(red)),
            rtt,
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
