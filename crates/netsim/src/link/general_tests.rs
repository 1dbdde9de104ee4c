//! Traces, losses, reordering and drops of queues, computed by hand, in a network of one link.

use crate::queue::testing::{Segment, segment};
use crate::{
    CoDel, Detour, DropTail, Exit, FqCoDel, Jitter, LinkSpec, Loss, Network, Outage, Pie, Policer,
    PortId, Queue, Rate, Red, Reorder, RouteId, Span, Time, Trace,
};

fn ms(ms: u64) -> Time {
    Time::ZERO + Span::from_millis(ms)
}

fn network(spec: LinkSpec) -> (Network<Segment>, RouteId) {
    let mut network = Network::with_seed(1);
    let link = network.add_link(spec);
    let route = network.add_route(&[link], PortId(0));
    (network, route)
}

fn packet(number: u64) -> Segment {
    segment(0, number, 0).payload
}

/// Polls all exits: time and number of the packets that arrived, and of the packets that were lost.
fn drain(network: &mut Network<Segment>) -> [Vec<(Time, u64)>; 2] {
    let [mut arrived, mut lost] = [Vec::new(), Vec::new()];
    while let Some(exit) = network.poll(Time::from_nanos(u64::MAX)) {
        match exit {
            Exit::Arrived { at, payload, .. } => arrived.push((at, payload.number)),
            Exit::Lost { at, payload, .. } => lost.push((at, payload.number)),
        }
    }
    [arrived, lost]
}

#[test]
fn a_trace_delivers_at_its_opportunities() {
    let trace: Trace = "1\n4\n4\n".parse().unwrap();
    let spec = LinkSpec::traced(trace, DropTail::new(5), Span::from_millis(10));
    let (mut network, route) = network(spec);
    // With the header of each packet: 752, 752, 752, 1504 and 3000 bytes. 1 ms: packets 0 and 1. 4 ms: 2 and half of 3; the other half of
    // 3, and 752 bytes of 4. 5 ms: 1504 more of 4. 8 ms: the last 744 of 4; the rest of this opportunity and the second one are unused.
    let sizes = [748, 748, 748, 1500, 2996];
    for (number, bytes) in (0..).zip(sizes) {
        assert!(
            network
                .inject(ms(0), route, bytes, packet(number))
                .is_none()
        );
    }
    // The queue has room for five.
    let refused = network.inject(ms(0), route, 40, packet(5));
    assert!(matches!(refused, Some(Exit::Lost { .. })));
    let [arrived, lost] = drain(&mut network);
    let at = [11, 11, 14, 14, 18].map(ms);
    assert!(arrived.into_iter().eq(at.into_iter().zip(0..)));
    assert_eq!(lost, []);
    // A packet does not use an opportunity of the instant at which it reaches the link; the next is at 20 ms.
    let late = ms(17);
    assert!(network.inject(late, route, 1500, packet(6)).is_none());
    assert!(network.inject(late, route, 1500, packet(7)).is_none());
    assert_eq!(drain(&mut network)[0], [(ms(30), 6), (ms(30), 7)]);
    // Up to 20 ms: 15 opportunities of 1504 bytes, 9768 bytes sent with headers.
    let counters = network.counters(ms(20));
    let [counters] = counters[..] else { panic!() };
    assert_eq!(counters.utilisation, Some(9768.0 / (15.0 * 1504.0)));
    assert_eq!((counters.drops, counters.queue_max), (1, 5));
    // Five packets wait for 1 ms, three for 3 ms, and the last two for 3 ms.
    assert!((counters.queue_mean - (5.0 + 9.0 + 6.0) / 20.0).abs() < 1e-9);
}

#[test]
fn a_trace_has_its_rate() {
    // 12.000 Mbit/s of IP packets, for a minute: each takes an opportunity of 1504 bytes with its header of 4 bytes.
    let trace: Trace = "1\n".parse().unwrap();
    let (mut network, route) = network(LinkSpec::traced(trace, DropTail::new(100_000), Span::ZERO));
    for number in 0..60_000 {
        assert!(network.inject(ms(0), route, 1500, packet(number)).is_none());
    }
    let [arrived, _] = drain(&mut network);
    assert!(arrived.into_iter().eq((0..60_000).map(|i| (ms(i + 1), i))));
}

