//! Arguments of `lisa sweep`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::algorithm_name::AlgorithmName;
use crate::runs::arguments::{Common, Connections, Metrics};
use crate::runs::on::On;

/// `lisa sweep`.
#[derive(Args)]
#[command(after_help = NOTES_AND_EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    pub common: Common,
    /// Where the endpoints run.
    #[arg(long, value_name = "BACKEND", value_enum, default_value_t = On::Sim)]
    pub on: On,
    /// A key, as --set takes it, and its values: `9,17,30`, `1..34`, `1..34/3` in steps of 3, `50KB..900KB/50KB`. With
    /// several --vary all combinations run.
    #[arg(long, value_name = "KEY=VALUES", required = true)]
    pub vary: Vec<String>,
    /// Run each combination with each of these algorithms, with commas [default: the algorithms of the file]. The table shows
    /// the differences to the first algorithm, seed by seed.
    #[arg(short, long, value_name = "LIST", value_delimiter = ',', value_parser = AlgorithmName::any())]
    pub algorithms: Vec<String>,
    #[command(flatten)]
    pub connections: Connections,
    /// Run with each of the seeds from 1 to N.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub seeds: u32,
    #[command(flatten)]
    pub metrics: Metrics,
    /// Write a row for each connection of each run: the varied keys, algorithm, seed, connection and metrics. The name of the
    /// file ends with .parquet or .csv. Values with a unit are in bit/s, bytes or seconds.
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
    /// Print the same rows as JSON, one per line (schema lisa.sweep/3), instead of a table.
    #[arg(long)]
    pub json: bool,
}

const NOTES_AND_EXAMPLES: &str = "Ctrl-C ends the sweep. The rows of the finished runs are written.

Examples:
  lisa sweep download.toml --vary bottleneck.queue=1..34 -a lia,lisa -o queues.parquet
  lisa sweep download.toml --vary bottleneck.queue=9,17 --vary connection.0.bytes=50KB..900KB/50KB
  lisa sweep download.toml --vary bottleneck.rate=1Mbit..10Mbit/0.5Mbit --seeds 100 --json";
