//! A graph whose nodes and links are given one by one.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::graph::{Graph, Link, LinkIndex, NodeIndex, Path, PathSet};
use crate::link::Properties;

/// Largest number of nodes.
const MAX_NODES: usize = 10_000;
/// Largest number of links.
const MAX_LINKS: usize = 100_000;

/// Nodes, links, and named paths.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpelledOut {
    /// Nodes at which connections begin and end.
    pub hosts: Vec<String>,
    /// Nodes that forward.
    pub routers: Vec<String>,
    /// Links between the nodes.
    pub links: Vec<SpelledLink>,
    /// Sets of paths by name, each path as a list of nodes. Connections can use them in place of all shortest paths.
    pub paths: Vec<(String, Vec<Vec<String>>)>,
}

/// A link of a [`SpelledOut`] graph.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpelledLink {
    /// Name; none: the names of the two nodes. A bidirectional link is `NAME up` from `from` to `to` and `NAME down` back.
    pub name: Option<String>,
    /// Node at which the link begins.
    pub from: String,
    /// Node at which the link ends.
    pub to: String,
    /// Properties, equal in both directions.
    pub properties: Properties,
    /// Whether the link has only the direction from `from` to `to`.
    pub one_way: bool,
}

impl SpelledOut {
    /// Builds the network.
    pub fn build(&self) -> Result<Graph, Error> {
        let mut graph = Graph::default();
        self.add_nodes(&mut graph)?;
        self.add_links(&mut graph)?;
        for (at, host) in graph.hosts().iter().enumerate() {
            let node = host.index();
            if graph.outgoing[node].is_empty() && graph.incoming[node].is_empty() {
                let problem = format!("no link is connected to `{}`", self.hosts[at]);
                return Err(Error::new(format!("hosts.{}", at + 1), problem));
            }
        }
        self.add_paths(&mut graph)?;
        Ok(graph)
    }

    fn add_nodes(&self, graph: &mut Graph) -> Result<(), Error> {
        if self.hosts.len() < 2 {
            return Err(Error::new("hosts", "a graph has at least two hosts"));
        }
        let nodes = self.hosts.len() + self.routers.len();
        if nodes > MAX_NODES {
            let problem = format!("{nodes} nodes: at most {MAX_NODES} are possible");
            return Err(Error::new("hosts", problem));
        }
        let mut names = BTreeSet::new();
        for (key, list) in [("hosts", &self.hosts), ("routers", &self.routers)] {
            for (at, name) in list.iter().enumerate() {
                if !names.insert(name) {
                    let problem = format!("there are two nodes `{name}`");
                    return Err(Error::new(format!("{key}.{}", at + 1), problem));
                }
                match key {
                    "hosts" => graph.add_host(name),
                    _ => graph.add_router(name),
                };
            }
        }
        Ok(())
    }

    fn add_links(&self, graph: &mut Graph) -> Result<(), Error> {
        if self.links.len() > MAX_LINKS {
            let problem = format!(
                "{} links: at most {MAX_LINKS} are possible",
                self.links.len()
            );
            return Err(Error::new("link", problem));
        }
        let mut names = BTreeSet::new();
        for (at, link) in self.links.iter().enumerate() {
            let key = |key: &str| format!("link.{}.{key}", at + 1);
            let [from, to] = [("from", &link.from), ("to", &link.to)].map(|(end, name)| {
                let unknown = || Error::new(key(end), unknown_node(graph, name));
                graph.node(name).ok_or_else(unknown)
            });
            let (from, to) = (from?, to?);
            if from == to {
                let problem = format!("a link from `{}` to itself", link.to);
                return Err(Error::new(key("to"), problem));
            }
            let name = link
                .name
                .clone()
                .unwrap_or_else(|| format!("{} {}", link.from, link.to));
            let first = graph.links().len();
            if link.one_way {
                graph.add_link(name, from, to, link.properties.clone());
            } else {
                let both = [(); 2].map(|()| link.properties.clone());
                graph.add_pair(&name, from, to, both);
            }
            for Link { name, .. } in &graph.links()[first..] {
                if !names.insert(name.clone()) {
                    let problem =
                        format!("there are two links `{name}`: give each a `name` of its own");
                    return Err(Error::new(key("name"), problem));
                }
            }
        }
        // The reverse direction of a one-way link is the first link between the same nodes in that direction.
        for link in (0..graph.links().len()).map(|at| LinkIndex(at as u32)) {
            let (from, to) = (graph.link(link).from, graph.link(link).to);
            if graph.link(link).reverse.is_none() {
                if let Some(back) = first_link(graph, to, from) {
                    graph.set_reverse(link, back);
                }
            }
        }
        Ok(())
    }

    fn add_paths(&self, graph: &mut Graph) -> Result<(), Error> {
        for (name, paths) in &self.paths {
            let key = format!("paths.{name}");
            if paths.is_empty() {
                return Err(Error::new(key, "no path: give at least one"));
            }
            let paths = paths.iter().map(|nodes| {
                walk(graph, nodes).map_err(|problem| Error::new(key.clone(), problem))
            });
            let paths = paths.collect::<Result<Vec<_>, _>>()?;
            graph.add_path_set(PathSet {
                name: name.clone(),
                paths,
                users: None,
            });
        }
        Ok(())
    }
}

/// The path over these nodes.
fn walk(graph: &Graph, nodes: &[String]) -> Result<Path, String> {
    let find = |name: &String| graph.node(name).ok_or_else(|| unknown_node(graph, name));
    let found = nodes.iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let ([first, .., last], true) = (&found[..], found.len() >= 2) else {
        return Err("a path visits at least two nodes".into());
    };
    for (end, name) in [(first, &nodes[0]), (last, &nodes[nodes.len() - 1])] {
        if !graph.hosts().contains(end) {
            return Err(format!("`{name}` is no host: paths begin and end at hosts"));
        }
    }
    let mut visited = BTreeSet::new();
    for (at, (node, name)) in found.iter().zip(nodes).enumerate() {
        if !visited.insert(node) {
            return Err(format!("it visits `{name}` twice: a path has no loop"));
        }
        if graph.is_host[node.index()] && (1..found.len() - 1).contains(&at) {
            return Err(format!("`{name}` is a host: hosts do not forward"));
        }
    }
    let mut links = Vec::new();
    for (pair, names) in found.windows(2).zip(nodes.windows(2)) {
        let none = || format!("there is no link from `{}` to `{}`", names[0], names[1]);
        links.push(first_link(graph, pair[0], pair[1]).ok_or_else(none)?);
    }
    graph
        .path(links)
        .ok_or_else(|| "a link on it has no reverse direction for the acknowledgements".into())
}

fn first_link(graph: &Graph, from: NodeIndex, to: NodeIndex) -> Option<LinkIndex> {
    let mut leaving = graph.outgoing[from.index()].iter();
    leaving.find(|(_, next)| *next == to).map(|(link, _)| *link)
}

/// Error text for a name that no node has.
fn unknown_node(graph: &Graph, name: &str) -> String {
    const SHOWN: usize = 8;
    let mut nodes: Vec<_> = graph
        .nodes()
        .iter()
        .take(SHOWN)
        .map(|node| format!("`{node}`"))
        .collect();
    if graph.nodes().len() > SHOWN {
        nodes.push("…".into());
    }
    format!("no node `{name}`; there are {}", nodes.join(", "))
}
