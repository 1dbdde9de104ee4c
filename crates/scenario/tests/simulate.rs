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