#[test]
fn late_packets_are_overtaken() {
    // A line of 10 ms; the late packets take 25 ms more.
    let spec = LinkSpec::delay(Span::from_millis(10));
    let (mut network, route) = network(spec.reorder(Reorder::new(0.2, Span::from_millis(25))));
    for number in 0..1000 {
        assert!(
            network
                .inject(Time::ZERO, route, 40, packet(number))
                .is_none()
        );
    }
    let [arrived, _] = drain(&mut network);
    let (late, timely): (Vec<_>, Vec<_>) = arrived.iter().partition(|(at, _)| *at == ms(35));
    assert!(timely.iter().all(|(at, _)| *at == ms(10)));
    assert!((150..250).contains(&late.len()), "{}", late.len());
    // Late and timely packets each keep their order, and time does not decrease.
    assert!(late.is_sorted_by_key(|(_, number)| *number));
    assert!(timely.is_sorted_by_key(|(_, number)| *number));
    assert!(arrived.is_sorted_by_key(|(at, _)| *at));
}

#[test]
fn jitter_makes_bursts_of_close_packets() {
    // 1000 packets, 10 µs apart, with a jitter of up to 5 ms on a line of 10 ms.
    let spec = LinkSpec::delay(Span::from_millis(10)).jitter(Jitter::new(Span::from_millis(5)));
    let (mut network, route) = network(spec);
    let sent = |number| Time::ZERO + Span::from_micros(10 * number);
    for number in 0..1000 {
        let exit = network.inject(sent(number), route, 40, packet(number));
        assert!(exit.is_none());
    }
    let [arrived, _] = drain(&mut network);
    assert!(arrived.iter().map(|(_, number)| *number).eq(0..1000));
    assert!(arrived.is_sorted());
    let mut instants: Vec<Time> = arrived.iter().map(|(at, _)| *at).collect();
    instants.dedup();
    assert!((20..200).contains(&instants.len()), "{}", instants.len());
}

#[test]
fn a_late_packet_is_overtaken_despite_jitter() {
    // Half of the packets take 25 ms more. The jitter of each is at most 1 ms, in order.
    let spec = LinkSpec::delay(Span::from_millis(10)).jitter(Jitter::new(Span::from_millis(1)));
    let (mut network, route) = network(spec.reorder(Reorder::new(0.5, Span::from_millis(25))));
    for number in 0..1000 {
        let exit = network.inject(Time::ZERO, route, 40, packet(number));
        assert!(exit.is_none());
    }
    let [arrived, _] = drain(&mut network);
    let (late, timely): (Vec<_>, Vec<_>) = arrived.iter().partition(|(at, _)| *at >= ms(35));
    assert!(timely.iter().all(|(at, _)| (ms(10)..=ms(11)).contains(at)));
    assert!((400..600).contains(&late.len()), "{}", late.len());
    assert!(late.is_sorted_by_key(|(_, number)| *number));
    assert!(timely.is_sorted_by_key(|(_, number)| *number));
}

#[test]
fn packets_overtake_at_the_end_of_a_detour() {
    // A packet a millisecond on a line of 10 ms; those sent from 3 ms to before 5 ms take 4 ms more.
    let detour = Detour::new(ms(3), Span::from_millis(4)).until(ms(5));
    let (mut network, route) = network(LinkSpec::delay(Span::from_millis(10)).detour(detour));
    for number in 0..8 {
        let exit = network.inject(ms(number), route, 40, packet(number));
        assert!(exit.is_none());
    }
    let [arrived, _] = drain(&mut network);
    let expected = [
        (10, 0),
        (11, 1),
        (12, 2),
        (15, 5),
        (16, 6),
        (17, 3),
        (17, 7),
        (18, 4),
    ];
    assert_eq!(arrived, expected.map(|(at, number)| (ms(at), number)));
}

#[test]
fn a_policer_drops_instead_of_delaying() {
    // 8 Mbit/s and 6000 bytes, in front of a link of 1500 bytes a microsecond.
    let rate = Rate::from_bits_per_second;
    let policer = Policer::new(rate(8_000_000), 6000);
    let spec = LinkSpec::shaped(rate(12_000_000_000), policer, Span::from_millis(1));
    let (mut network, route) = network(spec);
    let lost: Vec<u64> = (0..10)
        .filter(|number| {
            let exit = network.inject(ms(0), route, 1500, packet(*number));
            exit.is_some()
        })
        .collect();
    assert_eq!(lost, [4, 5, 6, 7, 8, 9]);
    let [arrived, dropped] = drain(&mut network);
    let at = |us| ms(1) + Span::from_micros(us);
    assert_eq!(arrived, [(at(1), 0), (at(2), 1), (at(3), 2), (at(4), 3)]);
    assert_eq!(dropped, []);
    // A packet a millisecond, while the policer passes one in 1.5 ms: after the next 4, two of three pass.
    let passed = (10..310)
        .filter(|number| {
            let exit = network.inject(ms(*number), route, 1500, packet(*number));
            drain(&mut network);
            exit.is_none()
        })
        .count();
    // 6000 bytes at first, then 299 ms at 1000 bytes each.
    assert_eq!(passed, (6000 + 299_000) / 1500);
    let counters = network.counters(ms(310))[0];
    assert_eq!(
        (counters.drops, counters.losses),
        (6 + 300 - passed as u64, 0)
    );
}

