//! The hosts of a network: pairs of a client and a server, and the flows that share a pair.
//!
//! What belongs to a namespace, and not to a socket, is common to the flows of a pair: the paths that the server announces, backups, the
//! buffers, ECN. So flows with the same of these share a pair, and others have pairs of their own.

use std::net::{IpAddr, Ipv4Addr};

use scenario::{ConnectionSpec, Drawn, Flow, Protocol, Scenario};
use topology::{Graph, Path};

use crate::error::Error;
use crate::linux::namespace::Namespace;

/// Largest number of paths: MPTCP's path manager allows 8 subflows beyond the first (`MPTCP_PM_ADDR_MAX`).
pub const MAX_PATHS: usize = 9;

/// A client with one address and a server with an address on each path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HostsSpec {
    /// Paths; the server sends data along `forward`. The first is that of TCP and of MPTCP's first subflow.
    pub paths: Vec<Path>,
    /// For each path, whether its subflows are backups. Paths beyond the list, and the first path, are not.
    pub backup: Vec<bool>,
    /// Receive buffer of each host's TCP and MPTCP sockets, bytes (`tcp_rmem`, default and maximum). The kernel advertises about half
    /// of it as its window. `None`: 128 KB that grow to 6 MB, the kernel's defaults.
    pub receive_window: Option<u32>,
    /// Size up to which the send buffer of each host's TCP sockets and MPTCP subflows grows, bytes (`tcp_wmem`, maximum).
    /// `None`: 4 MB, the kernel's default.
    pub send_buffer: Option<u32>,
    /// Whether both hosts use ECN (`tcp_ecn`).
    pub ecn: bool,
}

impl HostsSpec {
    /// Checks the number of paths.
    ///
    /// # Errors
    /// [`Error::Paths`] if MPTCP cannot use as many.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.paths.len() {
            1..=MAX_PATHS => Ok(()),
            paths => Err(Error::Paths(paths)),
        }
    }

    /// The hosts that a flow needs.
    fn of(connection: &ConnectionSpec, flow: &Flow) -> Self {
        let is_backup = |path: usize| connection.backup.get(path) == Some(&true);
        let bounded = |bytes| u32::try_from(bytes).unwrap_or(u32::MAX);
        Self {
            paths: flow.paths.clone(),
            backup: (0..flow.paths.len()).map(is_backup).collect(),
            receive_window: connection.receive_window.map(bounded),
            send_buffer: connection.send_buffer.map(bounded),
            ecn: connection.ecn,
        }
    }

    /// Whether a flow that needs `other` and has one path can use these hosts.
    fn serves_one_path(&self, other: &Self) -> bool {
        let common = |hosts: &Self| (hosts.receive_window, hosts.send_buffer, hosts.ecn);
        common(self) == common(other) && self.paths.first() == other.paths.first()
    }
}

/// The pairs of hosts of a run, and the pair of each flow.
#[derive(Debug)]
pub(crate) struct Placement {
    pub(crate) hosts: Vec<HostsSpec>,
    /// For each flow, the number of its pair.
    pub(crate) of_flow: Vec<usize>,
}

impl Placement {
    pub(crate) fn new(scenario: &Scenario, drawn: &Drawn) -> Self {
        let mut hosts: Vec<HostsSpec> = Vec::new();
        let mut of_flow = vec![0; drawn.flows.len()];
        let is_mptcp =
            |flow: &Flow| scenario.connections[flow.connection].protocol == Protocol::Mptcp;
        // A flow of one path can use hosts that have others, too, but not the reverse: MPTCP's come first.
        for mptcp in [true, false] {
            let flows = drawn.flows.iter().enumerate();
            for (number, flow) in flows.filter(|(_, flow)| is_mptcp(flow) == mptcp) {
                let needed = HostsSpec::of(&scenario.connections[flow.connection], flow);
                let serves = |have: &HostsSpec| match mptcp {
                    true => *have == needed,
                    false => have.serves_one_path(&needed),
                };
                of_flow[number] = hosts.iter().position(serves).unwrap_or_else(|| {
                    hosts.push(needed);
                    hosts.len() - 1
                });
            }
        }
        Self { hosts, of_flow }
    }
}

/// A network of these links between these hosts.
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    /// Links.
    pub graph: Graph,
    /// Seed of random losses, reordering and jitter.
    pub link_seed: u64,
    /// Pairs of hosts.
    pub hosts: Vec<HostsSpec>,
}

