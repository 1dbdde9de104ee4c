//! Shortest paths on graphs whose nodes and links are given.

use std::collections::BTreeSet;

use netsim::Span;
use proptest::prelude::*;

use super::check;
use crate::*;

fn spelled(hosts: &[&str], routers: &[&str], links: &[(&str, &str)]) -> SpelledOut {
    let names = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
    let link = |(from, to): &(&str, &str)| SpelledLink {
        name: None,
        from: (*from).into(),
        to: (*to).into(),
        properties: Properties::line(Span::from_millis(1)),
        one_way: false,
    };
    SpelledOut {
        hosts: names(hosts),
        routers: names(routers),
        links: links.iter().map(link).collect(),
        paths: Vec::new(),
    }
}

#[test]
fn hosts_do_not_forward() {
    let links = [("a", "c"), ("c", "b"), ("a", "r"), ("r", "s"), ("s", "b")];
    let graph = spelled(&["a", "b", "c"], &["r", "s"], &links)
        .build()
        .unwrap();
    check(&graph);
    let node = |name| graph.node(name).unwrap();
    let paths = graph.shortest_paths(node("a"), node("b"));
    assert_eq!((paths.count(), paths.nth(0).unwrap().forward.len()), (1, 3));
    assert_eq!(graph.shortest_paths(node("a"), node("c")).count(), 1);
}

#[test]
fn a_graph_may_have_cycles_and_parallel_links() {
    let mut spec = spelled(
        &["a", "b"],
        &["r", "s"],
        &[("a", "r"), ("r", "s"), ("s", "r"), ("s", "b")],
    );
    spec.paths = vec![(
        "loop".into(),
        vec![["a", "r", "s", "b"].map(String::from).to_vec()],
    )];
    let graph = spec.build().unwrap();
    check(&graph);
    let [a, b] = ["a", "b"].map(|name| graph.node(name).unwrap());
    let paths = graph.shortest_paths(a, b);
    assert_eq!(paths.count(), 2);
    assert_ne!(paths.nth(0), paths.nth(1));
    assert_eq!(graph.set("loop").unwrap().paths[0], paths.nth(0).unwrap());
}

/// Number of shortest paths by enumeration of all walks over nodes that forward.
fn brute(graph: &Graph, from: NodeIndex, to: NodeIndex) -> u64 {
    let mut ways = vec![(from, 1u64)];
    for _ in 0..graph.nodes().len() {
        let mut next: Vec<(NodeIndex, u64)> = Vec::new();
        for (node, count) in ways {
            if node != from && !graph.forwards[node.index()] {
                continue;
            }
            for (_, to) in &graph.outgoing[node.index()] {
                next.push((*to, count));
            }
        }
        next.sort();
        ways = Vec::new();
        for (node, count) in next {
            match ways.last_mut() {
                Some((last, sum)) if *last == node => *sum += count,
                _ => ways.push((node, count)),
            }
        }
        if let Some((_, count)) = ways.iter().find(|(node, _)| *node == to) {
            return *count;
        }
    }
    0
}

proptest! {
    #[test]
    fn shortest_paths_are_all_there_are(links in prop::collection::vec((0..8usize, 0..8usize), 1..20)) {
        let nodes = ["a", "b", "c", "q", "r", "s", "t", "u"];
        let links: Vec<_> = links.iter().filter(|(from, to)| from != to).map(|(from, to)| (nodes[*from], nodes[*to])).collect();
        let mut spec = spelled(&nodes[..3], &nodes[3..], &links);
        for (number, link) in spec.links.iter_mut().enumerate() {
            link.name = Some(format!("link {number}"));
        }
        // Hosts without a link are the subject of another test.
        if let Ok(graph) = spec.build() {
            check(&graph);
            let hosts = graph.hosts();
            for (from, to) in [(0, 1), (1, 2), (2, 0)].map(|(from, to)| (hosts[from], hosts[to])) {
                let paths = graph.shortest_paths(from, to);
                prop_assert_eq!(paths.count(), brute(&graph, from, to));
                let all: BTreeSet<_> = (0..paths.count()).map(|n| paths.nth(n).unwrap().forward).collect();
                prop_assert_eq!(all.len() as u64, paths.count());
            }
        }
    }
}