#[test]
fn losses_are_not_drops() {
    // Room for 10 packets and the one in transmission; a packet lost at random takes no room.
    let rate = Rate::from_bits_per_second(12_000_000);
    let spec = LinkSpec::shaped(rate, DropTail::new(10), Span::ZERO).loss(Loss::random(0.5));
    let (mut network, route) = network(spec);
    let exits: Vec<_> = (0..100)
        .filter_map(|i| network.inject(ms(0), route, 1500, packet(i)))
        .collect();
    let counters = network.counters(ms(0))[0];
    assert_eq!(counters.inside, 11);
    assert_eq!(counters.losses + counters.drops, exits.len() as u64);
    assert!((35..66).contains(&counters.losses), "{}", counters.losses);
    assert_eq!(counters.queue_max, 10);
}

#[test]
fn a_codel_drop_comes_out_of_poll() {
    // 12 Mbit/s: 1500 bytes a millisecond. The packet that begins at 5 ms has waited as long, so the queue drops from 105 ms on, first
    // packet 105. The link then sends the next packet.
    let rate = Rate::from_bits_per_second(12_000_000);
    let spec = LinkSpec::shaped(rate, CoDel::new(), Span::from_millis(3));
    let (mut network, route) = network(spec);
    for number in 0..1000 {
        assert!(network.inject(ms(0), route, 1500, packet(number)).is_none());
    }
    let [arrived, lost] = drain(&mut network);
    // Packet 106 begins at once, packet 107 a millisecond later, and so on.
    assert_eq!(lost[..2], [(ms(105), 105), (ms(205), 206)]);
    assert_eq!(arrived[104..106], [(ms(108), 104), (ms(109), 106)]);
    let counters = network.counters(ms(1000))[0];
    assert_eq!(counters.drops, lost.len() as u64);
    assert_eq!(counters.packets_out, arrived.len() as u64);
}

