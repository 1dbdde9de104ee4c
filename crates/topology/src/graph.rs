//! Nodes, directed links between them, and paths over the links.

use std::collections::BTreeMap;

use netsim::{LinkId, Network, Rate, Span};

use crate::link::Properties;

/// Index of a node in [`Graph::nodes`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeIndex(pub(crate) u32);

/// Index of a link in [`Graph::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkIndex(pub(crate) u32);

impl NodeIndex {
    /// The index as a number.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl LinkIndex {
    /// The index as a number.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A link in one direction.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Name; no two links have the same.
    pub name: String,
    /// Node at which the link begins.
    pub from: NodeIndex,
    /// Node at which the link ends.
    pub to: NodeIndex,
    /// Rate, delay, queue, losses.
    pub properties: Properties,
    /// Link of the other direction.
    pub(crate) reverse: Option<LinkIndex>,
    /// Whether it was added together with its other direction, as the second of both.
    is_second: bool,
}

impl Link {
    /// Whether the link is the second direction of a link with two.
    #[must_use]
    pub const fn is_second_direction(&self) -> bool {
        self.is_second
    }
}

/// The links of data and the links of acknowledgements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Links from the sender of data to the receiver.
    pub forward: Vec<LinkIndex>,
    /// Links from the receiver back to the sender.
    pub reverse: Vec<LinkIndex>,
}

/// The paths of one kind of user, in the order of the subflows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSet {
    /// Name in a scenario file: `type1`, `blue`.
    pub name: String,
    /// The paths; at least one.
    pub paths: Vec<Path>,
    /// Number of users that the network is dimensioned for, if it depends on one.
    pub users: Option<u32>,
}

/// A network: nodes, links, and named paths.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    nodes: Vec<String>,
    by_name: BTreeMap<String, NodeIndex>,
    hosts: Vec<NodeIndex>,
    links: Vec<Link>,
    /// Outgoing links of each node with their end nodes, in the order in which they were added. A search reads these
    /// and not the links themselves, which do not fit in a cache.
    pub(crate) outgoing: Vec<Vec<(LinkIndex, NodeIndex)>>,
    /// Incoming links of each node with the nodes at which they begin, in the order in which they were added.
    pub(crate) incoming: Vec<Vec<(LinkIndex, NodeIndex)>>,
    /// Whether a node forwards. Hosts do not, except for the nodes of a map.
    pub(crate) forwards: Vec<bool>,
    /// Further texts that name nodes: ids and repeated labels of a map.
    aliases: BTreeMap<String, Vec<NodeIndex>>,
    sets: Vec<PathSet>,
}

impl Graph {
    /// The names of all nodes.
    #[must_use]
    pub fn nodes(&self) -> &[String] {
        &self.nodes
    }

    /// The nodes at which connections begin and end. Hosts do not forward packets, except for the nodes of a map.
    #[must_use]
    pub fn hosts(&self) -> &[NodeIndex] {
        &self.hosts
    }

    /// All links.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The indices of all links.
    pub fn link_indices(&self) -> impl Iterator<Item = LinkIndex> + use<> {
        (0..self.links.len() as u32).map(LinkIndex)
    }

    /// The index of the link at this position of [`Graph::links`].
    #[must_use]
    pub fn link_index(&self, position: usize) -> Option<LinkIndex> {
        (position < self.links.len()).then_some(LinkIndex(position as u32))
    }

    /// The link with this index.
    #[must_use]
    pub fn link(&self, link: LinkIndex) -> &Link {
        &self.links[link.index()]
    }

