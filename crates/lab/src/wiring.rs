//! What a network is to be, and its routes and addresses on the links that its topology has.
//!
//! The client has one port and one address, the server one of each a path. The server sends the data, so that a path's
//! forward direction is towards the client.

use std::net::Ipv4Addr;

use netsim::{LinkId, Payload, PortId, RouteId};
use topology::{LinkIndex, Path, Spec};

use crate::error::Error;

/// The most paths: MPTCP's path manager allows 8 subflows beyond the first (`MPTCP_PM_ADDR_MAX`).
pub const MAX_PATHS: usize = 9;

/// The client's address.
pub(crate) const CLIENT: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);

/// The client's port.
pub(crate) const CLIENT_PORT: PortId = PortId(0);

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
    /// Its links: a shared bottleneck, or separate ones.
    pub topology: Spec,
    /// What links draw from that lose or reorder at random.
    pub link_seed: u64,
    /// The receive buffer of each endpoint's TCP and MPTCP sockets, in bytes (`tcp_rmem`, default
    /// and maximum). The kernel offers about half of it as its window. The send buffer is made no
    /// smaller. `None`: 128 KB that grow to 6 MB, the kernel's defaults.
    pub receive_window: Option<u32>,
    /// The paths whose subflows are backups; those beyond the list, and the first, are not.
    pub backup: Vec<bool>,
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
        let paths = paths(&self.topology)?;
        if (1..=MAX_PATHS).contains(&paths) {
            Ok(paths)
        } else {
            Err(Error::Paths(paths))
        }
    }
}

/// How many paths there are between the one client and the one server that the lab has.
pub(crate) fn paths(topology: &Spec) -> Result<usize, Error> {
    match topology {
        Spec::SharedBottleneck(spec) => Ok(spec.rtts.len()),
        Spec::NonSharedBottleneck(spec) => Ok(spec.paths.len()),
        _ => Err(Error::Unsupported {
            place: "topology".into(),
            what: "any network but a shared-bottleneck or a non-shared-bottleneck",
        }),
    }
}

impl<P: Payload> Wiring<P> {
    pub(crate) fn new(spec: &NetworkSpec) -> Result<Self, Error> {
        let graph = spec.topology.build()?;
        let mut network = netsim::Network::with_seed(spec.link_seed);
        let links = graph.add_to(&mut network);
        let mut wiring = Self {
            network,
            names: graph.links().iter().map(|link| link.name.clone()).collect(),
            routes: Vec::new(),
        };
        for set in graph.sets() {
            for (number, path) in set.paths.iter().enumerate() {
                wiring.connect(number, path, &links);
            }
        }
        Ok(wiring)
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

    fn connect(&mut self, number: usize, path: &Path, links: &[LinkId]) {
        let ids = |way: &[LinkIndex]| {
            way.iter()
                .map(|link| links[link.index()])
                .collect::<Vec<_>>()
        };
        let up = self
            .network
            .add_route(&ids(&path.reverse), server_port(number));
        let down = self.network.add_route(&ids(&path.forward), CLIENT_PORT);
        self.routes.push((CLIENT_PORT, server(number), up));
        self.routes.push((server_port(number), CLIENT, down));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netsim::{Exit, Rate, Span, Time};
    use topology::{Loss, NonSharedBottleneck, PathSpec, Properties, Queue, SharedBottleneck};

    fn fast() -> Properties {
        let rate = Rate::from_bits_per_second(8_000_000_000);
        Properties::shaped(rate, Queue::DropTailPackets(1), Span::ZERO)
    }

    fn shared(rtts: Vec<Span>) -> Spec {
        Spec::SharedBottleneck(SharedBottleneck {
            bottleneck: fast(),
            rtts,
            access: None,
        })
    }

    fn network(topology: &Spec, link_seed: u64) -> NetworkSpec {
        NetworkSpec {
            topology: topology.clone(),
            link_seed,
            receive_window: None,
            backup: Vec::new(),
        }
    }

    /// How long a packet of 1000 bytes takes there and back, on each path.
    fn round_trips(topology: &Spec, paths: usize) -> Vec<u64> {
        let mut wiring = Wiring::new(&network(topology, 1)).unwrap();
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
        let shared = shared(rtts);
        assert_eq!(round_trips(&shared, 1), [200_002_000]);
        let paths = [40, 70]
            .map(|rtt| PathSpec {
                bottleneck: fast(),
                rtt: ms(rtt),
            })
            .to_vec();
        let separate = Spec::NonSharedBottleneck(NonSharedBottleneck {
            paths,
            access: None,
        });
        assert_eq!(round_trips(&separate, 1), [40_002_000]);
        assert_eq!(
            Wiring::<()>::new(&network(&shared, 1)).unwrap().names.len(),
            6
        );
        assert_eq!(
            Wiring::<()>::new(&network(&separate, 1))
                .unwrap()
                .names
                .len(),
            4
        );
    }

    /// As in a simulation, in which a graph adds the same links to a network of the same seed.
    #[test]
    fn the_seed_decides_what_is_lost() {
        let mut topology = shared(vec![Span::ZERO]);
        if let Spec::SharedBottleneck(spec) = &mut topology {
            spec.bottleneck.loss = Some(Loss::Random(0.5));
        }
        let lost = |seed| -> Vec<bool> {
            let mut wiring = Wiring::new(&network(&topology, seed)).unwrap();
            let down = wiring
                .route(server_port(0), CLIENT)
                .expect("there is a way");
            (0..64)
                .map(|_| {
                    let _ = wiring.network.inject(Time::ZERO, down, 1000, ());
                    let exit = wiring.network.poll(Time::from_nanos(u64::MAX));
                    !matches!(exit, Some(Exit::Arrived { .. }))
                })
                .collect()
        };
        assert_eq!(lost(1), lost(1));
        assert_ne!(lost(1), lost(2));
    }

    #[test]
    fn the_number_of_paths_is_limited() {
        let spec = |paths| network(&shared(vec![Span::ZERO; paths]), 1);
        assert!(spec(0).paths().is_err());
        assert_eq!(spec(1).paths().ok(), Some(1));
        assert_eq!(spec(9).paths().ok(), Some(9));
        assert!(spec(10).paths().is_err());
    }
}
