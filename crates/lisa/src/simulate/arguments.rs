//! The arguments of `run`, `compare` and `sweep`.

use std::path::PathBuf;

use super::metrics::Names;
use crate::algorithms::Algorithms;
use clap::{Args, ValueEnum, ValueHint};
use scenario::export::columns::Format;

/// What all three have.
#[derive(Args)]
pub struct Common {
    /// The scenario, a TOML file.
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: PathBuf,
    /// The kernel of `--on vm`: a vmlinuz of 6.1 or later, with its modules where its package has them [default: the one
    /// that `make setup` fetches].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub kernel: Option<PathBuf>,
    /// Change a key of the file, or add it: `stop=10s`, `bottleneck.queue=17`, `connection.download.bytes=4MB`,
    /// `connection.*.algorithm=lisa`; `bottleneck` is another word for `topology`. Can be given several times.
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Simulations or VMs at a time [default: one for each core]. The results are the same for any number; on the host
    /// one runs after the other.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub jobs: Option<u16>,
}

/// Where scenarios run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum On {
    /// Simulated endpoints, in virtual time.
    Sim,
    /// This kernel's endpoints in network namespaces, in real time; needs root.
    Host,
    /// The endpoints of a kernel in QEMU, in virtual time; needs no root.
    Vm,
}

impl On {
    /// As in outcomes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Host => "host",
            Self::Vm => "vm",
        }
    }

    /// As people read it.
    pub fn place(self) -> &'static str {
        match self {
            Self::Sim => "simulated",
            Self::Host => "on this host",
            Self::Vm => "in a VM",
        }
    }
}

/// `lisa run`.
#[derive(Args)]
#[command(after_help = AFTER_RUN)]
pub struct Run {
    #[command(flatten)]
    pub common: Common,
    /// Where to run it.
    #[arg(long, value_name = "BACKEND", value_enum, default_value_t = On::Sim)]
    pub on: On,
    /// The seed of one run: what is random in the scenario is drawn from it.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Run with each of the seeds from 1 to N; tables then have means with 95 % confidence intervals.
    #[arg(long, value_name = "N", conflicts_with = "seed", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: Option<u32>,
    /// Print an outcome a line, in the order of the seeds (schema lisa.outcome/4), instead of tables.
    #[arg(long)]
    pub json: bool,
    /// With --json: fill in `wall_seconds`, how long each run took. Otherwise it is null, so that a simulation of one
    /// scenario and one seed prints the same bytes on any machine.
    #[arg(long, requires = "json")]
    pub timing: bool,
    /// Write what happened at the senders into this directory: for each seed TITLE-seed-N.parquet, with a row an event
    /// (time since the run began, connection, subflow, cwnd, ssthresh, srtt, flight, phase; seconds and
    /// segments), and TITLE-seed-N.credits.jsonl.
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub trace: Option<PathBuf>,
    /// What the table of a trace is written as.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TraceFormat::Parquet, requires = "trace")]
    pub trace_format: TraceFormat,
    /// Write the packets into this directory, for each seed TITLE-seed-N.pcap, which Wireshark, tshark and tcpdump read: IPv4
    /// with TCP, MPTCP and UDP, as if captured where the data are sent from. Time 0 is the begin of the run. In a simulation
    /// the payload is zeros and timestamps are made up (docs/scenario.md says what else).
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath)]
    pub pcap: Option<PathBuf>,
}

/// A trace's file.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum TraceFormat {
    /// Apache Parquet.
    Parquet,
    /// Comma-separated values.
    Csv,
}

impl From<TraceFormat> for Format {
    fn from(format: TraceFormat) -> Self {
        match format {
            TraceFormat::Parquet => Self::Parquet,
            TraceFormat::Csv => Self::Csv,
        }
    }
}

