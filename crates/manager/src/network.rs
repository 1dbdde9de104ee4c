//! The network: a map, the states and rates of its links, the nodes of prefixes, and the installed routes.

use std::collections::HashMap;
use std::net::IpAddr;

use topology::{
    Direction, Graph, LinkIndex, Map, NodeIndex, Place, Properties, Route, ShortestTree,
};

use crate::api;
use crate::error::{Error, Result};
use crate::map::check_name;
use crate::prefixes::Prefixes;

/// Age at which a rate does not count any more, milliseconds.
pub const RATE_AGE_MS: u64 = 30_000;

/// Largest number of candidates of a route. If ECMP has more the path is unknown.
pub const MOST_CANDIDATES: u16 = 64;

/// Largest number of nodes of a map.
pub const MOST_NODES: usize = 100_000;

/// Largest number of links of a map, each in one direction.
pub const MOST_LINKS: usize = 400_000;

/// Largest number of prefixes, and of listed routes.
pub const MOST_PREFIXES: usize = 100_000;

/// Number of trees of shortest paths that are kept, each with 6 bytes a node.
const TREES: usize = 256;

/// A link.
#[derive(Clone, Copy, Debug, Default)]
struct Link {
    is_up: bool,
    rate: Option<Available>,
    /// Whether the rate is at most [`RATE_AGE_MS`] old.
    is_fresh: bool,
    capacity: Option<u64>,
}

/// An available rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Available {
    pub(crate) bps: u64,
    /// Time of its arrival, milliseconds since 1970.
    pub(crate) at_ms: u64,
}

/// Prefixes with their nodes.
#[derive(Debug, Default)]
pub(crate) struct ResolvedPrefixes {
    nodes: Prefixes,
    list: Vec<api::Prefix>,
}

/// Listed routes with their links.
#[derive(Debug, Default)]
pub(crate) struct ResolvedRoutes {
    listed: HashMap<(NodeIndex, NodeIndex), Vec<Vec<LinkIndex>>>,
    request: api::RoutesRequest,
}

/// A network.
#[derive(Debug, Default)]
pub(crate) struct Network {
    pub(crate) revision: u64,
    title: Option<String>,
    graph: Graph,
    places: Vec<Option<Place>>,
    links: Vec<Link>,
    by_name: HashMap<String, LinkIndex>,
    prefixes: ResolvedPrefixes,
    routes: ResolvedRoutes,
    trees: HashMap<NodeIndex, ShortestTree>,
}

impl Network {
    /// A network of a map without rates, prefixes and routes.
    pub(crate) fn of_map(map: &Map, revision: u64) -> Result<Self> {
        let nodes = map.nodes.len();
        let directions = 2 * map.edges.len() - map.one_way_edges();
        if nodes > MOST_NODES || directions > MOST_LINKS {
            let text = format!(
                "the map has {nodes} nodes and {directions} links in one direction: at most {MOST_NODES} nodes and {MOST_LINKS} links in one direction are possible"
            );
            return Err(Error::invalid(text));
        }
        let graph = map.graph(|_| Properties::line(netsim::Span::ZERO));
        for (index, name) in graph.nodes().iter().enumerate() {
            check_name(name)
                .map_err(|problem| Error::invalid(format!("nodes.{index}: {problem}")))?;
        }
        if let Some(title) = &map.title {
            check_name(title).map_err(|problem| Error::invalid(format!("the title: {problem}")))?;
        }
        let mut links = Vec::with_capacity(graph.links().len());
        for edge in map.edges.iter().filter(|edge| edge.source != edge.target) {
            let link = Link {
                is_up: true,
                capacity: edge.rate,
                ..Link::default()
            };
            links.push(link);
            if !edge.is_one_way {
                links.push(link);
            }
        }
        debug_assert_eq!(links.len(), graph.links().len());
        let by_name = graph.links().iter().map(|link| link.name.clone());
        Ok(Self {
            revision,
            title: map.title.clone(),
            by_name: by_name.zip(graph.link_indices()).collect(),
            places: map.nodes.iter().map(|node| node.place).collect(),
            graph,
            links,
            ..Self::default()
        })
    }

    /// Takes over the states and rates of links with the same name, and the prefixes and routes whose nodes and links exist here.
    pub(crate) fn inherit(&mut self, from: &Self) {
        for (link, old) in from.graph.links().iter().zip(&from.links) {
            if let Some(new) = self.by_name.get(&link.name) {
                let new = &mut self.links[new.index()];
                (new.is_up, new.rate, new.is_fresh) = (old.is_up, old.rate, old.is_fresh);
            }
        }
        let prefixes = from.prefixes.list.iter();
        let prefixes = prefixes.filter(|prefix| self.graph.node(&prefix.node).is_some());
        let prefixes = prefixes.cloned().collect();
        let routes = from.routes.request.routes.iter();
        let routes = routes.filter(|route| self.resolve(0, route).is_ok());
        let routes = api::RoutesRequest {
            others: from.routes.request.others,
            routes: routes.cloned().collect(),
        };
        let kept = "only what exists was kept";
        self.prefixes = self.resolve_prefixes(prefixes).expect(kept);
        self.routes = self.resolve_routes(routes).expect(kept);
    }

