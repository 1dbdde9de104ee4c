//! The opening of a connection over a wire that loses packets.

use super::*;
use crate::board::Sent;

/// A connection whose wire loses the `n`-th packets of a kind.
fn opens(lose: impl Fn(Kind, u32) -> bool, seconds: u64) -> (Vec<(u64, Kind)>, Option<u64>, u32) {
    let mut network = Network::new();
    let wire = network.add_link(LinkSpec::delay(Span::ZERO));
    let (down, up) = (
        network.add_route(&[wire], PortId(0)),
        network.add_route(&[wire], PortId(1)),
    );
    let mut simulation = Simulation::new(network, Quiet);
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

/// A join whose answer is lost, by the client: what it sends in answer to what comes first on the subflow.
fn after_a_lost_answer(first: Segment) -> (Script, Vec<Kind>) {
    let file = Application::File(300 * 1424);
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    let mut syn_ack = Segment::bare(1, Kind::SynAck, 0);
    script.simulation.receivers[1].syn_last = Time::ZERO;
    syn_ack.window = 50_000;
    let mut answers = Vec::new();
    script.simulation.deliver(syn_ack);
    let sent = |script: &mut Script, answers: &mut Vec<Kind>| {
        let now = script.simulation.env.now;
        while let Some(exit) = script.simulation.env.network.poll(now) {
            if let Exit::Arrived { payload, .. } = exit {
                let segment = Segment::from(payload);
                if segment.to == 1 && !segment.kind.goes_to_client() {
                    answers.push(segment.kind);
                }
            }
        }
    };
    sent(&mut script, &mut answers);
    assert_eq!(answers, [Kind::Established]);
    // Two round trips of 100 ms later, at a tick, again.
    let end = script.simulation.env.now + Span::from_millis(212);
    while script.simulation.env.timers.next() <= end {
        let at = script.simulation.env.timers.next();
        while script.simulation.fire(at).is_some() {}
        sent(&mut script, &mut answers);
    }
    assert_eq!(answers, [Kind::Established; 2]);
    script.simulation.deliver(first);
    sent(&mut script, &mut answers);
    (script, answers)
}

/// Linux resets a subflow on which anything comes before what is next: the server has sent its initial window with the answer, in
/// a full queue both are lost, and what comes first is the answer to the repetition, or a probe.
#[test]
fn a_join_whose_answer_and_first_data_are_lost_is_reset() {
    let reset = [Kind::Established, Kind::Established, Kind::AddressEcho];
    let mut late = Segment::bare(1, Kind::AddAddress, 0);
    late.data = 10;
    let (mut script, answers) = after_a_lost_answer(late);
    assert_eq!(answers, reset);
    let mut probe = Segment::bare(1, Kind::Data, 9);
    (probe.data, probe.len) = (65_456 + 9 * 1424, 1424);
    let (_, answers) = after_a_lost_answer(probe);
    assert_eq!(answers, reset);
    // Nothing of it is taken any more, not even what is next.
    (probe.seq, probe.data) = (0, 65_456);
    script.simulation.deliver(probe);
    assert!(!script.simulation.receivers[1].has_to_acknowledge());
    let (_, answers) = after_a_lost_answer(probe);
    assert_eq!(answers[2..], [Kind::Ack], "its first data are an answer");
}

/// The server hands out again what is not acknowledged, over what is left.
#[test]
fn what_a_reset_subflow_had_goes_over_the_others() {
    let file = Application::File(100 * 1424);
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    script.handshake(1, Kind::Syn);
    script.until(101);
    script.handshake(1, Kind::Established);
    script.until(103);
    assert_eq!(script.simulation.senders[1].nxt, 10);
    // It repeats its last packet: the answer goes again, and nothing else happens.
    script.handshake(1, Kind::Established);
    assert_eq!(script.simulation.senders[1].life, Life::Open);
    script.handshake(1, Kind::AddressEcho);
    assert_eq!(script.simulation.senders[1].life, Life::Closed);
    // The other has no room yet.
    assert_eq!(script.simulation.connections[0].handed, 0);
    for ack in 1..90 {
        script.until(103 + u64::from(ack));
        let mut segment = Segment::bare(0, Kind::Ack, ack);
        segment.data = (ack * 1424).min(65_456);
        (segment.window, segment.len) = (5_000_000, ack as u16 - 1);
        script.simulation.deliver(segment);
        script.collect();
    }
    let sender = script.sender();
    let mut sent = (0..sender.nxt).map(|seq| sender.board.at(seq));
    let has = |sent: &Sent| (sent.data..sent.data + u32::from(sent.len)).contains(&65_456);
    assert!(sent.any(has), "the first that the other had");
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
