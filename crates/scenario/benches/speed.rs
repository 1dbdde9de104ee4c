//! Performance of scenarios on simulated endpoints: packet hops per second on one core, cost of a trace, gain of a second core,
//! and memory. `cargo bench -p lisa-scenario`; `bench/README.md` describes the measurement.
//!
//! Each scenario runs for at least three seconds and at least `BENCH_ROUNDS` (5) times. The fastest round counts: other load on
//! the machine can only slow a round down.

use lisa_scenario::{Scenario, batch, simulate};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// Scenario, and the least packet hops per second (millions).
const SCENARIOS: [(&str, f64); 3] = [
    ("one-connection", 36.0),
    ("fat-tree-4", 28.0),
    ("fat-tree-8", 18.0),
];

/// Memory limit of the largest scenario, MiB.
const MEMORY: f64 = 32.0;

fn main() {
    let rounds: usize =
        std::env::var("BENCH_ROUNDS").map_or(5, |text| text.parse().expect("a number"));
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    let mut failed = Vec::new();
    println!(
        "{:<16} {:>12} {:>10} {:>8} {:>8} {:>14}",
        "scenario", "hops", "M hops/s", "ns/hop", "at least", "with a trace"
    );
    for (name, least) in SCENARIOS {
        if only
            .as_ref()
            .is_some_and(|only| !name.contains(only.as_str()))
        {
            continue;
        }
        let scenario = load(name);
        let (hops, quiet) = fastest(rounds, &scenario, false);
        let speed = hops as f64 / quiet / 1e6;
        let memory = peak_mib();
        // The trace of a long run takes much memory: the shorter runs show the cost.
        let traced = if name == "fat-tree-8" {
            "–".into()
        } else {
            format!("{:.2} ×", fastest(rounds.min(3), &scenario, true).1 / quiet)
        };
        println!(
            "{name:<16} {hops:>12} {speed:>10.1} {:>8.1} {least:>8} {traced:>14}",
            1e3 / speed
        );
        if only.as_deref() == Some(name) && name == "fat-tree-8" {
            println!("memory at the most: {memory:.1} MiB");
            if memory > MEMORY {
                failed.push(format!("{name}: {memory:.1} MiB are more than {MEMORY}"));
            }
        }
        if speed < least {
            failed.push(format!("{name}: {speed:.1} M hops/s are less than {least}"));
        }
    }
    if only.is_none() {
        in_parallel();
    }
    assert!(failed.is_empty(), "{}", failed.join("; "));
}

fn load(name: &str) -> Scenario {
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../bench")
        .join(format!("{name}.toml"));
    Scenario::load(file).unwrap_or_else(|error| panic!("{error}"))
}

/// Least time of all rounds: a short scenario needs many rounds until one is undisturbed.
const AT_LEAST: Duration = Duration::from_secs(3);

/// Hops, and the seconds of the fastest round.
fn fastest(rounds: usize, scenario: &Scenario, trace: bool) -> (u64, f64) {
    let mut best = (0, f64::INFINITY);
    let (first, mut round) = (Instant::now(), 0);
    while round < rounds || first.elapsed() < AT_LEAST {
        round += 1;
        let begun = Instant::now();
        let run = simulate(scenario, 1, trace).expect("it runs");
        best = (
            run.outcome.packet_hops,
            best.1.min(begun.elapsed().as_secs_f64()),
        );
    }
    best
}

/// Eight seeds on one thread and on two, in turn.
fn in_parallel() {
    let scenario = Arc::new(load("fat-tree-4"));
    let time = |threads: usize| {
        let scenario = scenario.clone();
        let work = move |number: usize| simulate(&scenario, number as u64 + 1, false);
        let begun = Instant::now();
        let done = |_, _| Ok(());
        batch::in_order(8, threads, &AtomicBool::new(false), work, |_| {}, done).expect("it runs");
        begun.elapsed().as_secs_f64()
    };
    let ratios: Vec<f64> = (0..3).map(|_| time(1) / time(2)).collect();
    let best = ratios.iter().copied().fold(0.0, f64::max);
    println!("eight seeds on two cores: {best:.2} × as fast as on one");
}

/// Peak memory of this process, MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("VmHWM");
    let kib: f64 = line
        .split_whitespace()
        .nth(1)
        .expect("a number")
        .parse()
        .expect("a number");
    kib / 1024.0
}
