//! Keys of a connection of Linux 6.18, and the bytes of simulated packets.

use std::net::Ipv4Addr;

use super::keys::{self, Keys};
use super::packet::Encoded;
use super::packets::Captured;
use super::*;
use crate::{Watch, simulate_watched};

/// Keys and nonces of a connection of `lisa run --on host --pcap`; the test has the kernel's values.
const KEYS: Keys = Keys {
    client: 0xd5b4_da73_d391_ad8b,
    server: 0x731b_241e_32b2_20df,
};
const NONCES: (u32, u32) = (0xbb94_7c65, 0xbf70_e958);

#[test]
fn values_derived_from_keys_are_those_of_linux() {
    assert_eq!(keys::token(KEYS.server), 0x8def_fd42);
    assert_eq!(keys::initial_dsn(KEYS.server), 0xda66_8220_975b_c4f2);
    assert_eq!(keys::initial_dsn(KEYS.client) as u32, 0x12c1_4e7d);
    let answer = KEYS.server_hmac(NONCES.0, NONCES.1);
    assert_eq!(u64::from_be_bytes(answer), 0x394e_5249_26d8_bca2);
    let proof = KEYS.client_hmac(NONCES.0, NONCES.1);
    let proof: String = proof.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(proof, "fb635023fe0da5466656071ccd6a0b5465342c22");
    let address = KEYS.address_hmac(1, Ipv4Addr::new(10, 0, 2, 1));
    assert_eq!(u64::from_be_bytes(address), 0x3631_949f_5e4e_0354);
}

/// The packets of a run as in its file: time, bytes without the payload, length of the payload.
fn written(text: &str) -> Vec<(Time, Vec<u8>, usize)> {
    let scenario = Scenario::parse(text, "a.toml").unwrap();
    let watch = Watch {
        capture: true,
        ..Watch::default()
    };
    let run = simulate_watched(&scenario, 1, watch).unwrap();
    let Some(Capture(Source::Simulated(endpoints, packets))) = &run.capture else {
        panic!("no capture");
    };
    let mut encoder = Encoder::new(endpoints);
    let packet = |captured: Captured<'_>| {
        let Encoded { head, payload } = encoder.encode(captured);
        let packet = captured.packet;
        assert_eq!(head.len() + payload, packet.bytes as usize, "{packet:?}");
        (captured.at, head, payload)
    };
    packets.iter().map(packet).collect()
}

/// Each simulated packet has exactly the length of its headers and payload: the simulator counts the bytes of Linux.
#[test]
fn a_packet_has_the_length_that_the_network_carried() {
    let topology = "stop = '3s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '2Mbit'\nrtt = ['30ms', '50ms']\n\
                    queue = 5\nloss = 0.02\n[[connection]]\n";
    let mut packets = 0;
    for profile in ["linux", "linux-3.14", "ns3-newreno"] {
        for connection in [
            "protocol = 'tcp'\nalgorithm = 'reno'\nbytes = '100KB'",
            "protocol = 'mptcp'\nbytes = '100KB'",
            "protocol = 'mptcp'\npath_manager = 'ndiffports'\nrequests = { count = 20, bytes = 4000, gap = '20ms' }",
            "protocol = 'mptcp'\necn = true\nmss = 536\nrate = '1Mbit'",
            "protocol = 'tcp'\nalgorithm = 'cubic'\nreceive_window = '64KiB'",
        ] {
            packets += written(&format!("{topology}{connection}\nprofile = '{profile}'")).len();
        }
    }
    packets += written(&format!(
        "{topology}protocol = 'udp'\nrate = '1Mbit'\npacket = 200"
    ))
    .len();
    assert!(packets > 5000, "{packets}");
}

/// A reply of 4000 bytes is two segments of 1424 bytes and one of 1152. The next reply begins at the next byte, in the stream
/// and in the subflow.
#[test]
fn a_short_segment_takes_no_more_than_its_bytes() {
    let text = "stop = '3s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '2Mbit'\nrtt = '30ms'\nqueue = 50\n\
                [[connection]]\nprotocol = 'mptcp'\nsubflows = 1\nrequests = { count = 3, bytes = 4000, gap = '20ms' }";
    let data = |(_, head, payload): (Time, Vec<u8>, usize)| {
        if payload == 0 {
            return None;
        }
        // IPv4, TCP, timestamps; then DSS: kind, length, flags, 32 bits of DATA_ACK, the mapping.
        let number = |at: usize, bytes: usize| {
            let digits = head[at..at + bytes].iter();
            digits.fold(0, |sum, digit| sum << 8 | u64::from(*digit))
        };
        let mapping = (number(24, 4), number(60, 8), number(68, 4), number(72, 2));
        Some((mapping, payload as u64))
    };
    let data: Vec<_> = written(text).into_iter().filter_map(data).collect();
    let ((seq, dsn, ..), _) = data[0];
    let at = |offset: u64, length: u64| ((seq + offset, dsn + offset, 1 + offset, length), length);
    let one = |from: u64| [at(from, 1424), at(from + 1424, 1424), at(from + 2848, 1152)];
    assert_eq!(data, [one(0), one(4000), one(8000)].concat());
}

/// The path delays a packet by 40 ms, and the queue by at most ten packets of 2.4 ms; the receiver acknowledges every
/// segment. An ACK with SACK blocks echoes the timestamp of the last segment before the gap (RFC 7323, 4.3). A sender echoes
/// the last timestamp received.
#[test]
fn a_timestamp_is_echoed_after_a_round_trip() {
    let text = "stop = '9s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '5Mbit'\nrtt = '40ms'\nqueue = 9\n\
                [[connection]]\nprotocol = 'tcp'\nalgorithm = 'reno'\nbytes = '500KB'\nreceive_window = '4MiB'";
    let (mut echoed, mut came, mut older) = (0, 0, 0);
    for (at, head, payload) in written(text) {
        let stamp = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
        let (own, echo) = (stamp(44), stamp(48));
        let now = (at.as_nanos() / 1_000_000) as u32 + 1;
        if payload > 0 {
            assert_eq!((own, echo), (now, came), "at {at}");
        } else if head[33] & 2 == 0 {
            // No SYN.
            let has_sack = head.len() > 52;
            let age = now - echo;
            assert!(age >= 40 && (has_sack || age <= 66), "{age} at {at}");
            (came, echoed, older) = (own, echoed + 1, older + u32::from(age > 66));
        }
    }
    assert!(echoed > 250 && older > 0, "{echoed}, {older} older");
}
