//! Small graphs for the tests of paths, and all their paths by enumeration.

use netsim::Span;
use proptest::prelude::*;

use crate::graph::Graph;
use crate::*;

/// A graph of `nodes` nodes with cables between them, each with a delay in milliseconds. Nodes before `hosts` do not forward.
pub fn graph(nodes: usize, hosts: usize, cables: &[Cable]) -> Graph {
    let mut graph = Graph::default();
    let nodes: Vec<NodeIndex> = (0..nodes)
        .map(|node| match node < hosts {
            true => graph.add_host(node.to_string()),
            false => graph.add_forwarding_host(node.to_string()),
        })
        .collect();
    for (number, cable) in cables.iter().enumerate() {
        let line = Properties::line(Span::from_millis(cable.delay));
        let [a, b] = [cable.a, cable.b].map(|node| nodes[node]);
        if a != b {
            graph.add_pair(&number.to_string(), a, b, [line.clone(), line]);
        }
    }
    graph
}

/// Two links between two nodes.
#[derive(Clone, Debug)]
pub struct Cable {
    pub a: usize,
    pub b: usize,
    pub delay: u64,
}

/// Cables between these nodes, parallel ones among them.
pub fn cables(nodes: usize, most: usize) -> impl Strategy<Value = Vec<Cable>> {
    let cable = (0..nodes, 0..nodes, 0..6u64).prop_map(|(a, b, delay)| Cable { a, b, delay });
    prop::collection::vec(cable, 1..most)
}

/// All paths without a loop, by enumeration, the shortest first.
pub fn all_paths(
    graph: &Graph,
    from: NodeIndex,
    to: NodeIndex,
    metric: Metric,
) -> Vec<Vec<LinkIndex>> {
    let mut found = Vec::new();
    let mut open = vec![(from, Vec::new())];
    while let Some((node, path)) = open.pop() {
        if node == to {
            found.push(path);
            continue;
        }
        if node != from && !graph.forwards[node.index()] {
            continue;
        }
        for (link, next) in &graph.outgoing[node.index()] {
            let mut visited = path.iter().map(|link| graph.link(*link).from);
            if *next != from && *next != node && visited.all(|visited| visited != *next) {
                let longer: Vec<LinkIndex> = [&path[..], &[*link]].concat();
                open.push((*next, longer));
            }
        }
    }
    found.sort_by_key(|path| (graph.length(path, metric), path.len()));
    found
}

/// Fails unless the links lead from one node to the other over nodes that forward, without a loop.
pub fn assert_path(graph: &Graph, path: &[LinkIndex], [from, to]: [NodeIndex; 2]) {
    let mut visited = vec![from];
    for link in path {
        let node = *visited.last().unwrap();
        assert_eq!(graph.link(*link).from, node, "links follow each other");
        assert!(
            node == from || graph.forwards[node.index()],
            "hosts do not forward"
        );
        let next = graph.link(*link).to;
        assert!(!visited.contains(&next), "a loop");
        visited.push(next);
    }
    assert_eq!(visited.last(), Some(&to));
}
