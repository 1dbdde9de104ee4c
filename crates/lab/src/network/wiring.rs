//! Links, ports and routes of a network.
//!
//! The ports are those of the first pair of hosts, then those of the second, and so on: the client's, then the server's on each path.
//! The server sends the data, so the forward direction of a path is towards the client.

use std::net::Ipv4Addr;

use netsim::{LinkId, Payload, PortId, RouteId};
use topology::LinkIndex;

use super::hosts::{NetworkSpec, client, server};

/// The links, ports and routes of a network.
#[derive(Debug)]
pub(crate) struct Wiring<P> {
    pub(crate) network: netsim::Network<P>,
    /// Names of the links, in their order.
    pub(crate) names: Vec<String>,
    ports: Vec<Port>,
}

/// A port of a host.
#[derive(Debug, Default)]
struct Port {
    is_server: bool,
    routes: Vec<Route>,
}

/// Route of the packets to a destination.
#[derive(Debug)]
struct Route {
    destination: Ipv4Addr,
    id: RouteId,
}

impl<P: Payload> Wiring<P> {
    pub(crate) fn new(spec: &NetworkSpec) -> Self {
        let mut network = netsim::Network::with_seed(spec.link_seed);
        let links = spec.graph.add_to(&mut network);
        let names = spec.graph.links().iter().map(|link| link.name.clone());
        let mut ports = Vec::new();
        for (pair, hosts) in spec.hosts.iter().enumerate() {
            let clients = PortId(ports.len() as u32);
            let mut of_client = Port::default();
            let mut of_server = Vec::new();
            for (number, path) in hosts.paths.iter().enumerate() {
                let mut route = |destination, path: &[LinkIndex], port| {
                    let path: Vec<LinkId> = path.iter().map(|link| links[link.index()]).collect();
                    Route {
                        destination,
                        id: network.add_route(&path, port),
                    }
                };
                let servers = PortId(clients.0 + 1 + number as u32);
                let up = route(server(pair, number), &path.reverse, servers);
                of_client.routes.push(up);
                let down = route(client(pair), &path.forward, clients);
                of_server.push(Port {
                    is_server: true,
                    routes: vec![down],
                });
            }
            ports.push(of_client);
            ports.extend(of_server);
        }
        Self {
            network,
            names: names.collect(),
            ports,
        }
    }

    /// Route of a packet that entered at `port` for `destination`.
    pub(crate) fn route(&self, port: PortId, destination: Ipv4Addr) -> Option<RouteId> {
        // At most nine routes: a linear search is as fast as a table.
        let mut routes = self.ports[port.0 as usize].routes.iter();
        let found = routes.find(|route| route.destination == destination);
        found.map(|route| route.id)
    }

    /// Whether a port is one of a server.
    pub(crate) fn is_server(&self, port: PortId) -> bool {
        self.ports[port.0 as usize].is_server
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

    const CLIENT: Ipv4Addr = client(0);
    const CLIENT_PORT: PortId = PortId(0);

    fn server_port(path: usize) -> PortId {
        PortId(path as u32 + 1)
    }

    fn network(topology: &Spec, link_seed: u64) -> NetworkSpec {
        NetworkSpec {
            link_seed,
            ..NetworkSpec::client_server(topology).unwrap()
        }
    }

    /// Round-trip time of a packet of 1000 bytes on each path, ns.
    fn round_trips(topology: &Spec, paths: usize) -> Vec<u64> {
        let mut wiring = Wiring::new(&network(topology, 1));
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
                trip(CLIENT_PORT, server_port(path), server(0, path))
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
        assert_eq!(Wiring::<()>::new(&network(&shared, 1)).names.len(), 6);
        assert_eq!(Wiring::<()>::new(&network(&separate, 1)).names.len(), 4);
    }

    /// A simulation has the same losses: the graph adds the same links to a network with the same seed.
    #[test]
    fn losses_depend_on_the_seed() {
        let mut topology = shared(vec![Span::ZERO]);
        if let Spec::SharedBottleneck(spec) = &mut topology {
            spec.bottleneck.loss = Some(Loss::Random(0.5));
        }
        let lost = |seed| -> Vec<bool> {
            let mut wiring = Wiring::new(&network(&topology, seed));
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

    /// Addresses of different pairs differ, and each pair has ports of its own.
    #[test]
    fn every_pair_of_hosts_has_its_own_ports() {
        let mut spec = network(&shared(vec![Span::from_millis(20); 2]), 1);
        spec.hosts.push(spec.hosts[0].clone());
        let wiring = Wiring::<()>::new(&spec);
        let is_server = (0..6).map(|port| wiring.is_server(PortId(port)));
        assert!(is_server.eq([false, true, true, false, true, true]));
        let route = |port, to| wiring.route(PortId(port), to).is_some();
        assert!(route(3, server(1, 1)) && route(5, client(1)));
        assert!(!route(0, server(1, 1)) && !route(5, client(0)));
    }
}
