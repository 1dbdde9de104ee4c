//! The graph of a map.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::Map;
use crate::error::Error;
use crate::graph::{Graph, NodeIndex};
use crate::link::Properties;
use crate::spelled_out::{self, SpelledLink};

/// A map with the properties of its links, and hosts beside it: `kind = "gml"`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MapSpec {
    /// Nodes and edges.
    pub map: Map,
    /// Properties of each edge of the map; up is from source to target.
    pub properties: Vec<Properties>,
    /// Nodes at which connections begin and end, apart from the map; empty: all nodes of the map.
    pub hosts: Vec<String>,
    /// Links of the hosts, and further links between nodes of the map.
    pub links: Vec<SpelledLink>,
    /// Sets of paths by name, each path as a list of nodes.
    pub paths: Vec<(String, Vec<Vec<String>>)>,
    /// Keys of the scenario that apply to no link of this map, as `delay.per_km`.
    pub unused_keys: Vec<String>,
}

impl MapSpec {
    /// Builds the network.
    ///
    /// # Errors
    /// For a map of fewer than two nodes or of too many, and those of hosts, links and paths.
    pub fn build(&self) -> Result<Graph, Error> {
        let (nodes, edges) = (self.map.nodes.len(), self.map.edges.len());
        spelled_out::check_size("file", nodes + self.hosts.len(), edges)?;
        if nodes < 2 {
            let problem = format!("{nodes} nodes: a map has at least two");
            return Err(Error::new("file", problem));
        }
        let mut graph = self
            .map
            .graph_of(self.hosts.is_empty(), |edge| self.properties[edge].clone());
        spelled_out::add_hosts(&mut graph, &self.hosts)?;
        spelled_out::add_links(&mut graph, &self.links)?;
        spelled_out::check_hosts(&graph, &self.hosts)?;
        spelled_out::add_paths(&mut graph, &self.paths)?;
        Ok(graph)
    }
}

impl Map {
    /// The graph of the map, with the properties of each edge by its index. Connections may begin and end at all nodes, and all nodes
    /// forward. A link from a node to itself is left out: no path crosses it.
    #[must_use]
    pub fn graph(&self, properties: impl Fn(usize) -> Properties) -> Graph {
        self.graph_of(true, properties)
    }

    /// The graph; whether connections may begin and end at its nodes.
    fn graph_of(&self, are_hosts: bool, properties: impl Fn(usize) -> Properties) -> Graph {
        let mut graph = Graph::default();
        let names = self.names();
        let nodes: Vec<NodeIndex> = (names.iter())
            .map(|name| match are_hosts {
                true => graph.add_forwarding_host(name),
                false => graph.add_router(name),
            })
            .collect();
        for alias in self.aliases() {
            graph.add_alias(alias.text, nodes[alias.node]);
        }
        let mut link_names = LinkNames::default();
        for (index, edge) in self.edges.iter().enumerate() {
            if edge.source == edge.target {
                continue;
            }
            let ends = [edge.source, edge.target];
            let name = link_names.name(&names, ends, edge.is_one_way);
            let [source, target] = ends.map(|end| nodes[end]);
            let [up, down] = properties(index).directions();
            if edge.is_one_way {
                graph.add_link(name, source, target, up);
            } else {
                graph.add_pair(&name, source, target, [up, down]);
            }
        }
        graph.join_one_way_links();
        graph
    }
}

/// Names of links: `A – B`; of further edges between these nodes, of one-way edges in this direction, `A – B (2)`, `A – B (3)`.
#[derive(Default)]
struct LinkNames {
    taken: BTreeSet<String>,
    /// Number of edges between two nodes so far, of edges with both directions the smaller index first.
    counts: HashMap<[usize; 2], usize>,
}

impl LinkNames {
    fn name(&mut self, names: &[String], [source, target]: [usize; 2], is_one_way: bool) -> String {
        let pair = match is_one_way {
            true => [source, target],
            false => [source.min(target), source.max(target)],
        };
        let count = self.counts.entry(pair).or_default();
        loop {
            *count += 1;
            let suffix = match *count {
                1 => String::new(),
                number => format!(" ({number})"),
            };
            let name = format!("{} – {}{suffix}", names[source], names[target]);
            // A label may look like a part of a name.
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}
