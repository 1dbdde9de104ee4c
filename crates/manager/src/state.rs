//! The contents of the manager: a network, endpoints, their connections, and the groups.
//!
//! No input or output, and no clock: the caller gives the time. Each change regroups the connections that it concerns and no others: those
//! on a link whose rate or state has changed. [`State::take_changes`] has the results.

mod changes;
mod connections;
mod endpoints;
mod groups;
mod views;

use std::collections::HashMap;
use std::net::IpAddr;

use ipnet::IpNet;
use topology::{Assistance, LinkIndex, Unknown};

use crate::api::{self, Token};
use crate::network::{Available, Network};
use crate::routes::{RouteId, Routes};

pub(crate) use changes::Change;

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

    /// Restores a rate of the database, with the time of its arrival.
    pub(crate) fn restore_rate(&mut self, link: &str, available: Available) {
        if let Ok(link) = self.network.link(link) {
            self.network.set_rate(link, available);
        }
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
