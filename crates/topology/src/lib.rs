//! Networks as graphs, and the paths through them.
//!
//! A [`Spec`] describes a network in a few numbers; [`Spec::build`] makes the [`Graph`]: named nodes and directed links,
//! each with its [`Properties`], and the [`Path`]s of connections. The simulator and the lab run on the same graph
//! ([`Graph::add_to`]).
//!
//! ```
//! use lisa_topology::{FatTree, Properties, Queue, Spec};
//! use netsim::{Rate, Span};
//!
//! let rate = Rate::from_bits_per_second(100_000_000);
//! let link = Properties::shaped(rate, Queue::DropTailPackets(100), Span::from_micros(100));
//! let spec = Spec::FatTree(FatTree { k: 4, core: link.clone(), link });
//! let graph = spec.build().unwrap();
//! assert_eq!((graph.hosts().len(), graph.links().len()), (16, 2 * 48));
//! // Between pods each core switch is on one shortest path.
//! let paths = graph.shortest_paths(graph.hosts()[0], graph.hosts()[15]);
//! assert_eq!(paths.count(), 4);
//! assert_eq!(paths.nth(3).unwrap().forward.len(), 6);
//! ```

mod assistance;
mod bottlenecks;
mod client_server;
mod error;
mod fat_tree;
mod graph;
mod link;
mod map;
mod non_shared_bottleneck;
mod paths;
mod scenario_a;
mod scenario_b;
mod scenario_c;
mod shared_bottleneck;
mod shortest_paths;
mod shortest_tree;
mod spec;
mod spelled_out;
mod users;

pub use assistance::{Assistance, Route, Unknown};
pub use bottlenecks::{Grouping, SharedLink, Sharing};
pub use error::Error;
pub use fat_tree::FatTree;
pub use graph::{Graph, Link, LinkIndex, NodeIndex, Path, PathSet};
pub use link::{Loss, Properties, Queue, Red, RedForRate, Reorder, Up};
pub use map::{Map, MapEdge, MapError, MapNode, MapSpec, Place, distance_km};
pub use non_shared_bottleneck::{NonSharedBottleneck, PathSpec};
pub use paths::{Disjointness, LooplessPaths, Metric};
pub use scenario_b::ScenarioB;
pub use shared_bottleneck::SharedBottleneck;
pub use shortest_paths::ShortestPaths;
pub use shortest_tree::{Direction, ShortestTree};
pub use spec::Spec;
pub use spelled_out::{SpelledLink, SpelledOut};
pub use users::TwoKinds;

#[cfg(test)]
mod tests;
