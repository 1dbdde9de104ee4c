//! Instructions a hop, counted by callgrind: the measure of speed that another program on the machine does not change.
//!
//! `cargo bench -p lisa-scenario --bench instructions` fails where a count differs from the recorded one by more than 3 %: record
//! the new one here and in `bench/README.md`. The compilers are pinned (rust-toolchain.toml); another C compiler may move a count.
//! Each scenario runs twice, and the shorter run is subtracted: start and end of the program do not count.

use lisa_scenario::{Scenario, simulate};
use netsim::Span;
use std::path::Path;
use std::process::Command;

/// A scenario of `bench/`.
struct Measured {
    name: &'static str,
    /// Network times of the shorter and of the longer run, ms.
    stops: [u64; 2],
    /// Recorded instructions a hop.
    recorded: f64,
}

const MEASURED: [Measured; 3] = [
    Measured {
        name: "one-connection",
        stops: [100_000, 200_000],
        recorded: 736.0,
    },
    Measured {
        name: "fat-tree-4",
        stops: [100, 300],
        recorded: 485.0,
    },
    Measured {
        name: "fat-tree-8",
        stops: [50, 100],
        recorded: 513.0,
    },
];

/// Largest difference from a recorded count.
const TOLERANCE: f64 = 0.03;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, name, stop] = &arguments[..] {
        assert_eq!(mode, "run");
        return run(name, stop.parse().expect("milliseconds"));
    }
    let mut failed = Vec::new();
    println!(
        "{:<16} {:>18} {:>9}",
        "scenario", "instructions/hop", "recorded"
    );
    for Measured {
        name,
        stops,
        recorded,
    } in MEASURED
    {
        let [short, long] = stops.map(|stop| count(name, stop));
        let each = (long.instructions - short.instructions) / (long.hops - short.hops);
        println!("{name:<16} {each:>18.1} {recorded:>9}");
        if (each / recorded - 1.0).abs() > TOLERANCE {
            failed.push(format!(
                "{name}: {each:.1} instructions a hop, {recorded} are recorded"
            ));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("; "));
}

/// Runs a scenario of `bench/` for so many milliseconds of network time and prints its hops.
fn run(name: &str, stop: u64) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench");
    let mut scenario = Scenario::load(folder.join(format!("{name}.toml"))).expect("a scenario");
    scenario.stop = Span::from_millis(stop);
    let run = simulate(&scenario, 1, false).expect("the scenario runs");
    println!("{}", run.outcome.packet_hops);
}

/// Counts of one run.
struct Count {
    instructions: f64,
    hops: f64,
}

/// Runs this program under callgrind.
fn count(name: &str, stop: u64) -> Count {
    let program = std::env::current_exe().expect("its own path");
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(["run", name, &stop.to_string()])
        .output()
        .expect("valgrind runs: `make setup` installs it");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert!(output.status.success(), "{stderr}");
    let collected = stderr
        .split("Collected : ")
        .nth(1)
        .expect("callgrind's count");
    let number = |text: &str| -> f64 {
        let first = text.split_whitespace().next().expect("a number");
        first.parse().expect("a number")
    };
    Count {
        instructions: number(collected),
        hops: number(&stdout),
    }
}
