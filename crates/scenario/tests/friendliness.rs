//! What CSS and NMCC do beside other flows, with the scenario files of their papers: docs/algorithms/css.md and nmcc.md have
//! the figures.

use std::path::Path;

use lisa_scenario::outcome::ConnectionOutcome;
use lisa_scenario::{Scenario, simulate};

/// The connections of a file under `experiments/`, with these keys changed.
fn run(file: &str, set: &[&str], seed: u64) -> Vec<ConnectionOutcome> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    let scenario = Scenario::load_with(path.join(file), set);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    let run = simulate(&scenario, seed, false).unwrap_or_else(|error| panic!("{file}: {error}"));
    run.outcome.connections
}

fn goodput(connection: &ConnectionOutcome) -> f64 {
    connection.goodput_mbps.unwrap()
}

/// What the short flow sends again, mean of ten seeds.
fn retransmits(algorithm: &str, queue: u32) -> f64 {
    let algorithm = format!("connection.short.algorithm={algorithm}");
    let queue = format!("topology.queue={queue}");
    let of = |seed| run("css/fig5.toml", &[&algorithm, &queue], seed)[0].retransmits as f64;
    (1..=10).map(of).sum::<f64>() / 10.0
}

/// Figure 5: far fewer losses than MPTCP and LISA have, and none, as TCP, where the buffer holds con_ssthresh and what the
/// long flow has grown to.
#[test]
fn css_loses_less_at_a_shared_bottleneck() {
    for queue in [50, 60, 70, 80] {
        let [css, lia, lisa] = ["css", "lia", "lisa"].map(|name| retransmits(name, queue));
        assert!(
            css < 0.7 * lia && css < 0.7 * lisa,
            "queue {queue}: {css}, {lia}, {lisa}"
        );
    }
    for queue in [90, 100, 120] {
        assert_eq!(retransmits("css", queue), 0.0, "queue {queue}");
    }
    assert!(retransmits("lia", 100) > 5.0);
}

/// The multipath connection's part of what it and its rival get, mean of so many seeds.
fn share(algorithm: &str, subflows: u32, set: &[&str], seeds: u64) -> f64 {
    let algorithm = format!("connection.multi.algorithm={algorithm}");
    let subflows = format!("connection.multi.subflows={subflows}");
    let set = [&[&algorithm, &subflows, "stop=150s", "warmup=50s"], set].concat();
    let of = |seed| {
        let connections = run("nmcc/fig5.toml", &set, seed);
        let [multi, rival] = [0, 1].map(|i| goodput(&connections[i]));
        multi / (multi + rival)
    };
    (1..=seeds).map(of).sum::<f64>() / seeds as f64
}

/// Figure 5: two subflows take half of a link within ten points, and less than they would uncoupled.
#[test]
fn nmcc_with_two_subflows_takes_about_half_of_a_link() {
    let [nmcc, uncoupled] = ["nmcc", "reno"].map(|name| share(name, 2, &[], 12));
    assert!((0.4..=0.6).contains(&nmcc), "{nmcc}");
    assert!(uncoupled > nmcc + 0.03, "{uncoupled}, {nmcc}");
}

/// Why it is not half: each subflow loses for itself. With losses that hit each packet alike, N subflows of growth 1/N have
/// √(2/(N·p)) each, √N of what Reno has in all.
#[test]
fn nmcc_takes_the_root_of_its_subflows_where_losses_are_independent() {
    let random = [
        "topology.rate=1Gbit",
        "topology.queue=100000",
        "topology.loss=0.002",
        "topology.rtt=50ms",
    ];
    for n in [1, 2, 4] {
        let share = share("nmcc", n, &random, 3);
        let root = f64::from(n).sqrt();
        let expected = root / (1.0 + root);
        assert!(
            (share / expected - 1.0).abs() < 0.1,
            "{n} subflows: {share}, not {expected}"
        );
    }
}

/// Table 1: two paths that share nothing give at least what the best of them does.
#[test]
fn nmcc_over_two_bottlenecks_gets_what_the_best_path_has() {
    let set = [
        "stop=60s",
        "warmup=20s",
        "topology.rate=[\"10Mbit\", \"4Mbit\"]",
    ];
    for seed in 1..=2 {
        let both = goodput(&run("nmcc/table1.toml", &set, seed)[0]);
        let one = [
            &set[..],
            &["connection.multi.subflows=1", "connection.multi.path=1"],
        ]
        .concat();
        let best = goodput(&run("nmcc/table1.toml", &one, seed)[0]);
        assert!(both > 1.2 * best && best > 8.0, "{both}, alone {best}");
    }
}
