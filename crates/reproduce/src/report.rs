//! All results: claims with their verdicts, and the settings that change a verdict.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::assess::{Assessment, Verdict, assess};
use crate::kernel::{Kernel, KernelResult};
use crate::library::{Library, Selection};
use crate::paper::{Claim, Figure, Paper, Parameter, Setting};
use crate::plan::{Run, Variant, of_claim, plan};
use crate::published::{Expected, Row};
use crate::series::Series;
use crate::{Error, Sample, Store};

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
}

impl ClaimResult<'_> {
    /// Number of points that the claim is about.
    fn points(&self, figure: &FigureResult<'_>) -> usize {
        let points = figure.days.first().map(|series| &series.points);
        let points = points.into_iter().flatten();
        points.filter(|point| self.claim.is_at(point)).count()
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

/// A setting of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct Choice<'a> {
    /// The parameter.
    pub parameter: &'a Parameter,
    /// The setting.
    pub setting: &'a Setting,
}

impl Choice<'_> {
    fn name(&self) -> String {
        format!("{}: {}", self.parameter.title, self.setting.name)
    }
}

/// Result with another setting of a parameter, or of two.
#[derive(Clone, Debug)]
pub struct Tried<'a> {
    /// The settings.
    pub choices: Vec<Choice<'a>>,
    /// The result.
    pub assessment: Assessment,
}

impl Tried<'_> {
    /// Parameters and settings in words.
    #[must_use]
    pub fn name(&self) -> String {
        let names: Vec<String> = self.choices.iter().map(Choice::name).collect();
        names.join(", and ")
    }

    /// What the paper states otherwise, if a setting contradicts it.
    #[must_use]
    pub fn contradicts(&self) -> Option<&str> {
        let mut choices = self.choices.iter();
        choices.find_map(|choice| choice.setting.contradicts.as_deref())
    }

    /// Whether the published value or sign comes out.
    #[must_use]
    pub fn restores(&self) -> bool {
        self.contradicts().is_none() && self.assessment.verdict == Verdict::Confirmed
    }

    fn has(&self, choices: &[Choice<'_>]) -> bool {
        let names =
            |choices: &[Choice<'_>]| -> Vec<String> { choices.iter().map(Choice::name).collect() };
        names(&self.choices) == names(choices)
    }
}

/// A round of attempts to explain the claims that are not confirmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Round {
    /// Other settings of one parameter.
    Single,
    /// Other settings of two parameters, for claims with many points that no single one explains: a part of the points and seeds.
    Screening,
    /// All points and seeds of claims with few points; of the others those of the first pairs with which the part restores the published
    /// value or sign.
    Pair,
}

impl Round {
    /// All rounds, in their order.
    pub const ALL: [Self; 3] = [Self::Single, Self::Screening, Self::Pair];

    /// What is run, for a progress bar.
    #[must_use]
    pub fn about(self) -> &'static str {
        match self {
            Self::Single => "what the papers do not state",
            Self::Screening => "two settings at a time, at some points",
            Self::Pair => "two settings at a time",
        }
    }

    /// Whether a claim with this number of points is tried with these settings.
    fn concerns(self, day: &DayResult<'_>, points: usize, choices: &[Choice<'_>]) -> bool {
        match self {
            Self::Single => day.is_open(),
            Self::Screening => day.is_unexplained() && points > MOST_POINTS,
            Self::Pair if points <= MOST_POINTS => day.is_unexplained(),
            Self::Pair => {
                let mut pairs = day.screened.iter().filter(|tried| tried.restores());
                pairs
                    .by_ref()
                    .take(MOST_PAIRS)
                    .any(|tried| tried.has(choices))
            }
        }
    }
}

/// Largest number of pairs that a claim is tried with at all points and seeds.
const MOST_PAIRS: usize = 3;
/// Largest number of points of a claim that is tried with all pairs at all its points and seeds.
const MOST_POINTS: usize = 7;

impl DayResult<'_> {
    /// The first setting, or pair of settings, with which the published value or sign comes out, of a claim that is not confirmed
    /// without it. A setting that contradicts the paper is none.
    #[must_use]
    pub fn cause(&self) -> Option<&Tried<'_>> {
        self.tried.iter().find(|tried| tried.restores())
    }

    fn is_unexplained(&self) -> bool {
        self.is_open() && self.cause().is_none()
    }

    fn is_open(&self) -> bool {
        matches!(
            self.assessment.verdict,
            Verdict::DirectionOnly | Verdict::Not
        )
    }
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
    /// Without a published value.
    pub not_stated: usize,
    /// Without a run.
    pub not_run: usize,
}

