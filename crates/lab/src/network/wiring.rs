//! Links, routes and addresses of a network.
//!
//! The client has one port and one address, the server has one of each for each path. The server sends the data, so the forward
//! direction of a path is towards the client.

use std::net::Ipv4Addr;

use netsim::{LinkId, Payload, PortId, RouteId};
use topology::{LinkIndex, Path};

use super::spec::NetworkSpec;
use crate::error::Error;

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

/// The links and routes of a network.
#[derive(Debug)]
pub(crate) struct Wiring<P> {
    pub(crate) network: netsim::Network<P>,
    /// Names of the links, in their order.
    pub(crate) names: Vec<String>,
    routes: Vec<Route>,
}

/// Route of the packets from a port to a destination.
#[derive(Debug)]
struct Route {
    port: PortId,
    destination: Ipv4Addr,
    id: RouteId,
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

    /// Route of a packet that entered at `port` for `destination`.
    pub(crate) fn route(&self, port: PortId, destination: Ipv4Addr) -> Option<RouteId> {
        // At most 18 routes: a linear search is as fast as a table.
        let found = self
            .routes
            .iter()
            .find(|route| (route.port, route.destination) == (port, destination));
        found.map(|route| route.id)
    }

    fn connect(&mut self, number: usize, path: &Path, links: &[LinkId]) {
        let ids = |direction: &[LinkIndex]| {
            direction
                .iter()
                .map(|link| links[link.index()])
                .collect::<Vec<_>>()
        };
        let up = self
            .network
            .add_route(&ids(&path.reverse), server_port(number));
        let down = self.network.add_route(&ids(&path.forward), CLIENT_PORT);
        self.routes.push(Route {
            port: CLIENT_PORT,
            destination: server(number),
            id: up,
        });
        self.routes.push(Route {
            port: server_port(number),
            destination: CLIENT,
            id: down,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netsim::{Exit, Rate, Span, Time};
    use topology::{
        Loss, NonSharedBottleneck, PathSpec, Properties, Queue, SharedBottleneck, Spec,
    };

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

    /// Round-trip time of a packet of 1000 bytes on each path, ns.
    fn round_trips(topology: &Spec, paths: usize) -> Vec<u64> {
        let mut wiring = Wiring::new(&network(topology, 1)).unwrap();
        let mut trip = |from, to, destination| {
            let route = wiring.route(from, destination).expect("there is a route");
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

    /// A simulation has the same losses: the graph adds the same links to a network with the same seed.
    #[test]
    fn losses_depend_on_the_seed() {
        let mut topology = shared(vec![Span::ZERO]);
        if let Spec::SharedBottleneck(spec) = &mut topology {
            spec.bottleneck.loss = Some(Loss::Random(0.5));
        }
        let lost = |seed| -> Vec<bool> {
            let mut wiring = Wiring::new(&network(&topology, seed)).unwrap();
            let down = wiring
                .route(server_port(0), CLIENT)
                .expect("there is a route");
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
}
