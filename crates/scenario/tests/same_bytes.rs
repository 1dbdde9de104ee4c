//! Equal bytes on every machine and with any number of threads: outcomes without the elapsed time, and all files of a trace.
//! A change of behaviour changes digests; the same commit has the new ones.
//!
//! The digests cover the draws of all kinds of links and applications, and the statistics of several runs. Functions that
//! differ between libraries (a logarithm, a power) must not have an effect on results.

use std::fs;
use std::path::{Path, PathBuf};

use lisa_scenario::export::{self, columns::Format};
use lisa_scenario::statistics::Mean;
use lisa_scenario::{Scenario, simulate};

/// Two subflows over RED.
const TWO_PATHS: &str = r#"
title = "two paths"
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

/// Five kinds of path, and all random keys of a connection.
const ALL: &str = r#"
title      = "all that is drawn"
stop       = "12s"
warmup     = "1s"
rtt_spread = "10%"
rate_phase = { from = "0s", to = "30s" }

[topology]
kind    = "graph"
hosts   = ["server", "client"]
routers = ["red", "codel", "fair", "bytes", "line"]

[[topology.link]]
from  = "server"
to    = "red"
rate  = "5Mbit"
delay = "20ms"
queue = { kind = "red" }
loss  = "0.5%"

[[topology.link]]
from  = "server"
to    = "codel"
rate  = "7Mbit"
delay = "10ms"
queue = { kind = "codel", ecn = true }
loss  = { enter = "0.1%", leave = "20%" }

[[topology.link]]
from    = "server"
to      = "fair"
rate    = "6Mbit"
delay   = "30ms"
queue   = { kind = "fq-codel" }
reorder = { share = "1%", delay = "15ms" }
jitter  = "3ms"

[[topology.link]]
from  = "server"
to    = "bytes"
rate  = "4Mbit"
delay = "5ms"
queue = { kind = "droptail", bytes = "30KB" }
down  = { from = "4s", to = "5s" }

[[topology.link]]
from  = "server"
to    = "line"
rate  = { trace = "steps.trace" }
delay = "5ms"
queue = 20

[[topology.link]]
from  = "red"
to    = "client"
delay = "3ms"
[[topology.link]]
from  = "codel"
to    = "client"
delay = "7ms"
[[topology.link]]
from  = "fair"
to    = "client"
delay = "1ms"
[[topology.link]]
from  = "bytes"
to    = "client"
delay = "2ms"
[[topology.link]]
from  = "line"
to    = "client"
delay = "4ms"

[[connection]]
from      = "server"
to        = "client"
protocol  = "mptcp"
algorithm = "lisa"
subflows  = 5
ecn       = true

[[connection]]
from      = "server"
to        = "client"
algorithm = "cubic"
bytes     = "200KB"
arrivals  = { count = 12, gap = { mean = "600ms" } }

[[connection]]
from     = "server"
to       = "client"
profile  = "linux-3.14"
protocol = "mptcp"
requests = { count = 6, bytes = "80KB", gap = { mean = "700ms" } }
start    = { from = "100ms", to = "900ms" }

[[connection]]
from     = "server"
to       = "client"
profile  = "ns3-newreno"
algorithm = "reno"

[[connection]]
from     = "server"
to       = "client"
protocol = "udp"
rate     = "1Mbit"
on       = { mean = "300ms" }
off      = { from = "100ms", to = "200ms" }
count    = 3
"#;

/// FNV-1a, 64 bits. Rust's own hashes may change between versions.
#[derive(Clone, Copy)]
struct Digest(u64);

impl Digest {
    const EMPTY: Self = Self(0xcbf2_9ce4_8422_2325);

    fn add(self, bytes: &[u8]) -> Self {
        Self(bytes.iter().fold(self.0, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    fn show(self) -> String {
        format!("{:016x}", self.0)
    }
}

/// A test's folder, which is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        // 6 Mbit/s in steps.
        fs::write(
            folder.join("steps.trace"),
            "1\n1\n2\n5\n9\n9\n9\n10\n14\n20\n",
        )
        .unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Digest of the outcome and the files of a run.
fn run(text: &str, seed: u64, folder: &Path) -> Digest {
    let file = folder.join("a.toml").display().to_string();
    let scenario = Scenario::parse(text, &file).unwrap_or_else(|error| panic!("{error}"));
    let mut run = simulate(&scenario, seed, true).unwrap();
    run.outcome.wall_seconds = None;
    let mut digest = Digest::EMPTY.add(&serde_json::to_vec(&run.outcome).unwrap());
    for format in [Format::Csv, Format::Parquet] {
        export::write_trace(
            &run,
            folder,
            &export::stem(&run.outcome.scenario, ""),
            format,
        )
        .unwrap();
    }
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    files.sort();
    for file in files {
        digest = digest.add(&fs::read(file).unwrap());
    }
    digest
}

/// The digest of this thread and of three parallel ones, which must be equal.
fn on_threads(digest: impl Fn(usize) -> String + Sync) -> String {
    let here = digest(0);
    let there: Vec<String> = std::thread::scope(|scope| {
        let digest = &digest;
        let threads: Vec<_> = (1..4).map(|n| scope.spawn(move || digest(n))).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert!(there.iter().all(|digest| *digest == here));
    here
}

#[test]
fn of_each_algorithm() {
    let digests = ["lisa", "lia", "cubic", "reno"].map(|algorithm| {
        on_threads(|thread| {
            let folder = Folder::new(&format!("two-paths-{algorithm}-{thread}"));
            run(&TWO_PATHS.replace("ALGORITHM", algorithm), 7, &folder.0).show()
        })
    });
    assert_eq!(
        digests,
        [
            "fce8cd20e6fee154",
            "e590b9db22e3af3d",
            "38bd0cbf7b1db13b",
            "2997f15585b2fa35"
        ]
    );
}

#[test]
fn of_all_random_keys() {
    let digests = [1, 2].map(|seed| {
        on_threads(|thread| {
            let folder = Folder::new(&format!("all-{seed}-{thread}"));
            run(ALL, seed, &folder.0).show()
        })
    });
    assert_eq!(digests, ["fed58130ec7a7520", "d77c337e85c92443"]);
}

#[test]
fn of_means() {
    let mut digest = Digest::EMPTY;
    for n in 2..300 {
        let values: Vec<f64> = (0..n).map(|i| f64::from(i * i % 37) / 7.0).collect();
        let Mean { mean, ci95, .. } = Mean::of(&values).unwrap();
        digest = digest.add(&mean.to_bits().to_le_bytes());
        digest = digest.add(&ci95.unwrap().to_bits().to_le_bytes());
    }
    assert_eq!(digest.show(), "d0c29c44b63925fa");
}
