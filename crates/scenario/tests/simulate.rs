//! Scenarios on simulated endpoints.

use lisa_scenario::outcome::LinkOutcome;
use lisa_scenario::trace::Phase;
use lisa_scenario::{Scenario, simulate};

const FILE: &str = r#"
title = "300 KB over a shared 2.5 Mbit/s bottleneck"
stop  = "30s"

[topology]
kind  = "shared-bottleneck"
rate  = "2.5Mbit"
rtt   = "70ms"
queue = { kind = "droptail", packets = 30 }

[[connection]]
name      = "download"
protocol  = "mptcp"
algorithm = "lisa"
subflows  = 2
bytes     = "300KB"
"#;

#[test]
fn a_transfer_at_a_shared_bottleneck() {
    let scenario = Scenario::parse(FILE, "example.toml").unwrap();
    let run = simulate(&scenario, 1, true).unwrap();
    let download = &run.outcome.connections[0];
    assert_eq!(download.bytes, 300_000);
    assert!((1.0..2.0).contains(&download.completion_s.unwrap()));
    assert!(!run.rows.is_empty());
    assert_eq!(run.credits.len(), 1);
    let settled = run.credits[0].settled.as_ref().unwrap();
    assert_eq!(settled.sum_before, settled.sum_after);
    // Slow start ends when the window reaches the threshold (RFC 5681): Linux compares `cwnd < ssthresh`.
    let mut at_threshold = run.rows.iter().filter(|r| r.ssthresh == Some(r.cwnd));
    assert!(
        at_threshold
            .clone()
            .any(|row| row.phase == Phase::Avoidance)
    );
    assert!(at_threshold.all(|row| row.phase != Phase::SlowStart));
}

/// Traces have the time since the start of the run, as in the lab: connections can be compared.
#[test]
fn the_time_of_a_trace_begins_with_the_run() {
    let run = |start: &str| {
        let file = FILE.replace("packets = 30", "packets = 9");
        let file = format!("{file}start = '{start}'\n");
        simulate(&Scenario::parse(&file, "example.toml").unwrap(), 1, true).unwrap()
    };
    let (early, late) = (run("0s"), run("2s"));
    let nanos = |time: f64| (time * 1e9).round() as u64;
    let begins = |run: &lisa_scenario::Run| {
        let times = [run.rows[0].time, run.credits[0].taken, run.losses[0].time];
        times.map(nanos)
    };
    assert_eq!(
        begins(&early).map(|time| time + 2_000_000_000),
        begins(&late)
    );
}

/// Constants of the endpoints reach the simulator.
#[test]
fn constants_of_endpoints() {
    let run = |keys: &str, link: &str| {
        let file = FILE.replace("\n\n[[connection]]", &format!("\n{link}\n\n[[connection]]"));
        let file = format!("{file}{keys}\n");
        simulate(&Scenario::parse(&file, "example.toml").unwrap(), 1, true).unwrap()
    };
    let first = |keys| run(keys, "").rows[0].cwnd;
    assert_eq!((first(""), first("initial_window = 4")), (10, 4));
    let hops = |keys| run(keys, "").outcome.packet_hops;
    let (each, second) = (hops("delayed_ack = '0s'"), hops("quick_acks = 0"));
    assert!(each > second, "{each} {second}");
    // The path is down while the first window is sent: only a timeout recovers.
    let completion = |keys| {
        let run = run(keys, "down = { from = '150ms', to = '400ms' }");
        run.outcome.connections[0].completion_s.unwrap()
    };
    let (early, late) = (
        completion("rto_min = '200ms'"),
        completion("rto_min = '2s'"),
    );
    assert!(late > early + 1.0, "{early} {late}");
    // The SYN is lost.
    let completion = |keys| {
        let run = run(keys, "down = { from = '0s', to = '400ms' }");
        run.outcome.connections[0].completion_s.unwrap()
    };
    let (early, late) = (completion(""), completion("rto_initial = '3s'"));
    assert!((1.9..2.1).contains(&(late - early)), "{early} {late}");
}