    /// The nodes of prefixes.
    ///
    /// # Errors
    /// For a node that is not on the map, a prefix with two nodes, and too many prefixes.
    pub(crate) fn resolve_prefixes(&self, list: Vec<api::Prefix>) -> Result<ResolvedPrefixes> {
        if list.len() > MOST_PREFIXES {
            let text = format!(
                "{} prefixes: at most {MOST_PREFIXES} are possible",
                list.len()
            );
            return Err(Error::invalid(text));
        }
        let mut nodes = Prefixes::default();
        for (index, prefix) in list.iter().enumerate() {
            let Some(node) = self.graph.node(&prefix.node) else {
                let text = format!("prefixes.{index}: no node `{}` on the map", prefix.node);
                return Err(Error::invalid(text));
            };
            if !nodes.insert(prefix.prefix, node) {
                let text = format!("prefixes.{index}: a second node for {}", prefix.prefix);
                return Err(Error::invalid(text));
            }
        }
        Ok(ResolvedPrefixes { nodes, list })
    }

    /// Replaces the prefixes by those that this network has resolved.
    pub(crate) fn set_prefixes(&mut self, prefixes: ResolvedPrefixes) {
        self.prefixes = prefixes;
    }

    /// The links of listed routes.
    ///
    /// # Errors
    /// For nodes and links that are not on the map, paths that do not lead from one node to the other, and too many routes.
    pub(crate) fn resolve_routes(&self, request: api::RoutesRequest) -> Result<ResolvedRoutes> {
        if request.routes.len() > MOST_PREFIXES {
            let text = format!(
                "{} routes: at most {MOST_PREFIXES} are possible",
                request.routes.len()
            );
            return Err(Error::invalid(text));
        }
        let mut listed = HashMap::new();
        for (index, route) in request.routes.iter().enumerate() {
            let (ends, paths) = self.resolve(index, route)?;
            if listed.insert(ends, paths).is_some() {
                let text = format!(
                    "routes.{index}: a second route from `{}` to `{}`: list its paths in one route",
                    route.from, route.to
                );
                return Err(Error::invalid(text));
            }
        }
        Ok(ResolvedRoutes { listed, request })
    }

    /// Replaces the routes by those that this network has resolved.
    pub(crate) fn set_routes(&mut self, routes: ResolvedRoutes) {
        self.routes = routes;
    }

    /// The ends and paths of a listed route.
    #[allow(clippy::type_complexity, reason = "a key and its value")]
    fn resolve(
        &self,
        index: usize,
        route: &api::RouteRequest,
    ) -> Result<((NodeIndex, NodeIndex), Vec<Vec<LinkIndex>>)> {
        let problem = |text: String| Error::invalid(format!("routes.{index}: {text}"));
        let node = |name: &str| {
            let node = self.graph.node(name);
            node.ok_or_else(|| problem(format!("no node `{name}` on the map")))
        };
        let (from, to) = (node(&route.from)?, node(&route.to)?);
        if route.paths.is_empty() || route.paths.len() > usize::from(MOST_CANDIDATES) {
            return Err(problem(format!(
                "{} paths: 1 to {MOST_CANDIDATES} are possible",
                route.paths.len()
            )));
        }
        let mut paths = Vec::with_capacity(route.paths.len());
        for names in &route.paths {
            let mut path = Vec::with_capacity(names.len());
            let mut at = from;
            for name in names {
                let link = self.link(name).map_err(|error| problem(error.text))?;
                let ends = self.graph.link(link);
                if ends.from != at {
                    let at = &self.graph.nodes()[at.index()];
                    return Err(problem(format!("link `{name}` does not begin at `{at}`")));
                }
                at = ends.to;
                path.push(link);
            }
            if at != to {
                let at = &self.graph.nodes()[at.index()];
                return Err(problem(format!(
                    "a path ends at `{at}`, not at `{}`",
                    route.to
                )));
            }
            paths.push(path);
        }
        Ok(((from, to), paths))
    }

    /// The link of this name.
    pub(crate) fn link(&self, name: &str) -> Result<LinkIndex> {
        let link = self.by_name.get(name).copied();
        link.ok_or_else(|| {
            Error::invalid(format!(
                "no link `{name}` on the map; GET /v1/map lists the links"
            ))
        })
    }

    /// Sets a rate. Returns whether it changes what counts.
    pub(crate) fn set_rate(&mut self, link: LinkIndex, rate: Available) -> bool {
        let link = &mut self.links[link.index()];
        let is_new = !link.is_fresh || link.rate.map(|rate| rate.bps) != Some(rate.bps);
        (link.rate, link.is_fresh) = (Some(rate), true);
        is_new
    }

    /// Sets a state. Returns whether it is another one.
    pub(crate) fn set_up(&mut self, link: LinkIndex, up: bool) -> bool {
        let is_new = self.links[link.index()].is_up != up;
        if is_new {
            self.links[link.index()].is_up = up;
            self.trees.clear();
        }
        is_new
    }

