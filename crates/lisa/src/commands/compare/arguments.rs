//! Arguments of `lisa compare`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use scenario::study::seeds::Seeds;

use crate::algorithm_name;
use crate::figure::arguments::{Page, Time};
use crate::figure::format;
use crate::runs::arguments::{Common, Connections, Metrics, RowsArguments};
use crate::runs::on::On;
use crate::values;

/// `lisa compare`.
#[derive(Args)]
#[command(after_help = NOTES_AND_EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    /// Where the endpoints run. Several backends, with commas, are compared: each algorithm runs on each backend with the same
    /// seeds, and the tables show the differences to the first backend.
    #[arg(
        long,
        value_name = "LIST",
        value_enum,
        value_delimiter = ',',
        default_value = "sim"
    )]
    pub on: Vec<On>,
    /// The algorithms, with commas. The first is the baseline of the differences. On the host and in the VM also Linux's
    /// own algorithms, such as `bbr`.
    #[arg(short, long, value_name = "LIST", required = true, value_delimiter = ',', value_parser = algorithm_name::any())]
    pub algorithms: Vec<String>,
    #[command(flatten)]
    pub connections: Connections,
    /// Run with each of the seeds from 1 to N, of a range (`11..20`) or of a list (`1,5,10..20`). All algorithms run with the
    /// same seeds, and differences are taken seed by seed.
    #[arg(long, value_name = "N", default_value = "10", value_parser = values::seeds())]
    pub seeds: Seeds,
    #[command(flatten)]
    pub metrics: Metrics,
    #[command(flatten)]
    pub rows: RowsArguments,
    /// Print a line of JSON for each algorithm and backend (schema lisa.compare/5), instead of tables: `n`, and for each metric
    /// of each connection, subflow, link and run `mean` and `ci95`, also of its `difference` to the first algorithm and of its
    /// `backend_difference` to the first backend.
    #[arg(long)]
    pub json: bool,
    /// Draw the windows of all connections over time with the first seed, a panel for each connection and algorithm, and the metrics as
    /// bars. The windows of several backends are drawn over each other. The name ends with .svg, .png or .pdf
    /// (docs/plots.md).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = format::parser())]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub page: Page,
    #[command(flatten)]
    pub time: Time,
}

const NOTES_AND_EXAMPLES: &str = "Confidence intervals are at 95 %, by Student's t. If the interval of a difference \
includes zero, the runs show no clear difference.
Shares and Jain's fairness index are computed from the goodputs of all connections of a run (docs/scenario.md).

Examples:
  lisa compare download.toml -a lia,lisa --seeds 100
  lisa compare download.toml -a lia,lisa,reno --set bottleneck.queue=9 --plot windows.svg
  lisa compare download.toml -a lia,lisa --on sim,vm --plot windows.svg     # how far simulator and kernel agree
  lisa compare download.toml -a lia,lisa --metrics goodput_mbps,subflows.srtt_s,links.queue_mean_packets
  lisa compare download.toml -a lia,lisa --seeds 100 -o runs.parquet
  lisa compare download.toml -a lia,lisa --json | jq -c '[.algorithm, .connections[0].completion_s.mean]'";
