//! Fat trees, and the shortest paths through them.

use std::collections::BTreeSet;

use netsim::Span;

use super::{assert_symmetric, check, fat_tree, rate};
use crate::*;

#[test]
fn a_fat_tree_has_the_counts_of_the_paper() {
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
        let ports = |node: &usize| graph.outgoing[*node].len();
        let switches = (0..graph.nodes().len()).filter(|node| graph.forwards[*node]);
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
