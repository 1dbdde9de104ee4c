//! Order, conservation and repeatability on random traffic.

use proptest::prelude::*;

use super::*;
use crate::queue::droptail::DropTail;
use crate::time::{Rate, Span};

/// A packet to inject: the gap to the one before it in ns, its route, its size.
type Arrival = (u64, usize, u32);

/// Two paths into a shared link, one past it, one back: both kinds of link, one to three hops.
fn network(limit: usize) -> (Network<usize>, Vec<RouteId>) {
    let mut network = Network::new();
    let rate = Rate::from_bits_per_second;
    let near = network.add_link(LinkSpec::delay(Span::from_micros(10)));
    let far = network.add_link(LinkSpec::delay(Span::from_micros(300)));
    let shared = network.add_link(LinkSpec::shaped(
        rate(3_000_000_000),
        DropTail::new(limit),
        Span::from_micros(5),
    ));
    let own = network.add_link(LinkSpec::shaped(rate(7), DropTail::new(1), Span::ZERO));
    let fast = network.add_link(LinkSpec::shaped(
        rate(40_000_000_000),
        DropTail::new(limit),
        Span::ZERO,
    ));
    let routes = [
        network.add_route(&[near, shared], PortId(1)),
        network.add_route(&[far, shared, fast], PortId(2)),
        network.add_route(&[own], PortId(3)),
        network.add_route(&[fast, near], PortId(0)),
    ];
    (network, routes.to_vec())
}

fn traffic() -> impl Strategy<Value = Vec<Arrival>> {
    prop::collection::vec((0..20_000u64, 0..4usize, 40..1501u32), 0..300)
}

/// Injects `arrivals` and takes out what is due before each, and at last everything.
fn run(limit: usize, arrivals: &[Arrival]) -> (Network<usize>, Vec<Exit<usize>>) {
    let (mut network, routes) = network(limit);
    let mut exits = Vec::new();
    let mut now = Time::ZERO;
    for (i, (gap, route, bytes)) in arrivals.iter().enumerate() {
        now += Span::from_nanos(*gap);
        exits.extend(std::iter::from_fn(|| network.poll(now)));
        exits.extend(network.inject(now, routes[*route], *bytes, i));
        let inside: u64 = network.counters(now).iter().map(|link| link.inside).sum();
        assert_eq!(
            i as u64 + 1,
            exits.len() as u64 + inside,
            "in = out + lost + inside"
        );
    }
    let end = Time::from_nanos(u64::MAX / 2);
    exits.extend(std::iter::from_fn(|| network.poll(end)));
    (network, exits)
}

proptest! {
    #[test]
    fn packets_are_conserved(limit in 0..12usize, arrivals in traffic()) {
        let (network, exits) = run(limit, &arrivals);
        prop_assert_eq!(network.next_event(), None);
        // Each packet leaves once.
        let mut seen: Vec<usize> = exits.iter().map(|exit| match exit {
            Exit::Arrived { payload, .. } | Exit::Lost { payload, .. } => *payload,
        }).collect();
        seen.sort_unstable();
        prop_assert!(seen.into_iter().eq(0..arrivals.len()));
        // The links say the same.
        let lost = exits.iter().filter(|exit| matches!(exit, Exit::Lost { .. })).count();
        let links = network.counters(Time::from_nanos(u64::MAX / 2));
        prop_assert_eq!(links.iter().map(|link| link.drops).sum::<u64>(), lost as u64);
        for link in links {
            prop_assert_eq!(link.inside, 0);
            prop_assert_eq!(link.packets_in, link.packets_out + link.drops);
            prop_assert!(link.bytes_in >= link.bytes_out);
            prop_assert!(link.queue_max <= limit.max(1) as u64);
        }
    }

    #[test]
    fn order_is_kept_and_time_does_not_run_back(limit in 0..12usize, arrivals in traffic()) {
        let (_, exits) = run(limit, &arrivals);
        let mut last = [None; 4];
        let mut clock = Time::ZERO;
        for exit in exits {
            let (Exit::Arrived { at, .. } | Exit::Lost { at, .. }) = exit;
            prop_assert!(at >= clock);
            clock = at;
            if let Exit::Arrived { payload, port, .. } = exit {
                prop_assert!(last[port.0 as usize] < Some(payload));
                last[port.0 as usize] = Some(payload);
            }
        }
    }

    #[test]
    fn the_same_traffic_gives_the_same_run(limit in 0..12usize, arrivals in traffic()) {
        prop_assert_eq!(run(limit, &arrivals).1, run(limit, &arrivals).1);
    }

    #[test]
    fn a_late_poll_hears_the_same(arrivals in traffic()) {
        // All injected at once, then polled in one go or event by event.
        let (mut at_once, routes) = network(30);
        let (mut step_by_step, _) = network(30);
        let mut exits = Vec::new();
        for (i, (_, route, bytes)) in arrivals.iter().enumerate() {
            let exit = at_once.inject(Time::ZERO, routes[*route], *bytes, i);
            prop_assert_eq!(&step_by_step.inject(Time::ZERO, routes[*route], *bytes, i), &exit);
        }
        while let Some(next) = step_by_step.next_event() {
            exits.extend(std::iter::from_fn(|| step_by_step.poll(next)));
        }
        let end = Time::from_nanos(u64::MAX / 2);
        prop_assert!(std::iter::from_fn(|| at_once.poll(end)).eq(exits));
    }
}

#[test]
fn ties_go_by_link_number() {
    let mut network = Network::new();
    let delay = || LinkSpec::delay(Span::from_millis(1));
    let links: Vec<LinkId> = (0..20).map(|_| network.add_link(delay())).collect();
    let routes: Vec<RouteId> = (links.iter())
        .map(|link| network.add_route(&[*link], PortId(link.index() as u32)))
        .collect();
    // Any order of injection at one instant.
    for i in 0..20 {
        assert_eq!(
            network.inject(Time::ZERO, routes[i * 7 % 20], 1500, ()),
            None
        );
    }
    let end = Time::ZERO + Span::from_millis(1);
    let ports: Vec<u32> = std::iter::from_fn(|| network.poll(end))
        .map(|exit| match exit {
            Exit::Arrived { port, .. } => port.0,
            Exit::Lost { .. } => panic!("nothing limits these links"),
        })
        .collect();
    assert!(ports.into_iter().eq(0..20));
}

#[test]
fn a_route_without_links_arrives_at_once() {
    let mut network = Network::new();
    let here = network.add_route(&[], PortId(7));
    let at = Time::from_nanos(3);
    let exit = network.inject(at, here, 40, "x");
    assert_eq!(
        exit,
        Some(Exit::Arrived {
            at,
            port: PortId(7),
            bytes: 40,
            payload: "x"
        })
    );
}
