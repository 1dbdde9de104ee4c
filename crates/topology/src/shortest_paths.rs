//! All shortest paths between two hosts, counted together and built one by one.
//!
//! A search from the destination determines the distance of each node and its number of shortest paths. The n-th path is
//! a walk that skips as many paths as begin with each link: a caller can draw an equal-cost path at random or by a hash
//! without building all of them.

use std::collections::VecDeque;

use crate::graph::{Graph, LinkIndex, NodeIndex, Path};

/// All shortest paths from one host to another. Their order follows the order in which links were added to the graph.
#[derive(Clone, Debug)]
pub struct ShortestPaths<'a> {
    graph: &'a Graph,
    from: NodeIndex,
    to: NodeIndex,
    /// Number of links from each node to the destination.
    links: Vec<u32>,
    /// Number of shortest paths from each node; 0 for a node that the search did not reach.
    paths: Vec<u64>,
}

impl Graph {
    /// All shortest paths between two hosts, by number of links, in a fixed order. Each is built when it is requested.
    /// There is no path between a host and itself.
    #[must_use]
    pub fn shortest_paths(&self, from: NodeIndex, to: NodeIndex) -> ShortestPaths<'_> {
        ShortestPaths::new(self, from, to)
    }
}

impl<'a> ShortestPaths<'a> {
    fn new(graph: &'a Graph, from: NodeIndex, to: NodeIndex) -> Self {
        // Zeroed vectors, which the allocator provides without a loop over all nodes.
        let mut links = vec![0; graph.nodes().len()];
        let mut paths = vec![0u64; graph.nodes().len()];
        paths[to.index()] = 1;
        let mut reached = VecDeque::from([to]);
        while let Some(node) = reached.pop_front() {
            if node == from {
                break; // all nodes that follow are further away
            }
            for (_, before) in &graph.incoming[node.index()] {
                // Hosts do not forward.
                if !graph.forwards[before.index()] && *before != from {
                    continue;
                }
                let (next, through) = (links[node.index()] + 1, paths[node.index()]);
                if paths[before.index()] == 0 {
                    links[before.index()] = next;
                    paths[before.index()] = through;
                    reached.push_back(*before);
                } else if links[before.index()] == next {
                    paths[before.index()] = paths[before.index()].saturating_add(through);
                }
            }
        }
        if from == to {
            paths[to.index()] = 0;
        }
        Self {
            graph,
            from,
            to,
            links,
            paths,
        }
    }

    /// Number of paths; 0 where there is none, and between a host and itself.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.paths[self.from.index()]
    }

    /// The path number `n`, from 0, and back over the same nodes; none also where a link has no reverse direction.
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

    /// The next link from `node` when `skip` paths from there are skipped.
    fn step(&self, node: NodeIndex, skip: &mut u64) -> Option<LinkIndex> {
        let distance = self.links[node.index()];
        for (link, next) in &self.graph.outgoing[node.index()] {
            // Other hosts have no paths.
            let (links, paths) = (self.links[next.index()], self.paths[next.index()]);
            if paths == 0 || links + 1 != distance {
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
