//! The claims of the papers, and whether they hold here.
//!
//! `experiments/` has a folder with the scenarios of each paper. `experiments/papers/claims` describes the papers' figures ([`Paper`]):
//! the runs of each line, what is measured, what the paper claims, and which parameters it does not state. The published
//! values are in `experiments/papers/published.csv` ([`Row`]). [`plan`] lists the runs of a figure, [`Store`] keeps their outcomes,
//! [`Series`] has the measured values, [`assess`] compares them with the published ones, and [`Verdict::rule`] is the rule of that. A [`Kernel`] runs a [`Sample`] of the
//! same figures.

mod assess;
mod causes;
mod kernel;
mod kernel_results;
mod library;
mod measure;
mod number;
mod paper;
mod plan;
mod predicted;
mod published;
mod report;
mod rows;
mod rule;
mod sample;
mod series;
mod store;
mod tried;
pub mod words;

pub use assess::{Assessment, assess};
pub use causes::Round;
pub use kernel::{Kernel, KernelResult, TODAY};
pub use library::{Library, Selection};
pub use number::value;
pub use paper::{
    Axis, Claim, Comparison, Day, Figure, Line, Measure, Over, OverTime, Paper, Parameter, Point,
    Quantity, Setting,
};
pub use plan::{Run, Variant, over_time, plan};
pub use published::{Expected, Row};
pub use report::{ClaimResult, Counts, DayResult, FigureResult, PaperResult, Report, runs};
pub use rows::{ResultRow, Summary};
pub use rule::{EXPLAINED, EXPLAINED_RULE, SIGN, Signs, Verdict};
pub use sample::Sample;
pub use series::{Samples, Series, SeriesOfLine};
pub use store::Store;
pub use tried::{Choice, Tried};

/// Identity of the code that decides the results of a simulation: a digest of its sources.
pub const SIMULATOR_BUILD: &str = env!("SIMULATOR_BUILD");
/// Identity of the code that, with a kernel, decides the results of a run on it.
pub const KERNEL_BUILD: &str = env!("KERNEL_BUILD");

/// An error of the files of `experiments/`, or of the store.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of the experiments is wrong.
    #[error("{file}: {problem}")]
    File {
        /// Name of the file.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// A scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] scenario::Error),
    /// The store cannot be read or written.
    #[error("{file}: {error}")]
    Store {
        /// Name of the file.
        file: String,
        /// Reason.
        error: std::io::Error,
    },
    /// No such paper or figure.
    #[error("{0}")]
    Unknown(String),
}
