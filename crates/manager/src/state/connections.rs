//! Reports of endpoints, and the connections in them.

use std::collections::HashSet;

use super::{CONNECTION_SUBFLOWS, Connection, Effects, EndpointId, State, Subflow, contains};
use crate::api;
use crate::api::Token;
use crate::error::{Error, Kind, Result};

impl State {
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

    pub(super) fn remove(&mut self, index: u32) {
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

    pub(super) fn connection(&self, index: u32) -> &Connection {
        self.connections[index as usize]
            .as_ref()
            .expect("indices are of connections")
    }

    fn connection_mut(&mut self, index: u32) -> &mut Connection {
        self.connections[index as usize]
            .as_mut()
            .expect("indices are of connections")
    }
}