#[test]
fn a_drop_by_fq_codel_comes_out_of_poll_at_once() {
    let rate = Rate::from_bits_per_second(12_000_000);
    let spec = LinkSpec::shaped(rate, FqCoDel::new().limit(8), Span::ZERO);
    let (mut network, route) = network(spec);
    // One in transmission, eight in the queue; then a packet of another flow.
    for number in 0..9 {
        assert!(network.inject(ms(0), route, 1500, packet(number)).is_none());
    }
    let other = segment(9, 9, 0).payload;
    assert_eq!(network.inject(ms(0), route, 40, other), None);
    assert_eq!(network.next_event(), Some(ms(0)));
    let dropped: Vec<u64> = std::iter::from_fn(|| network.poll(ms(0)))
        .map(|exit| match exit {
            Exit::Lost { at, payload, .. } if at == ms(0) => payload.number,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(dropped, [1, 2, 3, 4]);
    // The other flow is new: it precedes the old flow, which has had a turn.
    let order: Vec<u64> = drain(&mut network)[0]
        .iter()
        .map(|(_, number)| *number)
        .collect();
    assert_eq!(order, [0, 5, 9, 6, 7, 8]);
}

#[test]
fn marks_are_counted_and_delivered() {
    let rate = Rate::from_bits_per_second(12_000_000);
    let queue = DropTail::new(100).mark_above(10);
    let (mut network, route) = network(LinkSpec::shaped(rate, queue, Span::ZERO));
    for number in 0..20 {
        let capable = Segment {
            capable: true,
            ..packet(number)
        };
        assert!(network.inject(ms(0), route, 1500, capable).is_none());
    }
    let marked: Vec<u64> = std::iter::from_fn(|| network.poll(ms(99)))
        .filter_map(|exit| match exit {
            Exit::Arrived { payload, .. } => payload.marked.then_some(payload.number),
            Exit::Lost { .. } => None,
        })
        .collect();
    // Packet 12 finds 11 packets in the queue.
    assert!(marked.into_iter().eq(12..20));
    assert_eq!(network.counters(ms(99))[0].marks, 8);
}

#[test]
fn an_outage_loses_packets_that_are_not_on_the_line() {
    let queues: [Queue; 6] = [
        DropTail::new(100).into(),
        DropTail::bytes(150_000).into(),
        Red::new(100.0, 200.0, 0.1).into(),
        CoDel::new().into(),
        FqCoDel::new().into(),
        Pie::new().into(),
    ];
    for queue in queues {
        // 1500 bytes a millisecond; three packets have left when the link goes down.
        let rate = Rate::from_bits_per_second(12_000_000);
        let spec = LinkSpec::shaped(rate, queue, Span::from_millis(10));
        let half = ms(3) + Span::from_micros(500);
        let outages = vec![Outage::new(half, ms(8)), Outage::new(ms(10), ms(20))];
        let (mut network, route) = network(spec.down(outages));
        for number in 0..10 {
            assert!(network.inject(ms(0), route, 1500, packet(number)).is_none());
        }
        let lost: Vec<(Time, u64)> = std::iter::from_fn(|| network.poll(ms(5)))
            .map(|exit| match exit {
                Exit::Lost { at, payload, .. } => (at, payload.number),
                other => panic!("{other:?}"),
            })
            .collect();
        // The packet in transmission first, then the queue.
        assert!(lost.into_iter().eq((3..10).map(|number| (half, number))));
        let refused = network.inject(ms(5), route, 1500, packet(10));
        assert!(matches!(refused, Some(Exit::Lost { at, .. }) if at == ms(5)));
        assert_eq!(network.counters(ms(5))[0].inside, 3);
        // The link is up again at 8 ms. The last bit of 12 leaves at the start of the second outage.
        assert!(network.inject(ms(8), route, 1500, packet(11)).is_none());
        assert!(network.inject(ms(9), route, 1500, packet(12)).is_none());
        let [arrived, lost] = drain(&mut network);
        let expected = [(11, 0), (12, 1), (13, 2), (19, 11), (20, 12)];
        assert_eq!(arrived, expected.map(|(at, number)| (ms(at), number)));
        assert_eq!(lost, []);
        let counters = network.counters(ms(20))[0];
        assert_eq!(
            (counters.losses, counters.drops, counters.inside),
            (8, 0, 0)
        );
        // Nine packets wait for 1 ms, eight for 1 ms, seven for 1 ms, six for 0.5 ms. Five are sent.
        assert!((counters.queue_mean - 27.0 / 20.0).abs() < 1e-9);
        assert_eq!(counters.utilisation, Some(5.0 / 20.0));
    }
}

#[test]
fn an_outage_of_a_line_loses_entering_packets() {
    let spec = LinkSpec::delay(Span::from_millis(10)).down(vec![
        Outage::new(ms(2), ms(3)),
        Outage::new(ms(3), ms(4)),
        Outage::for_good(ms(6)),
    ]);
    let (mut network, route) = network(spec);
    let mut lost = Vec::new();
    for number in 0..8 {
        if network
            .inject(ms(number), route, 40, packet(number))
            .is_some()
        {
            lost.push(number);
        }
    }
    assert_eq!(lost, [2, 3, 6, 7]);
    let [arrived, _] = drain(&mut network);
    assert_eq!(
        arrived,
        [0, 1, 4, 5].map(|number| (ms(number + 10), number))
    );
}

#[test]
fn opportunities_during_an_outage_are_unused() {
    // An opportunity of 1504 bytes at 2, 4, 6 ms and so on; down at 4 ms, up at 8 ms.
    let trace: Trace = "2\n".parse().unwrap();
    let spec = LinkSpec::traced(trace, DropTail::new(5), Span::ZERO);
    let (mut network, route) = network(spec.down(vec![Outage::new(ms(4), ms(8))]));
    // A part of packet 1 is sent at 2 ms.
    for number in 0..3 {
        assert!(network.inject(ms(0), route, 1000, packet(number)).is_none());
    }
    let [arrived, lost] = drain(&mut network);
    assert_eq!(arrived, [(ms(2), 0)]);
    assert_eq!(lost, [(ms(4), 1), (ms(4), 2)]);
    assert!(network.inject(ms(7), route, 1000, packet(3)).is_some());
    // A packet does not use an opportunity of its own instant.
    assert!(network.inject(ms(8), route, 1500, packet(4)).is_none());
    assert_eq!(drain(&mut network)[0], [(ms(10), 4)]);
    assert_eq!(network.counters(ms(10))[0].losses, 3);
}

#[test]
#[should_panic(expected = "outages follow one another")]
fn outages_that_overlap_are_an_error() {
    let _ =
        LinkSpec::delay(Span::ZERO).down(vec![Outage::for_good(ms(1)), Outage::for_good(ms(2))]);
}
