//! Captures as read by tshark.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

/// Fields of each packet.
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

/// Fields of a packet that have a value.
pub type Packet = BTreeMap<&'static str, String>;

/// Whether tshark is installed; prints the reason of a skipped test.
pub fn is_there() -> bool {
    let status = Command::new("tshark")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    let installed = status.is_ok_and(|status| status.success());
    if !installed {
        eprintln!("skipped: no tshark: `make setup` installs it");
    }
    installed
}

/// The packets of a file, with all analyses and checksums.
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

/// Value of a numeric field.
pub fn number(packet: &Packet, field: &str) -> Option<u64> {
    let value = packet.get(field)?;
    let parsed = match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16),
        None => value.parse(),
    };
    Some(parsed.unwrap_or_else(|_| panic!("{field}: {value}")))
}

/// Checks that no packet is malformed, that lengths and checksums are right, and that time does not go back.
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

/// Data segments of these TCP streams.
pub fn data<'a>(packets: &'a [Packet], subflows: &'a [u64]) -> impl Iterator<Item = &'a Packet> {
    let is = |packet: &&Packet| number(packet, "tcp.len").is_some_and(|len| len > 0);
    let of =
        |packet: &&Packet| number(packet, "tcp.stream").is_some_and(|at| subflows.contains(&at));
    packets.iter().filter(is).filter(of)
}

/// Number of retransmissions by tshark: segments that begin before the highest byte sent. tshark takes one that follows another
/// within milliseconds for reordered; at the sender there is no reordering.
pub fn retransmissions(packets: &[Packet], subflows: &[u64]) -> u64 {
    let again = ["tcp.analysis.retransmission", "tcp.analysis.out_of_order"];
    let is = |packet: &&Packet| again.iter().any(|field| packet.contains_key(field));
    data(packets, subflows).filter(is).count() as u64
}

/// TCP streams of each MPTCP connection, in the order of their start. tshark derives the token of each join from the server's
/// key.
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

/// Ranges of the stream that were sent, merged where they touch; 1 is the first byte.
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
