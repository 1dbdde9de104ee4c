//! Order, conservation and repeatability on random traffic.

use proptest::prelude::*;

use super::*;
use crate::time::{Rate, Span};
use crate::{CoDel, DropTail, FqCoDel, Jitter, Loss, Outage, Pie, Policer, Queue, Red, Reorder};

/// A packet to inject: gap to the previous packet in ns, route, size.
type Arrival = (u64, usize, u32);

/// Two paths into a shared link, one past it, one back: lines and FIFO links, one to three hops. With `general`, the same links are
/// of the general kind.
fn fifo_network(limit: usize, general: bool) -> (Network<usize>, Vec<RouteId>) {
    let mut network = Network::new();
    let rate = Rate::from_bits_per_second;
    let us = Span::from_micros;
    let [near, far, shared, own, fast] = [
        LinkSpec::delay(us(10)),
        LinkSpec::delay(us(300)),
        LinkSpec::shaped(rate(3_000_000_000), DropTail::new(limit), us(5)),
        LinkSpec::shaped(rate(7), DropTail::new(1), Span::ZERO),
        LinkSpec::shaped(
            rate(40_000_000_000),
            DropTail::bytes(700 * limit as u64),
            Span::ZERO,
        ),
    ]
    .map(|spec| {
        // An outage after the end changes no result, and makes the link a general one.
        let late = vec![Outage::for_good(Time::from_nanos(u64::MAX / 4))];
        network.add_link(if general { spec.down(late) } else { spec })
    });
    let routes = [
        network.add_route(&[near, shared], PortId(1)),
        network.add_route(&[far, shared, fast], PortId(2)),
        network.add_route(&[own], PortId(3)),
        network.add_route(&[fast, near], PortId(0)),
    ];
    (network, routes.to_vec())
}

/// Links with every queue, loss and trace that keep the order of packets, each with the delay of its line.
fn kinds(limit: usize) -> Vec<(LinkSpec, Span)> {
    // 1 to 4 packets of 1500 bytes in the 20 µs between two arrivals.
    let rate = Rate::from_bits_per_second(1_500_000_000);
    let us = Span::from_micros;
    let queues: [Queue; 7] = [
        DropTail::bytes(1500 * limit as u64).into(),
        Red::new(2.0, 6.0, 0.5)
            .gentle(12.0)
            .weight(0.5)
            .limit(limit)
            .into(),
        CoDel::new().times(us(10), us(100)).limit(limit).into(),
        FqCoDel::new().times(us(10), us(100)).limit(limit).into(),
        Pie::new().target(us(10)).limit(limit).into(),
        DropTail::new(limit).mark_above(1).into(),
        Policer::new(Rate::from_bits_per_second(500_000_000), 1500 * limit as u64).into(),
    ];
    let mut specs: Vec<(LinkSpec, Span)> = queues
        .into_iter()
        .map(|queue| (LinkSpec::shaped(rate, queue, us(30)), us(30)))
        .collect();
    let lossy = LinkSpec::delay(us(50)).loss(Loss::random(0.1));
    specs.push((lossy, us(50)));
    let trace = "0\n1\n1\n1\n1\n1\n1\n2\n2\n2\n3\n".parse().unwrap();
    let traced = LinkSpec::traced(trace, CoDel::new().limit(limit), us(5));
    specs.push((traced.loss(Loss::bursty(0.1, 3.0)), us(5)));
    specs
}

/// All [`kinds`] of links, a reordering one and one with jitter, with a fast FIFO link before or behind each, and one route over all. Each link has
/// these outages, 70 µs later than the previous link.
fn mixed_network(limit: usize, seed: u64, outages: &Switches) -> (Network<usize>, Vec<RouteId>) {
    let mut network = Network::with_seed(seed);
    let rate = Rate::from_bits_per_second(1_500_000_000);
    let fast = LinkSpec::shaped(rate, DropTail::new(1000), Span::from_micros(5));
    let fast = network.add_link(fast);
    let late = Reorder::new(0.3, Span::from_micros(40));
    let late = LinkSpec::delay(Span::from_micros(50)).reorder(late);
    let jitter = LinkSpec::delay(Span::from_micros(50)).jitter(Jitter::new(Span::from_micros(60)));
    let kinds = kinds(limit).into_iter().map(|(spec, _)| spec);
    let links: Vec<LinkId> = (0..)
        .zip(kinds.chain([late, jitter]))
        .map(|(number, spec)| {
            let later = Span::from_micros(70 * number);
            network.add_link(spec.down(outages_of(outages, later)))
        })
        .collect();
    let mut routes = vec![
        network.add_route(&[links[0], fast, links[1], links[6]], PortId(0)),
        network.add_route(&[links[2], links[7], links[8], fast], PortId(1)),
        network.add_route(&[fast, links[3], links[9], links[4], links[5]], PortId(2)),
    ];
    routes.push(network.add_route(&links, PortId(3)));
    (network, routes)
}

