//! Arguments of `lisa demo`.

use std::path::PathBuf;

use clap::Args;

use crate::values;

/// `lisa demo`.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Directory of the report: report.html, outcomes.jsonl, credits.jsonl, trace-NN-*.csv.
    #[arg(long, value_name = "DIRECTORY", default_value = "out/demo", value_parser = values::path("the name of a directory"))]
    pub out: PathBuf,
    /// Replace the report of an earlier demo.
    #[arg(long)]
    pub force: bool,
    /// Number of runs of each combination, with round-trip times drawn from ±10 %.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = values::number::<u32>(1..=1000))]
    pub runs: u32,
    /// Print one outcome per line (schema lisa.outcome/7) instead of tables.
    #[arg(long)]
    pub json: bool,
}

const EXAMPLES: &str = "Examples:
  sudo lisa demo                       # on this kernel; without root, in a VM
  lisa demo --runs 3 --out trial       # fewer runs";
