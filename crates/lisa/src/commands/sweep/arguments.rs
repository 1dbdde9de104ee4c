//! Arguments of `lisa sweep`.

use std::path::PathBuf;

use clap::{Args, ValueHint};
use scenario::study::seeds::Seeds;
use scenario::study::shard::Shard;

use crate::algorithm_name;
use crate::figure::arguments::{Choice, Page};
use crate::figure::format;
use crate::runs::arguments::{Common, Connections, Metrics, RowsArguments};
use crate::runs::on::On;
use crate::runs::shard;
use crate::values;

/// `lisa sweep`.
#[derive(Args)]
#[command(after_help = NOTES_AND_EXAMPLES, mut_arg("metric", |metric| metric.hide_possible_values(true)))]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    /// Where the endpoints run.
    #[arg(long, value_name = "BACKEND", value_enum, default_value_t = On::Sim)]
    pub on: On,
    /// A key, as --set takes it, and its values: `9,17,30`, `1..34`, `1..34/3` in steps of 3, `50KB..900KB/50KB`. With
    /// several --vary all combinations run, without one only the --algorithms.
    #[arg(
        long,
        value_name = "KEY=VALUES",
        value_parser = values::text("KEY=VALUES, like topology.queue.packets=1..34 or topology.queue.packets=9,17,30")
    )]
    pub vary: Vec<String>,
    /// Instead of all combinations run N points, each with a random value of each key: uniform in its range, such as
    /// `bottleneck.rate=1Mbit..10Mbit`, or from its list. The points are the same on every run.
    #[arg(long, value_name = "N", requires = "vary", conflicts_with = "latin", value_parser = values::number::<u32>(1..=100_000))]
    pub random: Option<u32>,
    /// Like --random, with the points of a Latin hypercube: each key has one value in each N-th of its range.
    #[arg(long, value_name = "N", requires = "vary", value_parser = values::number::<u32>(1..=100_000))]
    pub latin: Option<u32>,
    /// Instead of combinations run the points of a CSV file: its first line has keys, and each other line their values at a
    /// point.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, conflicts_with_all = ["vary", "random", "latin"],
        value_parser = values::path("the name of a CSV file"))]
    pub points: Option<PathBuf>,
    /// Run each combination with each of these algorithms, with commas [default: the algorithms of the file]. The table shows
    /// the differences to the first algorithm, seed by seed.
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', value_parser = algorithm_name::any())]
    pub algorithms: Vec<String>,
    #[command(flatten)]
    pub connections: Connections,
    /// Run with each of the seeds from 1 to N, of a range (`11..20`) or of a list (`1,5,10..20`). All combinations run with
    /// the first seed before any runs with the second.
    #[arg(long, value_name = "N", default_value = "10", value_parser = values::seeds())]
    pub seeds: Seeds,
    #[command(flatten)]
    pub metrics: Metrics,
    #[command(flatten)]
    pub rows: RowsArguments,
    /// Continue a sweep that was interrupted or killed: run what is not in the journal FILE.part of --output.
    #[arg(long, requires = "output")]
    pub resume: bool,
    /// Run one part of the sweep of N parts, for several processes or machines. The rows of all parts are those of the sweep.
    #[arg(long, value_name = "PART/N", value_parser = shard::parser())]
    pub shard: Option<Shard>,
    /// Print the same rows as JSON, one per line (schema lisa.sweep/4), instead of a table. A last line has the
    /// `warnings`, if there are any.
    #[arg(long)]
    pub json: bool,
    /// Draw a metric: over one varied key as lines, over two as heat maps, without one as distribution or bars. The name ends
    /// with .svg, .png or .pdf (docs/plots.md).
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, value_parser = format::parser())]
    pub plot: Option<PathBuf>,
    #[command(flatten)]
    pub choice: Choice,
    #[command(flatten)]
    pub page: Page,
}

const NOTES_AND_EXAMPLES: &str = "With -o each finished run is in FILE.part at once, so that a killed sweep loses none; \
--resume continues it. Ctrl-C ends the sweep and writes the rows of the finished runs into FILE.

Examples:
  lisa sweep download.toml --vary bottleneck.queue=1..34 -a lia,lisa -o queues.parquet
  lisa sweep download.toml --vary bottleneck.queue=1..34 -a lia,lisa -o queues.parquet --resume
  lisa sweep download.toml --vary bottleneck.queue=1..34 -a lia,lisa --plot queues.svg --metric retransmits
  lisa sweep download.toml --vary bottleneck.queue=9,17 --vary connection.1.bytes=50KB..900KB/50KB
  lisa sweep download.toml --vary bottleneck.rate=1Mbit..10Mbit/0.5Mbit --seeds 100 --json
  lisa sweep download.toml --vary bottleneck.rate=1Mbit..10Mbit --vary bottleneck.rtt=10ms..200ms --latin 500 -o points.csv
  printf 'bottleneck.rate,bottleneck.rtt\\n5Mbit,40ms\\n20Mbit,80ms\\n' > cells.csv
  lisa sweep download.toml --points cells.csv -a cubic,lisa_cubic -o rows.csv
  lisa sweep download.toml --vary bottleneck.queue=1..34 --seeds 100 --shard 2/3 -o second.parquet";
