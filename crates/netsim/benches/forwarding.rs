//! Cost of a hop: packets that circulate over links, without a transport.
//!
//! `cargo bench -p netsim` prints nanoseconds for a hop (one packet leaving one link's queue) and hops per second, over the 768 links
//! of a fat tree with k = 8, over 4 links, and over 4 links with CoDel queues, which are general links.

use std::time::Instant;

use netsim::{
    CoDel, DropTail, Exit, LinkId, LinkSpec, Network, PortId, Queue, Rate, RouteId, Span, Time,
};

/// Payload of the size of a simulation's packet: three words.
#[derive(Clone, Copy, Debug, Default)]
struct Segment([u64; 3]);

impl netsim::Payload for Segment {}

/// Size of all packets: the IP packet of a full Ethernet frame.
const BYTES: u32 = 1500;

/// Packets of each flow in the network. A lost packet is not replaced.
const WINDOW: usize = 20;

/// Simulated time before the measurement, so that windows, rings and caches are in their steady state.
const WARM_UP: Span = Span::from_millis(200);

/// Slices of a run. The fastest is undisturbed by other users of the machine.
const SLICES: usize = 100;

struct World {
    network: Network<Segment>,
    routes: Vec<RouteId>,
    now: Time,
}

fn link(queue: impl Into<Queue>) -> LinkSpec {
    LinkSpec::shaped(
        Rate::from_bits_per_second(100_000_000),
        queue,
        Span::from_micros(100),
    )
}

/// Links in six tiers of 128 (up from a host, over edge, aggregation and core, down to a host) and
/// 1024 flows, each over one link of every tier, chosen at random.
fn fat_tree() -> World {
    const TIERS: usize = 6;
    const WIDTH: usize = 128;
    let mut network = Network::new();
    let links: Vec<LinkId> = (0..TIERS * WIDTH)
        .map(|_| network.add_link(link(DropTail::new(100))))
        .collect();
    let mut state = 1u64;
    let mut draw = || {
        // Knuth's MMIX generator; its high bits suffice to spread flows.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % WIDTH
    };
    let routes = (0..1024)
        .map(|flow| {
            let route: Vec<LinkId> = (0..TIERS)
                .map(|tier| {
                    let place = if tier == 0 { flow % WIDTH } else { draw() };
                    links[tier * WIDTH + place]
                })
                .collect();
            network.add_route(&route, PortId(flow as u32))
        })
        .collect();
    World::start(network, routes)
}

/// Four links in a ring, and eight flows around it.
fn circle(queue: impl Into<Queue>) -> World {
    let mut network = Network::new();
    let queue = queue.into();
    let links: Vec<LinkId> = (0..4).map(|_| network.add_link(link(queue))).collect();
    let routes = (0..8)
        .map(|flow| {
            let route: Vec<LinkId> = (0..4).map(|i| links[(flow + i) % 4]).collect();
            network.add_route(&route, PortId(flow as u32))
        })
        .collect();
    World::start(network, routes)
}

impl World {
    /// Injects the windows, a packet of each flow at a time, and warms up.
    fn start(network: Network<Segment>, routes: Vec<RouteId>) -> Self {
        let mut world = Self {
            network,
            routes,
            now: Time::ZERO,
        };
        for round in 0..WINDOW {
            world.run(Time::ZERO + Span::from_millis(round as u64));
            for flow in 0..world.routes.len() {
                world.send(flow);
            }
        }
        world.run(world.now + WARM_UP);
        world
    }

    fn send(&mut self, flow: usize) {
        let route = self.routes[flow];
        let segment = Segment([flow as u64; 3]);
        // A packet that a full first link drops reduces the window.
        let _ = self.network.inject(self.now, route, BYTES, segment);
    }

    /// Simulates until `end`. Each arriving packet is sent again.
    fn run(&mut self, end: Time) {
        while let Some(exit) = self.network.poll(end) {
            if let Exit::Arrived { at, payload, .. } = exit {
                self.now = at;
                self.send(payload.0[0] as usize);
            }
        }
        self.now = end;
    }

    fn hops(&self) -> u64 {
        let links = self.network.counters(self.now);
        links.iter().map(|link| link.packets_out).sum()
    }
}

/// Prints the fastest slice and the median.
fn measure(name: &str, mut world: World, slice: Span) {
    let mut slices: Vec<f64> = (0..SLICES)
        .map(|_| {
            let before = world.hops();
            let started = Instant::now();
            world.run(world.now + slice);
            started.elapsed().as_secs_f64() / (world.hops() - before) as f64
        })
        .collect();
    slices.sort_by(f64::total_cmp);
    let [best, median] = [slices[0], slices[SLICES / 2]];
    println!(
        "{name:<10} {:5.1} ns a hop, {:5.1} million hops/s; median {:5.1} ns",
        best * 1e9,
        best.recip() / 1e6,
        median * 1e9
    );
}

fn main() {
    // Cargo adds options; an argument without a dash selects a measurement.
    let only = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let wanted = |name: &str| {
        only.as_ref()
            .is_none_or(|only| name.contains(only.as_str()))
    };
    if wanted("768 links") {
        measure("768 links", fat_tree(), Span::from_millis(50));
    }
    if wanted("4 links") {
        measure("4 links", circle(DropTail::new(100)), Span::from_secs(5));
    }
    if wanted("4 CoDel") {
        measure("4 CoDel", circle(CoDel::new()), Span::from_secs(5));
    }
}
