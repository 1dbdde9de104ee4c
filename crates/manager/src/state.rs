//! The contents of the manager: a network, endpoints, their connections, and the groups.
//!
//! No input or output, and no clock: the caller gives the time. Each change regroups the connections that it concerns and no others: those
//! on a link whose rate or state has changed. [`State::take_changes`] has the results.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use ipnet::IpNet;
use topology::{Assistance, LinkIndex, Map, Unknown};

use crate::api::{self, Token};
use crate::error::{Error, Kind, Result};
use crate::network::{Available, Network};
use crate::routes::{RouteId, Routes};

/// Hash of a token.
pub type Hash = [u8; 32];

/// Largest number of subflows of a connection. Linux has at most 8 beyond the first.
pub const CONNECTION_SUBFLOWS: usize = 32;

/// Time without a report and without an open stream after which the connections of an endpoint are forgotten, milliseconds.
pub const ABSENCE_MS: u64 = 300_000;

/// Limits of the contents.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Largest number of endpoints.
    pub endpoints: usize,
    /// Largest number of subflows of an endpoint.
    pub endpoint_subflows: usize,
    /// Largest number of subflows of all endpoints.
    pub subflows: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            endpoints: 10_000,
            endpoint_subflows: 10_000,
            subflows: 1_000_000,
        }
    }
}

/// Index of an endpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EndpointId(u32);

/// An endpoint.
#[derive(Debug)]
struct Endpoint {
    name: String,
    spec: api::EndpointRequest,
    hash: Hash,
    session: String,
    sequence: u64,
    seen_ms: u64,
    connections: HashMap<Token, u32>,
    subflows: usize,
}

/// A reported connection.
#[derive(Debug)]
struct Connection {
    endpoint: EndpointId,
    token: Token,
    subflows: Vec<Subflow>,
    unknown: Option<Unknown>,
    revision: u64,
}

/// A reported subflow.
#[derive(Clone, Copy, Debug)]
struct Subflow {
    ends: api::Subflow,
    /// None: an address has no node.
    route: Option<RouteId>,
    /// Number within the connection. The group is the lowest number of its subflows: it changes as seldom as possible.
    number: u8,
    group: u8,
}

/// The contents.
#[derive(Debug, Default)]
pub struct State {
    limits: Limits,
    network: Network,
    routes: Routes,
    endpoints: Vec<Option<Endpoint>>,
    by_name: HashMap<String, EndpointId>,
    by_hash: HashMap<Hash, EndpointId>,
    connections: Vec<Option<Connection>>,
    free: Vec<u32>,
    totals: api::Totals,
    revision: u64,
    assistance: Assistance,
    /// Connections whose groups have changed since [`State::take_changes`].
    changed: Vec<u32>,
    /// Links whose numbers have changed since [`State::take_dirty`].
    dirty: Vec<LinkIndex>,
    is_dirty: Vec<bool>,
}

/// Effects of a report, for the database.
#[derive(Debug, Default)]
pub struct Effects {
    /// Connections that are forgotten.
    pub removed: Vec<Token>,
    /// Groups of the reported connections.
    pub groups: Vec<api::Groups>,
}

impl State {
    /// Without a map and without endpoints.
    #[must_use]
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    // --- Network ---------------------------------------------------------------------------------------------------

    /// Replaces the map. Links of the same name keep their states and rates. Prefixes and routes whose nodes and links exist on the new map
    /// are kept.
    ///
    /// # Errors
    /// If the map is too large.
    pub fn set_map(&mut self, map: &Map) -> Result<()> {
        let mut network = Network::of_map(map, self.network.revision + 1)?;
        network.inherit(&self.network);
        self.network = network;
        self.is_dirty = vec![false; self.network.graph().links().len()];
        self.dirty.clear();
        self.reroute();
        Ok(())
    }

    /// Replaces the prefixes.
    ///
    /// # Errors
    /// For a node that is not on the map, and a prefix with two nodes.
    pub fn set_prefixes(&mut self, prefixes: Vec<api::Prefix>) -> Result<()> {
        self.network.set_prefixes(prefixes)?;
        self.reroute();
        Ok(())
    }

    /// Replaces the routes.
    ///
    /// # Errors
    /// For nodes and links that are not on the map, and paths that do not lead from one node to the other.
    pub fn set_routes(&mut self, routes: api::RoutesRequest) -> Result<()> {
        self.network.set_routes(routes)?;
        self.reroute();
        Ok(())
    }

