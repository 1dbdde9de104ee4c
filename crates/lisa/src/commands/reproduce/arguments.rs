//! Arguments of `lisa reproduce`.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};
use reproduce::{EXPLAINED, EXPLAINED_RULE, SIGN, Verdict};

use crate::values;

/// `lisa reproduce`.
#[derive(Args)]
#[command(after_help = notes())]
pub struct Arguments {
    /// A paper, a figure, or a part of one: lisa, css, lia-olia, nmcc, lisa/fig6, lisa/fig6a, lia-olia/table1 [default: all papers].
    #[arg(value_name = "PAPER[/FIGURE]", value_parser = values::text("the name of a paper, like `lisa`, or of a figure, like `lisa/fig6a`"))]
    pub name: Option<String>,
    /// Run claims with a real kernel's endpoints, too, beside the simulator.
    #[arg(long, value_name = "BACKEND", value_enum)]
    pub on: Option<Real>,
    /// The kernel of `--on vm`: a vmlinuz of Linux 6.1 or later, with its modules where its package installs them [default:
    /// the kernel that `make setup` fetches].
    #[arg(long, value_name = "FILE", requires = "on", value_hint = ValueHint::FilePath, value_parser = values::path("the name of a vmlinuz"))]
    pub kernel: Option<PathBuf>,
    /// Run all points, lines and seeds on the kernel at full length, in place of a sample.
    #[arg(long, requires = "on")]
    pub full: bool,
    /// Write report.html, results.csv and a figure for each measure (SVG) into this folder, replacing those of an earlier report.
    #[arg(short, long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, value_parser = values::path("the name of a directory"))]
    pub output: Option<PathBuf>,
    /// At most this many seeds for each point [default: those of the figure].
    #[arg(long, value_name = "N", value_parser = values::number::<u64>(1..=1_000_000))]
    pub seeds: Option<u64>,
    /// Do not try other settings of the parameters that the papers do not state.
    #[arg(long)]
    pub no_causes: bool,
    /// Number of simulations or VMs at a time [default: one for each core]. The results are the same for any number.
    #[arg(long, value_name = "N", value_parser = values::number::<u16>(1..=1024))]
    pub jobs: Option<u16>,
    /// Folder of finished runs [default: ~/.cache/lisa/reproduce].
    #[arg(long, value_name = "DIRECTORY", value_hint = ValueHint::DirPath, value_parser = values::path("the name of a directory"))]
    pub cache: Option<PathBuf>,
    /// Print JSON (schema lisa.reproduce/1) instead of tables.
    #[arg(long)]
    pub json: bool,
}

/// Where a real kernel runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Real {
    /// In QEMU, in virtual time: the same results on every run. Needs no root.
    Vm,
}

/// The rules of the verdicts, and how the command runs.
fn notes() -> String {
    let mut notes = String::from("Verdicts:\n");
    let rules = Verdict::ALL.map(|verdict| (verdict.name(), verdict.rule()));
    for (name, rule) in rules.into_iter().chain([(EXPLAINED, EXPLAINED_RULE)]) {
        notes += &format!("  {name}: {rule}\n");
    }
    notes + "\n" + SIGN + "\n\n" + NOTES
}

const NOTES: &str = "\
Every figure runs with the endpoints of the paper's day, which are simulated and not held against that kernel, and \
with today's Linux. Finished runs are kept: the same command continues after Ctrl-C, and nothing runs twice.

With `--on vm` the claims that the lab supports also run with the endpoints of a Linux kernel. A run takes seconds to minutes. \
Without `--full` only claims with a published value run, each at its first and last point. Long flows run at most 60 s before and 60 s after the start of \
the measurement. There are three seeds, or one of long flows that take more than 70 s.

Examples:
  lisa reproduce -o report                 all papers, some minutes; open report/report.html
  lisa reproduce lisa/fig6 -o figure6      one figure, with its parts 6a to 6d
  lisa reproduce lisa --on vm -o report    LISA's claims in the simulator and on a kernel
  lisa reproduce lia-olia --json           verdicts for programs";
