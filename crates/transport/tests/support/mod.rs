//! Small networks for tests.
#![allow(dead_code)] // each test uses a part

use lisa_transport::{Application, ConnectionSpec, PathManager, Profile, SubflowRoutes, Wire};
use mpcc::{Algorithm, Settings};
use netsim::{DropTail, LinkSpec, Network, PortId, Rate, Span, Time};

pub fn ms(ms: u64) -> Span {
    Span::from_millis(ms)
}

pub fn seconds(s: u64) -> Time {
    Time::ZERO + Span::from_secs(s)
}

/// Paths with a bottleneck each: rate, kbit/s; round trip; queue, packets.
pub fn separate(paths: &[(u64, Span, usize)]) -> (Network<Wire>, Vec<SubflowRoutes>) {
    let mut network = Network::new();
    let mut port = 0;
    let mut one_way = |kbits: u64, rtt: Span, queue: usize| {
        let rate = Rate::from_bits_per_second(kbits * 1000);
        let half = Span::from_nanos(rtt.as_nanos() / 2);
        let link = network.add_link(LinkSpec::shaped(rate, DropTail::new(queue), half));
        port += 1;
        network.add_route(&[link], PortId(port))
    };
    let routes = paths.iter();
    let routes = routes
        .map(|&(kbits, rtt, queue)| SubflowRoutes {
            to_client: one_way(kbits, rtt, queue),
            to_server: one_way(kbits, rtt, queue),
        })
        .collect();
    (network, routes)
}

/// Paths that share a bottleneck in each direction.
pub fn shared(kbits: u64, rtts: &[Span], queue: usize) -> (Network<Wire>, Vec<SubflowRoutes>) {
    let mut network = Network::new();
    let rate = Rate::from_bits_per_second(kbits * 1000);
    let [down, up] = [(); 2]
        .map(|()| network.add_link(LinkSpec::shaped(rate, DropTail::new(queue), Span::ZERO)));
    let routes = rtts.iter().enumerate();
    let routes = routes
        .map(|(i, rtt)| {
            let half = Span::from_nanos(rtt.as_nanos() / 2);
            let [there, back] = [(); 2].map(|()| network.add_link(LinkSpec::delay(half)));
            SubflowRoutes {
                to_client: network.add_route(&[there, down], PortId(2 * i as u32)),
                to_server: network.add_route(&[up, back], PortId(2 * i as u32 + 1)),
            }
        })
        .collect();
    (network, routes)
}

/// A transfer of a file over these routes.
pub fn file(
    algorithm: &str,
    mptcp: bool,
    routes: Vec<SubflowRoutes>,
    bytes: u64,
) -> ConnectionSpec {
    let algorithm = Algorithm::find(algorithm).expect("an algorithm");
    ConnectionSpec {
        profile: Profile::linux(),
        algorithm,
        settings: Settings::standard(algorithm),
        mptcp,
        routes,
        start: Time::ZERO,
        application: Application::File(bytes),
        packet: 1500,
        receive_window: Some(8 << 20),
        path_manager: PathManager::Announced,
        join_delay: Span::ZERO,
        ecn: false,
        ssthresh: None,
        groups: Vec::new(),
        backup: Vec::new(),
        phase: Span::ZERO,
    }
}
