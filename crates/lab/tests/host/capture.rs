//! Captures of this kernel's packets, compared by tshark with those of the simulator.

use super::*;
use crate::tshark::{self, number};
use scenario::{Watch, export, simulate_watched};
use std::{env, fs, process};

const WATCH: Watch = Watch {
    trace: false,
    capture: true,
    segments: false,
    sample: None,
};

/// The packets of a run.
fn packets(run: &Run) -> Vec<tshark::Packet> {
    let backend = run.outcome.backend;
    let folder = env::temp_dir().join(format!("lisa-host-capture-{backend}-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    export::write_capture(run, &folder, &export::stem(&run.outcome.scenario, "")).unwrap();
    let file = folder.join(format!("a-test-seed-{}.pcap", run.outcome.seed));
    let packets = tshark::read(&file);
    fs::remove_dir_all(&folder).unwrap();
    tshark::assert_valid(&packets);
    packets
}

/// The MPTCP options with which the endpoints open subflows, in order, with the length of their packets without SACK blocks, which
/// losses add. Repetitions are left out, and packets that the simulator does not model: the reset at the end and the ACK of a join's
/// last packet.
fn handshakes(packets: &[tshark::Packet]) -> Vec<(String, String, String, u64)> {
    let opens = |packet: &&tshark::Packet| {
        let subtype = packet.get("tcp.options.mptcp.subtype");
        subtype.is_some_and(|s| ["0", "1", "3"].contains(&s.as_str()))
            && packet["tcp.flags.reset"] == "0"
    };
    let fields = ["tcp.options.mptcp.subtype", "ip.src", "ip.dst"];
    // Two NOPs, kind, length and 8 bytes for each block (RFC 2018 section 3).
    let sack_bytes =
        |packet: &tshark::Packet| number(packet, "tcp.options.sack.count").map_or(0, |n| 4 + 8 * n);
    let option = |packet: &tshark::Packet| {
        let [subtype, from, to] = fields.map(|field| packet[field].clone());
        let length = number(packet, "frame.len").unwrap() - sack_bytes(packet);
        (subtype, from, to, length)
    };
    let mut all = Vec::new();
    for option in packets.iter().filter(opens).map(option) {
        if !all.contains(&option) {
            all.push(option);
        }
    }
    all
}

/// The same scenario on real and on simulated endpoints: both captures have the whole stream, and handshakes of the same packets
/// between the same addresses.
#[test]
fn the_captures_of_both_backends_agree() {
    let Some(mut host) = host(14) else { return };
    if !tshark::is_there() {
        return;
    }
    let mut scenario = shared(2, vec![connection(Protocol::Mptcp, "lisa", 400_000)]);
    let Spec::SharedBottleneck(bottleneck) = &mut scenario.topology else {
        unreachable!()
    };
    // Room for an announcement behind an initial window.
    bottleneck.bottleneck = Properties::shaped(
        Rate::from_bits_per_second(5_000_000),
        Queue::DropTailPackets(25),
        Span::ZERO,
    );
    let joined = |run: &Run| run.outcome.connections[0].subflows.len() == 2;
    let real = (1..=5).map(|seed| host.run_watched(&scenario, seed, WATCH).unwrap());
    let real = real.into_iter().find(joined).expect("one of five seeds");
    let simulated = simulate_watched(&scenario, real.outcome.seed, WATCH).unwrap();
    let mut opened = Vec::new();
    for run in [&real, &simulated] {
        let packets = packets(run);
        let backend = run.outcome.backend;
        let connections = tshark::connections(&packets);
        let subflows = &connections[&0];
        assert_eq!((connections.len(), subflows.len()), (1, 2), "{backend}");
        assert_eq!(
            tshark::stream(&packets, subflows),
            [(1, 400_001)],
            "{backend}"
        );
        let again = tshark::retransmissions(&packets, subflows);
        assert_eq!(again, run.outcome.connections[0].retransmits, "{backend}");
        // Full packets of both have the same payload.
        let full = tshark::data(&packets, subflows).filter(|packet| packet["frame.len"] == "1500");
        let full: Vec<_> = full.map(|packet| number(packet, "tcp.len")).collect();
        assert!(full.len() >= 280, "{backend}");
        assert!(full.iter().all(|len| *len == Some(1424)), "{backend}");
        opened.push(handshakes(&packets));
    }
    assert_eq!(opened[0], opened[1]);
    assert_eq!(opened[0].len(), 8, "{opened:?}");
}

#[test]
fn there_is_no_capture_by_default() {
    let Some(mut host) = host(15) else { return };
    let scenario = shared(1, vec![connection(Protocol::Tcp, "reno", 20_000)]);
    assert!(host.run(&scenario, 1).unwrap().capture.is_none());
}
