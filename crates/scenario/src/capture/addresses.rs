//! Addresses, ports, keys and initial sequence numbers, which simulated packets do not carry.
//!
//! Addresses and ports are the lab's. 10.0.0.1 is the client; 10.0.1.1 and 10.0.2.1 are the server on its first and second
//! path. The last octet counts clients, and servers, where there are more. The server's port is 5001 for the first
//! `[[connection]]` of the file, 5002 for the second. Values that real endpoints draw are drawn from the seed.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use topology::NodeIndex;
use transport::{Detection, PathManager, window_scale};

use super::keys::Keys;
use crate::connection::{ConnectionSpec, Protocol};
use crate::draw::{Drawn, Flow};
use crate::random::mix;
use crate::scenario::Scenario;

/// First port of servers.
const SERVER_PORT: u16 = 5001;
/// Ports of clients (Linux: net.ipv4.ip_local_port_range).
const CLIENT_PORTS: std::ops::Range<u16> = 32768..61000;
/// Headers of IPv4 and TCP without options, bytes.
const HEADERS: u32 = 40;
/// Number of hosts whose addresses differ in the last octet.
const HOSTS_PER_NETWORK: usize = 254;
/// Number of paths whose addresses differ in the third octet.
const PATHS: u64 = 255;

/// Endpoints of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Endpoints {
    pub(super) connections: Vec<Connection>,
    /// Subflows, by number in the simulation.
    pub(super) subflows: Vec<Subflow>,
    /// Sources of UDP, by number in the simulation.
    pub(super) udp: Vec<Pair>,
}

/// The two addresses of a flow; the server sends the data.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) server: SocketAddrV4,
    pub(super) client: SocketAddrV4,
}

/// A connection of TCP or MPTCP.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// Number of the first subflow.
    pub(super) first: u32,
    /// Keys of MPTCP; none for TCP.
    pub(super) keys: Option<Keys>,
    /// MSS option of a SYN: a packet without its headers, bytes.
    pub(super) mss_option: u16,
    pub(super) ecn: bool,
    /// Whether the endpoints use SACK.
    pub(super) sack: bool,
    /// Shift of window fields (RFC 7323).
    pub(super) window_scale: u8,
    /// Window that each endpoint advertises at first, bytes.
    initial_window: u32,
}

/// A subflow, or the one flow of a TCP connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subflow {
    pub(super) pair: Pair,
    /// Initial sequence numbers.
    pub(super) client_isn: u32,
    pub(super) server_isn: u32,
    /// Nonces of a join.
    pub(super) client_nonce: u32,
    pub(super) server_nonce: u32,
}

/// Numbers of hosts, in the order of their first use.
#[derive(Default)]
struct Hosts(BTreeMap<NodeIndex, usize>);

impl Hosts {
    /// Address of a host on a path, from 1; path 0 for an address that is independent of the path.
    fn address(&mut self, host: NodeIndex, path: u8) -> Ipv4Addr {
        let next = self.0.len();
        let number = *self.0.entry(host).or_insert(next);
        let (high, low) = (number / HOSTS_PER_NETWORK, number % HOSTS_PER_NETWORK + 1);
        Ipv4Addr::new(10, high as u8, path, low as u8)
    }
}

impl Endpoints {
    pub(super) fn new(scenario: &Scenario, drawn: &Drawn) -> Self {
        let (mut servers, mut clients) = (Hosts::default(), Hosts::default());
        let mut endpoints = Self::default();
        let mut flows = 0;
        for flow in &drawn.flows {
            let spec = &scenario.connections[flow.connection];
            let mut pair = |subflow: usize| {
                let node = |at: usize| drawn.graph.link(flow.paths[at].forward[0]).from;
                let last = *flow.paths[0].forward.last().expect("a path has a link");
                // Without announcements all subflows go to the server's first address.
                let announced = spec.path_manager == PathManager::Announced;
                let path = flow.numbers[if announced { subflow } else { 0 }] % PATHS + 1;
                let server = servers.address(node(subflow), path as u8);
                let client = clients.address(drawn.graph.link(last).to, 0);
                let range = u32::from(CLIENT_PORTS.end - CLIENT_PORTS.start);
                let port = CLIENT_PORTS.start + (flows % range) as u16;
                flows += 1;
                Pair {
                    server: SocketAddrV4::new(
                        server,
                        SERVER_PORT.wrapping_add(flow.connection as u16),
                    ),
                    client: SocketAddrV4::new(client, port),
                }
            };
            if spec.protocol == Protocol::Udp {
                endpoints.udp.push(pair(0));
                continue;
            }
            let pairs: Vec<Pair> = (0..flow.paths.len()).map(pair).collect();
            endpoints.add_connection(spec, flow, &pairs);
        }
        endpoints
    }

    fn add_connection(&mut self, spec: &ConnectionSpec, flow: &Flow, pairs: &[Pair]) {
        let profile = spec.profile_with_constants();
        // A different stream from that of the flow itself.
        let mut generator = Pcg64Mcg::seed_from_u64(mix(!flow.seed));
        let mptcp = spec.protocol == Protocol::Mptcp;
        let keys = mptcp.then(|| Keys {
            client: generator.next_u64(),
            server: generator.next_u64(),
        });
        let dss = if mptcp { profile.mptcp_data_header } else { 0 };
        let mss = spec.mss - u32::from(dss);
        let (buffer, largest) = match spec.receive_window {
            Some(bytes) => {
                let buffer = u32::try_from(bytes).unwrap_or(u32::MAX);
                (buffer, buffer)
            }
            None => (profile.receive_buffer.initial, profile.receive_buffer.max),
        };
        // As a receiver of the simulator advertises it at first.
        let initial_window = (buffer / 2).min(profile.initial_receive_window.saturating_mul(mss));
        self.connections.push(Connection {
            first: self.subflows.len() as u32,
            keys,
            mss_option: (spec.mss + u32::from(profile.header) - HEADERS) as u16,
            ecn: spec.ecn,
            sack: profile.detection != Detection::DuplicateAcks,
            window_scale: window_scale(largest) as u8,
            initial_window,
        });
        for pair in pairs {
            let mut word = || generator.next_u32();
            self.subflows.push(Subflow {
                pair: *pair,
                client_isn: word(),
                server_isn: word(),
                client_nonce: word(),
                server_nonce: word(),
            });
        }
    }
}

impl Connection {
    /// Window field of a SYN, which is not shifted, for the initial window.
    pub(super) fn syn_window_field(&self) -> u16 {
        self.initial_window.min(u16::MAX.into()) as u16
    }

    /// Window field of any other segment for a window of this many bytes; none: the initial window.
    pub(super) fn window_field(&self, bytes: Option<u64>) -> u16 {
        let bytes = bytes.unwrap_or(self.initial_window.into());
        (bytes >> self.window_scale).min(u16::MAX.into()) as u16
    }
}
