//! A graph whose nodes and links are spelled out one by one.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::graph::PathSet;
use crate::{Error, Graph, Link, LinkIndex, NodeIndex, Properties};

/// The most nodes.
const MAX_NODES: usize = 10_000;
/// The most links.
const MAX_LINKS: usize = 100_000;

/// Nodes, links, and paths by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SpelledOut {
    /// Nodes where connections begin and end.
    pub hosts: Vec<String>,
    /// Nodes that forward.
    pub routers: Vec<String>,
    /// Links between them.
    pub links: Vec<SpelledLink>,
    /// Paths by name, each as the nodes that it visits, for connections that are not to take all shortest ones.
    pub paths: Vec<(String, Vec<Vec<String>>)>,
}

/// A link that is spelled out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpelledLink {
    /// What it is called; `None`: by its ends. A link of two directions has ` up` added in the one and ` down` in the
    /// other.
    pub name: Option<String>,
    /// A node.
    pub from: String,
    /// Another one.
    pub to: String,
    /// What it is like, the same in both directions.
    pub properties: Properties,
    /// Whether there is only the direction from `from` to `to`.
    pub one_way: bool,
}

impl SpelledOut {
    /// The network.
    pub fn build(&self) -> Result<Graph, Error> {
        let mut graph = Graph::default();
        self.add_nodes(&mut graph)?;
        self.add_links(&mut graph)?;
        for (at, host) in graph.hosts().iter().enumerate() {
            let node = host.index();
            if graph.leaving[node].is_empty() && graph.entering[node].is_empty() {
                let problem = format!("no link is connected to `{}`", self.hosts[at]);
                return Err(Error::new(format!("hosts.{at}"), problem));
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
                    return Err(Error::new(format!("{key}.{at}"), problem));
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
            let key = |key: &str| format!("link.{at}.{key}");
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
        // Links of one direction: the first the other way round carries their way back.
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
                return Err(Error::new(key, "no path: at least one is needed"));
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
fn walk(graph: &Graph, nodes: &[String]) -> Result<crate::Path, String> {
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
            return Err(format!("it comes to `{name}` twice: a path has no circle"));
        }
        if graph.is_host[node.index()] && (1..found.len() - 1).contains(&at) {
            return Err(format!("`{name}` is a host: hosts do not forward"));
        }
    }
    let mut links = Vec::new();
    for (pair, names) in found.windows(2).zip(nodes.windows(2)) {
        let none = || format!("no link leads from `{}` to `{}`", names[0], names[1]);
        links.push(first_link(graph, pair[0], pair[1]).ok_or_else(none)?);
    }
    graph
        .path(links)
        .ok_or_else(|| "a link on it has no other direction, for the acknowledgements".into())
}

fn first_link(graph: &Graph, from: NodeIndex, to: NodeIndex) -> Option<LinkIndex> {
    let mut leaving = graph.leaving[from.index()].iter();
    leaving.find(|(_, next)| *next == to).map(|(link, _)| *link)
}

/// The nodes are known by name; a misspelt one is told.
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