    /// The node of this name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<NodeIndex> {
        self.by_name.get(name).copied()
    }

    /// The nodes that a text names: the node of this name, or else those of a map with this id or label. Several nodes may have one
    /// label.
    #[must_use]
    pub fn find(&self, text: &str) -> Vec<NodeIndex> {
        match self.node(text) {
            Some(node) => vec![node],
            None => self.aliases.get(text).cloned().unwrap_or_default(),
        }
    }

    /// The named paths. A network between one server and one client has one set, `all`; a fat tree has none.
    #[must_use]
    pub fn sets(&self) -> &[PathSet] {
        &self.sets
    }

    /// The set of this name.
    #[must_use]
    pub fn set(&self, name: &str) -> Option<&PathSet> {
        self.sets.iter().find(|set| set.name == name)
    }

    /// Round-trip time of a path, without transmission and queueing.
    #[must_use]
    pub fn rtt(&self, path: &Path) -> Span {
        let links = path.forward.iter().chain(&path.reverse);
        links.fold(Span::ZERO, |sum, link| {
            sum + self.link(*link).properties.delay
        })
    }

    /// The path over these links and back; none if a link has no reverse direction.
    #[must_use]
    pub fn path(&self, forward: Vec<LinkIndex>) -> Option<Path> {
        let back = forward.iter().rev().map(|link| self.link(*link).reverse);
        let reverse = back.collect::<Option<Vec<_>>>()?;
        Some(Path { forward, reverse })
    }

    /// Rate that paths carry together towards the receiver: path after path takes what the paths before it have left of its links.
    /// A recorded rate counts with its mean. None if a path has no link with a rate.
    #[must_use]
    pub fn rate(&self, paths: impl IntoIterator<Item = Path>) -> Option<Rate> {
        self.rate_with(paths, |link| {
            Some(self.link(link).properties.mean_rate()?.bits_per_second())
        })
    }

    /// As [`Graph::rate`], with the rate of each link in bit/s by this function: none of a link without a limit.
    #[must_use]
    pub fn rate_with(
        &self,
        paths: impl IntoIterator<Item = Path>,
        rate: impl Fn(LinkIndex) -> Option<u64>,
    ) -> Option<Rate> {
        let mut left: BTreeMap<LinkIndex, u64> = BTreeMap::new();
        let mut carried: u64 = 0;
        for path in paths {
            let rates: Vec<(LinkIndex, u64)> = (path.forward.iter())
                .filter_map(|&link| {
                    let rate = rate(link)?;
                    Some((link, *left.get(&link).unwrap_or(&rate)))
                })
                .collect();
            let taken = rates.iter().map(|(_, rate)| *rate).min()?;
            left.extend(rates.iter().map(|(link, rate)| (*link, rate - taken)));
            carried = carried.saturating_add(taken);
        }
        (carried > 0).then(|| Rate::from_bits_per_second(carried))
    }

    /// Adds all links to a network, and returns their numbers there in the order of [`Graph::links`].
    pub fn add_to<P: netsim::Payload>(&self, network: &mut Network<P>) -> Vec<LinkId> {
        let add = |link: &Link| network.add_link(link.properties.to_netsim());
        self.links.iter().map(add).collect()
    }
}

/// Construction of a graph.
impl Graph {
    /// Adds a node that forwards.
    pub(crate) fn add_router(&mut self, name: impl Into<String>) -> NodeIndex {
        let node = NodeIndex(self.nodes.len() as u32);
        let name = name.into();
        self.by_name.insert(name.clone(), node);
        self.nodes.push(name);
        self.forwards.push(true);
        self.outgoing.push(Vec::new());
        self.incoming.push(Vec::new());
        node
    }

    /// Adds a node at which connections begin and end.
    pub(crate) fn add_host(&mut self, name: impl Into<String>) -> NodeIndex {
        let node = self.add_forwarding_host(name);
        self.forwards[node.index()] = false;
        node
    }

    /// Adds a node at which connections begin and end, and which forwards.
    pub(crate) fn add_forwarding_host(&mut self, name: impl Into<String>) -> NodeIndex {
        let node = self.add_router(name);
        self.hosts.push(node);
        node
    }

    /// Adds a text that names a node beside its name.
    pub(crate) fn add_alias(&mut self, text: String, node: NodeIndex) {
        self.aliases.entry(text).or_default().push(node);
    }

    /// Adds a link in one direction.
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
            is_second: false,
        });
        self.outgoing[from.index()].push((link, to));
        self.incoming[to.index()].push((link, from));
        link
    }

    /// Makes each of two links the other's reverse direction.
    fn pair(&mut self, one: LinkIndex, other: LinkIndex) {
        self.links[one.index()].reverse = Some(other);
        self.links[other.index()].reverse = Some(one);
        self.links[other.index()].is_second = true;
    }

    /// Adds a link "NAME up" from `low` to `high` and "NAME down" back, with properties in this order. Returns "NAME down".
    pub(crate) fn add_pair(
        &mut self,
        name: &str,
        low: NodeIndex,
        high: NodeIndex,
        [up, down]: [Properties; 2],
    ) -> LinkIndex {
        let up = self.add_link(format!("{name} up"), low, high, up);
        let down = self.add_link(format!("{name} down"), high, low, down);
        self.pair(up, down);
        down
    }

    /// Sets the reverse direction of `link` alone: several one-way links may share one link back.
    fn set_reverse(&mut self, link: LinkIndex, back: LinkIndex) {
        self.links[link.index()].reverse = Some(back);
    }

    /// Gives each link without a reverse direction the first link between the same nodes in that direction, if there is one.
    pub(crate) fn join_one_way_links(&mut self) {
        for link in self.link_indices() {
            let (from, to) = (self.link(link).from, self.link(link).to);
            if self.link(link).reverse.is_none() {
                if let Some(back) = self.first_link(to, from) {
                    self.set_reverse(link, back);
                }
            }
        }
    }

    /// The first link from one node to another.
    pub(crate) fn first_link(&self, from: NodeIndex, to: NodeIndex) -> Option<LinkIndex> {
        let mut leaving = self.outgoing[from.index()].iter();
        leaving.find(|(_, next)| *next == to).map(|(link, _)| *link)
    }

    pub(crate) fn add_path_set(&mut self, set: PathSet) {
        self.sets.push(set);
    }

    /// Adds a set of paths over these links, all of which have a reverse direction.
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

/// Delays of the two directions of a path, up and down; an odd nanosecond is part of the second.
pub(crate) fn split_rtt(rtt: Span) -> [Span; 2] {
    let there = Span::from_nanos(rtt.as_nanos() / 2);
    [there, rtt - there]
}
