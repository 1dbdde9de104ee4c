//! Handshakes over a wire that loses packets.

use super::*;
use std::collections::HashMap;
use std::mem::discriminant;

/// A connection whose wire loses packets for which `lose` returns true. `lose` takes the segment and its number among
/// those of its kind.
fn opens(
    lose: impl Fn(&Segment, u32) -> bool,
    seconds: u64,
) -> (Vec<(u64, Segment)>, Option<u64>, u32) {
    let mut network = Network::new();
    let wire = network.add_link(LinkSpec::delay(Span::ZERO));
    let routes = SubflowRoutes {
        to_client: network.add_route(&[wire], PortId(0)),
        to_server: network.add_route(&[wire], PortId(1)),
    };
    let mut simulation = Simulation::new(network, Quiet);
    let application = Application::File(100 * 1448);
    let spec = plain(Profile::linux(), "reno", vec![routes], application);
    simulation.add_connection(spec);
    let (mut wire, mut counts) = (Vec::new(), HashMap::new());
    let stop = Time::ZERO + Span::from_secs(seconds);
    while simulation.established(0).is_none() {
        let limit = simulation.env.timers.next().min(stop);
        if let Some(Exit::Arrived { at, payload, .. }) = simulation.env.network.poll(limit) {
            let segment = Segment::from(payload);
            simulation.env.now = at;
            let count = counts.entry(discriminant(&segment)).or_insert(0);
            *count += 1;
            wire.push((at.as_nanos() / 1_000_000, segment));
            if !lose(&segment, *count) {
                simulation.deliver(payload);
            }
        } else if limit == stop {
            break;
        } else {
            while simulation.fire(limit).is_some() {}
        }
    }
    let at = simulation
        .established(0)
        .map(|at| at.as_nanos() / 1_000_000);
    (wire, at, simulation.tcp_info(0).snd_cwnd)
}

fn is_syn(segment: &Segment) -> bool {
    matches!(segment, Segment::Syn { .. })
}

fn is_syn_ack(segment: &Segment) -> bool {
    matches!(segment, Segment::SynAck { .. })
}

/// Timestamp of a SYN/ACK, µs.
const SYN_ACK_US: u32 = 50_000;
const THIRD: Segment = Segment::HandshakeAck {
    subflow: subflow(1),
    echo_us: SYN_ACK_US,
};

/// A join whose ACK from the server is lost: packets that the client sends until, and in answer to, `first` as the
/// first packet on the subflow.
fn after_a_lost_join_ack(first: Segment) -> (Script, Vec<Segment>) {
    let file = Application::File(300 * 1424);
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    script.simulation.receiver_mut(1).last_syn_at = Time::ZERO;
    let syn_ack = Segment::SynAck {
        subflow: subflow(1),
        sent_us: SYN_ACK_US,
        backup: false,
    };
    let mut answers = Vec::new();
    script.simulation.deliver(syn_ack.into());
    let sent = |script: &mut Script, answers: &mut Vec<Segment>| {
        let now = script.simulation.env.now;
        while let Some(exit) = script.simulation.env.network.poll(now) {
            if let Exit::Arrived { payload, .. } = exit {
                let segment = Segment::from(payload);
                if segment.subflow() == Some(subflow(1)) && !payload.goes_to_client() {
                    answers.push(segment);
                }
            }
        }
    };
    sent(&mut script, &mut answers);
    assert_eq!(answers, [THIRD]);
    // The third packet is repeated after two round trips of 100 ms, at a tick.
    let end = script.simulation.env.now + Span::from_millis(212);
    while script.simulation.env.timers.next() <= end {
        let at = script.simulation.env.timers.next();
        while script.simulation.fire(at).is_some() {}
        sent(&mut script, &mut answers);
    }
    assert_eq!(answers, [THIRD; 2]);
    script.simulation.deliver(first.into());
    sent(&mut script, &mut answers);
    (script, answers)
}

