//! The results as rows: `results.csv`, and the JSON of `lisa reproduce`.

use serde::Serialize;

use crate::Error;
use crate::assess::Assessment;
use crate::paper::Figure;
use crate::report::{ClaimResult, Counts, DayResult, Report};
use crate::rule::Verdict;
use crate::tried::Tried;
use crate::words;

/// A claim with its results: the columns of `results.csv`. Those of `published.csv` come first.
#[derive(Clone, Debug, Serialize)]
pub struct ResultRow {
    /// Paper.
    pub paper: String,
    /// Figure.
    pub figure: String,
    /// Condition.
    pub condition: String,
    /// Metric.
    pub metric: String,
    /// Algorithm.
    pub algorithm: String,
    /// Published value; empty if it is not at hand.
    pub value: String,
    /// Unit of the published value.
    pub unit: String,
    /// Note of the published value.
    pub note: String,
    /// What confirms the claim, in words; empty without a published value.
    pub confirmed_by: String,
    /// Measured with the endpoints of the paper's day, in the unit, or in % of the second line for a sign; rounded as it is printed.
    pub measured_then: Option<f64>,
    /// Half of its 95 % confidence interval.
    pub ci95_then: Option<f64>,
    /// Both as reports print them, with the numbers of points of a claim about signs.
    pub printed_then: String,
    /// Verdict.
    pub verdict_then: Verdict,
    /// Setting, or pair of settings, that restores the published value or sign; empty without one.
    pub explained_then: String,
    /// As `measured_then`, with the endpoints of today.
    pub measured_now: Option<f64>,
    /// As `ci95_then`.
    pub ci95_now: Option<f64>,
    /// As `printed_then`.
    pub printed_now: String,
    /// As `verdict_then`.
    pub verdict_now: Verdict,
    /// As `explained_then`.
    pub explained_now: String,
    /// As `measured_then`, with the endpoints of a kernel in VMs.
    pub measured_vm: Option<f64>,
    /// As `ci95_then`.
    pub ci95_vm: Option<f64>,
    /// As `printed_then`.
    pub printed_vm: String,
    /// As `verdict_then`.
    pub verdict_vm: Verdict,
    /// Cause of a claim that was not run; else empty.
    pub not_run_vm: String,
    /// As `measured_now`, at the points and with the seeds of the VM.
    pub measured_same: Option<f64>,
    /// As `ci95_then`.
    pub ci95_same: Option<f64>,
    /// As `printed_then`.
    pub printed_same: String,
    /// As `verdict_then`.
    pub verdict_same: Verdict,
}

/// The JSON of the command.
#[derive(Debug, Serialize)]
pub struct Summary {
    /// `lisa.reproduce/1`.
    pub schema: &'static str,
    /// Verdicts with the endpoints of the papers' days.
    pub then: Counts,
    /// Verdicts with the endpoints of today.
    pub now: Counts,
    /// The kernel; none without `--on vm`.
    pub kernel: Option<KernelSummary>,
    /// A row for each claim.
    pub claims: Vec<ResultRow>,
}

/// Results of a kernel.
#[derive(Debug, Serialize)]
pub struct KernelSummary {
    /// Release.
    pub release: String,
    /// Largest number of seeds of a point; none with `--full`.
    pub seeds: Option<u64>,
    /// Largest number of points of a claim; none with `--full`.
    pub points: Option<usize>,
    /// Verdicts with the endpoints of the kernel.
    pub vm: Counts,
    /// Verdicts of the simulator with the endpoints of today, at the points and with the seeds of the kernel.
    pub same: Counts,
}

impl Report<'_> {
    /// A row for each claim.
    #[must_use]
    pub fn rows(&self) -> Vec<ResultRow> {
        let mut rows = Vec::new();
        for paper in &self.papers {
            for figure in &paper.figures {
                for claim in &figure.claims {
                    rows.push(row(&paper.paper.id, figure.figure, claim));
                }
            }
        }
        rows
    }

    /// `results.csv`.
    ///
    /// # Errors
    /// None in memory.
    pub fn csv(&self) -> Result<Vec<u8>, Error> {
        let mut csv = csv::Writer::from_writer(Vec::new());
        let failed = |problem: String| Error::File {
            file: "results.csv".into(),
            problem,
        };
        for row in self.rows() {
            csv.serialize(row)
                .map_err(|error| failed(error.to_string()))?;
        }
        csv.into_inner().map_err(|error| failed(error.to_string()))
    }

    /// The JSON of the command.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary {
            schema: "lisa.reproduce/1",
            then: self.counts(0, None),
            now: self.counts(1, None),
            kernel: self.kernel.as_ref().map(|kernel| KernelSummary {
                release: kernel.release.clone(),
                seeds: kernel.sample.map(|sample| sample.seeds),
                points: kernel.sample.map(|sample| sample.points),
                vm: self.kernel_counts(None),
                same: self.same_counts(None),
            }),
            claims: self.rows(),
        }
    }
}

fn row(paper: &str, figure: &Figure, claim: &ClaimResult<'_>) -> ResultRow {
    let field =
        |of: fn(&crate::Row) -> &String| claim.row.map_or(String::new(), |row| of(row).clone());
    let [then, now] = [&claim.days[0], &claim.days[1]];
    let measured = |of: &Assessment| of.measured.map(|mean| mean.mean);
    let ci95 = |of: &Assessment| of.measured.and_then(|mean| mean.ci95);
    let printed = |of: &Assessment| match of.measured {
        Some(_) => words::measured(figure, claim, of),
        None => String::new(),
    };
    let (vm, same) = (&claim.kernel.assessment, claim.kernel.simulated.as_ref());
    let cause = |day: &DayResult<'_>| day.cause().map_or(String::new(), Tried::name);
    ResultRow {
        paper: paper.into(),
        figure: claim
            .claim
            .figure
            .clone()
            .unwrap_or_else(|| figure.id.clone()),
        condition: claim.claim.condition.clone(),
        metric: claim.claim.metric.clone(),
        algorithm: claim.claim.algorithm.clone(),
        value: field(|row| &row.value),
        unit: field(|row| &row.unit),
        note: field(|row| &row.note),
        confirmed_by: claim.confirmed_by(),
        measured_then: measured(&then.assessment),
        ci95_then: ci95(&then.assessment),
        printed_then: printed(&then.assessment),
        verdict_then: then.assessment.verdict,
        explained_then: cause(then),
        measured_now: measured(&now.assessment),
        ci95_now: ci95(&now.assessment),
        printed_now: printed(&now.assessment),
        verdict_now: now.assessment.verdict,
        explained_now: cause(now),
        measured_vm: measured(vm),
        ci95_vm: ci95(vm),
        printed_vm: printed(vm),
        verdict_vm: vm.verdict,
        not_run_vm: claim.kernel.not_run.clone(),
        measured_same: same.and_then(measured),
        ci95_same: same.and_then(ci95),
        printed_same: same.map_or(String::new(), printed),
        verdict_same: same.map_or(Verdict::NotRun, |same| same.verdict),
    }
}