impl Counts {
    /// Share of confirmed and explained claims among those with a published value that were run.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        let held = self.confirmed + self.explained;
        let of = held + self.direction_only + self.not;
        (of > 0).then(|| held as f64 / of as f64)
    }

    pub(crate) fn add(&mut self, verdict: Verdict, is_explained: bool) {
        *match verdict {
            Verdict::Confirmed => &mut self.confirmed,
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

fn once(runs: Vec<Run>) -> Vec<Run> {
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

    /// The further runs with which claims that are not confirmed are tried, each once.
    ///
    /// # Errors
    /// Those of the figures.
    pub fn further(&self, round: Round) -> Result<Vec<Run>, Error> {
        let mut all = Vec::new();
        for PaperResult { paper, figures } in &self.papers {
            for result in figures {
                for attempt in attempts(paper, result, self.seeds, round) {
                    for claim in &result.claims {
                        if round.concerns(
                            &claim.days[attempt.day],
                            claim.points(result),
                            &attempt.choices,
                        ) {
                            all.extend(of_claim(
                                paper,
                                result.figure,
                                claim.claim,
                                attempt.variant,
                            )?);
                        }
                    }
                }
            }
        }
        Ok(once(all))
    }

    /// Adds the results of the further runs.
    ///
    /// # Errors
    /// Those of the figures.
    pub fn explain(&mut self, round: Round, store: &Store) -> Result<(), Error> {
        for PaperResult { paper, figures } in &mut self.papers {
            for result in figures {
                for attempt in attempts(paper, result, self.seeds, round) {
                    let Attempt {
                        day,
                        choices,
                        variant,
                    } = attempt;
                    let concerned: Vec<usize> = (result.claims.iter().enumerate())
                        .filter(|(_, claim)| {
                            round.concerns(&claim.days[day], claim.points(result), &choices)
                        })
                        .map(|(number, _)| number)
                        .collect();
                    if concerned.is_empty() {
                        continue;
                    }
                    let series = Series::read(paper, result.figure, variant, store)?;
                    for number in concerned {
                        let claim = &mut result.claims[number];
                        let tried = Tried {
                            choices: choices.clone(),
                            assessment: assess(result.figure, claim.claim, claim.expected, &series),
                        };
                        let day = &mut claim.days[day];
                        match round {
                            Round::Screening => day.screened.push(tried),
                            Round::Single | Round::Pair => day.tried.push(tried),
                        }
                    }
                }
            }
        }
        Ok(())
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

/// Settings with which the open claims of a figure are tried.
struct Attempt<'a> {
    /// Number of the day.
    day: usize,
    choices: Vec<Choice<'a>>,
    variant: Variant<'a>,
}

/// All attempts of a figure, for each day that has an open claim.
fn attempts<'a>(
    paper: &'a Paper,
    result: &FigureResult<'a>,
    seeds: Option<u64>,
    round: Round,
) -> Vec<Attempt<'a>> {
    let is_open = |day: usize| result.claims.iter().any(|claim| claim.days[day].is_open());
    let choices = choices(paper, result.figure, round);
    let days = paper.days.iter().enumerate();
    days.filter(|(number, _)| is_open(*number))
        .flat_map(|(number, day)| {
            choices.iter().map(move |choices| {
                let settings = choices.iter().map(|choice| choice.setting);
                Attempt {
                    day: number,
                    choices: choices.clone(),
                    variant: Variant {
                        sample: (round == Round::Screening).then_some(Sample::SCREENING),
                        ..Variant::of(day, seeds).with(settings)
                    },
                }
            })
        })
        .collect()
}

/// The settings of a figure, one or two at a time. A pair has two parameters, changes no key twice, and nothing that the paper states.
fn choices<'a>(paper: &'a Paper, figure: &'a Figure, round: Round) -> Vec<Vec<Choice<'a>>> {
    let single: Vec<Choice<'a>> = (paper.parameters(figure))
        .flat_map(|parameter| {
            let settings = parameter.settings.iter();
            settings.map(move |setting| Choice { parameter, setting })
        })
        .collect();
    if round == Round::Single {
        return single.into_iter().map(|choice| vec![choice]).collect();
    }
    let unstated: Vec<Choice<'a>> = (single.into_iter())
        .filter(|choice| choice.setting.contradicts.is_none())
        .collect();
    let mut pairs = Vec::new();
    for (number, first) in unstated.iter().enumerate() {
        let fits = |second: &&Choice<'a>| {
            first.parameter.id != second.parameter.id && !first.setting.overlaps(second.setting)
        };
        let others = unstated[number + 1..].iter().filter(fits);
        pairs.extend(others.map(|second| vec![*first, *second]));
    }
    pairs
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
            kernel: KernelResult::not_run("it runs with `--on vm`"),
        });
    }
    Ok(FigureResult {
        figure,
        days,
        kernel: None,
        claims,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_contradicts_the_paper_explains_nothing() {
        let assessed = |verdict| Assessment {
            verdict,
            measured: None,
            signs: None,
        };
        let parameter = Parameter {
            id: "rtt".into(),
            title: "RTT".into(),
            default: "150 ms".into(),
            settings: Vec::new(),
        };
        let [longer, unstated] = [Some("about 150 ms".into()), None].map(|contradicts| Setting {
            contradicts,
            ..Setting::default()
        });
        let tried = |setting| Tried {
            choices: vec![Choice {
                parameter: &parameter,
                setting,
            }],
            assessment: assessed(Verdict::Confirmed),
        };
        let mut day = DayResult {
            assessment: assessed(Verdict::Not),
            tried: vec![tried(&longer)],
            screened: Vec::new(),
        };
        assert!(day.cause().is_none());
        day.tried.push(tried(&unstated));
        let cause = day.cause().expect("the second setting");
        assert!(cause.contradicts().is_none());
    }

    /// CSS's figure 1: each two settings of different parameters, but not two of the same, nor two that change one key.
    #[test]
    fn pairs_of_settings() {
        let library = Library::new().unwrap();
        let figures = library.select(Some("css/fig1")).unwrap();
        let (paper, figure) = (figures[0].0, figures[0].1[0]);
        let single = choices(paper, figure, Round::Single);
        let pairs = choices(paper, figure, Round::Pair);
        assert!(single.iter().all(|choices| choices.len() == 1));
        assert!(!pairs.is_empty());
        for pair in &pairs {
            let [first, second] = pair[..] else {
                panic!("{pair:?}");
            };
            assert_ne!(first.parameter.id, second.parameter.id);
            assert!(!first.setting.overlaps(second.setting));
        }
    }
}
