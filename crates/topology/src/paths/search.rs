//! Dijkstra's algorithm from a node, towards a destination whose distance from every node is known (A*).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{Length, Metric, UNREACHABLE};
use crate::graph::{Graph, LinkIndex, NodeIndex};

/// Length of the shortest path from each node to `to`; [`UNREACHABLE`] where there is none. `from` may be a host.
pub(super) fn lengths_to(
    graph: &Graph,
    metric: Metric,
    from: NodeIndex,
    to: NodeIndex,
) -> Vec<Length> {
    let mut lengths = vec![UNREACHABLE; graph.nodes().len()];
    lengths[to.index()] = 0;
    let mut heap = BinaryHeap::from([Reverse((0, to))]);
    while let Some(Reverse((length, node))) = heap.pop() {
        if length > lengths[node.index()] {
            continue;
        }
        for (link, before) in &graph.incoming[node.index()] {
            // Hosts do not forward.
            if !graph.forwards[before.index()] && *before != from {
                continue;
            }
            let next = length + metric.of(graph, *link);
            if next < lengths[before.index()] {
                lengths[before.index()] = next;
                // Nothing leads through the start.
                if *before != from {
                    heap.push(Reverse((next, *before)));
                }
            }
        }
    }
    lengths
}

/// Memory of successive searches in one graph. Its vectors are reset by a number, not by a loop over all nodes.
pub(super) struct Search {
    /// Number of the current search.
    round: u32,
    /// Search in which a node was reached last.
    reached: Vec<u32>,
    /// Search that must not visit a node.
    forbidden: Vec<u32>,
    /// Length from the start to each reached node.
    lengths: Vec<Length>,
    /// Link over which each reached node was reached.
    over: Vec<LinkIndex>,
}

impl Search {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            round: 0,
            reached: vec![0; nodes],
            forbidden: vec![0; nodes],
            lengths: vec![0; nodes],
            over: vec![LinkIndex(0); nodes],
        }
    }

    /// Begins a search that does not visit these nodes.
    pub(super) fn begin(&mut self, forbidden: impl IntoIterator<Item = NodeIndex>) {
        self.round += 1;
        for node in forbidden {
            self.forbidden[node.index()] = self.round;
        }
    }

    /// The shortest path from `from` to `to` whose first link is none of `first`. `remaining` is at most the length of each node's
    /// shortest path to `to`, and exact without forbidden nodes and links: the search then visits few nodes beside the path.
    pub(super) fn path(
        &mut self,
        graph: &Graph,
        metric: Metric,
        [from, to]: [NodeIndex; 2],
        first: &[LinkIndex],
        remaining: &[Length],
    ) -> Option<Vec<LinkIndex>> {
        self.reach(from, 0, None);
        // By the length of the whole path, then the nearest to the destination, then the node.
        let mut heap = BinaryHeap::from([Reverse((remaining[from.index()], 0, from))]);
        while let Some(Reverse((whole, _, node))) = heap.pop() {
            if node == to {
                return Some(self.links_to(graph, from, to));
            }
            let length = self.lengths[node.index()];
            if whole > length + remaining[node.index()] {
                continue; // a longer way to a node that was reached again
            }
            for (link, next) in &graph.outgoing[node.index()] {
                let left = remaining[next.index()];
                let is_closed = self.forbidden[next.index()] == self.round
                    || left == UNREACHABLE
                    || (!graph.forwards[next.index()] && *next != to)
                    || (node == from && first.contains(link));
                let length = length + metric.of(graph, *link);
                let is_new = self.reached[next.index()] != self.round;
                if is_closed || !(is_new || length < self.lengths[next.index()]) {
                    continue;
                }
                self.reach(*next, length, Some(*link));
                heap.push(Reverse((length + left, left, *next)));
            }
        }
        None
    }

    fn reach(&mut self, node: NodeIndex, length: Length, over: Option<LinkIndex>) {
        self.reached[node.index()] = self.round;
        self.lengths[node.index()] = length;
        if let Some(link) = over {
            self.over[node.index()] = link;
        }
    }

    /// The links from the start to a node that was reached.
    fn links_to(&self, graph: &Graph, from: NodeIndex, to: NodeIndex) -> Vec<LinkIndex> {
        let mut links = Vec::new();
        let mut node = to;
        while node != from {
            let link = self.over[node.index()];
            links.push(link);
            node = graph.link(link).from;
        }
        links.reverse();
        links
    }
}
