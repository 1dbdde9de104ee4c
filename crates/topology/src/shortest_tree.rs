//! Distances from a node to all others, or back, and all shortest paths on them.
//!
//! [`ShortestPaths`](crate::ShortestPaths) searches for one pair of nodes. A tree serves all pairs of one node, and leaves out links that are
//! down.

use std::collections::VecDeque;

use crate::graph::{Graph, LinkIndex, NodeIndex};

/// Direction of the paths of a [`ShortestTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Paths begin at the root.
    From,
    /// Paths end at the root.
    To,
}

/// Distance that no path has.
const UNREACHABLE: u32 = u32::MAX;

/// Distances between a root and all nodes, in links.
#[derive(Clone, Debug)]
pub struct ShortestTree {
    root: NodeIndex,
    direction: Direction,
    /// Number of links of the shortest paths of each node.
    distances: Vec<u32>,
    /// Number of shortest paths of each node, up to `u16::MAX`.
    counts: Vec<u16>,
}

impl Graph {
    /// Searches from a root over the usable links. As in [`Graph::shortest_paths`], hosts apart from a map do not forward.
    #[must_use]
    pub fn shortest_tree(
        &self,
        root: NodeIndex,
        direction: Direction,
        usable: impl Fn(LinkIndex) -> bool,
    ) -> ShortestTree {
        let mut distances = vec![UNREACHABLE; self.nodes().len()];
        let mut counts = vec![0u16; self.nodes().len()];
        distances[root.index()] = 0;
        counts[root.index()] = 1;
        let links = match direction {
            Direction::From => &self.outgoing,
            Direction::To => &self.incoming,
        };
        let mut reached = VecDeque::from([root]);
        while let Some(node) = reached.pop_front() {
            if node != root && !self.forwards[node.index()] {
                continue;
            }
            let (distance, count) = (distances[node.index()] + 1, counts[node.index()]);
            for (link, next) in &links[node.index()] {
                if distances[next.index()] < distance || !usable(*link) {
                    continue;
                }
                if distances[next.index()] == UNREACHABLE {
                    distances[next.index()] = distance;
                    reached.push_back(*next);
                }
                let counts = &mut counts[next.index()];
                *counts = counts.saturating_add(count);
            }
        }
        ShortestTree {
            root,
            direction,
            distances,
            counts,
        }
    }
}

impl ShortestTree {
    /// Number of links between the root and a node; none: there is no path.
    #[must_use]
    pub fn distance(&self, node: NodeIndex) -> Option<u32> {
        let distance = self.distances[node.index()];
        (distance != UNREACHABLE).then_some(distance)
    }

    /// Number of shortest paths between the root and a node, up to 65 535.
    #[must_use]
    pub fn count(&self, node: NodeIndex) -> u16 {
        self.counts[node.index()]
    }

    /// All shortest paths from the root to this node, over the links that were usable in the search.
    ///
    /// # Panics
    /// If the paths of the tree end at the root.
    #[must_use]
    pub fn paths(
        &self,
        graph: &Graph,
        to: NodeIndex,
        usable: impl Fn(LinkIndex) -> bool,
    ) -> Vec<Vec<LinkIndex>> {
        assert_eq!(self.direction, Direction::From, "paths begin at the root");
        let mut found = Vec::new();
        if self.distances[to.index()] == UNREACHABLE {
            return found;
        }
        let mut unfinished = vec![(to, Vec::new())];
        while let Some((node, links)) = unfinished.pop() {
            if node == self.root {
                found.push(links.into_iter().rev().collect());
                continue;
            }
            for (link, before) in &graph.incoming[node.index()] {
                let forwards = *before == self.root || graph.forwards[before.index()];
                let distance = self.distances[before.index()];
                if forwards
                    && distance != UNREACHABLE
                    && distance + 1 == self.distances[node.index()]
                    && usable(*link)
                {
                    let mut links: Vec<LinkIndex> = links.clone();
                    links.push(*link);
                    unfinished.push((*before, links));
                }
            }
        }
        found
    }
}
