//! All shortest paths between two hosts, counted at once and made one by one.
//!
//! A search from the destination gives each node its distance and the number of shortest paths from it; the n-th path
//! is then a walk that skips as many as begin with each link. So a caller draws an equal-cost path at random or by a
//! hash without making them all.

use std::collections::VecDeque;

use crate::graph::{Graph, LinkIndex, NodeIndex, Path};

/// All shortest paths from one host to another. Their order is that in which links were added to the graph.
#[derive(Clone, Debug)]
pub struct ShortestPaths<'a> {
    graph: &'a Graph,
    from: NodeIndex,
    to: NodeIndex,
    /// For each node the links to the destination and the number of shortest paths; no paths: not reached.
    towards: Vec<(u32, u64)>,
}

impl<'a> ShortestPaths<'a> {
    pub(crate) fn new(graph: &'a Graph, from: NodeIndex, to: NodeIndex) -> Self {
        let mut towards = vec![(0, 0u64); graph.nodes().len()];
        towards[to.index()] = (0, 1);
        let mut reached = VecDeque::from([to]);
        while let Some(node) = reached.pop_front() {
            let (distance, paths) = towards[node.index()];
            if node == from {
                break; // what follows is further away
            }
            for before in &graph.entering[node.index()] {
                // Hosts do not forward.
                if graph.is_host[before.index()] && *before != from {
                    continue;
                }
                let known = &mut towards[before.index()];
                if known.1 == 0 {
                    *known = (distance + 1, paths);
                    reached.push_back(*before);
                } else if known.0 == distance + 1 {
                    known.1 = known.1.saturating_add(paths);
                }
            }
        }
        if from == to {
            towards[to.index()].1 = 0;
        }
        Self {
            graph,
            from,
            to,
            towards,
        }
    }

    /// How many there are; 0 where there is no way, and between a host and itself.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.towards[self.from.index()].1
    }

    /// The `n`-th, from 0. Its way back is over the same nodes; `None` also where a link has no other direction.
    #[must_use]
    pub fn nth(&self, n: u64) -> Option<Path> {
        if n >= self.count() {
            return None;
        }
        let (mut node, mut skip, mut links) = (self.from, n, Vec::new());
        while node != self.to {
            let link = self.step(node, &mut skip)?;
            links.push(link);
            node = self.graph.link(link).to;
        }
        self.graph.path(links)
    }

    /// The first link from `node`, when `skip` paths from there are passed over.
    fn step(&self, node: NodeIndex, skip: &mut u64) -> Option<LinkIndex> {
        let distance = self.towards[node.index()].0;
        for (link, next) in &self.graph.leaving[node.index()] {
            // Other hosts have no paths.
            let (remaining, paths) = self.towards[next.index()];
            if paths == 0 || remaining + 1 != distance {
                continue;
            }
            if *skip < paths {
                return Some(*link);
            }
            *skip -= paths;
        }
        None
    }
}
