//! What a network is to be, and its links, routes and addresses.
//!
//! The client has one port and one address, the server one of each a path. Towards the client
//! ("down") a packet crosses what is the path's own, then what is shared; towards the server ("up")
//! the other way round. Both directions of a bottleneck have the same rate and queue, each for
//! itself. A rate counts whole IP packets: 1500 bytes at 2.5 Mbit/s take 4.8 ms.

use std::net::Ipv4Addr;

use netsim::{DropTail, LinkId, LinkSpec, Payload, PortId, RouteId, Span};
use scenario::{Shaping, Topology};

use crate::error::Error;

/// The most paths: MPTCP's path manager allows 8 subflows beyond the first (`MPTCP_PM_ADDR_MAX`).
pub const MAX_PATHS: usize = 9;

/// The client's address.
pub(crate) const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// The client's port.
const CLIENT_PORT: PortId = PortId(0);

/// The server's address on `path` (from 0).
pub(crate) const fn server(path: usize) -> Ipv4Addr {
    Ipv4Addr::new(10, 0, path as u8 + 1, 1)
}

/// The server's port on `path` (from 0).
const fn server_port(path: usize) -> PortId {
    PortId(path as u32 + 1)
}

/// A network between one client and one server.
#[derive(Clone, Debug)]
pub struct NetworkSpec {
    /// Its links.
    pub topology: Topology,
    /// The receive buffer of each endpoint's TCP and MPTCP sockets, in bytes (`tcp_rmem`, default
    /// and maximum). The kernel offers about half of it as its window. The send buffer is made no
    /// smaller. `None` leaves the kernel's defaults.
    pub receive_window: Option<u32>,
}

/// The links and routes of a network, before anything moves on them.
#[derive(Debug)]
pub(crate) struct Wiring<P> {
    pub(crate) network: netsim::Network<P>,
    /// What to call each link, in their order.
    pub(crate) names: Vec<String>,
    routes: Vec<(PortId, Ipv4Addr, RouteId)>,
}

impl NetworkSpec {
    /// How many paths there are; an error if MPTCP cannot use as many.
    pub(crate) fn paths(&self) -> Result<usize, Error> {
        let paths = self.topology.paths();
        if (1..=MAX_PATHS).contains(&paths) {
            Ok(paths)
        } else {
            Err(Error::Paths(paths))
        }
    }
}

impl<P: Payload> Wiring<P> {
    pub(crate) fn new(topology: &Topology) -> Self {
        let mut wiring = Self {
            network: netsim::Network::new(),
            names: Vec::new(),
            routes: Vec::new(),
        };
        match topology {
            Topology::SharedBottleneck { bottleneck, rtts } => {
                let [up, down] = wiring.pair(
                    "bottleneck",
                    [Span::ZERO; 2].map(|delay| link(*bottleneck, delay)),
                );
                for (path, rtt) in rtts.iter().enumerate() {
                    let [there, back] =
                        wiring.pair(&path_name(path), halves(*rtt).map(LinkSpec::delay));
                    wiring.connect(path, &[up, there], &[back, down]);
                }
            }
            Topology::NonSharedBottleneck { paths } => {
                for (i, path) in paths.iter().enumerate() {
                    let links = halves(path.rtt).map(|delay| link(path.bottleneck, delay));
                    let [up, down] = wiring.pair(&path_name(i), links);
                    wiring.connect(i, &[up], &[down]);
                }
            }
        }
        wiring
    }

    /// The way of a packet that came in at `port` for `destination`.
    pub(crate) fn route(&self, port: PortId, destination: Ipv4Addr) -> Option<RouteId> {
        // At most 18 routes: a search through them is as fast as any table.
        let found = self
            .routes
            .iter()
            .find(|route| (route.0, route.1) == (port, destination));
        found.map(|(_, _, route)| *route)
    }

    fn pair(&mut self, name: &str, [up, down]: [LinkSpec; 2]) -> [LinkId; 2] {
        self.names
            .extend([format!("{name} up"), format!("{name} down")]);
        [self.network.add_link(up), self.network.add_link(down)]
    }

    fn connect(&mut self, path: usize, up: &[LinkId], down: &[LinkId]) {
        let up = self.network.add_route(up, server_port(path));
        let down = self.network.add_route(down, CLIENT_PORT);
        self.routes.push((CLIENT_PORT, server(path), up));
        self.routes.push((server_port(path), CLIENT, down));
    }
}

fn link(shaping: Shaping, delay: Span) -> LinkSpec {
    LinkSpec::shaped(shaping.rate, DropTail::new(shaping.queue), delay)
}

/// Paths are numbered from 1 for people.
fn path_name(path: usize) -> String {
    format!("path {}", path + 1)
}

/// The delays of the two directions of a path; an odd nanosecond goes to the way back.
fn halves(rtt: Span) -> [Span; 2] {
    let there = Span::from_nanos(rtt.as_nanos() / 2);
    [there, rtt - there]
}

#[cfg(test)]
mod tests {
    use super::*;
    use netsim::{Exit, Rate, Time};
    use scenario::Path;

    const FAST: Shaping = Shaping {
        rate: Rate::from_bits_per_second(8_000_000_000),
        queue: 1,
    };

    /// How long a packet of 1000 bytes takes there and back, on each path.
    fn round_trips(topology: &Topology, paths: usize) -> Vec<u64> {
        let mut wiring = Wiring::new(topology);
        let mut trip = |from, to, destination| {
            let route = wiring.route(from, destination).expect("there is a way");
            assert_eq!(wiring.network.inject(Time::ZERO, route, 1000, ()), None);
            match wiring.network.poll(Time::from_nanos(u64::MAX)) {
                Some(Exit::Arrived { at, port, .. }) if port == to => at.as_nanos(),
                other => panic!("{other:?}"),
            }
        };
        (0..paths)
            .map(|path| {
                trip(CLIENT_PORT, server_port(path), server(path))
                    + trip(server_port(path), CLIENT_PORT, CLIENT)
            })
            .collect()
    }

    #[test]
    fn every_path_has_its_round_trip_time() {
        let ms = Span::from_millis;
        // 1000 bytes take 1 µs each way.
        let rtts = vec![ms(200), ms(20) + Span::from_nanos(1)];
        let shared = Topology::SharedBottleneck {
            bottleneck: FAST,
            rtts,
        };
        assert_eq!(round_trips(&shared, 1), [200_002_000]);
        let paths = [40, 70]
            .map(|rtt| Path {
                bottleneck: FAST,
                rtt: ms(rtt),
            })
            .to_vec();
        let separate = Topology::NonSharedBottleneck { paths };
        assert_eq!(round_trips(&separate, 1), [40_002_000]);
        assert_eq!(Wiring::<()>::new(&shared).names.len(), 6);
        assert_eq!(Wiring::<()>::new(&separate).names.len(), 4);
    }

    #[test]
    fn the_number_of_paths_is_limited() {
        let spec = |paths| NetworkSpec {
            topology: Topology::SharedBottleneck {
                bottleneck: FAST,
                rtts: vec![Span::ZERO; paths],
            },
            receive_window: None,
        };
        assert!(spec(0).paths().is_err());
        assert_eq!(spec(1).paths().ok(), Some(1));
        assert_eq!(spec(9).paths().ok(), Some(9));
        assert!(spec(10).paths().is_err());
    }
}
