//! Paths between two nodes: the k shortest without a loop ([`Graph::loopless_paths`]), and the shortest disjoint ones
//! ([`Graph::disjoint_paths`]).
//!
//! Parallel links make different paths. Equal lengths are decided by the order in which links were added, never by a hash. Of the
//! libraries, petgraph 0.8.3 has the lengths of the k shortest walks but not the paths, and nothing for disjoint ones;
//! pathfinding 4.14.0 has Yen's algorithm over nodes, where parallel links are one.

mod disjoint;
mod search;
mod yen;

pub use disjoint::Disjointness;
pub use yen::LooplessPaths;

use crate::graph::{Graph, LinkIndex};

/// Length of a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Metric {
    /// Number of links, as in the experiments of the NMCC paper (section V).
    #[default]
    Hops,
    /// Sum of the links' propagation delays; of equal sums the smaller number of links.
    Delay,
}

/// Length of a link or path: nanoseconds or 0 in the upper 64 bits, number of links in the lower 64. Every link is longer than 0.
type Length = u128;

/// Longer than any path.
const UNREACHABLE: Length = Length::MAX;

impl Metric {
    /// Length of a link.
    fn of(self, graph: &Graph, link: LinkIndex) -> Length {
        match self {
            Self::Hops => 1,
            Self::Delay => {
                let delay = graph.link(link).properties.delay.as_nanos();
                Length::from(delay) << 64 | 1
            }
        }
    }
}

impl Graph {
    /// Length of a path: links, or nanoseconds.
    #[must_use]
    pub fn length(&self, path: &[LinkIndex], metric: Metric) -> u128 {
        let sum: Length = path.iter().map(|link| metric.of(self, *link)).sum();
        match metric {
            Metric::Hops => sum,
            Metric::Delay => sum >> 64,
        }
    }
}