const AFTER_RUN: &str = "Examples:
  lisa run download.toml
  lisa run download.toml --seeds 100 --set bottleneck.queue=9
  lisa run download.toml --seeds 100 --json | jq '.connections[0].completion_s'
  lisa run download.toml --trace out --trace-format csv
  lisa run download.toml --pcap out && tshark -r out/*.pcap -Y tcp.analysis.retransmission
  sudo lisa run download.toml --on host
  lisa run download.toml --on vm --seeds 4";

/// `lisa compare`.
#[derive(Args)]
#[command(after_help = AFTER_COMPARE)]
pub struct Compare {
    #[command(flatten)]
    pub common: Common,
    /// Where to run it. Several, with commas, are compared: each algorithm runs on each with the same seeds, and what it
    /// comes to is held against the first.
    #[arg(
        long,
        value_name = "LIST",
        value_enum,
        value_delimiter = ',',
        default_value = "sim"
    )]
    pub on: Vec<On>,
    /// The algorithms, with commas; the others are compared with the first. On the host and
    /// in the VM also Linux's own, like `bbr`.
    #[arg(short, long, value_name = "LIST", required = true, value_delimiter = ',', value_parser = Algorithms::all())]
    pub algorithms: Vec<String>,
    /// Whose algorithm is replaced [default: all MPTCP connections; where there is none, all TCP ones]. Can be given
    /// several times.
    #[arg(long, value_name = "NAME")]
    pub connection: Vec<String>,
    /// Run with each of the seeds from 1 to N. All algorithms get the same seeds, and differences are taken seed by seed.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: u32,
    /// What is shown of the runs, with commas, in this order [default: how long, how fast, windows, retransmissions, shares].
    /// Any number of an outcome (docs/outcome.schema.json) by its name there: of connections `goodput_mbps`, of their
    /// subflows `subflows.srtt`, of links `links.utilisation`.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Names)]
    pub metrics: Vec<String>,
    /// Print a line of JSON for each algorithm and backend (schema lisa.compare/3: `n`, and for each metric of each connection,
    /// subflow, link and run `mean` and `ci95`, and the same of the `difference` to the first algorithm
    /// and of the `backend_difference` to the first backend) instead of tables.
    #[arg(long)]
    pub json: bool,
    /// Draw the windows over time with seed 1, an algorithm beside the other, and the metrics, all of the first connection
    /// whose algorithm is replaced. Several backends' windows lie over each other.
    #[arg(long, value_name = "FILE.svg", value_hint = ValueHint::FilePath, value_parser = svg)]
    pub plot: Option<PathBuf>,
}

/// The name of a file for a drawing, which is an SVG whatever the name says.
fn svg(name: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(name);
    if path.extension().is_some_and(|end| end == "svg") {
        return Ok(path);
    }
    Err("a drawing is an SVG, and a name ends with .svg".into())
}

const AFTER_COMPARE: &str = "Intervals are at 95 %, by Student's t. Where the interval of a difference has zero in it, \
the runs show no clear difference.
Shares and Jain's fairness index are of the goodputs of all connections of a run (docs/scenario.md).

Examples:
  lisa compare download.toml -a lia,lisa --seeds 100
  lisa compare download.toml -a lia,lisa,reno --set bottleneck.queue=9 --plot windows.svg
  lisa compare download.toml -a lia,lisa --on sim,vm --plot windows.svg     # how far simulator and kernel agree
  lisa compare download.toml -a lia,lisa --metrics goodput_mbps,subflows.srtt,links.queue_mean
  lisa compare download.toml -a lia,lisa --json | jq -c '[.algorithm, .connections[0].completion_s.mean]'";

/// `lisa sweep`.
#[derive(Args)]
#[command(after_help = AFTER_SWEEP)]
pub struct Sweep {
    #[command(flatten)]
    pub common: Common,
    /// Where to run it.
    #[arg(long, value_name = "BACKEND", value_enum, default_value_t = On::Sim)]
    pub on: On,
    /// A key, as --set takes it, and its values: `9,17,30`, `1..34`, `1..34/3` in steps of 3, `50KB..900KB/50KB`. Given
    /// several times, all combinations run.
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    pub vary: Vec<String>,
    /// Run each combination with each of these algorithms, with commas [default: those of the file]. The table has the
    /// differences to the first, seed by seed.
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', value_parser = Algorithms::all())]
    pub algorithms: Vec<String>,
    /// Whose algorithm is replaced [default: all MPTCP connections; where there is none, all TCP ones].
    #[arg(long, value_name = "NAME", requires = "algorithms")]
    pub connection: Vec<String>,
    /// Run with each of the seeds from 1 to N.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: u32,
    /// What is shown of the runs, with commas, in this order [default: how long, how fast, windows, retransmissions, shares].
    /// Any number of an outcome (docs/outcome.schema.json) by its name there: of connections `goodput_mbps`, of their
    /// subflows `subflows.srtt`, of links `links.utilisation`.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Names)]
    pub metrics: Vec<String>,
    /// Write a row for each run and connection: the varied keys, algorithm, seed, connection and the metrics. A name
    /// that ends with .parquet or .csv. Values with a unit are written in bit/s, bytes or seconds.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Print the same rows as JSON, one a line (schema lisa.sweep/2), instead of a table.
    #[arg(long)]
    pub json: bool,
}

const AFTER_SWEEP: &str = "Ctrl-C ends it: what is finished is written.

Examples:
  lisa sweep download.toml --vary bottleneck.queue=1..34 -a lia,lisa -o queues.parquet
  lisa sweep download.toml --vary bottleneck.queue=9,17 --vary connection.0.bytes=50KB..900KB/50KB
  lisa sweep download.toml --vary bottleneck.rate=1Mbit..10Mbit/0.5Mbit --seeds 100 --json";
