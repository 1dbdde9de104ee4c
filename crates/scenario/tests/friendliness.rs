//! CSS and NMCC beside other flows, with the scenario files of their papers: docs/algorithms/css.md and nmcc.md have the
//! figures.

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

/// Retransmissions of the short flow, mean of ten seeds.
fn retransmits(algorithm: &str, queue: u32) -> f64 {
    let algorithm = format!("connection.short.algorithm={algorithm}");
    let queue = format!("topology.queue={queue}");
    let of = |seed| run("css/fig5.toml", &[&algorithm, &queue], seed)[0].retransmits as f64;
    (1..=10).map(of).sum::<f64>() / 10.0
}

/// Figure 5: far fewer losses than with MPTCP and LISA, and none, as with TCP, where the buffer holds con_ssthresh and the
/// window of the long flow.
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

/// Share of the multipath connection in the goodput of both connections, mean of this many seeds.
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

/// Figure 5: two subflows take half of a link within ten percentage points, and less than uncoupled ones.
#[test]
fn nmcc_with_two_subflows_takes_about_half_of_a_link() {
    let [nmcc, uncoupled] = ["nmcc", "reno"].map(|name| share(name, 2, &[], 12));
    assert!((0.4..=0.6).contains(&nmcc), "{nmcc}");
    assert!(uncoupled > nmcc + 0.03, "{uncoupled}, {nmcc}");
}

/// The reason for more than half: the losses of each subflow are independent. With one loss probability p for all packets, N
/// subflows with a growth of 1/N have windows of √(2/(N·p)) each, in total √N times Reno's.
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

/// Table 1: two disjoint paths give at least the goodput of the better one.
#[test]
fn nmcc_over_two_bottlenecks_has_the_goodput_of_the_best_path() {
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
