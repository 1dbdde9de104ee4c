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