/// Linux resets a subflow if its first packet is not the next one in sequence: the server sends its initial window with
/// the ACK; if a full queue drops both, the first packet that arrives is the ACK of the repetition, or a loss probe.
#[test]
fn a_join_whose_ack_and_first_data_are_lost_is_reset() {
    let reset = [
        THIRD,
        THIRD,
        Segment::Reset {
            subflow: subflow(1),
        },
    ];
    let late = Segment::JoinAck {
        subflow: subflow(1),
        next: 10 * 1424,
    };
    let (mut script, answers) = after_a_lost_join_ack(late);
    assert_eq!(answers, reset);
    let data = |seq: u32| {
        Segment::Data(Data {
            subflow: subflow(1),
            seq: seq * 1424,
            dsn: 65_456 + seq * 1424,
            len: 1424,
            sent_us: 0,
            flags: 0,
        })
    };
    let (_, answers) = after_a_lost_join_ack(data(9));
    assert_eq!(answers, reset);
    // All packets of the subflow are ignored, also the next one in sequence.
    script.simulation.deliver(data(0).into());
    assert!(!script.simulation.receiver_mut(1).has_to_acknowledge());
    let (_, answers) = after_a_lost_join_ack(data(0));
    assert!(
        matches!(answers[2..], [Segment::Ack(_)]),
        "the first data acknowledges the join"
    );
}

/// The server queues unacknowledged data again at the remaining subflow.
#[test]
fn data_of_a_reset_subflow_is_sent_on_the_other() {
    let file = Application::File(100 * 1424);
    let mut script = Script::with_subflows(Profile::linux(), "reno", file, 2);
    script.receive(syn(1));
    script.until(101);
    script.receive(handshake_ack(1));
    script.until(103);
    assert_eq!(script.simulation.tcp_info(1).snd_nxt, 10 * 1424);
    // The client repeats the third packet: the ACK is repeated, without other effects.
    script.receive(handshake_ack(1));
    assert_eq!(script.simulation.subflow_state(1), SubflowState::Open);
    script.receive(Segment::Reset {
        subflow: subflow(1),
    });
    assert_eq!(script.simulation.subflow_state(1), SubflowState::Closed);
    // The other subflow has no room yet.
    assert_eq!(script.simulation.first_pending(), 0);
    for ack in 1..90 {
        script.until(103 + u64::from(ack));
        script.receive(Segment::Ack(Ack {
            subflow: subflow(0),
            seq: ack * 1424,
            data_ack: (ack * 1424).min(65_456),
            window: 5_000_000,
            sack: 0,
            echo_us: 0,
            flags: 0,
        }));
    }
    let on_first = |(data, _): &&(Data, bool)| data.subflow == subflow(0);
    let has =
        |(data, _): &(Data, bool)| (data.dsn..data.dsn + u32::from(data.len)).contains(&65_456);
    let mut sent = script.data.iter().filter(on_first);
    assert!(sent.any(has), "the first byte of the closed subflow");
}

#[test]
fn syns_are_retransmitted_after_1_2_4_seconds() {
    let (wire, at, window) = opens(|s, n| is_syn(s) && n <= 3, 100);
    let syns = wire.iter().filter(|(_, segment)| is_syn(segment));
    assert_eq!(
        syns.map(|(ms, _)| *ms).collect::<Vec<_>>(),
        [0, 1000, 3000, 7000]
    );
    // The server has sent its SYN/ACK once: the window is not reduced.
    assert_eq!((at, window), (Some(7000), 10));
}

#[test]
fn two_lost_syn_acks_reduce_the_initial_window_to_one_segment() {
    let (_, at, window) = opens(|s, n| is_syn_ack(s) && n <= 1, 100);
    // The client's SYN and the server's timer coincide: the SYN/ACK was retransmitted once or twice.
    assert_eq!(at, Some(1000));
    assert!(window <= 10);
    let (_, at, window) = opens(|s, n| is_syn_ack(s) && n <= 3, 100);
    assert_eq!((at, window), (Some(3000), 1));
    let (_, at, _) = opens(|s, _| is_syn_ack(s), 100);
    assert_eq!(at, None);
}

#[test]
fn a_lost_third_packet_is_repeated_with_the_syn_ack() {
    let (_, at, window) = opens(
        |s, n| matches!(s, Segment::HandshakeAck { .. }) && n <= 1,
        100,
    );
    assert_eq!((at, window), (Some(1000), 10));
}