    /// Sets rates, and returns their names with the time.
    ///
    /// # Errors
    /// For a link that is not on the map. No rate is then set.
    pub fn set_rates(&mut self, rates: &[api::Rate], now_ms: u64) -> Result<()> {
        let found = rates.iter().map(|rate| self.network.link(&rate.link));
        let links = found.collect::<Result<Vec<_>>>()?;
        let mut changed = Vec::new();
        for (link, rate) in links.into_iter().zip(rates) {
            // The largest number stands for a link without a limit.
            let bps = rate.available_bps.min(u64::MAX - 1);
            if self
                .network
                .set_rate(link, Available { bps, at_ms: now_ms })
            {
                changed.push(link);
            }
        }
        self.mark(&changed);
        self.regroup_on(&changed);
        Ok(())
    }

    /// Restores a rate of the database, with the time of its arrival.
    pub(crate) fn restore_rate(&mut self, link: &str, available: Available) {
        if let Ok(link) = self.network.link(link) {
            self.network.set_rate(link, available);
        }
    }

    /// Sets states of links.
    ///
    /// # Errors
    /// For a link that is not on the map. No state is then set.
    pub fn set_links(&mut self, states: &[api::LinkState]) -> Result<()> {
        let found = states.iter().map(|state| self.network.link(&state.link));
        let links = found.collect::<Result<Vec<_>>>()?;
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for (link, state) in links.into_iter().zip(states) {
            if self.network.set_up(link, state.up) {
                if state.up { &mut up } else { &mut down }.push(link);
            }
        }
        let mut dirty = [&up[..], &down[..]].concat();
        let connections = self
            .routes
            .links_changed(&mut self.network, &down, &up, &mut dirty);
        self.mark(&dirty);
        for connection in connections {
            self.regroup(connection);
        }
        Ok(())
    }

    /// Drops rates that are too old, and the connections of endpoints that have been absent for too long. `is_present` says whether an
    /// endpoint has an open stream. Returns the names of absent endpoints.
    pub fn expire(&mut self, now_ms: u64, is_present: impl Fn(EndpointId) -> bool) -> Vec<String> {
        let expired = self.network.expire(now_ms);
        self.mark(&expired);
        self.regroup_on(&expired);
        let mut absent = Vec::new();
        for index in 0..self.endpoints.len() as u32 {
            let id = EndpointId(index);
            let Some(endpoint) = &mut self.endpoints[index as usize] else {
                continue;
            };
            if is_present(id) {
                endpoint.seen_ms = now_ms;
            } else if !endpoint.connections.is_empty()
                && now_ms.saturating_sub(endpoint.seen_ms) > ABSENCE_MS
            {
                absent.push(endpoint.name.clone());
                let connections: Vec<u32> = endpoint.connections.values().copied().collect();
                connections.into_iter().for_each(|c| self.remove(c));
            }
        }
        absent
    }

    // --- Endpoints -------------------------------------------------------------------------------------------------

