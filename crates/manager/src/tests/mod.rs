//! The contents, without a server.

mod cases;
mod incremental;

use std::net::SocketAddr;

use crate::api::{self, Token};
use crate::map_of;
use crate::{Limits, Result, State};

/// A state with a map of these links in one direction, named `FROM – TO`, a prefix 10.N.0.0/16 at the N-th node, and an endpoint `one`
/// with the addresses 10.0.0.0/8.
struct World {
    state: State,
    sequence: u64,
}

const SESSION: &str = "session";

impl World {
    fn new(nodes: usize, links: &[(usize, usize)]) -> Self {
        let map = api::MapRequest {
            nodes: (0..nodes).map(node).collect(),
            links: links.iter().map(|(from, to)| link(*from, *to)).collect(),
        };
        let mut state = State::new(Limits::default());
        state.set_map(&map_of(&map).unwrap()).unwrap();
        let prefixes = (0..nodes).map(|index| api::Prefix {
            prefix: format!("10.{index}.0.0/16").parse().unwrap(),
            node: name(index),
        });
        state.set_prefixes(prefixes.collect()).unwrap();
        let addresses = api::EndpointRequest {
            addresses: vec!["10.0.0.0/8".parse().unwrap()],
            from: Vec::new(),
        };
        state.set_endpoint("one", addresses, [1; 32], 0).unwrap();
        let id = state.authenticate(&[1; 32]).unwrap();
        state.begin_session(id, SESSION.into(), 0);
        Self { state, sequence: 0 }
    }

    fn rates(&mut self, rates: &[(&str, u64)], now_ms: u64) {
        let rates: Vec<_> = rates
            .iter()
            .map(|(link, rate)| rate_of(link, *rate))
            .collect();
        self.state.set_rates(&rates, now_ms).unwrap();
    }

    fn up(&mut self, link: &str, up: bool) {
        let link = link.into();
        self.state
            .set_links(&[api::LinkState { link, up }])
            .unwrap();
    }

    /// Reports a connection with subflows between these nodes, and returns its groups.
    fn report(&mut self, token: u32, subflows: &[(usize, usize)]) -> Vec<u8> {
        let subflows: Vec<_> = (subflows.iter().enumerate())
            .map(|(port, ends)| subflow(ends.0, ends.1, 1000 + port as u16))
            .collect();
        self.try_report(token, subflows).unwrap()
    }

    fn try_report(&mut self, token: u32, subflows: Vec<api::Subflow>) -> Result<Vec<u8>> {
        let connection = api::Connection {
            connection: Token(token),
            subflows,
        };
        self.send(vec![connection], false)
            .map(|groups| group_numbers(&groups[0]))
    }

    fn send(
        &mut self,
        connections: Vec<api::Connection>,
        complete: bool,
    ) -> Result<Vec<api::Groups>> {
        self.sequence += 1;
        let report = api::Report {
            session: SESSION.into(),
            sequence: self.sequence,
            complete,
            connections,
            closed: Vec::new(),
        };
        let id = self.state.authenticate(&[1; 32]).unwrap();
        self.state
            .report(id, &report, 0)
            .map(|effects| effects.groups)
    }

    /// The groups of a connection.
    fn groups(&self, token: u32) -> Vec<u8> {
        let view = self.state.connections(None, usize::MAX);
        let mut found = view.connections.iter();
        let found = found.find(|view| view.groups.connection == Token(token));
        group_numbers(&found.unwrap().groups)
    }

    fn unknown(&self, token: u32) -> Option<api::Unknown> {
        let view = self.state.connections(None, usize::MAX);
        let mut found = view.connections.iter();
        let found = found.find(|view| view.groups.connection == Token(token));
        found.unwrap().groups.unknown
    }
}

fn name(index: usize) -> String {
    format!("n{index}")
}

fn node(index: usize) -> api::NodeRequest {
    api::NodeRequest {
        name: name(index),
        ..api::NodeRequest::default()
    }
}

fn link(from: usize, to: usize) -> api::LinkRequest {
    api::LinkRequest {
        from: name(from),
        to: name(to),
        capacity_bps: None,
    }
}

fn rate_of(link: &str, available_bps: u64) -> api::Rate {
    api::Rate {
        link: link.into(),
        available_bps,
    }
}

fn subflow(from: usize, to: usize, port: u16) -> api::Subflow {
    api::Subflow {
        local: SocketAddr::new([10, from as u8, 0, 1].into(), port),
        remote: SocketAddr::new([10, to as u8, 0, 1].into(), 443),
    }
}

fn group_numbers(groups: &api::Groups) -> Vec<u8> {
    groups.groups.iter().map(|subflow| subflow.group).collect()
}