/// All packets that the links drop are data of the one connection, on the first link and on later ones.
#[test]
fn a_trace_has_the_losses() {
    for file in [FILE, &FILE.replace("shared-b", "non-shared-b")] {
        let file = file.replace("packets = 30", "packets = 9");
        let run = simulate(&Scenario::parse(&file, "example.toml").unwrap(), 1, true).unwrap();
        let download = &run.outcome.connections[0];
        let drops: u64 = run.outcome.links.iter().map(|link| link.drops).sum();
        assert_eq!(run.losses.len() as u64, drops);
        for (number, subflow) in download.subflows.iter().enumerate() {
            let mut lost = run.losses.iter().filter(|loss| loss.subflow == number);
            assert!(lost.next().unwrap().time < subflow.first_loss_s.unwrap());
        }
    }
}

/// Networks and queues of all kinds reach the simulator: the users of scenario C share its two access points.
#[test]
fn the_drafts_users_share_red_bottlenecks() {
    let text = "stop = '20s'\nwarmup = '10s'\n[topology]\nkind = 'scenario-c'\nn1 = 10\nn2 = 10\nc1 = '1Mbit'\nc2 = '1Mbit'\n\
        rtt = '80ms'\n[[connection]]\nprotocol = 'mptcp'\npaths = 'multipath'\n[[connection]]\nalgorithm = 'reno'\n\
        paths = 'single-path'\n";
    let run = simulate(&Scenario::parse(text, "c.toml").unwrap(), 1, false).unwrap();
    assert_eq!(run.outcome.connections.len(), 20);
    let goodput =
        |connection: &lisa_scenario::outcome::ConnectionOutcome| connection.goodput_mbps.unwrap();
    let sum: f64 = run.outcome.connections.iter().map(goodput).sum();
    // 20 Mbit/s with headers; RED keeps both access points busy.
    assert!((14.0..19.5).contains(&sum), "{sum}");
    let drops = |name: &str| {
        run.outcome
            .links
            .iter()
            .find(|link| link.name == name)
            .unwrap()
            .drops
    };
    assert!(drops("AP1 down") > 0 && drops("AP2 down") > 0);
    assert_eq!(drops("AP1 up"), 0);
}

/// 20 Mbit/s send 1.667 packets of 1500 bytes a millisecond: 25 packets wait for 15 ms, 50 for 30 ms.
#[test]
fn pie_holds_the_wait_at_its_target() {
    for (target, packets) in [("15ms", 25.0), ("30ms", 50.0)] {
        let text = format!(
            "stop = '60s'\nwarmup = '10s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '20Mbit'\nrtt = '40ms'\n\
             queue = {{ kind = 'pie', target = '{target}' }}\n\
             [[connection]]\nprotocol = 'mptcp'\nalgorithm = 'convoy'\nsubflows = 2\n[[connection]]\n"
        );
        let scenario = Scenario::parse(&text, "pie.toml").unwrap();
        let run = simulate(&scenario, 1, false).unwrap();
        let mut links = run.outcome.links.iter();
        let down = links.find(|link| link.name == "bottleneck down").unwrap();
        let queue = down.queue_mean_packets;
        assert!((queue / packets - 1.0).abs() < 0.15, "{target}: {queue}");
        assert!(down.utilisation.unwrap() > 0.98 && down.drops > 0);
    }
}

/// Two disjoint paths with an MPTCP connection over both. 5 and 3 Mbit/s are 4.827 and 2.896 Mbit/s of payload: 1448 of 1500
/// bytes.
fn two_paths(down: &str, keys: &str, top: &str) -> Scenario {
    let text = format!(
        "{top}\n[topology]\nkind = 'non-shared-bottleneck'\nrate = ['5Mbit', '3Mbit']\nrtt = '40ms'\nqueue = 20\n\
         down = {down}\n[[connection]]\nprotocol = 'mptcp'\n{keys}\n"
    );
    Scenario::parse(&text, "paths.toml").unwrap_or_else(|error| panic!("{error}"))
}

fn algorithms() -> impl Iterator<Item = &'static str> {
    mpcc::Algorithm::all().map(|algorithm| algorithm.name())
}

