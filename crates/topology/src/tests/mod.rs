//! Graphs that the builders make, compared with counts by hand.

mod assistance;
mod bottlenecks;
mod fat_tree;
mod graphs;
mod link;
mod paths;
mod sharing;
mod shortest_paths;
mod shortest_tree;
mod spec;
mod users;

use std::collections::BTreeSet;

use crate::*;
use netsim::{Rate, Span};

fn rate(mbit: u64) -> Rate {
    Rate::from_bits_per_second(mbit * 1_000_000)
}

fn bottleneck() -> Properties {
    Properties::shaped(rate(5), Queue::DropTailPackets(17), Span::ZERO)
}

/// A bottleneck of the draft.
fn red(mbit: u64) -> Properties {
    let queue = Queue::RedForRate(RedForRate::default());
    Properties::shaped(rate(mbit), queue, Span::ZERO)
}

fn fat_tree(k: u32) -> FatTree {
    let link = |mbit| {
        let queue = Queue::DropTailPackets(100);
        Properties::shaped(rate(mbit), queue, Span::from_micros(100))
    };
    FatTree {
        k,
        link: link(100),
        core: link(50),
    }
}

fn names(graph: &Graph, links: &[LinkIndex]) -> Vec<String> {
    links
        .iter()
        .map(|link| graph.link(*link).name.clone())
        .collect()
}

/// Each link begins where the previous link ends, and the reverse path visits the same nodes.
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

fn check(graph: &Graph) {
    let unique: BTreeSet<_> = graph.links().iter().map(|link| &link.name).collect();
    assert_eq!(
        unique.len(),
        graph.links().len(),
        "each link has its own name"
    );
    for (name, index) in graph.nodes().iter().zip(0..) {
        assert_eq!(
            graph.node(name),
            Some(NodeIndex(index)),
            "each node has its own name"
        );
    }
    for path in graph.sets().iter().flat_map(|set| &set.paths) {
        assert_symmetric(graph, path);
        assert!(graph.hosts().contains(&graph.link(path.forward[0]).from));
        assert!(graph.hosts().contains(&graph.link(path.reverse[0]).from));
    }
}
