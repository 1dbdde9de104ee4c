//! What the packets of a run have in common that no simulated packet carries: addresses, ports, keys, first numbers.
//!
//! Addresses are the lab's: 10.0.0.1 is the client, 10.0.1.1 and 10.0.2.1 are the server on its first and second path. The
//! last part counts clients, and servers, where there are more of them. Ports are the lab's too: the server's are 5001
//! for the first `[[connection]]` of the file, 5002 for the second. What real endpoints draw is drawn from the seed.

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddrV4};

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use topology::NodeIndex;
use transport::{Detection, window_scale};

use super::keys::Keys;
use crate::simulate::behaviour;
use crate::{Drawn, Flow, PathManager, Protocol, Scenario, draw};

/// The first port of servers.
const SERVER: u16 = 5001;
/// The ports of clients (Linux: net.ipv4.ip_local_port_range).
const CLIENTS: std::ops::Range<u16> = 32768..61000;
/// Headers without options: IPv4 and TCP.
const HEADERS: u32 = 40;
/// So many hosts have addresses that differ in the last part.
const HOSTS: usize = 254;
/// So many paths have addresses that differ in the part before.
const PATHS: u64 = 255;

/// Who takes part in a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Ends {
    pub(super) connections: Vec<Connection>,
    /// By their numbers in the simulation.
    pub(super) subflows: Vec<Subflow>,
    /// Sources of UDP, by their numbers.
    pub(super) datagrams: Vec<Pair>,
}

/// The two ends of a flow: who sends the data, and to whom.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) server: SocketAddrV4,
    pub(super) client: SocketAddrV4,
}

/// A connection of TCP or MPTCP.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// The number of its first subflow.
    pub(super) first: u32,
    /// Those of MPTCP.
    pub(super) keys: Option<Keys>,
    /// What the option of a SYN tells: a packet without its headers, bytes.
    pub(super) mss_option: u16,
    pub(super) ecn: bool,
    /// Whether its ends use SACK.
    pub(super) sack: bool,
    /// By how much windows are shifted.
    pub(super) scale: u8,
    /// What each end offers at first, bytes.
    window: u32,
}

/// A subflow, or the one flow of a TCP connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subflow {
    pub(super) pair: Pair,
    /// Initial sequence numbers, and nonces of a join.
    pub(super) client_first: u32,
    pub(super) server_first: u32,
    pub(super) client_nonce: u32,
    pub(super) server_nonce: u32,
}

/// Hosts in the order in which they are met.
#[derive(Default)]
struct Hosts(BTreeMap<NodeIndex, usize>);

impl Hosts {
    /// The address of a host on a path from 1, or 0 where its path does not matter.
    fn address(&mut self, host: NodeIndex, path: u8) -> Ipv4Addr {
        let next = self.0.len();
        let number = *self.0.entry(host).or_insert(next);
        let (high, low) = (number / HOSTS, number % HOSTS + 1);
        Ipv4Addr::new(10, high as u8, path, low as u8)
    }
}

impl Ends {
    pub(super) fn new(scenario: &Scenario, drawn: &Drawn) -> Self {
        let (mut servers, mut clients) = (Hosts::default(), Hosts::default());
        let mut ends = Self::default();
        let mut flows = 0;
        for flow in &drawn.flows {
            let spec = &scenario.connections[flow.connection];
            let mut pair = |subflow: usize| {
                let node = |at: usize| drawn.graph.link(flow.paths[at].forward[0]).from;
                let last = *flow.paths[0].forward.last().expect("a path has a link");
                // Without announcements every subflow goes to the address that the client knows.
                let known = spec.path_manager == PathManager::NDiffPorts;
                let path = flow.numbers[if known { 0 } else { subflow }] % PATHS + 1;
                let server = servers.address(node(subflow), path as u8);
                let client = clients.address(drawn.graph.link(last).to, 0);
                let range = u32::from(CLIENTS.end - CLIENTS.start);
                let port = CLIENTS.start + (flows % range) as u16;
                flows += 1;
                Pair {
                    server: SocketAddrV4::new(server, SERVER.wrapping_add(flow.connection as u16)),
                    client: SocketAddrV4::new(client, port),
                }
            };
            if spec.protocol == Protocol::Udp {
                ends.datagrams.push(pair(0));
                continue;
            }
            let pairs: Vec<Pair> = (0..flow.paths.len()).map(pair).collect();
            ends.connection(spec, flow, &pairs);
        }
        ends
    }

    fn connection(&mut self, spec: &crate::ConnectionSpec, flow: &Flow, pairs: &[Pair]) {
        let profile = behaviour(spec.profile, &spec.constants);
        // Another stream than what the flow itself draws from.
        let mut generator = Pcg64Mcg::seed_from_u64(draw::mix(!flow.seed));
        let mptcp = spec.protocol == Protocol::Mptcp;
        let keys = mptcp.then(|| Keys {
            client: generator.next_u64(),
            server: generator.next_u64(),
        });
        let dss = if mptcp { profile.mptcp_data_header } else { 0 };
        let mss = spec.mss - u32::from(dss);
        let asked = spec.receive_window;
        let (buffer, largest) = match asked.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)) {
            Some(buffer) => (buffer, buffer),
            None => profile.receive_buffer,
        };
        // As a receiver offers it at first.
        let window = buffer / 2;
        let window = window.min(profile.first_window.saturating_mul(mss));
        self.connections.push(Connection {
            first: self.subflows.len() as u32,
            keys,
            mss_option: (spec.mss + u32::from(profile.header) - HEADERS) as u16,
            ecn: spec.ecn,
            sack: profile.detection != Detection::DuplicateAcks,
            scale: window_scale(largest) as u8,
            window,
        });
        for pair in pairs {
            let mut word = || generator.next_u32();
            self.subflows.push(Subflow {
                pair: *pair,
                client_first: word(),
                server_first: word(),
                client_nonce: word(),
                server_nonce: word(),
            });
        }
    }
}

impl Connection {
    /// The window field of a SYN, which is not shifted, for what each end offers at first.
    pub(super) fn first_window(&self) -> u16 {
        self.window.min(u16::MAX.into()) as u16
    }

    /// That of any other segment, for so many bytes; none: for what each end offers at first.
    pub(super) fn window(&self, bytes: Option<u64>) -> u16 {
        let bytes = bytes.unwrap_or(self.window.into());
        (bytes >> self.scale).min(u16::MAX.into()) as u16
    }
}