/// Least share of a path that an algorithm fills: wVegas reduces its window because of the queue that its own bursts cause
/// (docs/algorithms/wvegas.md).
fn filled(algorithm: &str) -> f64 {
    let avoidance = mpcc::Algorithm::find(algorithm).map(|found| found.avoidance());
    if avoidance == Some("wvegas") {
        0.5
    } else {
        1.0
    }
}

/// In the first second at most 965 kB arrive over both paths. The remaining data takes 1.7 s on the fast path, 2.8 s on the slow
/// one; the whole transfer over one path takes 3.3 s or 5.5 s. Data queued at the dead path fills the send buffers of the
/// connection: the other path is idle for 0.3 s, until the connection's timer fires, for each piece of this data. (Linux 6.12
/// in the VM took 3.7 to 4.9 s for a dead slow path, at 20 and 40 ms.)
#[test]
fn a_transfer_outlives_a_path_that_dies() {
    for algorithm in algorithms() {
        let keys = format!("algorithm = '{algorithm}'\nbytes = '2MB'");
        for (down, least, most) in [
            ("[[], { from = '1s' }]", 2.7, 4.9),
            ("[{ from = '1s' }, []]", 3.8, 6.5),
        ] {
            let scenario = two_paths(down, &keys, "stop = '60s'");
            let outcome = simulate(&scenario, 1, false).unwrap().outcome;
            let transfer = &outcome.connections[0];
            assert_eq!(transfer.bytes, 2_000_000, "{algorithm}, {down}");
            assert_eq!(transfer.note, None, "{algorithm}, {down}");
            let completion = transfer.completion_s.unwrap();
            let most = most / filled(algorithm);
            assert!(
                (least..most).contains(&completion),
                "{algorithm}, {down}: {completion} s"
            );
            assert_eq!(outcome.sim_seconds, completion);
            // Each direction of the dead path has losses, which are not counted as drops.
            let dead = if down.starts_with("[[]") {
                "path 2"
            } else {
                "path 1"
            };
            for link in &outcome.links {
                assert_eq!(link.losses > 0, link.name.starts_with(dead), "{link:?}");
            }
        }
    }
}

#[test]
fn a_transfer_dies_with_both_paths() {
    for algorithm in algorithms() {
        let keys = format!("algorithm = '{algorithm}'\nbytes = '2MB'");
        let scenario = two_paths("{ from = '1s' }", &keys, "stop = '60s'");
        let outcome = simulate(&scenario, 1, false).unwrap().outcome;
        let transfer = &outcome.connections[0];
        assert_eq!(transfer.completion_s, None, "{algorithm}");
        let note = transfer.note.as_deref();
        assert_eq!(note, Some("did not finish"), "{algorithm}");
        assert!(
            (300_000..965_000).contains(&transfer.bytes),
            "{algorithm}: {} bytes",
            transfer.bytes
        );
        assert_eq!(outcome.sim_seconds, 60.0, "{algorithm}");
    }
}

/// The second path is down from 2 s to 5 s. Timeouts double from about 200 ms: the first one after the outage fires at most about
/// the length of the outage later, and from 10 s on both paths are full again. An ACK that fills a gap may acknowledge 20
/// queued packets from before the interval: 8 % of a second.
#[test]
fn a_path_is_used_again_after_an_outage() {
    for algorithm in algorithms() {
        // Data of each subflow between two times, as a share of the capacity of its path.
        let shares = |from: u32, to: u32| -> Vec<f64> {
            let top = format!("warmup = '{from}s'\nstop = '{to}s'");
            let keys = format!("algorithm = '{algorithm}'");
            let scenario = two_paths("[[], { from = '2s', to = '5s' }]", &keys, &top);
            let outcome = simulate(&scenario, 1, false).unwrap().outcome;
            let share = |(subflow, mbps): (&lisa_scenario::outcome::SubflowOutcome, f64)| {
                subflow.bytes.unwrap() as f64 * 8e-6 / mbps / f64::from(to - from)
            };
            let subflows = outcome.connections[0].subflows.iter();
            subflows.zip([4.827, 2.896]).map(share).collect()
        };
        let full = 0.8 * filled(algorithm)..1.1;
        for (from, to, second) in [
            (1, 2, full.clone()),
            (3, 5, 0.0..0.0001),
            (10, 20, full.clone()),
        ] {
            let shares = shares(from, to);
            assert!(
                full.contains(&shares[0]) && second.contains(&shares[1]),
                "{algorithm}, {from} to {to} s: {shares:?}"
            );
        }
    }
}

