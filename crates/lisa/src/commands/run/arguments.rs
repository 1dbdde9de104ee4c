//! Arguments of `lisa run`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use scenario::export::columns::Format;
use scenario::study::seeds::Seeds;

use crate::figure::arguments::{Page, Time};
use crate::figure::format;
use crate::runs::arguments::{Common, RowsArguments};
use crate::runs::on::On;
use crate::values;

/// `lisa run`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    /// Where the endpoints run.
    #[arg(long, value_name = "BACKEND", value_enum, default_value_t = On::Sim)]
    pub on: On,
    /// Seed of one run, from which the random parts of the scenario are drawn.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = values::number::<u64>(0..=u64::MAX))]
    pub seed: u64,
    /// Run with each of the seeds from 1 to N, of a range (`11..20`) or of a list (`1,5,10..20`). Tables then show means with
    /// 95 % confidence intervals.
    #[arg(long, value_name = "N", conflicts_with = "seed", value_parser = values::seeds())]
    pub seeds: Option<Seeds>,
    #[command(flatten)]
    pub rows: RowsArguments,
    /// Print one outcome per line, in the order of the seeds (schema lisa.outcome/7), instead of tables.
    #[arg(long)]
    pub json: bool,
    /// With --json: fill in `wall_seconds`, the duration of each run. Without it `wall_seconds` is null, so that a simulation
    /// of one scenario and one seed prints the same bytes on any machine.
    #[arg(long, requires = "json")]
    pub timing: bool,
    /// Write the events of the senders into this directory: for each seed TITLE-seed-N.parquet, with one row per event (time
    /// since the run began, connection, subflow, cwnd, ssthresh, srtt, flight, phase, RTT sample, published words), and TITLE-seed-N.credits.jsonl. With
    /// --sample also time series: TITLE-seed-N.links.parquet and TITLE-seed-N.subflows.parquet.
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, value_parser = values::path("the name of a directory"))]
    pub trace: Option<PathBuf>,
    /// Format of the table of events.
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = TraceFormat::Parquet, requires = "trace")]
    pub trace_format: TraceFormat,
    /// Write the packets into this directory: for each seed TITLE-seed-N.pcap, which Wireshark, tshark and tcpdump read: IPv4
    /// with TCP, MPTCP and UDP, as captured at the sender of the data. Time 0 is the start of the run. In a simulation the
    /// payload is zeros, and timestamps are synthetic (docs/scenario.md lists the other differences).
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, value_parser = values::path("the name of a directory"))]
    pub pcap: Option<PathBuf>,
    /// Draw the windows of all connections over time, of several seeds with the first one: losses, ends of slow start and credits
    /// have marks. The name ends with .svg, .png or .pdf (docs/plots.md).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = format::parser())]
    pub plot: Option<PathBuf>,
    /// Draw only this connection. Can be given several times.
    #[arg(id = "connection", long, value_name = "NAME", requires = "plot", value_parser = values::text("the name of a connection, as `lisa show FILE` lists them"))]
    pub drawn: Vec<String>,
    #[command(flatten)]
    pub page: Page,
    #[command(flatten)]
    pub time: Time,
}

/// Format of a trace file.
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

const EXAMPLES: &str = "Examples:
  lisa new shared-bottleneck -o download.toml     # the file of these examples
  lisa run download.toml
  lisa run download.toml --seeds 100 --set bottleneck.queue=9
  lisa run download.toml --seeds 100 --json | jq '.connections[0].completion_s'
  lisa run download.toml --seeds 100 --rows subflow -o subflows.parquet
  lisa run download.toml --trace out --trace-format csv
  lisa run download.toml --trace out --sample 10ms
  lisa run download.toml --seeds 10 --rows sample --sample 10ms -o series.parquet
  lisa run download.toml --plot windows.svg --from 1s --to 5s
  lisa run download.toml --pcap out && tshark -r out/*.pcap -Y tcp.analysis.retransmission
  sudo lisa run download.toml --on host
  lisa run download.toml --on vm --seeds 4";
