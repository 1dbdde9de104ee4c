//! A graph whose nodes and links are given one by one.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::graph::{Graph, Link, NodeIndex, Path, PathSet};
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
    /// Properties; up is from `from` to `to`.
    pub properties: Properties,
    /// Whether the link has only the direction from `from` to `to`.
    pub one_way: bool,
}

impl SpelledOut {
    /// Builds the network.
    pub fn build(&self) -> Result<Graph, Error> {
        let mut graph = Graph::default();
        if self.hosts.len() < 2 {
            return Err(Error::new("hosts", "a graph has at least two hosts"));
        }
        check_size(
            "hosts",
            self.hosts.len() + self.routers.len(),
            self.links.len(),
        )?;
        add_hosts(&mut graph, &self.hosts)?;
        for (at, name) in self.routers.iter().enumerate() {
            check_new(&graph, "routers", at, name)?;
            graph.add_router(name);
        }
        add_links(&mut graph, &self.links)?;
        check_hosts(&graph, &self.hosts)?;
        add_paths(&mut graph, &self.paths)?;
        Ok(graph)
    }
}

/// Checks numbers of nodes and links; `key` gives the nodes.
pub(crate) fn check_size(key: &str, nodes: usize, links: usize) -> Result<(), Error> {
    if nodes > MAX_NODES {
        let problem = format!("{nodes} nodes: at most {MAX_NODES} are possible");
        return Err(Error::new(key, problem));
    }
    if links > MAX_LINKS {
        let problem = format!("{links} links: at most {MAX_LINKS} are possible");
        return Err(Error::new("link", problem));
    }
    Ok(())
}

/// Checks that a node's name is new.
fn check_new(graph: &Graph, key: &str, at: usize, name: &str) -> Result<(), Error> {
    if graph.find(name).is_empty() {
        return Ok(());
    }
    let problem = format!("there are two nodes `{name}`");
    Err(Error::new(format!("{key}.{}", at + 1), problem))
}

/// Adds the nodes of the key `hosts`.
pub(crate) fn add_hosts(graph: &mut Graph, hosts: &[String]) -> Result<(), Error> {
    for (at, name) in hosts.iter().enumerate() {
        check_new(graph, "hosts", at, name)?;
        graph.add_host(name);
    }
    Ok(())
}

/// Checks that each of these hosts has a link.
pub(crate) fn check_hosts(graph: &Graph, hosts: &[String]) -> Result<(), Error> {
    for (at, name) in hosts.iter().enumerate() {
        let node = graph.node(name).expect("a host that was added").index();
        if graph.outgoing[node].is_empty() && graph.incoming[node].is_empty() {
            let problem = format!("no link is connected to `{name}`");
            return Err(Error::new(format!("hosts.{}", at + 1), problem));
        }
    }
    Ok(())
}

/// Adds the links of the key `link`.
pub(crate) fn add_links(graph: &mut Graph, links: &[SpelledLink]) -> Result<(), Error> {
    let mut names: BTreeSet<String> = (graph.links().iter())
        .map(|link| link.name.clone())
        .collect();
    for (at, link) in links.iter().enumerate() {
        let key = |key: &str| format!("link.{}.{key}", at + 1);
        let [from, to] = [("from", &link.from), ("to", &link.to)]
            .map(|(end, name)| find(graph, name).map_err(|problem| Error::new(key(end), problem)));
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
        let [up, down] = link.properties.directions();
        if link.one_way {
            graph.add_link(name, from, to, up);
        } else {
            graph.add_pair(&name, from, to, [up, down]);
        }
        for Link { name, .. } in &graph.links()[first..] {
            if !names.insert(name.clone()) {
                let problem =
                    format!("there are two links `{name}`: give each a `name` of its own");
                return Err(Error::new(key("name"), problem));
            }
        }
    }
    graph.join_one_way_links();
    Ok(())
}

/// Adds the sets of the key `paths`.
pub(crate) fn add_paths(
    graph: &mut Graph,
    sets: &[(String, Vec<Vec<String>>)],
) -> Result<(), Error> {
    for (name, paths) in sets {
        let key = format!("paths.{name}");
        if paths.is_empty() {
            return Err(Error::new(key, "no path: give at least one"));
        }
        let paths = paths
            .iter()
            .map(|nodes| walk(graph, nodes).map_err(|problem| Error::new(key.clone(), problem)));
        let paths = paths.collect::<Result<Vec<_>, _>>()?;
        graph.add_path_set(PathSet {
            name: name.clone(),
            paths,
            users: None,
        });
    }
    Ok(())
}

/// The path over these nodes.
fn walk(graph: &Graph, nodes: &[String]) -> Result<Path, String> {
    let found = nodes.iter().map(|name| find(graph, name));
    let found = found.collect::<Result<Vec<_>, _>>()?;
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
        if !graph.forwards[node.index()] && (1..found.len() - 1).contains(&at) {
            return Err(format!("`{name}` is a host: hosts do not forward"));
        }
    }
    let mut links = Vec::new();
    for (pair, names) in found.windows(2).zip(nodes.windows(2)) {
        let none = || format!("there is no link from `{}` to `{}`", names[0], names[1]);
        links.push(graph.first_link(pair[0], pair[1]).ok_or_else(none)?);
    }
    graph
        .path(links)
        .ok_or_else(|| "a link on it has no reverse direction for the acknowledgements".into())
}

/// The node of a name, or the error text.
fn find(graph: &Graph, name: &str) -> Result<NodeIndex, String> {
    match graph.find(name)[..] {
        [node] => Ok(node),
        [] => Err(unknown_node(graph, name)),
        ref several => Err(several_nodes(graph, name, several)),
    }
}

/// Error text for a name that several nodes have.
fn several_nodes(graph: &Graph, name: &str, nodes: &[NodeIndex]) -> String {
    let names: Vec<String> = nodes
        .iter()
        .map(|node| format!("`{}`", graph.nodes()[node.index()]))
        .collect();
    format!(
        "several nodes have the label `{name}`: write {}",
        names.join(" or ")
    )
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
