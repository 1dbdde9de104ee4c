//! Nodes, directed links between them, and paths.

use std::collections::BTreeMap;

use netsim::{LinkId, Network, Span};

use crate::Properties;
use crate::paths::ShortestPaths;

/// A node's place in [`Graph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub(crate) u32);

/// A link's place in [`Graph::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkIndex(pub(crate) u32);

impl NodeIndex {
    /// Its place in [`Graph::nodes`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkIndex {
    /// Its place in [`Graph::links`].
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A link in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// What it is called; no two links have the same name.
    pub name: String,
    /// Where it begins.
    pub from: NodeIndex,
    /// Where it ends.
    pub to: NodeIndex,
    /// What it is like.
    pub properties: Properties,
    /// The link that carries the other direction.
    pub(crate) reverse: Option<LinkIndex>,
}

/// The links from the sender of data to its receiver, and those of the acknowledgements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// From the sender of data to its receiver.
    pub forward: Vec<LinkIndex>,
    /// From the receiver back to the sender.
    pub reverse: Vec<LinkIndex>,
}

/// The paths that a kind of user has, in the order of their subflows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSet {
    /// What a connection calls it: `type1`, `blue`.
    pub name: String,
    /// The paths; at least one.
    pub paths: Vec<Path>,
    /// How many such users the network is made for, where it is made for a number.
    pub users: Option<u32>,
}

/// A network: its nodes and links, and the paths that are known by name.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<String>,
    by_name: BTreeMap<String, NodeIndex>,
    hosts: Vec<NodeIndex>,
    links: Vec<Link>,
    /// The links that leave each node and where they lead, in the order in which they were added. A search touches
    /// these and not the links themselves, which do not fit in a cache.
    pub(crate) leaving: Vec<Vec<(LinkIndex, NodeIndex)>>,
    /// The nodes from which links lead to each node, likewise.
    pub(crate) entering: Vec<Vec<NodeIndex>>,
    /// Whether a node is a host: hosts do not forward.
    pub(crate) is_host: Vec<bool>,
    sets: Vec<PathSet>,
}

impl Graph {
    /// The names of all nodes.
    #[must_use]
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// The nodes where connections begin and end. They do not forward the packets of others.
    #[must_use]
    pub fn hosts(&self) -> &[NodeIndex] {
        &self.hosts
    }

    /// All links.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The link at this place.
    #[must_use]
    pub fn link(&self, link: LinkIndex) -> &Link {
        &self.links[link.index()]
    }

    /// The node of this name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<NodeIndex> {
        self.by_name.get(name).copied()
    }

    /// The paths that are known by name. A network between one server and one client has one set of them, `all`; a fat
    /// tree has none.
    #[must_use]
    pub fn sets(&self) -> &[PathSet] {
        &self.sets
    }

    /// The set of this name.
    #[must_use]
    pub fn set(&self, name: &str) -> Option<&PathSet> {
        self.sets.iter().find(|set| set.name == name)
    }

    /// All shortest paths between two hosts, by number of links, in a fixed order; none are made until they are asked
    /// for. Between a host and itself there is no path.
    #[must_use]
    pub fn shortest_paths(&self, from: NodeIndex, to: NodeIndex) -> ShortestPaths<'_> {
        ShortestPaths::new(self, from, to)
    }

    /// The time that a path takes there and back, without what sending and queueing add.
    #[must_use]
    pub fn rtt(&self, path: &Path) -> Span {
        let links = path.forward.iter().chain(&path.reverse);
        links.fold(Span::ZERO, |sum, link| {
            sum + self.link(*link).properties.delay
        })
    }

    /// Adds all links to a network: their numbers there, in the order of [`Graph::links`].
    pub fn add_to<P: netsim::Payload>(&self, network: &mut Network<P>) -> Vec<LinkId> {
        let add = |link: &Link| network.add_link(link.properties.to_netsim());
        self.links.iter().map(add).collect()
    }
}

/// How builders make a graph.
impl Graph {
    /// A node that forwards.
    pub(crate) fn add_router(&mut self, name: impl Into<String>) -> NodeIndex {
        let node = NodeIndex(self.nodes.len() as u32);
        let name = name.into();
        self.by_name.insert(name.clone(), node);
        self.nodes.push(name);
        self.is_host.push(false);
        self.leaving.push(Vec::new());
        self.entering.push(Vec::new());
        node
    }

    /// A node where connections begin and end.
    pub(crate) fn add_host(&mut self, name: impl Into<String>) -> NodeIndex {
        let node = self.add_router(name);
        self.hosts.push(node);
        self.is_host[node.index()] = true;
        node
    }

    /// A link in one direction.
    pub(crate) fn add_link(
        &mut self,
        name: impl Into<String>,
        from: NodeIndex,
        to: NodeIndex,
        properties: Properties,
    ) -> LinkIndex {
        let link = LinkIndex(self.links.len() as u32);
        self.links.push(Link {
            name: name.into(),
            from,
            to,
            properties,
            reverse: None,
        });
        self.leaving[from.index()].push((link, to));
        self.entering[to.index()].push(from);
        link
    }

    /// Two links that carry each other's other direction.
    pub(crate) fn join(&mut self, one: LinkIndex, other: LinkIndex) {
        self.links[one.index()].reverse = Some(other);
        self.links[other.index()].reverse = Some(one);
    }

    /// A link "NAME up" from `low` to `high`, and "NAME down" back; what each is like in that order.
    pub(crate) fn add_pair(
        &mut self,
        name: &str,
        low: NodeIndex,
        high: NodeIndex,
        [up, down]: [Properties; 2],
    ) -> LinkIndex {
        let up = self.add_link(format!("{name} up"), low, high, up);
        let down = self.add_link(format!("{name} down"), high, low, down);
        self.join(up, down);
        down
    }

    /// The path over these links and back; `None` if one of them has no other direction.
    pub(crate) fn path(&self, forward: Vec<LinkIndex>) -> Option<Path> {
        let back = forward.iter().rev().map(|link| self.link(*link).reverse);
        let reverse = back.collect::<Option<Vec<_>>>()?;
        Some(Path { forward, reverse })
    }

    /// Only `link` has `back` as its other direction: several links of one direction may share the way back.
    pub(crate) fn set_reverse(&mut self, link: LinkIndex, back: LinkIndex) {
        self.links[link.index()].reverse = Some(back);
    }

    pub(crate) fn add_path_set(&mut self, set: PathSet) {
        self.sets.push(set);
    }

    /// A set of paths over these links, all of which have their other direction.
    pub(crate) fn add_set(&mut self, name: &str, users: Option<u32>, paths: Vec<Vec<LinkIndex>>) {
        let path = |links| self.path(links).expect("builders join both directions");
        let paths = paths.into_iter().map(path).collect();
        self.sets.push(PathSet {
            name: name.into(),
            paths,
            users,
        });
    }
}

/// The delays of the two directions of a path, up and down; an odd nanosecond goes to the way back.
pub(crate) fn halves(rtt: Span) -> [Span; 2] {
    let there = Span::from_nanos(rtt.as_nanos() / 2);
    [there, rtt - there]
}