/// Losses depend on the seed: different seeds lose different packets.
#[test]
fn losses_are_drawn_from_the_seed() {
    let lossy = ["topology.loss=5%"];
    let scenario = Scenario::parse_with(FILE, "example.toml", &lossy).unwrap();
    let losses = |seed| -> Vec<u64> {
        let run = simulate(&scenario, seed, false).unwrap();
        run.outcome.links.iter().map(|link| link.losses).collect()
    };
    assert_eq!(losses(1), losses(1));
    let several: std::collections::BTreeSet<_> = (1..9).map(losses).collect();
    assert!(several.len() > 2, "{several:?}");
    assert!(several.iter().flatten().any(|losses| *losses > 0));
}

/// A transfer beside an endless connection: the run ends with the transfer. With a warm-up, the endless connection is measured
/// until `stop`.
#[test]
fn a_warm_up_is_measured_until_the_end() {
    let endless = "\n[[connection]]\nname = 'long'\nalgorithm = 'reno'\n";
    let outcome = |top: &[&str]| {
        let scenario = Scenario::parse_with(&format!("{FILE}{endless}"), "example.toml", top);
        simulate(&scenario.unwrap(), 1, false).unwrap().outcome
    };
    let without = outcome(&[]);
    assert_eq!(
        Some(without.sim_seconds),
        without.connections[0].completion_s
    );
    let with = outcome(&["warmup=10s"]);
    assert_eq!(with.sim_seconds, 30.0);
    assert_eq!(
        with.connections[0].completion_s,
        without.connections[0].completion_s
    );
    // It has the whole 2.5 Mbit/s, of which 1448 of 1500 bytes are payload.
    let goodput = with.connections[1].goodput_mbps.unwrap();
    assert!((2.3..2.42).contains(&goodput), "{goodput}");
    // UDP is counted in whole packets.
    let udp = "connection.long={protocol='udp',rate='1Mbit'}";
    let goodput = outcome(&["warmup=10s", udp]).connections[1].goodput_mbps;
    assert!((0.999..1.001).contains(&goodput.unwrap()), "{goodput:?}");
    // A run of transfers ignores the warm-up.
    let warm = ["warmup=10s", "connection.long.bytes=300KB"];
    assert!(outcome(&warm).sim_seconds < 10.0);
}

/// The counters of a link after the warm-up are those of the whole run less those until the warm-up.
#[test]
fn links_count_from_the_warm_up() {
    let text = "[topology]\nkind = 'shared-bottleneck'\nrate = '2.5Mbit'\nrtt = '70ms'\nqueue = 30\n\
                [[connection]]\nalgorithm = 'reno'\n";
    let links = |top: &str| {
        let scenario = Scenario::parse(&format!("{top}\n{text}"), "warm.toml").unwrap();
        simulate(&scenario, 1, false).unwrap().outcome.links
    };
    let [until, all] = ["stop = '10s'", "stop = '60s'"].map(links);
    let after = links("stop = '60s'\nwarmup = '10s'");
    for ((until, all), after) in until.iter().zip(&all).zip(&after) {
        assert_eq!(after.packets, all.packets - until.packets);
        assert_eq!(after.drops, all.drops - until.drops);
        assert_eq!(after.queue_max_packets, all.queue_max_packets);
        let mean = (60.0 * all.queue_mean_packets - 10.0 * until.queue_mean_packets) / 50.0;
        assert!((after.queue_mean_packets - mean).abs() < 1e-9, "{after:?}");
        let rate = after.drops as f64 / after.packets as f64;
        assert_eq!(after.loss_rate, Some(rate));
    }
    let bottleneck = |links: &[LinkOutcome]| {
        let shaped = links.iter().filter(|link| link.drops > 0);
        shaped.map(|link| link.utilisation.unwrap()).next().unwrap()
    };
    assert!(bottleneck(&after) > 0.999, "{after:?}");
    assert!(bottleneck(&until) < 0.99, "slow start");
}

