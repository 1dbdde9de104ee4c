//! Captures of simulated runs, read by tshark.

#[path = "support/tshark.rs"]
mod tshark;

use std::path::PathBuf;
use std::{env, fs, process};

use lisa_scenario::{Run, Scenario, Watch, export, simulate, simulate_watched};
use tshark::{Packet, number};

/// Two paths, a short queue, and one connection of each kind.
const FILE: &str = r#"
title = "a capture"
stop  = "20s"

[topology]
kind  = "shared-bottleneck"
rate  = "5Mbit"
rtt   = ["40ms", "60ms"]
queue = 9

[[connection]]
name      = "download"
protocol  = "mptcp"
algorithm = "lisa"
bytes     = "300KB"

[[connection]]
name      = "competitor"
protocol  = "tcp"
algorithm = "cubic"
bytes     = 200001

[[connection]]
name     = "calls"
protocol = "udp"
rate     = "200kbit"
packet   = 200
"#;

const WATCH: Watch = Watch {
    trace: false,
    capture: true,
    segments: false,
    sample: None,
};

/// A run of this file, and the content of its capture, which is removed afterwards.
fn captured<T>(test: &str, text: &str, seed: u64, read: impl Fn(&PathBuf) -> T) -> (Run, T) {
    let scenario = Scenario::parse(text, "a.toml").unwrap();
    let run = simulate_watched(&scenario, seed, WATCH).unwrap();
    let folder = env::temp_dir().join(format!("lisa-capture-{test}-{}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    export::write_capture(&run, &folder, &export::stem(&run.outcome.scenario, "")).unwrap();
    let file = fs::read_dir(&folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let what = read(&file);
    fs::remove_dir_all(&folder).unwrap();
    (run, what)
}

fn packets(test: &str, text: &str) -> (Run, Vec<Packet>) {
    let (run, packets) = captured(test, text, 1, |file| tshark::read(file));
    tshark::assert_valid(&packets);
    (run, packets)
}

#[test]
fn tshark_reads_a_simulated_run() {
    if !tshark::is_there() {
        return;
    }
    let (run, packets) = packets("reads", FILE);
    let [download, competitor, calls] = &run.outcome.connections[..] else {
        panic!("{:?}", run.outcome.connections);
    };
    // Both subflows are one connection; the whole stream is sent.
    let connections = tshark::connections(&packets);
    let subflows = &connections[&0];
    assert_eq!((connections.len(), subflows.len()), (1, 2));
    assert_eq!(tshark::stream(&packets, subflows), [(1, 300_001)]);
    let join = |packet: &&Packet| packet.contains_key("tcp.options.mptcp.recvtok");
    let join = packets.iter().find(join).unwrap();
    // The join has the token of the server's key, which is in the SYN/ACK.
    let answer = |packet: &&Packet| {
        packet["ip.src"] == "10.0.1.1" && packet.get("mptcp.expected_token").is_some()
    };
    let answer = packets.iter().find(answer).unwrap();
    assert_eq!(
        number(join, "tcp.options.mptcp.recvtok"),
        number(answer, "mptcp.expected_token")
    );
    // MP_CAPABLE three times, MP_JOIN three times, ADD_ADDR and its echo.
    let count_of = |subtype: &str| {
        let is = |packet: &&Packet| {
            packet
                .get("tcp.options.mptcp.subtype")
                .is_some_and(|s| s == subtype)
        };
        packets.iter().filter(is).count()
    };
    assert_eq!(["0", "1", "3"].map(count_of), [3, 3, 2]);
    // The outcome counts the same retransmissions on each subflow.
    for (subflow, outcome) in subflows.iter().zip(&download.subflows) {
        let again = tshark::retransmissions(&packets, &[*subflow]);
        assert_eq!(again, outcome.retransmits, "subflow {}", outcome.subflow);
    }
    assert!(download.retransmits > 0 && competitor.retransmits > 0);
    let tcp: Vec<u64> = (0..3).filter(|stream| !subflows.contains(stream)).collect();
    assert_eq!(
        tshark::retransmissions(&packets, &tcp),
        competitor.retransmits
    );
    let payload = |packet: &Packet| number(packet, "tcp.len").unwrap();
    let sent: u64 = tshark::data(&packets, &tcp).map(payload).sum();
    let lost = competitor.retransmits * 1448;
    assert!((200_001..=200_001 + lost).contains(&sent), "{sent}");
    assert!(
        packets
            .iter()
            .any(|packet| packet.contains_key("tcp.options.sack.count"))
    );
    // The datagrams received are a part of those sent.
    let datagrams = packets
        .iter()
        .filter(|packet| !packet.contains_key("tcp.stream"));
    assert!(datagrams.clone().all(|packet| packet["frame.len"] == "200"));
    assert!(datagrams.count() as u64 * 200 >= calls.bytes && calls.bytes > 0);
    // The first SYN has crossed half of the first path; 64 bytes take 102.4 µs.
    let opens = |packet: &&Packet| packet.get("tcp.flags.syn").is_some_and(|syn| syn == "1");
    let first = packets.iter().find(opens).unwrap();
    assert_eq!(first["frame.time_epoch"], "0.020102400");
}

/// Writes that do not fill their last segments; older profiles; joins without announcements; ECN; many hosts.
#[test]
fn tshark_reads_all_kinds_of_connections() {
    if !tshark::is_there() {
        return;
    }
    let bottleneck = |queue: &str, connection: &str| {
        format!(
            "stop = '20s'\n[topology]\nkind = 'non-shared-bottleneck'\npaths = 3\nrate = '5Mbit'\nrtt = '40ms'\n\
             queue = {queue}\nloss = 0.005\n[[connection]]\nprotocol = 'mptcp'\nsubflows = 3\n{connection}"
        )
    };
    let requests = "requests = { count = 30, bytes = 20001, gap = '5ms' }";
    for (number, profile) in ["linux", "linux-3.14", "ns3-newreno"].iter().enumerate() {
        for manager in ["fullmesh", "ndiffports"] {
            let keys = format!("{requests}\nprofile = '{profile}'\npath_manager = '{manager}'");
            let test = format!("asks-{number}-{manager}");
            let (run, packets) = packets(&test, &bottleneck("20", &keys));
            let subflows = &tshark::connections(&packets)[&0];
            assert_eq!(subflows.len(), 3, "{keys}");
            assert_eq!(tshark::stream(&packets, subflows), [(1, 600_031)], "{keys}");
            let again = tshark::retransmissions(&packets, subflows);
            assert_eq!(again, run.outcome.connections[0].retransmits, "{keys}");
        }
    }
    // The sender answers each ECE with a reduction and CWR.
    let red = "{ kind = 'red', min = 5, max = 15, max_p = 0.1, ecn = true }";
    let (run, marked) = packets("ecn", &bottleneck(red, "bytes = '3MB'\necn = true"));
    let count = |field: &str, value: &str| {
        let is = |packet: &&Packet| packet.get(field).is_some_and(|is| is == value);
        marked.iter().filter(is).count()
    };
    assert!(run.outcome.links.iter().map(|link| link.marks).sum::<u64>() > 0);
    let sent = count("ip.dsfield.ecn", "2");
    let again = run.outcome.connections[0].retransmits as usize;
    assert_eq!(sent + again, tshark::data(&marked, &[0, 1, 2]).count());
    assert!(count("tcp.flags.cwr", "1") > 3 && count("tcp.flags.ece", "1") > 6);
    // Sixteen hosts that send and receive.
    let tree = "stop = '300ms'\n[topology]\nkind = 'fat-tree'\nk = 4\nrate = '10Mbit'\ndelay = '100us'\nqueue = 20\n\
                [[connection]]\npattern = 'permutation'\nprotocol = 'mptcp'\nsubflows = 4";
    let (run, packets) = packets("tree", tree);
    let connections = tshark::connections(&packets);
    assert_eq!(connections.len(), 16);
    for (subflows, outcome) in connections.values().zip(&run.outcome.connections) {
        // Data that was given to a subflow may still be unsent.
        assert_eq!(
            tshark::stream(&packets, subflows)[0].0,
            1,
            "{}",
            outcome.title()
        );
    }
    let again: u64 = run.outcome.connections.iter().map(|c| c.retransmits).sum();
    let all: Vec<u64> = connections.into_values().flatten().collect();
    assert_eq!(tshark::retransmissions(&packets, &all), again);
}

/// The B flag of MP_JOIN is in the SYN/ACK for a backup endpoint of the server, and in the SYN for one of the client.
#[test]
fn the_host_of_the_backup_endpoint_requests_the_backup() {
    if !tshark::is_there() {
        return;
    }
    for (manager, asks) in [("fullmesh", "10.0.3.1"), ("ndiffports", "10.0.0.1")] {
        let text = format!(
            "stop = '20s'\n[topology]\nkind = 'non-shared-bottleneck'\npaths = 3\nrate = '5Mbit'\nrtt = '40ms'\nqueue = 20\n\
             [[connection]]\nprotocol = 'mptcp'\nsubflows = 3\nbytes = '500KB'\nbackup = [false, false, true]\n\
             path_manager = '{manager}'"
        );
        let (run, packets) = packets(&format!("backup-{manager}"), &text);
        let flags: Vec<(u64, &str, u64)> = packets
            .iter()
            .filter_map(|packet| {
                let flag = tshark::number(packet, "tcp.options.mptcp.backup.flag")?;
                let stream = tshark::number(packet, "tcp.stream")?;
                Some((stream, &*packet["ip.src"], flag))
            })
            .collect();
        // The SYN and SYN/ACK of two joins.
        assert_eq!(flags.len(), 4, "{flags:?}");
        let set: Vec<_> = flags.iter().filter(|(.., flag)| *flag == 1).collect();
        assert_eq!(set, [&(2, asks, 1)], "{manager}");
        let subflows = &run.outcome.connections[0].subflows;
        let about = [0, 1, 2].map(|i| (subflows[i].backup, subflows[i].bytes > Some(0)));
        assert_eq!(about, [(false, true), (false, true), (true, false)]);
    }
}

#[test]
fn a_capture_is_a_function_of_the_seed_and_changes_nothing() {
    let bytes = |seed| captured("same", FILE, seed, |file| fs::read(file).unwrap());
    let ((run, one), (_, two), (_, other)) = (bytes(1), bytes(1), bytes(2));
    assert!(one == two && one != other);
    let quiet = simulate(&Scenario::parse(FILE, "a.toml").unwrap(), 1, false).unwrap();
    let plain = |mut run: Run| {
        run.outcome.wall_seconds = None;
        serde_json::to_string(&run.outcome).unwrap()
    };
    assert!(quiet.capture.is_none());
    assert_eq!(plain(run), plain(quiet));
}
