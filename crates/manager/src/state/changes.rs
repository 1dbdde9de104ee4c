//! Changes of the operator, in two steps: a check, which changes nothing, and the change, which cannot fail. The database commits it
//! between the two, so that memory never has what the disk does not have.

use topology::{LinkIndex, Map};

use super::{EndpointId, Hash, State};
use crate::api;
use crate::error::Result;
use crate::network::{Available, Network, ResolvedPrefixes, ResolvedRoutes};

/// A change that has been checked. It can be made as long as no other change has been made since.
#[derive(Debug)]
pub(crate) enum Change {
    /// Another map, with the states, rates, prefixes and routes that are kept.
    Map(Box<Network>),
    /// Other prefixes.
    Prefixes(ResolvedPrefixes),
    /// Other routes.
    Routes(ResolvedRoutes),
    /// Rates of links.
    Rates(Vec<(LinkIndex, Available)>),
    /// Links, and whether they are up.
    Links(Vec<(LinkIndex, bool)>),
    /// A new endpoint, or another token and addresses of an existing one.
    Endpoint(Box<NewEndpoint>),
    /// An endpoint that is removed.
    NoEndpoint(String),
}

impl Change {
    /// The endpoint that is changed or removed.
    pub(crate) fn endpoint(&self) -> Option<&str> {
        match self {
            Self::Endpoint(endpoint) => Some(&endpoint.name),
            Self::NoEndpoint(name) => Some(name),
            _ => None,
        }
    }
}

/// An endpoint and its token.
#[derive(Debug)]
pub(crate) struct NewEndpoint {
    pub(super) name: String,
    pub(super) spec: api::EndpointRequest,
    pub(super) hash: Hash,
    pub(super) seen_ms: u64,
}

impl State {
    /// Another map. Links of the same name keep their states and rates. Prefixes and routes whose nodes and links exist on the new map are
    /// kept.
    pub(crate) fn check_map(&self, map: &Map) -> Result<Box<Network>> {
        let mut network = Network::of_map(map, self.network.revision + 1)?;
        network.inherit(&self.network);
        Ok(Box::new(network))
    }

    pub(crate) fn check_prefixes(&self, prefixes: Vec<api::Prefix>) -> Result<Change> {
        let resolved = self.network.resolve_prefixes(prefixes)?;
        Ok(Change::Prefixes(resolved))
    }

    pub(crate) fn check_routes(&self, routes: api::RoutesRequest) -> Result<Change> {
        let resolved = self.network.resolve_routes(routes)?;
        Ok(Change::Routes(resolved))
    }

    pub(crate) fn check_rates(&self, rates: &[api::Rate], now_ms: u64) -> Result<Change> {
        let found = rates.iter().map(|rate| {
            let link = self.network.link(&rate.link)?;
            // The largest number stands for a link without a limit.
            let bps = rate.available_bps.min(u64::MAX - 1);
            Ok((link, Available { bps, at_ms: now_ms }))
        });
        found.collect::<Result<_>>().map(Change::Rates)
    }

    pub(crate) fn check_links(&self, states: &[api::LinkState]) -> Result<Change> {
        let found = states
            .iter()
            .map(|state| Ok((self.network.link(&state.link)?, state.up)));
        found.collect::<Result<_>>().map(Change::Links)
    }

    /// Makes a change. Returns the endpoint that it has ended: the one that was removed, or the one that had the former token.
    pub(crate) fn make(&mut self, change: Change) -> Option<EndpointId> {
        match change {
            Change::Map(network) => {
                self.network = *network;
                self.is_dirty = vec![false; self.network.graph().links().len()];
                self.dirty.clear();
                self.reroute();
            }
            Change::Prefixes(prefixes) => {
                self.network.set_prefixes(prefixes);
                self.reroute();
            }
            Change::Routes(routes) => {
                self.network.set_routes(routes);
                self.reroute();
            }
            Change::Rates(rates) => {
                let changed = rates
                    .into_iter()
                    .filter(|(link, rate)| self.network.set_rate(*link, *rate));
                let changed: Vec<LinkIndex> = changed.map(|(link, _)| link).collect();
                self.mark(&changed);
                self.regroup_on(&changed);
            }
            Change::Links(states) => self.set_up(states),
            Change::Endpoint(endpoint) => return self.insert_endpoint(*endpoint),
            Change::NoEndpoint(name) => return self.drop_endpoint(&name),
        }
        None
    }

    fn set_up(&mut self, states: Vec<(LinkIndex, bool)>) {
        let (mut up, mut down) = (Vec::new(), Vec::new());
        for (link, is_up) in states {
            if self.network.set_up(link, is_up) {
                if is_up { &mut up } else { &mut down }.push(link);
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
    }

    /// Replaces the map. Links of the same name keep their states and rates. Prefixes and routes whose nodes and links exist on the new map
    /// are kept.
    ///
    /// # Errors
    /// If the map is too large.
    pub fn set_map(&mut self, map: &Map) -> Result<()> {
        let network = self.check_map(map)?;
        self.make(Change::Map(network));
        Ok(())
    }

    /// Replaces the prefixes.
    ///
    /// # Errors
    /// For a node that is not on the map, and a prefix with two nodes.
    pub fn set_prefixes(&mut self, prefixes: Vec<api::Prefix>) -> Result<()> {
        let change = self.check_prefixes(prefixes)?;
        self.make(change);
        Ok(())
    }

    /// Replaces the routes.
    ///
    /// # Errors
    /// For nodes and links that are not on the map, and paths that do not lead from one node to the other.
    pub fn set_routes(&mut self, routes: api::RoutesRequest) -> Result<()> {
        let change = self.check_routes(routes)?;
        self.make(change);
        Ok(())
    }

    /// Sets rates.
    ///
    /// # Errors
    /// For a link that is not on the map. No rate is then set.
    pub fn set_rates(&mut self, rates: &[api::Rate], now_ms: u64) -> Result<()> {
        let change = self.check_rates(rates, now_ms)?;
        self.make(change);
        Ok(())
    }

    /// Sets states of links.
    ///
    /// # Errors
    /// For a link that is not on the map. No state is then set.
    pub fn set_links(&mut self, states: &[api::LinkState]) -> Result<()> {
        let change = self.check_links(states)?;
        self.make(change);
        Ok(())
    }

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
        let change = self.check_endpoint(name, spec, hash, now_ms)?;
        self.make(change);
        Ok(())
    }
}