    /// Adds an endpoint, or gives an existing one other addresses and another token. Its session and connections end.
    ///
    /// # Errors
    /// For a name or addresses that are not possible, and for too many endpoints.
    pub fn set_endpoint(
        &mut self,
        name: &str,
        spec: api::EndpointRequest,
        hash: Hash,
        now_ms: u64,
    ) -> Result<()> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        if !(1..=64).contains(&name.len()) || !name.bytes().all(plain) {
            return Err(Error::invalid(
                "the name of an endpoint has 1 to 64 letters, digits, `.`, `_` and `-`",
            ));
        }
        if spec.addresses.is_empty() || spec.addresses.len() > 64 || spec.from.len() > 64 {
            return Err(Error::invalid(
                "`addresses` has 1 to 64 prefixes, `from` at most 64",
            ));
        }
        if !self.by_name.contains_key(name) && self.by_name.len() >= self.limits.endpoints {
            let text = format!(
                "there are {} endpoints, the largest number",
                self.by_name.len()
            );
            return Err(Error::new(Kind::TooMany, text));
        }
        let _ = self.remove_endpoint(name);
        let id = EndpointId(self.endpoints.len() as u32);
        self.endpoints.push(Some(Endpoint {
            name: name.into(),
            spec,
            hash,
            session: String::new(),
            sequence: 0,
            seen_ms: now_ms,
            connections: HashMap::new(),
            subflows: 0,
        }));
        self.by_name.insert(name.into(), id);
        self.by_hash.insert(hash, id);
        self.totals.endpoints = self.by_name.len();
        Ok(())
    }

    /// Removes an endpoint, its token and its connections.
    ///
    /// # Errors
    /// If there is no such endpoint.
    pub fn remove_endpoint(&mut self, name: &str) -> Result<EndpointId> {
        let Some(id) = self.by_name.remove(name) else {
            return Err(Error::new(Kind::NotFound, format!("no endpoint `{name}`")));
        };
        let connections: Vec<u32> = self.endpoint(id).connections.values().copied().collect();
        connections.into_iter().for_each(|c| self.remove(c));
        let endpoint = self.endpoints[id.0 as usize].take().expect("it has a name");
        self.by_hash.remove(&endpoint.hash);
        self.totals.endpoints = self.by_name.len();
        Ok(id)
    }

    /// The endpoint with this hash of its token.
    #[must_use]
    pub fn authenticate(&self, hash: &Hash) -> Option<EndpointId> {
        self.by_hash.get(hash).copied()
    }

    /// Whether the endpoint's token is accepted from this address.
    pub(crate) fn is_accepted_from(&self, id: EndpointId, address: IpAddr) -> bool {
        let from = &self.endpoint(id).spec.from;
        from.is_empty() || contains(from, address)
    }

    /// Whether the endpoint has not been removed.
    pub(crate) fn exists(&self, id: EndpointId) -> bool {
        self.endpoints[id.0 as usize].is_some()
    }

    pub(crate) fn endpoint_name(&self, id: EndpointId) -> &str {
        &self.endpoint(id).name
    }

    /// The names and descriptions of the endpoints.
    pub(crate) fn endpoints(&self) -> Vec<(String, api::EndpointRequest)> {
        let endpoints = self.endpoints.iter().flatten();
        let mut all: Vec<_> = endpoints
            .map(|e| (e.name.clone(), e.spec.clone()))
            .collect();
        all.sort_by(|one, other| one.0.cmp(&other.0));
        all
    }

    fn endpoint(&self, id: EndpointId) -> &Endpoint {
        self.endpoints[id.0 as usize]
            .as_ref()
            .expect("ids are of endpoints")
    }

    fn endpoint_mut(&mut self, id: EndpointId) -> &mut Endpoint {
        self.endpoints[id.0 as usize]
            .as_mut()
            .expect("ids are of endpoints")
    }

    /// Begins a session of an endpoint; the former one ends.
    pub fn begin_session(&mut self, id: EndpointId, session: String, now_ms: u64) {
        let endpoint = self.endpoint_mut(id);
        (endpoint.session, endpoint.sequence, endpoint.seen_ms) = (session, 0, now_ms);
    }

    /// Whether this is the endpoint's session.
    pub(crate) fn has_session(&self, id: EndpointId, session: &str) -> bool {
        let known = &self.endpoint(id).session;
        !known.is_empty() && known == session
    }

    // --- Connections -----------------------------------------------------------------------------------------------

    /// Takes a report over.
    ///
    /// # Errors
    /// For another session, a number that is not larger, a local address that is not the endpoint's, and limits. Nothing of the report
    /// counts then.
    pub fn report(&mut self, id: EndpointId, report: &api::Report, now_ms: u64) -> Result<Effects> {
        if !self.has_session(id, &report.session) {
            return Err(Error::new(
                Kind::Conflict,
                "this session is over: begin another one with POST /v1/session, and report all connections",
            ));
        }
        let endpoint = self.endpoint(id);
        if report.sequence <= endpoint.sequence {
            let text = format!(
                "report {} came after report {}: numbers grow",
                report.sequence, endpoint.sequence
            );
            return Err(Error::new(Kind::Conflict, text));
        }
        self.check(id, report)?;
        let endpoint = self.endpoint_mut(id);
        (endpoint.sequence, endpoint.seen_ms) = (report.sequence, now_ms);
        let reported: HashSet<Token> = report.connections.iter().map(|c| c.connection).collect();
        let mut removed: Vec<Token> = match report.complete {
            true => endpoint.connections.keys().copied().collect(),
            false => report.closed.clone(),
        };
        removed
            .retain(|token| !reported.contains(token) && endpoint.connections.contains_key(token));
        removed.sort_unstable();
        removed.dedup();
        for token in &removed {
            let connection = self.endpoint(id).connections[token];
            self.remove(connection);
        }
        let mut groups = Vec::with_capacity(report.connections.len());
        for connection in &report.connections {
            let index = self.set_connection(id, connection);
            groups.push(self.groups(index));
        }
        Ok(Effects { removed, groups })
    }

    /// Restores a connection of the database.
    pub(crate) fn restore_connection(&mut self, endpoint: &str, connection: &api::Connection) {
        if let Some(id) = self.by_name.get(endpoint).copied() {
            self.set_connection(id, connection);
        }
    }

    fn check(&self, id: EndpointId, report: &api::Report) -> Result<()> {
        let endpoint = self.endpoint(id);
        let mut tokens = HashSet::new();
        let (mut added, mut replaced) = (0, 0);
        for (index, connection) in report.connections.iter().enumerate() {
            let at = |text: String| format!("connections.{index}: {text}");
            if !tokens.insert(connection.connection) {
                return Err(Error::invalid(at(
                    "a second entry of this connection".into()
                )));
            }
            if !(1..=CONNECTION_SUBFLOWS).contains(&connection.subflows.len()) {
                return Err(Error::invalid(at(format!(
                    "{} subflows: 1 to {CONNECTION_SUBFLOWS} are possible; a connection without subflows is `closed`",
                    connection.subflows.len()
                ))));
            }
            for (at_subflow, subflow) in connection.subflows.iter().enumerate() {
                if !contains(&endpoint.spec.addresses, subflow.local.ip()) {
                    let text = at(format!(
                        "subflows.{at_subflow}: {} is not an address of endpoint `{}`",
                        subflow.local.ip(),
                        endpoint.name
                    ));
                    return Err(Error::new(Kind::Forbidden, text));
                }
                if connection.subflows[..at_subflow].contains(subflow) {
                    let text = at(format!("subflows.{at_subflow}: the same subflow again"));
                    return Err(Error::invalid(text));
                }
            }
            added += connection.subflows.len();
            if let Some(known) = endpoint.connections.get(&connection.connection) {
                replaced += self.connection(*known).subflows.len();
            }
        }
        if report.complete {
            replaced = endpoint.subflows;
        }
        for (now, most, whose) in [
            (
                endpoint.subflows,
                self.limits.endpoint_subflows,
                "this endpoint",
            ),
            (self.totals.subflows, self.limits.subflows, "all endpoints"),
        ] {
            if now + added > most + replaced {
                let text = format!("more than {most} subflows of {whose}: the limit");
                return Err(Error::new(Kind::TooMany, text));
            }
        }
        Ok(())
    }

    /// Adds a connection, or gives it these subflows.
    fn set_connection(&mut self, id: EndpointId, reported: &api::Connection) -> u32 {
        let known = self.endpoint(id).connections.get(&reported.connection);
        let index = known
            .copied()
            .unwrap_or_else(|| self.add(id, reported.connection));
        let old = std::mem::take(&mut self.connection_mut(index).subflows);
        let mut subflows: Vec<Subflow> = Vec::with_capacity(reported.subflows.len());
        for ends in &reported.subflows {
            if let Some(known) = old.iter().find(|subflow| subflow.ends == *ends) {
                subflows.push(*known);
            }
        }
        for left in old
            .iter()
            .filter(|old| !reported.subflows.contains(&old.ends))
        {
            self.leave(left.route, index);
        }
        for ends in &reported.subflows {
            if subflows.iter().any(|subflow| subflow.ends == *ends) {
                continue;
            }
            let free = |number: &u8| subflows.iter().all(|subflow| subflow.number != *number);
            let number = (0..=u8::MAX)
                .find(free)
                .expect("fewer subflows than numbers");
            let route = self.join(ends, index);
            subflows.push(Subflow {
                ends: *ends,
                route,
                number,
                group: 0,
            });
        }
        subflows.sort_unstable_by_key(|subflow| subflow.number);
        let (before, after) = (old.len(), subflows.len());
        let same = before == after && old.iter().all(|old| reported.subflows.contains(&old.ends));
        let connection = self.connection_mut(index);
        connection.subflows = subflows;
        if !same {
            // A decision on other subflows has another number.
            connection.revision = 0;
        }
        let endpoint = self.endpoint_mut(id);
        endpoint.subflows = endpoint.subflows + after - before;
        self.totals.subflows = self.totals.subflows + after - before;
        self.regroup(index);
        index
    }

    fn add(&mut self, endpoint: EndpointId, token: Token) -> u32 {
        let connection = Connection {
            endpoint,
            token,
            subflows: Vec::new(),
            unknown: None,
            revision: 0,
        };
        let index = match self.free.pop() {
            Some(index) => {
                self.connections[index as usize] = Some(connection);
                index
            }
            None => {
                self.connections.push(Some(connection));
                self.connections.len() as u32 - 1
            }
        };
        self.endpoint_mut(endpoint).connections.insert(token, index);
        self.totals.connections += 1;
        index
    }

    fn remove(&mut self, index: u32) {
        let connection = self.connections[index as usize].take().expect("it exists");
        self.count(&connection, false);
        for subflow in &connection.subflows {
            self.leave(subflow.route, index);
        }
        let endpoint = self.endpoint_mut(connection.endpoint);
        endpoint.connections.remove(&connection.token);
        endpoint.subflows -= connection.subflows.len();
        self.totals.connections -= 1;
        self.totals.subflows -= connection.subflows.len();
        self.free.push(index);
        if self.routes.is_sparse() {
            self.rebuild_routes();
        }
    }

    fn connection(&self, index: u32) -> &Connection {
        self.connections[index as usize]
            .as_ref()
            .expect("indices are of connections")
    }

    fn connection_mut(&mut self, index: u32) -> &mut Connection {
        self.connections[index as usize]
            .as_mut()
            .expect("indices are of connections")
    }

    // --- Routes and groups -----------------------------------------------------------------------------------------

    fn join(&mut self, ends: &api::Subflow, connection: u32) -> Option<RouteId> {
        let from = self.network.node(ends.local.ip())?;
        let to = self.network.node(ends.remote.ip())?;
        let route = self.routes.join(&mut self.network, (from, to), connection);
        mark(
            &mut self.dirty,
            &mut self.is_dirty,
            self.routes.links(route),
        );
        Some(route)
    }

    fn leave(&mut self, route: Option<RouteId>, connection: u32) {
        if let Some(route) = route {
            mark(
                &mut self.dirty,
                &mut self.is_dirty,
                self.routes.links(route),
            );
            self.routes.leave(route, connection);
        }
    }

    /// Determines all routes anew.
    fn rebuild_routes(&mut self) {
        self.routes = Routes::new(self.network.graph().links().len());
        for index in 0..self.connections.len() {
            let Some(mut connection) = self.connections[index].take() else {
                continue;
            };
            for subflow in &mut connection.subflows {
                subflow.route = self.join(&subflow.ends, index as u32);
            }
            self.connections[index] = Some(connection);
        }
    }

    /// Determines all routes and groups anew.
    fn reroute(&mut self) {
        self.rebuild_routes();
        self.regroup_all();
    }

    /// Determines all groups anew.
    pub fn regroup_all(&mut self) {
        for index in 0..self.connections.len() as u32 {
            if self.connections[index as usize].is_some() {
                self.regroup(index);
            }
        }
    }

    fn regroup_on(&mut self, links: &[LinkIndex]) {
        for connection in self.routes.connections_on(links) {
            self.regroup(connection);
        }
    }

    /// Determines the groups of a connection.
    fn regroup(&mut self, index: u32) {
        let mut connection = self.connections[index as usize].take().expect("it exists");
        self.count(&connection, false);
        let routes = connection.subflows.iter().map(|subflow| {
            let route = subflow.route?;
            self.routes.route(route)
        });
        let rate = |link| self.network.rate(link);
        let mut is_changed = connection.revision == 0;
        let unknown = match self.assistance.decide(routes, rate) {
            Ok(groups) => {
                // Subflows are in the order of their numbers: the first of a group has the lowest.
                let mut numbers = [0; CONNECTION_SUBFLOWS];
                let mut known = 0;
                let single = groups.iter().all(|group| *group == 0);
                for (subflow, group) in connection.subflows.iter_mut().zip(groups) {
                    if *group as usize == known {
                        numbers[known] = if single { 0 } else { subflow.number };
                        known += 1;
                    }
                    let number = numbers[*group as usize];
                    is_changed |= subflow.group != number;
                    subflow.group = number;
                }
                None
            }
            Err(unknown) => {
                for subflow in &mut connection.subflows {
                    is_changed |= subflow.group != 0;
                    subflow.group = 0;
                }
                Some(unknown)
            }
        };
        is_changed |= unknown != connection.unknown;
        connection.unknown = unknown;
        if is_changed {
            self.revision += 1;
            connection.revision = self.revision;
            self.changed.push(index);
        }
        self.count(&connection, true);
        self.connections[index as usize] = Some(connection);
    }

    /// Adds a connection to the totals, or removes it.
    fn count(&mut self, connection: &Connection, add: bool) {
        let mut groups = connection.subflows.iter().map(|subflow| subflow.group);
        let first = groups.next();
        let separated = groups.any(|group| Some(group) != first);
        for (total, counts) in [
            (&mut self.totals.separated, separated),
            (&mut self.totals.unknown, connection.unknown.is_some()),
        ] {
            match add {
                true => *total += usize::from(counts),
                false => *total -= usize::from(counts),
            }
        }
    }

    fn groups(&self, index: u32) -> api::Groups {
        let connection = self.connection(index);
        let group = |subflow: &Subflow| api::SubflowGroup {
            local: subflow.ends.local,
            remote: subflow.ends.remote,
            group: subflow.group,
        };
        api::Groups {
            connection: connection.token,
            revision: connection.revision,
            unknown: connection.unknown,
            groups: connection.subflows.iter().map(group).collect(),
        }
    }

    // --- Views -----------------------------------------------------------------------------------------------------

    /// The groups that have changed since the last call, of the endpoints that `is_wanted` names.
    pub fn take_changes(
        &mut self,
        is_wanted: impl Fn(EndpointId) -> bool,
    ) -> Vec<(EndpointId, api::Groups)> {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        let groups = changed.into_iter().filter_map(|index| {
            let connection = self.connections[index as usize].as_ref()?;
            let id = connection.endpoint;
            is_wanted(id).then(|| (id, self.groups(index)))
        });
        groups.collect()
    }

    fn mark(&mut self, links: &[LinkIndex]) {
        mark(&mut self.dirty, &mut self.is_dirty, links);
    }

    /// The links whose numbers have changed since the last call, with their numbers.
    pub fn take_dirty(&mut self) -> Vec<(u32, api::LinkLive)> {
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.sort_unstable();
        for link in &dirty {
            self.is_dirty[link.index()] = false;
        }
        let live = dirty
            .into_iter()
            .map(|link| (link.index() as u32, self.live(link)));
        live.collect()
    }

    fn live(&self, link: LinkIndex) -> api::LinkLive {
        api::LinkLive {
            subflows: self.routes.subflows(link),
            ..self.network.live(link)
        }
    }

    /// Numbers of the contents.
    #[must_use]
    pub fn totals(&self) -> api::Totals {
        self.totals
    }

    /// Number of the map.
    #[must_use]
    pub fn map_revision(&self) -> u64 {
        self.network.revision
    }

    /// The map with the states and rates of its links.
    #[must_use]
    pub fn map(&self) -> api::MapView {
        let mut view = self.network.view();
        for (index, link) in self.network.graph().link_indices().zip(&mut view.links) {
            link.live.subflows = self.routes.subflows(index);
        }
        view
    }

    /// The first connections, those of one endpoint or of all.
    #[must_use]
    pub fn connections(&self, of: Option<EndpointId>, most: usize) -> api::ConnectionsView {
        let mine: Vec<u32> = match of {
            Some(id) => {
                let mut mine: Vec<u32> = self.endpoint(id).connections.values().copied().collect();
                mine.sort_unstable();
                mine
            }
            None => {
                let all = 0..self.connections.len() as u32;
                let open = all.filter(|index| self.connections[*index as usize].is_some());
                open.take(most).collect()
            }
        };
        let total = match of {
            Some(_) => mine.len(),
            None => self.totals.connections,
        };
        let view = |index: u32| {
            let connection = self.connection(index);
            let links = |subflow: &Subflow| {
                let links = subflow.route.map(|route| self.routes.links(route));
                let links = links.unwrap_or_default().iter();
                links.map(|link| link.index() as u32).collect()
            };
            api::ConnectionView {
                endpoint: self.endpoint(connection.endpoint).name.clone(),
                groups: self.groups(index),
                links: connection.subflows.iter().map(links).collect(),
            }
        };
        let connections = mine.into_iter().take(most).map(view).collect();
        api::ConnectionsView { total, connections }
    }

    pub(crate) fn network(&self) -> &Network {
        &self.network
    }
}

/// Notes links as changed, each once.
fn mark(dirty: &mut Vec<LinkIndex>, is_dirty: &mut [bool], links: &[LinkIndex]) {
    for link in links {
        if !std::mem::replace(&mut is_dirty[link.index()], true) {
            dirty.push(*link);
        }
    }
}

fn contains(prefixes: &[IpNet], address: IpAddr) -> bool {
    let address = address.to_canonical();
    prefixes.iter().any(|prefix| prefix.contains(&address))
}
