//! The scenario files under `experiments/`: all run, and the reproduced claims of LISA's paper stay reproduced.

use std::fs;
use std::path::{Path, PathBuf};

use lisa_scenario::outcome::ConnectionOutcome;
use lisa_scenario::trace::{Phase, Row};
use lisa_scenario::{Run, Scenario, simulate};

fn experiments() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments")
}

fn run(file: &str, set: &[&str], seed: u64) -> Run {
    let scenario = Scenario::load_with(experiments().join(file), set);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, seed, true).unwrap_or_else(|error| panic!("{file}: {error}"))
}

#[test]
fn every_file_runs() {
    let mut files = Vec::new();
    for folder in fs::read_dir(experiments()).unwrap() {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            files.push(file.unwrap().path());
        }
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "toml"));
    assert!(files.len() >= 7, "{files:?}");
    for file in files {
        let outcome = run(
            file.to_str().unwrap(),
            &["stop=300ms", "warmup=0s", "connection.*.start=0s"],
            1,
        )
        .outcome;
        assert!(outcome.packet_hops > 0, "{}: nothing ran", file.display());
    }
}

/// Window and threshold when the first loss is detected.
fn first_loss(run: &Run) -> (u32, u32) {
    let before = |pair: &[Row]| pair[1].phase == Phase::Recovery;
    let at = run.rows.windows(2).position(before).expect("a loss");
    (run.rows[at].cwnd, run.rows[at + 1].ssthresh.unwrap())
}

fn drops(run: &Run) -> u64 {
    run.outcome.links.iter().map(|link| link.drops).sum()
}

/// LISA's section IV: 10 segments in the first round trip and 20 in the second; the path holds 17 and the queue one. A window
/// of 20 is reduced to 10, 55 % of the 18.
#[test]
fn the_example_of_a_small_queue() {
    let first = run("lisa/example.toml", &["connection.flow.bytes=14480"], 1);
    assert_eq!(drops(&first), 0, "the first ten fit");
    let both = run("lisa/example.toml", &[], 1);
    assert_eq!(drops(&both), 2);
    assert_eq!(first_loss(&both), (20, 10));
    assert_eq!(100 * 10 / 18, 55);
}

/// Not in the example: slow start continues until the loss is detected, here for another ten ACKs.
#[test]
fn slow_start_continues_until_a_loss_is_detected() {
    let on = ["connection.flow.initial_ssthresh=1MB"];
    let run = run("lisa/example.toml", &on, 1);
    assert_eq!(drops(&run), 2);
    assert_eq!(first_loss(&run), (30, 15));
}

/// Not in the example: the initial window is a burst. One segment is in transmission and one is queued; eight are lost. The
/// two ACKs make a window of 12.
#[test]
fn a_burst_of_ten_into_a_queue_of_one_loses_eight() {
    let set = [
        "topology.access.rate=10Gbit",
        "connection.flow.initial_ssthresh=1MB",
    ];
    let first: Vec<&str> = set
        .into_iter()
        .chain(["connection.flow.bytes=14480", "stop=100ms"])
        .collect();
    assert_eq!(drops(&run("lisa/example.toml", &first, 1)), 8);
    assert_eq!(first_loss(&run("lisa/example.toml", &set, 1)), (12, 6));
}

/// Difference of a metric between LISA and MPTCP, for each of three seeds.
fn differences(
    queue: u32,
    profile: &str,
    join: &str,
    metric: fn(&ConnectionOutcome) -> f64,
) -> [f64; 3] {
    let of = |algorithm: &str, seed: u64| {
        let set = [
            &format!("topology.queue={queue}"),
            &format!("connection.download.profile={profile}"),
            &format!("connection.download.join_delay={join}"),
            &format!("connection.download.algorithm={algorithm}"),
        ];
        let run = run("lisa/fig6.toml", &set.map(String::as_str), seed);
        metric(&run.outcome.connections[0])
    };
    [1, 2, 3].map(|seed| of("lisa", seed) - of("lia", seed))
}

fn r_ss(connection: &ConnectionOutcome) -> f64 {
    connection.retransmits_slow_start as f64
}

/// Figure 6a: with a queue below 9 packets the first subflow has left slow start before the second joins, and LISA takes no
/// credit. From 11 on, where the second joins at a window of 40 as in the paper's example, LISA has fewer retransmissions in
/// slow start. (Not at 12 with the profile of today's Linux, whose receivers and buffers differ.)
#[test]
fn r_ss_is_similar_with_small_queues_and_lower_with_all_others() {
    let profile = "linux-3.14";
    for queue in [2, 5, 7] {
        let here = differences(queue, profile, "40ms", r_ss);
        assert_eq!(here, [0.0; 3], "queue {queue}");
    }
    for queue in [12, 17, 25, 34] {
        let here = differences(queue, profile, "40ms", r_ss);
        assert!(here.iter().all(|d| *d < 0.0), "queue {queue}: {here:?}");
    }
}

/// A second subflow that joins as early as possible overshoots in the next round trip. With LISA its losses are further apart
/// with queues from 21 to 30.
#[test]
fn r_ss_depends_on_when_the_second_subflow_joins() {
    for (queue, lower) in [(16, true), (17, true), (24, false), (27, false)] {
        let here = differences(queue, "linux-3.14", "0ms", r_ss);
        assert!(
            here.iter().all(|d| (*d < 0.0) == lower),
            "queue {queue}: {here:?}"
        );
    }
}

/// Figure 6c: a file that the first subflow has sent before the join takes the same time with LISA and without.
#[test]
fn a_file_that_ends_before_the_join_is_the_same() {
    let set = ["connection.download.bytes=40KB", "topology.queue=9"];
    let of = |algorithm: &str| {
        let algorithm = format!("connection.download.algorithm={algorithm}");
        let run = run("lisa/fig6.toml", &[set[0], set[1], &algorithm], 1);
        run.outcome.connections[0].completion_s.unwrap()
    };
    assert_eq!(of("lisa"), of("lia"));
}