/// An outcome has the number of a subflow's path besides the number of the subflow.
#[test]
fn subflows_have_the_numbers_of_their_paths() {
    let keys = "bytes = '300KB'\npaths = [2, 1]";
    let scenario = two_paths("[[], []]", keys, "stop = '9s'");
    let outcome = simulate(&scenario, 1, false).unwrap().outcome;
    let subflows = &outcome.connections[0].subflows;
    let known: Vec<_> = subflows.iter().map(|s| (s.subflow, s.path)).collect();
    assert_eq!(known, [(1, 2), (2, 1)]);
    let alone = two_paths("[[], []]", "bytes = '300KB'\npath = 2", "stop = '9s'");
    let outcome = simulate(&alone, 1, false).unwrap().outcome;
    assert!(outcome.connections[0].subflows.iter().all(|s| s.path == 2));
    let busy = |link: &&LinkOutcome| link.utilisation > Some(0.0);
    let mut busy = outcome.links.iter().filter(busy);
    assert!(busy.all(|link| link.name.starts_with("path 2")));
}

/// If a subflow never leaves slow start, all retransmissions count as before its exit.
#[test]
fn without_an_end_of_slow_start_all_retransmissions_count() {
    let many = ["connection.download.subflows=64"];
    let scenario = Scenario::parse_with(FILE, "example.toml", &many).unwrap();
    let outcome = simulate(&scenario, 1, false).unwrap().outcome;
    let download = &outcome.connections[0];
    assert_eq!(download.sum_cwnd_at_slow_start_exit_segments, None);
    assert!(download.retransmits > 0);
    assert_eq!(download.retransmits_slow_start, download.retransmits);
    for subflow in &download.subflows {
        if subflow.slow_start_exit_s.is_none() {
            assert_eq!(subflow.retransmits_slow_start, subflow.retransmits);
        }
    }
}

/// The keys of a connection reach its endpoints.
#[test]
fn keys_reach_the_endpoints() {
    let outcome = |set: &[&str]| {
        let scenario = Scenario::parse_with(FILE, "example.toml", set).unwrap();
        simulate(&scenario, 1, false).unwrap().outcome
    };
    // With `ndiffports` the second and the third subflow join together, with `fullmesh` after the announcement of each address.
    let apart = |manager| {
        let manager = format!("connection.download.path_manager={manager}");
        let outcome = outcome(&[&manager, "connection.download.subflows=3"]);
        let subflows = &outcome.connections[0].subflows;
        subflows[2].established_s - subflows[1].established_s
    };
    assert!(apart("ndiffports") < 0.01);
    assert!(apart("fullmesh") > 0.05);
    let marks = |ecn| {
        let ecn = format!("connection.download.ecn={ecn}");
        let codel = "topology.queue={kind='codel',ecn=true}";
        let outcome = outcome(&[&ecn, codel]);
        outcome.links.iter().map(|link| link.marks).sum::<u64>()
    };
    assert!(marks(true) > 0);
    assert_eq!(marks(false), 0);
    let connection = |keys: &str| {
        let all = format!("connection=[{{name='download',{keys}}}]");
        outcome(&["stop=20s", &all]).connections.remove(0)
    };
    // Two gaps between three replies.
    let requests = connection("requests={count=3,bytes='10KB',gap='2s'}");
    assert_eq!(requests.bytes, 30_000);
    assert!((4.0..5.0).contains(&requests.completion_s.unwrap()));
    // The handshake of one and a half round trips of 70 ms, three replies and two gaps.
    assert_eq!(requests.requests_s.len(), 3);
    let replies: f64 = requests.requests_s.iter().sum();
    let handshake = requests.completion_s.unwrap() - replies - 4.0;
    assert!((0.105..0.107).contains(&handshake), "{handshake}");
    let turns = connection("protocol='udp',rate='1Mbit',on='100ms',off='900ms'");
    assert!((0.09..0.11).contains(&turns.goodput_mbps.unwrap()));
}