    /// Marks rates that are too old, and returns their links.
    pub(crate) fn expire(&mut self, now_ms: u64) -> Vec<LinkIndex> {
        let mut expired = Vec::new();
        for (index, link) in self.graph.link_indices().zip(&mut self.links) {
            let Some(rate) = link.rate.filter(|_| link.is_fresh) else {
                continue;
            };
            // A clock that was set back ages no rate, but a rate of the future does not count for ever.
            if now_ms.abs_diff(rate.at_ms) > RATE_AGE_MS {
                link.is_fresh = false;
                expired.push(index);
            }
        }
        expired
    }

    /// The available rate of a link, bit/s; none if it is unknown or too old.
    pub(crate) fn rate(&self, link: LinkIndex) -> Option<u64> {
        let link = &self.links[link.index()];
        link.rate.filter(|_| link.is_fresh).map(|rate| rate.bps)
    }

    /// The node of an address.
    pub(crate) fn node(&self, address: IpAddr) -> Option<NodeIndex> {
        self.prefixes.nodes.node(address)
    }

    /// The installed route between two nodes; none if it is unknown. Listed paths over a link that is down are left out.
    /// Within a node nothing is known.
    pub(crate) fn route(&mut self, from: NodeIndex, to: NodeIndex) -> Option<Route> {
        if from == to {
            return None;
        }
        let is_up = |link: LinkIndex| self.links[link.index()].is_up;
        if let Some(paths) = self.routes.listed.get(&(from, to)) {
            let usable = paths
                .iter()
                .filter(|path| path.iter().all(|link| is_up(*link)));
            let usable: Vec<&[LinkIndex]> = usable.map(Vec::as_slice).collect();
            return Route::of(&usable);
        }
        if self.routes.request.others == api::OtherRoutes::Unknown {
            return None;
        }
        if !self.trees.contains_key(&from) {
            if self.trees.len() >= TREES {
                self.trees.clear();
            }
            let tree = self.graph.shortest_tree(from, Direction::From, is_up);
            self.trees.insert(from, tree);
        }
        let tree = &self.trees[&from];
        if tree.count(to) > MOST_CANDIDATES {
            return None;
        }
        Route::of(&tree.paths(&self.graph, to, is_up))
    }

    /// Whether the route of this pair is listed.
    pub(crate) fn is_listed(&self, ends: (NodeIndex, NodeIndex)) -> bool {
        self.routes.listed.contains_key(&ends)
    }

    /// Distances to the beginning of a link and from its end, in links.
    pub(crate) fn distances(&self, link: LinkIndex) -> [ShortestTree; 2] {
        let is_up = |link: LinkIndex| self.links[link.index()].is_up;
        let ends = self.graph.link(link);
        [
            self.graph.shortest_tree(ends.from, Direction::To, is_up),
            self.graph.shortest_tree(ends.to, Direction::From, is_up),
        ]
    }

    pub(crate) fn graph(&self) -> &Graph {
        &self.graph
    }

    pub(crate) fn prefix_list(&self) -> &[api::Prefix] {
        &self.prefixes.list
    }

    pub(crate) fn routes(&self) -> &api::RoutesRequest {
        &self.routes.request
    }

    /// What changes on a link, without its subflows.
    pub(crate) fn live(&self, link: LinkIndex) -> api::LinkLive {
        api::LinkLive {
            up: self.links[link.index()].is_up,
            available_bps: self.rate(link),
            subflows: 0,
        }
    }

    /// The map, without subflows.
    pub(crate) fn view(&self) -> api::MapView {
        const PREFIXES: usize = 8;
        let place = |place: &Option<Place>| match *place {
            Some(Place::Globe {
                longitude,
                latitude,
            }) => (Some(longitude), Some(-latitude)),
            Some(Place::Plane { x, y }) => (Some(x), Some(y)),
            None => (None, None),
        };
        let mut nodes: Vec<api::NodeView> = (self.graph.nodes().iter().zip(&self.places))
            .map(|(name, at)| {
                let (x, y) = place(at);
                api::NodeView {
                    name: name.clone(),
                    x,
                    y,
                    prefixes: Vec::new(),
                }
            })
            .collect();
        for prefix in &self.prefixes.list {
            let node = self.graph.node(&prefix.node).expect("prefixes have nodes");
            let prefixes = &mut nodes[node.index()].prefixes;
            if prefixes.len() < PREFIXES {
                prefixes.push(prefix.prefix.to_string());
            }
        }
        let links = (self.graph.link_indices().zip(self.graph.links()))
            .map(|(index, link)| api::LinkView {
                name: link.name.clone(),
                from: link.from.index() as u32,
                to: link.to.index() as u32,
                capacity_bps: self.links[index.index()].capacity,
                live: self.live(index),
            })
            .collect();
        api::MapView {
            revision: self.revision,
            title: self.title.clone(),
            nodes,
            links,
        }
    }
}
