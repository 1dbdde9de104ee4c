//! Arguments that `run`, `compare` and `sweep` share.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use netsim::Span;
use scenario::units;
use scenario::{Scenario, Source};

use super::metric_names;
use super::rows::Rows;
use crate::output::Failure;
use crate::values::{self, Form};

/// The scenario, and how its runs are made.
#[derive(Args)]
pub struct Common {
    /// The scenario, a TOML file; `-` reads standard input.
    #[arg(value_hint = ValueHint::FilePath, value_parser = values::path("the name of a scenario file, or `-` for standard input"))]
    pub file: PathBuf,
    /// The kernel of `--on vm`: a vmlinuz of Linux 6.1 or later, with its modules where its package installs them [default:
    /// the kernel that `make setup` fetches].
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a vmlinuz"))]
    pub kernel: Option<PathBuf>,
    /// Change a key of the file, or add it: `stop=10s`, `bottleneck.queue=17`, `connection.download.bytes=4MB`,
    /// `connection.*.algorithm=lisa`; `bottleneck` is another word for `topology`, and a connection has its name or its number
    /// from 1. `KEY=` removes a key. A value with blanks is in quotes. Figures show the settings below their titles. Can be
    /// given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::set())]
    pub set: Vec<String>,
    /// Number of simulations or VMs at a time [default: one for each core]. The results are the same for any number. On the
    /// host one run follows the other.
    #[arg(long, value_name = "N", value_parser = values::number::<u16>(1..=1024))]
    pub jobs: Option<u16>,
    /// Replace files that exist.
    #[arg(long)]
    pub force: bool,
}

/// A scenario with the connections and paths of one seed, without a run.
#[derive(Args)]
pub struct Drawn {
    /// The scenario, a TOML file; `-` reads standard input.
    #[arg(value_hint = ValueHint::FilePath, value_parser = values::path("the name of a scenario file, or `-` for standard input"))]
    pub file: PathBuf,
    /// Change a key of the file, or add it, as in `lisa run`. Can be given several times.
    #[arg(long, value_name = "KEY=VALUE", value_parser = values::set())]
    pub set: Vec<String>,
    /// Seed from which connections, paths and delays are drawn, if the scenario draws any.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::number::<u64>(0..=u64::MAX))]
    pub seed: u64,
}

impl Drawn {
    /// The scenario with the values of `--set`.
    pub fn scenario(&self) -> Result<Scenario, Failure> {
        Ok(Source::read(&self.file)?.scenario(&self.set)?)
    }
}

/// The table of runs in a file.
#[derive(Args)]
pub struct RowsArguments {
    /// Write a table with a row for each connection of each run, or as --rows says: the keys of --set and --vary, algorithm,
    /// backend, seed, connection and metrics. The name of the file ends with .parquet or .csv (docs/rows.md).
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = values::path("a file name that ends with .parquet or .csv"))]
    pub output: Option<PathBuf>,
    /// The part of a run that has a row [default: connection].
    #[arg(long, value_name = "PART", value_enum)]
    pub rows: Option<Rows>,
    /// Interval of time series, for --rows sample [default: 10ms] and --trace: queue, throughput, packets in flight and losses of
    /// links; windows, ssthresh, srtt, flight and goodput of subflows. Rates and counts are those of the interval before. On
    /// the host and in the VM of subflows only, from 1ms on.
    #[arg(long, value_name = "INTERVAL", value_parser = interval())]
    pub sample: Option<Span>,
}

/// A time of more than 0.
fn interval() -> Form<Span> {
    let form = "a time of more than 0, like `10ms`; units are ns, us, ms, s, min, h, d";
    Form::new(form, |text| match units::parse_time(text) {
        Ok(interval) if interval != Span::ZERO => Ok(interval),
        _ => Err(String::new()),
    })
}

/// The connections whose algorithm is replaced.
#[derive(Args)]
pub struct Connections {
    /// Replace the algorithm of this connection [default: of all MPTCP connections; if there are none, of all TCP
    /// connections]. Can be given several times.
    #[arg(id = "connection", long, value_name = "NAME", requires = "algorithms", value_parser = values::text("the name of a connection, as `lisa show FILE` lists them"))]
    pub names: Vec<String>,
}

/// The metrics of tables.
#[derive(Args)]
pub struct Metrics {
    /// Metrics to show, with commas, in this order [default: completion, goodput, retransmissions, windows, shares].
    /// Any number of an outcome (docs/outcome.schema.json) by its name there: of connections `goodput_mbps`, of their
    /// subflows `subflows.srtt_s`, of links `links.utilisation`.
    #[arg(id = "metrics", long, value_name = "LIST", value_delimiter = ',', value_parser = metric_names::parser())]
    pub names: Vec<String>,
}
