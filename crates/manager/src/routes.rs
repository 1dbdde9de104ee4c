//! The routes in use, and which connections and links belong to them.

use std::collections::HashMap;

use topology::{LinkIndex, NodeIndex, Route};

use crate::network::Network;

/// Index of a route in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct RouteId(u32);

type Ends = (NodeIndex, NodeIndex);

/// The route of a pair of nodes.
#[derive(Debug)]
struct Entry {
    ends: Ends,
    /// None: unknown.
    route: Option<Route>,
    /// Links of all candidates, each once.
    links: Box<[LinkIndex]>,
    /// Number of subflows of each connection on it.
    users: HashMap<u32, u32>,
    subflows: u32,
}

/// The routes in use.
#[derive(Debug, Default)]
pub(crate) struct Routes {
    entries: Vec<Entry>,
    by_ends: HashMap<Ends, RouteId>,
    /// Routes that cross each link, and routes that crossed it before they changed.
    on_link: Vec<Vec<RouteId>>,
    /// Number of subflows that may cross each link.
    subflows: Vec<u32>,
    /// Number of routes without subflows. They stay until they are many.
    idle: usize,
}

fn distinct(route: Option<&Route>) -> Box<[LinkIndex]> {
    let mut links = route
        .map(|route| route.links().to_vec())
        .unwrap_or_default();
    links.sort_unstable();
    links.dedup();
    links.into()
}

impl Routes {
    /// No routes on a network of this many links.
    pub(crate) fn new(links: usize) -> Self {
        Self {
            on_link: vec![Vec::new(); links],
            subflows: vec![0; links],
            ..Self::default()
        }
    }

    /// Adds a subflow of a connection to the route between two nodes.
    pub(crate) fn join(&mut self, network: &mut Network, ends: Ends, connection: u32) -> RouteId {
        let id = *self.by_ends.entry(ends).or_insert_with(|| {
            let id = RouteId(self.entries.len() as u32);
            let route = network.route(ends.0, ends.1);
            let links = distinct(route.as_ref());
            for link in &links {
                self.on_link[link.index()].push(id);
            }
            self.entries.push(Entry {
                ends,
                route,
                links,
                users: HashMap::new(),
                subflows: 0,
            });
            self.idle += 1;
            id
        });
        let entry = &mut self.entries[id.0 as usize];
        if entry.subflows == 0 {
            self.idle -= 1;
        }
        entry.subflows += 1;
        *entry.users.entry(connection).or_default() += 1;
        for link in &entry.links {
            self.subflows[link.index()] += 1;
        }
        id
    }

    /// Removes a subflow of a connection.
    pub(crate) fn leave(&mut self, id: RouteId, connection: u32) {
        let entry = &mut self.entries[id.0 as usize];
        entry.subflows -= 1;
        let users = entry.users.get_mut(&connection).expect("it joined");
        *users -= 1;
        if *users == 0 {
            entry.users.remove(&connection);
        }
        for link in &entry.links {
            self.subflows[link.index()] -= 1;
        }
        if entry.subflows == 0 {
            self.idle += 1;
        }
    }

    /// Whether the routes without subflows should be removed with [`Routes::new`].
    pub(crate) fn is_sparse(&self) -> bool {
        self.idle > 1000 + self.entries.len() / 2
    }

    /// The route; none if it is unknown.
    pub(crate) fn route(&self, id: RouteId) -> Option<&Route> {
        self.entries[id.0 as usize].route.as_ref()
    }

    /// The links that a subflow on the route may cross.
    pub(crate) fn links(&self, id: RouteId) -> &[LinkIndex] {
        &self.entries[id.0 as usize].links
    }

    /// Number of subflows that may cross a link.
    pub(crate) fn subflows(&self, link: LinkIndex) -> u32 {
        self.subflows[link.index()]
    }

    /// The connections with a subflow that may cross one of these links, each once.
    pub(crate) fn connections_on(&self, links: &[LinkIndex]) -> Vec<u32> {
        let routes = self.routes_on(links);
        let users = routes
            .iter()
            .flat_map(|id| self.entries[id.0 as usize].users.keys());
        let mut connections: Vec<u32> = users.copied().collect();
        connections.sort_unstable();
        connections.dedup();
        connections
    }

    /// The routes over one of these links, each once.
    fn routes_on(&self, links: &[LinkIndex]) -> Vec<RouteId> {
        let crosses = |id: &RouteId, link: &LinkIndex| {
            let links = &self.entries[id.0 as usize].links;
            links.binary_search(link).is_ok()
        };
        if links.len() < self.on_link.len() / 8 {
            let on_link = |link: &LinkIndex| &self.on_link[link.index()];
            let mut routes: Vec<RouteId> = (links.iter())
                .flat_map(|link| on_link(link).iter().filter(|id| crosses(id, link)))
                .copied()
                .collect();
            routes.sort_unstable();
            routes.dedup();
            return routes;
        }
        // With many links, one pass over all routes costs less than the sorted union: a route is then listed for several of its links.
        let mut is_wanted = vec![false; self.on_link.len()];
        for link in links {
            is_wanted[link.index()] = true;
        }
        let entries = (0..).map(RouteId).zip(&self.entries);
        entries
            .filter(|(_, entry)| entry.links.iter().any(|link| is_wanted[link.index()]))
            .map(|(id, _)| id)
            .collect()
    }

    /// Determines routes anew after links have changed their states. Returns the connections of the routes that are different, each once,
    /// and adds the links of the former and the new routes to `dirty`.
    ///
    /// A link that fails changes the routes over it alone. A link that returns may shorten others: those whose distance over it is not
    /// longer than theirs.
    pub(crate) fn links_changed(
        &mut self,
        network: &mut Network,
        down: &[LinkIndex],
        up: &[LinkIndex],
        dirty: &mut Vec<LinkIndex>,
    ) -> Vec<u32> {
        let mut affected = self.routes_on(down);
        for link in up {
            let [before, behind] = network.distances(*link);
            for (index, entry) in self.entries.iter().enumerate() {
                let shortest = entry.route.as_ref().and_then(|route| {
                    let lengths = route.candidates().map(<[LinkIndex]>::len);
                    lengths.min()
                });
                let over = before
                    .distance(entry.ends.0)
                    .zip(behind.distance(entry.ends.1))
                    .map(|(before, behind)| before as usize + 1 + behind as usize);
                let may_change = match (over, shortest) {
                    (Some(over), Some(shortest)) => over <= shortest,
                    (Some(_), None) => true,
                    (None, _) => false,
                };
                if may_change || network.is_listed(entry.ends) {
                    affected.push(RouteId(index as u32));
                }
            }
        }
        affected.sort_unstable();
        affected.dedup();
        // One tree serves all routes of a source.
        affected.sort_by_key(|id| self.entries[id.0 as usize].ends.0);
        let mut connections = Vec::new();
        for id in affected {
            let ends = self.entries[id.0 as usize].ends;
            let route = network.route(ends.0, ends.1);
            let entry = &mut self.entries[id.0 as usize];
            if route == entry.route {
                continue;
            }
            for link in &entry.links {
                self.subflows[link.index()] -= entry.subflows;
                dirty.push(*link);
            }
            entry.links = distinct(route.as_ref());
            for link in &entry.links {
                self.subflows[link.index()] += entry.subflows;
                dirty.push(*link);
                let on_link = &mut self.on_link[link.index()];
                if !on_link.contains(&id) {
                    on_link.push(id);
                }
            }
            entry.route = route;
            connections.extend(entry.users.keys());
        }
        connections.sort_unstable();
        connections.dedup();
        connections
    }
}