/// Times between the instants at which a link goes down and up alternately, ns.
type Switches = Vec<u64>;

fn switches() -> impl Strategy<Value = Switches> {
    prop::collection::vec(1..1_000_000u64, 0..6)
}

/// Outages of a link that goes down first after `start` and the first gap.
fn outages_of(switches: &Switches, start: Span) -> Vec<Outage> {
    let instants: Vec<Time> = switches
        .iter()
        .scan(Time::ZERO + start, |at, gap| {
            *at += Span::from_nanos(*gap);
            Some(*at)
        })
        .collect();
    let outage = |ends: &[Time]| match *ends {
        [from, to] => Outage::new(from, to),
        _ => Outage::for_good(ends[0]),
    };
    instants.chunks(2).map(outage).collect()
}

fn traffic() -> impl Strategy<Value = Vec<Arrival>> {
    prop::collection::vec((0..20_000u64, 0..4usize, 40..1501u32), 0..300)
}

/// Injects `arrivals`, polls before each, and polls to the end at last.
fn run(
    (network, routes): &mut (Network<usize>, Vec<RouteId>),
    arrivals: &[Arrival],
) -> Vec<Exit<usize>> {
    let mut exits = Vec::new();
    let mut now = Time::ZERO;
    for (i, (gap, route, bytes)) in arrivals.iter().enumerate() {
        now += Span::from_nanos(*gap);
        exits.extend(std::iter::from_fn(|| network.poll(now)));
        exits.extend(network.inject(now, routes[*route], *bytes, i));
        // Packets that a queue dropped instead of the injected one.
        exits.extend(std::iter::from_fn(|| network.poll(now)));
        let inside: u64 = network.counters(now).iter().map(|link| link.inside).sum();
        assert_eq!(
            i as u64 + 1,
            exits.len() as u64 + inside,
            "in = out + lost + inside"
        );
    }
    let end = Time::from_nanos(u64::MAX / 2);
    exits.extend(std::iter::from_fn(|| network.poll(end)));
    exits
}

/// Checks that each of `packets` left once, and that the counters of the links agree.
fn check_conservation(network: &Network<usize>, exits: &[Exit<usize>], packets: usize) {
    assert_eq!(network.next_event(), None);
    let mut seen: Vec<usize> = (exits.iter())
        .map(|exit| match exit {
            Exit::Arrived { payload, .. } | Exit::Lost { payload, .. } => *payload,
        })
        .collect();
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..packets));
    let counters = network.counters(Time::from_nanos(u64::MAX / 2));
    for (number, link) in (0..).zip(counters) {
        let lost = exits
            .iter()
            .filter(|exit| matches!(exit, Exit::Lost { link, .. } if link.0 == number));
        assert_eq!(link.drops + link.losses, lost.count() as u64);
        assert_eq!(link.inside, 0);
        assert_eq!(link.packets_in, link.packets_out + link.drops + link.losses);
        assert!(link.bytes_in >= link.bytes_out);
    }
}

