//! The contents of the manager: a network, endpoints, their connections, and the groups.
//!
//! No input or output, and no clock: the caller gives the time. Each change regroups the connections that it concerns and no others: those
//! on a link whose rate or state has changed. [`State::take_changes`] has the results.

mod connections;
mod endpoints;
mod groups;
mod views;

use std::collections::HashMap;
use std::net::IpAddr;

use ipnet::IpNet;
use topology::{Assistance, LinkIndex, Map, Unknown};

use crate::api::{self, Token};
use crate::error::Result;
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