impl NetworkSpec {
    /// One pair of hosts with all paths of the topology's first set, the kernel's receive buffers, and link seed 1.
    ///
    /// # Errors
    /// For a topology without a graph, or without named paths.
    pub fn client_server(topology: &topology::Spec) -> Result<Self, Error> {
        let graph = topology.build()?;
        let paths = graph.sets().first().map(|set| set.paths.clone());
        Ok(Self {
            link_seed: 1,
            hosts: vec![HostsSpec {
                paths: paths.unwrap_or_default(),
                ..HostsSpec::default()
            }],
            graph,
        })
    }
}

/// A client and a server that exist, each in its namespace.
#[derive(Debug)]
pub struct Hosts {
    /// Number of the pair, from 0.
    pub(super) number: usize,
    pub(super) paths: usize,
    /// The endpoint with one address.
    pub client: Namespace,
    /// The endpoint with an address on each path.
    pub server: Namespace,
}

impl Hosts {
    /// The client's address.
    #[must_use]
    pub fn client_address(&self) -> IpAddr {
        IpAddr::V4(client(self.number))
    }

    /// The server's addresses, one for each path. The server announces the others on a connection to the first.
    #[must_use]
    pub fn server_addresses(&self) -> Vec<IpAddr> {
        let address = |path| IpAddr::V4(server(self.number, path));
        (0..self.paths).map(address).collect()
    }
}

/// The client's address in this pair of hosts (from 0).
pub(super) const fn client(pair: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, 0, pair as u8 + 1)
}

/// The server's address in this pair of hosts on this path (both from 0).
pub(super) const fn server(pair: usize, path: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, path as u8 + 1, pair as u8 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(text: &str) -> Placement {
        let scenario = Scenario::parse(text, "a.toml").unwrap();
        Placement::new(&scenario, &scenario.draw(1).unwrap())
    }

    const SHARED: &str = "stop = \"9s\"\n[topology]\nkind = \"shared-bottleneck\"\nrate = \"5Mbit\"\n\
                          rtt = [\"40ms\", \"40ms\"]\nqueue = 17\n";

    #[test]
    fn flows_share_hosts_if_their_namespaces_are_alike() {
        let tcp = "[[connection]]\nprotocol = \"tcp\"\nbytes = 1\n";
        let mptcp = "[[connection]]\nprotocol = \"mptcp\"\nbytes = 1\n";
        // The TCP connection runs on the first path of MPTCP's hosts, although it comes first.
        let both = placed(&format!("{SHARED}{tcp}{mptcp}{mptcp}count = 3\n"));
        assert_eq!(both.of_flow, [0; 5]);
        assert_eq!(both.hosts[0].paths.len(), 2);
        let cases = [
            "path = 2\n",
            "receive_window = \"1MiB\"\n",
            "send_buffer = \"1MiB\"\n",
            "ecn = true\n",
        ];
        for other in cases {
            let placed = placed(&format!("{SHARED}{tcp}{mptcp}{tcp}{other}"));
            assert_eq!(placed.of_flow, [0, 0, 1], "{other}");
        }
        let backup = placed(&format!("{SHARED}{mptcp}{mptcp}backup = [false, true]\n"));
        assert_eq!(backup.of_flow, [0, 1]);
        assert_eq!(backup.hosts[1].backup, [false, true]);
    }

    /// Ten users with two access points share one pair of hosts, ten with the second access point alone another.
    #[test]
    fn users_of_one_kind_share_hosts() {
        let text = "stop = \"9s\"\n[topology]\nkind = \"scenario-c\"\nn1 = 10\nn2 = 10\nc1 = \"1Mbit\"\nc2 = \"1Mbit\"\n\
                    rtt = \"80ms\"\nqueue = 17\n\
                    [[connection]]\nprotocol = \"mptcp\"\npaths = \"multipath\"\n\
                    [[connection]]\nprotocol = \"tcp\"\npaths = \"single-path\"\n";
        let placed = placed(text);
        let [multi, single] = &placed.hosts[..] else {
            panic!("{placed:?}")
        };
        assert_eq!([multi.paths.len(), single.paths.len()], [2, 1]);
        assert_eq!(placed.of_flow, [[0; 10], [1; 10]].concat());
    }

    #[test]
    fn the_number_of_paths_is_limited() {
        let path = Path {
            forward: Vec::new(),
            reverse: Vec::new(),
        };
        let check = |paths: usize| {
            let hosts = HostsSpec {
                paths: vec![path.clone(); paths],
                ..HostsSpec::default()
            };
            hosts.check().is_ok()
        };
        assert_eq!([0, 1, 9, 10].map(check), [false, true, true, false]);
    }
}
