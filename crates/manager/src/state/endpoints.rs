//! Endpoints, their tokens and sessions.

use std::collections::HashMap;
use std::net::IpAddr;

use super::changes::{Change, NewEndpoint};
use super::{Endpoint, EndpointId, Hash, State, contains};
use crate::api;
use crate::error::{Error, Kind, Result};

impl State {
    /// Another endpoint, or other addresses and another token of an existing one.
    pub(crate) fn check_endpoint(
        &self,
        name: &str,
        spec: api::EndpointRequest,
        hash: Hash,
        now_ms: u64,
    ) -> Result<Change> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
        // Clients take the segments `.` and `..` out of a path: such an endpoint could not be named in a request.
        let is_dots = name.bytes().all(|byte| byte == b'.');
        if is_dots || name.len() > 64 || !name.bytes().all(plain) {
            return Err(Error::invalid(
                "the name of an endpoint has 1 to 64 letters, digits, `.`, `_` and `-`, and not only dots",
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
        Ok(Change::Endpoint(Box::new(NewEndpoint {
            name: name.into(),
            spec,
            hash,
            seen_ms: now_ms,
        })))
    }

    /// The removal of an endpoint, its token and its connections.
    pub(crate) fn check_removal(&self, name: &str) -> Result<Change> {
        match self.by_name.contains_key(name) {
            true => Ok(Change::NoEndpoint(name.into())),
            false => Err(Error::new(Kind::NotFound, format!("no endpoint `{name}`"))),
        }
    }

    /// Adds a checked endpoint. Returns the one of that name before.
    pub(super) fn insert_endpoint(&mut self, new: NewEndpoint) -> Option<EndpointId> {
        let former = self.drop_endpoint(&new.name);
        let id = EndpointId(self.endpoints.len() as u32);
        self.by_name.insert(new.name.clone(), id);
        self.by_hash.insert(new.hash, id);
        self.endpoints.push(Some(Endpoint {
            name: new.name,
            spec: new.spec,
            hash: new.hash,
            session: String::new(),
            sequence: 0,
            seen_ms: new.seen_ms,
            connections: HashMap::new(),
            subflows: 0,
        }));
        self.totals.endpoints = self.by_name.len();
        former
    }

    /// Removes an endpoint, its token and its connections.
    pub(super) fn drop_endpoint(&mut self, name: &str) -> Option<EndpointId> {
        let id = self.by_name.remove(name)?;
        let connections: Vec<u32> = self.endpoint(id).connections.values().copied().collect();
        connections.into_iter().for_each(|c| self.remove(c));
        let endpoint = self.endpoints[id.0 as usize].take().expect("it has a name");
        self.by_hash.remove(&endpoint.hash);
        self.totals.endpoints = self.by_name.len();
        Some(id)
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

    pub(super) fn endpoint(&self, id: EndpointId) -> &Endpoint {
        self.endpoints[id.0 as usize]
            .as_ref()
            .expect("ids are of endpoints")
    }

    pub(super) fn endpoint_mut(&mut self, id: EndpointId) -> &mut Endpoint {
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
}
