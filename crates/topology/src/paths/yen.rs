//! The k shortest paths without a loop (Yen, "Finding the K Shortest Loopless Paths in a Network", Management Science 17(11), 1971).
//!
//! Each further path leaves an earlier one at a node, its spur, over a link that no earlier path with the same beginning takes. A
//! path is left only from the node on at which it left its own predecessor (Lawler, 1972), so that no candidate occurs twice. One
//! search from the destination determines every node's distance; it guides all searches from spurs, which then visit little more than
//! the path that they find.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::search::{Search, lengths_to};
use super::{Length, Metric, UNREACHABLE};
use crate::graph::{Graph, LinkIndex, NodeIndex};

/// Paths from one node to another, the shortest first, without end as long as there are more: an iterator over the links of each.
pub struct LooplessPaths<'a> {
    graph: &'a Graph,
    metric: Metric,
    ends: [NodeIndex; 2],
    /// Length of each node's shortest path to the destination.
    remaining: Vec<Length>,
    search: Search,
    /// Paths that were returned.
    found: Vec<Vec<LinkIndex>>,
    candidates: BinaryHeap<Reverse<Candidate>>,
}

/// A path that may be the next. The order of the fields is that of the paths.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    length: Length,
    links: Vec<LinkIndex>,
    /// Number of links that it has in common with the path that it left.
    spur: usize,
}

impl Graph {
    /// The paths between two nodes that visit no node twice, the shortest first: `take(k)` is Yen's algorithm. Nodes that do not
    /// forward are on no path between others. There is no path between a node and itself.
    #[must_use]
    pub fn loopless_paths(
        &self,
        from: NodeIndex,
        to: NodeIndex,
        metric: Metric,
    ) -> LooplessPaths<'_> {
        let mut paths = LooplessPaths {
            graph: self,
            metric,
            ends: [from, to],
            remaining: lengths_to(self, metric, from, to),
            search: Search::new(self.nodes().len()),
            found: Vec::new(),
            candidates: BinaryHeap::new(),
        };
        if from != to && paths.remaining[from.index()] != UNREACHABLE {
            paths.leave(&[], 0);
        }
        paths
    }
}

impl LooplessPaths<'_> {
    /// Adds the shortest path that has the first `spur` links of this one, and leaves it and all found paths there.
    fn leave(&mut self, path: &[LinkIndex], spur: usize) {
        let root = &path[..spur];
        let node = match root.last() {
            Some(link) => self.graph.link(*link).to,
            None => self.ends[0],
        };
        let same = self.found.iter().filter(|other| other.starts_with(root));
        let taken: Vec<LinkIndex> = same.filter_map(|other| other.get(spur).copied()).collect();
        self.search
            .begin(root.iter().map(|link| self.graph.link(*link).from));
        let rest = self.search.path(
            self.graph,
            self.metric,
            [node, self.ends[1]],
            &taken,
            &self.remaining,
        );
        if let Some(rest) = rest {
            let links = [root, &rest].concat();
            let lengths = links.iter().map(|link| self.metric.of(self.graph, *link));
            self.candidates.push(Reverse(Candidate {
                length: lengths.sum(),
                links,
                spur,
            }));
        }
    }
}

impl Iterator for LooplessPaths<'_> {
    type Item = Vec<LinkIndex>;

    fn next(&mut self) -> Option<Vec<LinkIndex>> {
        // The last path is left only when a further one is requested.
        let Reverse(next) = self.candidates.pop()?;
        self.found.push(next.links.clone());
        for spur in next.spur..next.links.len() {
            self.leave(&next.links, spur);
        }
        Some(next.links)
    }
}
