//! The opening of a connection over a wire that loses packets.

use super::*;

/// A connection whose wire loses the `n`-th packets of a kind.
fn opens(lose: impl Fn(Kind, u32) -> bool, seconds: u64) -> (Vec<(u64, Kind)>, Option<u64>, u32) {
    let mut script = Script::with(Profile::linux(), "reno", Application::File(100 * 1448));
    let mut simulation = Simulation::new(std::mem::take(&mut script.simulation.env.network), Quiet);
    let (down, up) = script.simulation.running[0].spec.routes[0];
    let application = Application::File(100 * 1448);
    let spec = plain(Profile::linux(), "reno", vec![(down, up)], application);
    simulation.add_connection(spec);
    let (mut wire, mut counts) = (Vec::new(), [0; 8]);
    let stop = Time::ZERO + Span::from_secs(seconds);
    while simulation.senders[0].tally.established.is_none() {
        let limit = simulation.env.timers.next().min(stop);
        if let Some(Exit::Arrived { at, payload, .. }) = simulation.env.network.poll(limit) {
            let segment = Segment::from(payload);
            simulation.env.now = at;
            let count = &mut counts[segment.kind as usize];
            *count += 1;
            wire.push((at.as_nanos() / 1_000_000, segment.kind));
            if !lose(segment.kind, *count) {
                simulation.deliver(segment);
            }
        } else if limit == stop {
            break;
        } else {
            while simulation.fire(limit).is_some() {}
        }
    }
    let sender = &simulation.senders[0];
    let at = sender.tally.established.map(|at| at.as_nanos() / 1_000_000);
    (wire, at, sender.tcp.cwnd)
}

#[test]
fn syns_are_sent_again_after_1_2_4_seconds() {
    let (wire, at, window) = opens(|kind, n| kind == Kind::Syn && n <= 3, 100);
    let syns = wire.iter().filter(|(_, kind)| *kind == Kind::Syn);
    assert_eq!(
        syns.map(|(ms, _)| *ms).collect::<Vec<_>>(),
        [0, 1000, 3000, 7000]
    );
    // The server has sent its SYN/ACK once: it has nothing to hold against the path.
    assert_eq!((at, window), (Some(7000), 10));
}

#[test]
fn a_lost_syn_ack_costs_a_second_and_two_of_them_the_initial_window() {
    let (_, at, window) = opens(|kind, n| kind == Kind::SynAck && n <= 1, 100);
    // The client's SYN and the server's timer come together: the SYN/ACK that answers was sent again once or twice.
    assert_eq!(at, Some(1000));
    assert!(window <= 10);
    let (_, at, window) = opens(|kind, n| kind == Kind::SynAck && n <= 3, 100);
    assert_eq!((at, window), (Some(3000), 1));
    let (_, at, _) = opens(|kind, _| kind == Kind::SynAck, 100);
    assert_eq!(at, None);
}

#[test]
fn a_lost_third_packet_is_repeated_with_the_syn_ack() {
    let (_, at, window) = opens(|kind, n| kind == Kind::Established && n <= 1, 100);
    assert_eq!((at, window), (Some(1000), 10));
}
