//! What tshark, Wireshark without its windows, reads in a capture.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// What of each packet is asked for.
const FIELDS: [&str; 27] = [
    "frame.time_epoch",
    "frame.len",
    "ip.src",
    "ip.dst",
    "ip.len",
    "ip.dsfield.ecn",
    "ip.checksum.status",
    "tcp.checksum.status",
    "udp.checksum.status",
    "tcp.stream",
    "tcp.len",
    "tcp.flags.syn",
    "tcp.flags.reset",
    "tcp.flags.cwr",
    "tcp.flags.ece",
    "tcp.analysis.retransmission",
    "tcp.analysis.out_of_order",
    "tcp.options.sack.count",
    "tcp.options.mptcp.subtype",
    "tcp.options.mptcp.backup.flag",
    "tcp.options.mptcp.recvtok",
    "tcp.options.mptcp.rawdataseqno",
    "mptcp.stream",
    "mptcp.expected_token",
    "mptcp.dsn",
    "mptcp.connection.echoed_key_mismatch",
    "_ws.malformed",
];

/// A packet: its fields that have a value.
pub type Packet = BTreeMap<&'static str, String>;

/// Whether there is a tshark; where there is none, the test says so and ends.
pub fn is_there() -> bool {
    let asked = Command::new("tshark")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let there = asked.is_ok_and(|status| status.success());
    if !there {
        eprintln!("skipped: no tshark: `make setup` installs it");
    }
    there
}

/// The packets of a file, with every analysis and checksum that there is.
pub fn read(file: &Path) -> Vec<Packet> {
    let mut tshark = Command::new("tshark");
    tshark.arg("-n").arg("-r").arg(file);
    for preference in [
        "ip.check_checksum",
        "tcp.check_checksum",
        "udp.check_checksum",
        "mptcp.analyze_mappings",
        "mptcp.relative_sequence_numbers",
    ] {
        tshark.args(["-o", &format!("{preference}:TRUE")]);
    }
    tshark.args(["-T", "fields", "-E", "separator=;", "-E", "occurrence=f"]);
    for field in FIELDS {
        tshark.args(["-e", field]);
    }
    let output = tshark.output().unwrap();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {complaint}", file.display());
    let text = String::from_utf8(output.stdout).unwrap();
    let packet = |line: &str| {
        let values = line.split(';').map(String::from);
        let named = FIELDS.into_iter().zip(values);
        named.filter(|(_, value)| !value.is_empty()).collect()
    };
    text.lines().map(packet).collect()
}

/// A number that it has.
pub fn number(packet: &Packet, field: &str) -> Option<u64> {
    let value = packet.get(field)?;
    let parsed = match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => value.parse(),
    };
    Some(parsed.unwrap_or_else(|_| panic!("{field}: {value}")))
}

/// Nothing is malformed, each length and checksum is right, and time goes on.
pub fn assert_valid(packets: &[Packet]) {
    let mut before = 0.0;
    for (i, packet) in packets.iter().enumerate() {
        let wrong = ["_ws.malformed", "mptcp.connection.echoed_key_mismatch"];
        assert!(
            wrong.iter().all(|field| !packet.contains_key(field)),
            "{i}: {packet:?}"
        );
        assert_eq!(packet["frame.len"], packet["ip.len"], "{i}: {packet:?}");
        let checksums = [
            "ip.checksum.status",
            "tcp.checksum.status",
            "udp.checksum.status",
        ];
        let status = checksums.map(|field| packet.get(field).map(String::as_str));
        // 1: good. One of IP, one of TCP or UDP.
        let right =
            status[0] == Some("1") && matches!(status[1..], [Some("1"), None] | [None, Some("1")]);
        assert!(right, "{i}: {packet:?}");
        let at: f64 = packet["frame.time_epoch"].parse().unwrap();
        assert!(at >= before, "{i}: {at} after {before}");
        before = at;
    }
}

/// The data of the server's port: each with its stream of TCP.
pub fn data<'a>(packets: &'a [Packet], subflows: &'a [u64]) -> impl Iterator<Item = &'a Packet> {
    let is = |packet: &&Packet| number(packet, "tcp.len").is_some_and(|len| len > 0);
    let of =
        |packet: &&Packet| number(packet, "tcp.stream").is_some_and(|at| subflows.contains(&at));
    packets.iter().filter(is).filter(of)
}

/// How many of these segments tshark takes for sent again: whatever begins before the end of what was sent. One that
/// follows within milliseconds of another it takes for one that was overtaken; at the sender nothing was.
pub fn retransmissions(packets: &[Packet], subflows: &[u64]) -> u64 {
    let again = ["tcp.analysis.retransmission", "tcp.analysis.out_of_order"];
    let is = |packet: &&Packet| again.iter().any(|field| packet.contains_key(field));
    data(packets, subflows).filter(is).count() as u64
}

/// The subflows of each connection of MPTCP, streams of TCP in the order in which they began. The token of each join is
/// the one that tshark makes of the server's key.
pub fn connections(packets: &[Packet]) -> BTreeMap<u64, Vec<u64>> {
    let mut connections: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for packet in packets {
        let Some(connection) = number(packet, "mptcp.stream") else {
            continue;
        };
        let subflow = number(packet, "tcp.stream").unwrap();
        let subflows = connections.entry(connection).or_default();
        if !subflows.contains(&subflow) {
            subflows.push(subflow);
        }
    }
    connections
}

/// The bytes of the stream that were sent, as ranges without gaps between those of one: 1 is the first byte.
pub fn stream(packets: &[Packet], subflows: &[u64]) -> Vec<(u64, u64)> {
    let range = |packet: &Packet| {
        let dsn = number(packet, "mptcp.dsn").unwrap_or_else(|| panic!("{packet:?}"));
        (dsn, dsn + number(packet, "tcp.len").unwrap())
    };
    let mut ranges: Vec<_> = data(packets, subflows).map(range).collect();
    ranges.sort_unstable();
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match joined.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => joined.push((start, end)),
        }
    }
    joined
}
