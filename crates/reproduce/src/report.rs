//! All results: claims with their verdicts.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::assess::{Assessment, assess};
use crate::kernel::{Kernel, KernelResult};
use crate::library::{Library, Selection};
use crate::paper::{Claim, Figure, Paper};
use crate::plan::{Run, Variant, plan};
use crate::published::{Expected, Row};
use crate::rule::{Verdict, confirmed_by};
use crate::series::Series;
use crate::tried::Tried;
use crate::{Error, Store};

/// Results of papers.
#[derive(Clone, Debug)]
pub struct Report<'a> {
    /// The papers.
    pub papers: Vec<PaperResult<'a>>,
    /// The kernel that ran figures, if any.
    pub kernel: Option<Kernel>,
    pub(crate) seeds: Option<u64>,
}

/// Results of a paper.
#[derive(Clone, Debug)]
pub struct PaperResult<'a> {
    /// The paper.
    pub paper: &'a Paper,
    /// Its figures.
    pub figures: Vec<FigureResult<'a>>,
}

/// Results of a figure.
#[derive(Clone, Debug)]
pub struct FigureResult<'a> {
    /// The figure.
    pub figure: &'a Figure,
    /// Values with the endpoints of each day.
    pub days: Vec<Series>,
    /// Values with the endpoints of a kernel.
    pub kernel: Option<Series>,
    /// Its claims.
    pub claims: Vec<ClaimResult<'a>>,
}

/// Results of a claim.
#[derive(Clone, Debug)]
pub struct ClaimResult<'a> {
    /// The claim.
    pub claim: &'a Claim,
    /// Its published row; none of a claim whose value is not at hand.
    pub row: Option<&'a Row>,
    /// What the row expects.
    pub expected: Expected,
    /// Results with the endpoints of each day.
    pub days: Vec<DayResult<'a>>,
    /// Result with the endpoints of a kernel.
    pub kernel: KernelResult,
    /// Number of points that the claim is about.
    pub points: usize,
}

impl ClaimResult<'_> {
    /// What confirms the claim, in words; empty without a published value.
    #[must_use]
    pub fn confirmed_by(&self) -> String {
        confirmed_by(self.claim, self.expected, self.points)
    }
}

/// Result of a claim with the endpoints of a day.
#[derive(Clone, Debug)]
pub struct DayResult<'a> {
    /// With the scenario as its file has it.
    pub assessment: Assessment,
    /// Results with other settings of unstated parameters; empty for a confirmed claim.
    pub tried: Vec<Tried<'a>>,
    /// Results with pairs of settings at a part of the points, with a part of the seeds.
    pub screened: Vec<Tried<'a>>,
}

/// Number of claims with each verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Confirmed.
    pub confirmed: usize,
    /// Not confirmed, but with another setting of a parameter that the paper does not state.
    pub explained: usize,
    /// Only the direction, and not explained.
    pub direction_only: usize,
    /// Neither, and not explained.
    pub not: usize,
    /// Single runs, of which a sign needs more.
    pub undecided: usize,
    /// Without a published value.
    pub not_stated: usize,
    /// Without a run.
    pub not_run: usize,
}

impl Counts {
    /// Share of confirmed and explained claims among the decided ones: with a published value, run, and not with single runs alone.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let held = self.confirmed + self.explained;
        let of = held + self.direction_only + self.not;
        (of > 0).then(|| held as f64 / of as f64)
    }

    pub(crate) fn add(&mut self, verdict: Verdict, is_explained: bool) {
        *match verdict {
            Verdict::Confirmed => &mut self.confirmed,
            Verdict::Undecided => &mut self.undecided,
            Verdict::NotStated => &mut self.not_stated,
            Verdict::NotRun => &mut self.not_run,
            _ if is_explained => &mut self.explained,
            Verdict::DirectionOnly => &mut self.direction_only,
            Verdict::Not => &mut self.not,
        } += 1;
    }
}

/// The runs of these figures with the settings of their files, each once.
///
/// # Errors
/// Those of the figures.
pub fn runs(selection: &Selection<'_>, seeds: Option<u64>) -> Result<Vec<Run>, Error> {
    let mut all = Vec::new();
    for (paper, figures) in selection {
        for figure in figures {
            for day in &paper.days {
                all.extend(plan(paper, figure, Variant::of(day, seeds))?);
            }
        }
    }
    Ok(once(all))
}

pub(crate) fn once(runs: Vec<Run>) -> Vec<Run> {
    let mut seen = BTreeSet::new();
    let new = |run: &Run| seen.insert(run.clone());
    runs.into_iter().filter(new).collect()
}

impl<'a> Report<'a> {
    /// Results of the figures from the store, without other settings.
    ///
    /// # Errors
    /// Those of the figures and of `published.csv`.
    pub fn new(
        library: &'a Library,
        selection: Selection<'a>,
        seeds: Option<u64>,
        store: &Store,
    ) -> Result<Self, Error> {
        let mut papers = Vec::new();
        for (paper, figures) in selection {
            let figure = |figure| of_figure(library, paper, figure, seeds, store);
            papers.push(PaperResult {
                paper,
                figures: figures
                    .into_iter()
                    .map(figure)
                    .collect::<Result<_, Error>>()?,
            });
        }
        Ok(Self {
            papers,
            kernel: None,
            seeds,
        })
    }

    /// Number of claims with each verdict, with the endpoints of this day; of all papers, or one.
    #[must_use]
    pub fn counts(&self, day: usize, paper: Option<&Paper>) -> Counts {
        let mut counts = Counts::default();
        for claim in self.claims(paper) {
            let day = &claim.days[day];
            counts.add(day.assessment.verdict, day.cause().is_some());
        }
        counts
    }

    /// The claims of all papers, or one.
    pub(crate) fn claims(&self, paper: Option<&Paper>) -> impl Iterator<Item = &ClaimResult<'a>> {
        let id = paper.map(|paper| paper.id.clone());
        let is_meant =
            move |one: &&PaperResult<'_>| id.as_ref().is_none_or(|id| *id == one.paper.id);
        let figures = self
            .papers
            .iter()
            .filter(is_meant)
            .flat_map(|one| &one.figures);
        figures.flat_map(|figure| &figure.claims)
    }
}

fn of_figure<'a>(
    library: &'a Library,
    paper: &'a Paper,
    figure: &'a Figure,
    seeds: Option<u64>,
    store: &Store,
) -> Result<FigureResult<'a>, Error> {
    let series = |day| Series::read(paper, figure, Variant::of(day, seeds), store);
    let days = paper
        .days
        .iter()
        .map(series)
        .collect::<Result<Vec<_>, _>>()?;
    let mut claims = Vec::new();
    for claim in &figure.claims {
        let expected = library.expected(paper, figure, claim)?;
        let day = |series| DayResult {
            assessment: assess(figure, claim, expected, series),
            tried: Vec::new(),
            screened: Vec::new(),
        };
        claims.push(ClaimResult {
            claim,
            row: library.row(paper, figure, claim),
            expected,
            days: days.iter().map(day).collect(),
            kernel: KernelResult::not_run(""),
            points: (days.iter().take(1).flat_map(|series| &series.points))
                .filter(|point| claim.is_at(point))
                .count(),
        });
    }
    Ok(FigureResult {
        figure,
        days,
        kernel: None,
        claims,
    })
}
