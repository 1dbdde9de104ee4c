//! A flow of the scenario with what was observed of it.

use std::net::{IpAddr, Ipv4Addr};

use scenario::{ConnectionSpec, Flow, Protocol, Scenario};

use super::transfer::Observation;

/// A flow, its hosts, and its observation.
#[derive(Clone, Copy)]
pub(crate) struct ObservedFlow<'a> {
    pub(crate) scenario: &'a Scenario,
    pub(crate) flow: &'a Flow,
    /// The server's address on each path of its hosts. The flow's paths are the first ones.
    pub(crate) servers: &'a [IpAddr],
    pub(crate) observed: &'a Observation,
}

impl<'a> ObservedFlow<'a> {
    /// Description of its connection.
    pub(crate) fn connection(&self) -> &'a ConnectionSpec {
        &self.scenario.connections[self.flow.connection]
    }

    /// The path, from 0, of a subflow with this local address.
    pub(crate) fn path(&self, local: Ipv4Addr) -> Option<usize> {
        match self.connection().protocol {
            Protocol::Tcp | Protocol::Udp => Some(0),
            Protocol::Mptcp => {
                let mut servers = self.servers.iter();
                servers.position(|server| *server == IpAddr::V4(local))
            }
        }
    }

    /// The path, from 0, of the subflow with this remote port.
    pub(crate) fn path_of_port(&self, port: u16) -> Option<usize> {
        let samples = &self.observed.samples;
        let mut subflows = samples.iter().flat_map(|sample| &sample.subflows);
        let found = subflows.find(|s| s.remote_port == port && s.local != Ipv4Addr::UNSPECIFIED)?;
        self.path(found.local)
    }
}
