//! Scenarios on simulated endpoints.

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
fn the_example_of_the_design() {
    let scenario = Scenario::parse(FILE, "example.toml").unwrap();
    let run = simulate(&scenario, 1, true).unwrap();
    let download = &run.outcome.connections[0];
    assert_eq!(download.bytes, 300_000);
    assert!((1.0..2.0).contains(&download.completion_s.unwrap()));
    assert!(!run.rows.is_empty());
    assert_eq!(run.credits.len(), 1);
    let settled = run.credits[0].settled.as_ref().unwrap();
    assert_eq!(settled.sum_before, settled.sum_after);
}

/// Every kind of network and queue reaches the simulator: users of scenario C share what its two access points give.
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

/// FNV-1a, 64 bits: what Rust's own hashes need not be from one version to the next, this stays.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The same bytes on every machine, at every number of threads: the outcome without what the clock on the wall says, and
/// every row of the trace. A change of behaviour changes the digest, and is to be seen in the change that makes it.
#[test]
fn the_same_seed_gives_the_same_bytes_everywhere() {
    const RANDOM: &str = r#"
title = "all that is drawn"
stop  = "20s"

[topology]
kind  = "non-shared-bottleneck"
rate  = ["5Mbit", "8Mbit"]
rtt   = ["40ms", "70ms"]
queue = { kind = "red", min = 5, max = 15, max_p = 0.1 }
loss  = 0.002

[[connection]]
name      = "download"
protocol  = "mptcp"
algorithm = "ALGORITHM"
subflows  = 2
bytes     = "2MB"
"#;
    let digests = || {
        ["lisa", "mptcp", "cubic", "reno"].map(|algorithm| {
            let text = RANDOM.replace("ALGORITHM", algorithm);
            let scenario = Scenario::parse(&text, "random.toml").unwrap();
            let mut run = simulate(&scenario, 7, true).unwrap();
            run.outcome.wall_seconds = 0.0;
            let mut bytes = serde_json::to_vec(&run.outcome).unwrap();
            assert_eq!(run.outcome.connections[0].bytes, 2_000_000);
            lisa_scenario::trace::write_csv(&run.rows, &mut bytes).unwrap();
            format!("{:016x}", digest(&bytes))
        })
    };
    let here = digests();
    let there = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..3).map(|_| scope.spawn(digests)).collect();
        threads
            .into_iter()
            .map(|t| t.join().unwrap())
            .collect::<Vec<_>>()
    });
    assert!(there.iter().all(|digest| *digest == here));
    assert_eq!(
        here,
        [
            "e894385330f7b8de",
            "be943ddcc90af139",
            "0d21607508c77934",
            "d7c4cf079c07f8b9"
        ]
    );
}