proptest! {
    #[test]
    fn packets_are_conserved(limit in 0..12usize, seed: u64, down in switches(), arrivals in traffic()) {
        let mut fifo = fifo_network(limit, false);
        let exits = run(&mut fifo, &arrivals);
        check_conservation(&fifo.0, &exits, arrivals.len());
        let mut mixed = mixed_network(limit, seed, &down);
        let exits = run(&mut mixed, &arrivals);
        check_conservation(&mixed.0, &exits, arrivals.len());
    }

    #[test]
    fn order_is_kept_and_time_does_not_run_back(limit in 0..12usize, arrivals in traffic()) {
        let exits = run(&mut fifo_network(limit, false), &arrivals);
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
    fn the_same_seed_gives_the_same_run(limit in 0..12usize, seed: u64, down in switches(), arrivals in traffic()) {
        let run = || run(&mut mixed_network(limit, seed, &down), &arrivals);
        prop_assert_eq!(run(), run());
    }

    #[test]
    fn nothing_departs_while_a_link_is_down(limit in 1..12usize, seed: u64, down in switches(), arrivals in traffic()) {
        // The link is up before the first instant, down until the second, and so on.
        let instants: Vec<u64> = down.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
        for (spec, delay) in kinds(limit) {
            let mut network = Network::with_seed(seed);
            let link = network.add_link(spec.down(outages_of(&down, Span::ZERO)));
            let route = network.add_route(&[link], PortId(0));
            for exit in run(&mut (network, vec![route; 4]), &arrivals) {
                let Exit::Arrived { at, .. } = exit else { continue };
                let departure = at.as_nanos() - delay.as_nanos();
                let before = instants.iter().filter(|switch| **switch < departure).count();
                // The last bit may leave at the instant itself.
                prop_assert!(before % 2 == 0 || instants.contains(&departure), "{departure} ns");
            }
        }
    }

    #[test]
    fn jitter_keeps_the_order(seed: u64, longest in 0..100_000u64, arrivals in traffic()) {
        // Without a transmitter: a packet arrives after the delay and at most the longest jitter.
        let [delay, longest] = [Span::from_micros(50), Span::from_nanos(longest)];
        let mut network = Network::with_seed(seed);
        let link = network.add_link(LinkSpec::delay(delay).jitter(Jitter::new(longest)));
        let route = network.add_route(&[link], PortId(0));
        let exits = run(&mut (network, vec![route; 4]), &arrivals);
        prop_assert_eq!(exits.len(), arrivals.len());
        let mut sent = Time::ZERO;
        for (number, exit) in exits.into_iter().enumerate() {
            sent += Span::from_nanos(arrivals[number].0);
            let Exit::Arrived { at, payload, .. } = exit else { panic!("{exit:?}") };
            prop_assert_eq!(payload, number);
            let extra = at.since(sent + delay);
            prop_assert!(at >= sent + delay && extra <= longest, "{:?}", extra);
        }
    }

    #[test]
    fn both_kinds_of_link_agree(limit in 0..12usize, arrivals in traffic()) {
        let (mut fast, mut slow) = (fifo_network(limit, false), fifo_network(limit, true));
        prop_assert_eq!(run(&mut fast, &arrivals), run(&mut slow, &arrivals));
        let end = Time::ZERO + Span::from_secs(1_000_000);
        for (fast, slow) in fast.0.counters(end).into_iter().zip(slow.0.counters(end)) {
            prop_assert!((fast.queue_mean - slow.queue_mean).abs() < 1e-12);
            let difference = fast.utilisation.zip(slow.utilisation).map_or(0.0, |(a, b)| a - b);
            prop_assert!(difference.abs() < 1e-12);
            let (queue_mean, utilisation) = (fast.queue_mean, fast.utilisation);
            prop_assert_eq!(fast, LinkCounters { queue_mean, utilisation, ..slow });
        }
    }

    #[test]
    fn a_late_poll_returns_the_same(seed: u64, down in switches(), arrivals in traffic()) {
        // All packets injected at once, then polled with one limit or event by event.
        let (mut at_once, routes) = mixed_network(30, seed, &down);
        let (mut step_by_step, _) = mixed_network(30, seed, &down);
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
fn a_named_stream_draws_the_same_under_any_number() {
    // 0.3 of a thousand packets, on a link that is the first or the third of its network.
    let losses = |others: usize, seed| {
        let mut network = Network::with_seed(seed);
        let lossy = || LinkSpec::delay(Span::ZERO).loss(Loss::random(0.3));
        for _ in 0..others {
            let other = network.add_link(lossy());
            let route = network.add_route(&[other], PortId(0));
            let _ = network.inject(Time::ZERO, route, 1500, 0);
        }
        let link = network.add_link(lossy().stream(42));
        let route = network.add_route(&[link], PortId(0));
        (0..1000)
            .filter(|i| network.inject(Time::ZERO, route, 1500, *i).is_some())
            .collect::<Vec<usize>>()
    };
    assert_eq!(losses(0, 1), losses(2, 1));
    assert_ne!(losses(0, 1), losses(0, 2));
    assert!((240..360).contains(&losses(0, 1).len()));
}

#[test]
fn the_extremes_are_exact() {
    // 1500 bytes: 187.5 ms at 64 kbit/s, 120 ns at 100 Gbit/s; lines of 5 µs and 5 s.
    let us = Span::from_micros;
    for (rate, sending) in [
        (64_000, us(187_500)),
        (100_000_000_000, Span::from_nanos(120)),
    ] {
        for delay in [us(5), Span::from_secs(5)] {
            let rate = Rate::from_bits_per_second(rate);
            let queues: [Queue; 3] = [
                DropTail::new(1).into(),
                DropTail::bytes(1500).into(),
                CoDel::new().limit(1).into(),
            ];
            for queue in queues {
                let mut network = Network::new();
                let link = network.add_link(LinkSpec::shaped(rate, queue, delay));
                let route = network.add_route(&[link], PortId(0));
                // One in transmission, one in the queue, one lost.
                let lost: Vec<bool> = (0..3)
                    .map(|i| network.inject(Time::ZERO, route, 1500, i).is_some())
                    .collect();
                assert_eq!(lost, [false, false, true]);
                let first = Time::ZERO + sending + delay;
                let arrivals = std::iter::from_fn(|| network.poll(first + sending));
                let times: Vec<Time> = arrivals
                    .map(|exit| match exit {
                        Exit::Arrived { at, .. } => at,
                        Exit::Lost { .. } => panic!("{exit:?}"),
                    })
                    .collect();
                assert_eq!(times, [first, first + sending]);
            }
        }
    }
}

/// 2000 packets behind one in transmission, each for 12 000 s at 1 bit/s: together they wait 2.4 · 10^19 ns, more than 64 bits. The
/// mean length of the queue is 1000.
#[test]
fn the_sum_of_waiting_times_exceeds_64_bits() {
    for general in [false, true] {
        let mut network = Network::new();
        let rate = Rate::from_bits_per_second(1);
        let spec = LinkSpec::shaped(rate, DropTail::new(2000), Span::ZERO);
        let late = vec![Outage::for_good(Time::from_nanos(u64::MAX / 4))];
        let link = network.add_link(if general { spec.down(late) } else { spec });
        let route = network.add_route(&[link], PortId(0));
        for packet in 0..2001 {
            assert!(network.inject(Time::ZERO, route, 1500, packet).is_none());
        }
        let end = Time::ZERO + Span::from_secs(2001 * 12_000);
        assert_eq!(std::iter::from_fn(|| network.poll(end)).count(), 2001);
        let mean = network.counters(end)[0].queue_mean;
        assert!((mean - 1000.0).abs() < 1e-6, "{mean}");
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
    let exit = network.inject(at, here, 40, 5);
    assert_eq!(
        exit,
        Some(Exit::Arrived {
            at,
            port: PortId(7),
            bytes: 40,
            payload: 5
        })
    );
}

/// Jitter delays a host's packet by a quarter of a packet's transmission time at most, and never reorders packets. There is none if
/// the first link has random losses, or no link a rate.
#[test]
fn a_host_may_have_jitter() {
    let us = Span::from_micros;
    let now = Time::ZERO + Span::from_secs(1);
    // Arrival times of packets with these delays, µs.
    let arrivals = |route: &[usize], delays: &[u64]| -> Vec<u64> {
        let mut network = Network::new();
        let rate = Rate::from_bits_per_second(12_000_000); // 1 ms for 1500 bytes
        let links = [
            LinkSpec::delay(us(10)),
            LinkSpec::shaped(rate, DropTail::new(9), Span::ZERO),
            LinkSpec::delay(us(10)).loss(Loss::random(1e-9)),
        ]
        .map(|spec| network.add_link(spec));
        let route: Vec<LinkId> = route.iter().map(|link| links[*link]).collect();
        let route = network.add_route(&route, PortId(0));
        for delay in delays {
            let timing = BurstTiming {
                delay: us(*delay),
                gap: Span::ZERO,
            };
            let lost = |exit| panic!("{exit:?}");
            network.inject_burst(now, timing, route, std::iter::once((1500, 0)), lost);
        }
        let exits = std::iter::from_fn(|| network.poll(now + Span::from_secs(1)));
        let times = exits.map(|exit| match exit {
            Exit::Arrived { at, .. } => at.since(now).as_nanos() / 1000,
            Exit::Lost { .. } => panic!("{exit:?}"),
        });
        times.collect()
    };
    assert_eq!(arrivals(&[0, 1], &[3, 5]), [1013, 2013]);
    assert_eq!(arrivals(&[1], &[400]), [1250]);
    assert_eq!(arrivals(&[0, 1], &[5, 3]), [1015, 2015]);
    assert_eq!(arrivals(&[2, 1], &[3]), [1010]);
    assert_eq!(arrivals(&[0], &[3]), [10]);
}
