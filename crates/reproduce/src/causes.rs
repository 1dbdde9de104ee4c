//! Settings of parameters that a paper does not state, with which claims that are not confirmed are tried.

use crate::assess::assess;
use crate::paper::{Figure, Paper};
use crate::plan::{Run, Variant, of_claim};
use crate::report::{DayResult, FigureResult, PaperResult, Report, once};
use crate::rule::{LEAST, Verdict};
use crate::series::Series;
use crate::tried::{Choice, Tried};
use crate::{Error, Sample, Store};

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
            // One point explains nothing, and there are dozens of pairs.
            Self::Screening | Self::Pair if day.assessment.points < LEAST => false,
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
    /// The first setting, or pair of settings, that explains a claim ([`EXPLAINED_RULE`](crate::EXPLAINED_RULE)).
    #[must_use]
    pub fn cause(&self) -> Option<&Tried<'_>> {
        self.tried.iter().find(|tried| tried.explains())
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

impl<'a> Report<'a> {
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
                        if round.concerns(&claim.days[attempt.day], claim.points, &attempt.choices)
                        {
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
                            round.concerns(&claim.days[day], claim.points, &choices)
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
            let of_day = result.figure.of_day(day);
            let is_other = |choice: &Choice<'_>| {
                let set = &choice.setting.set;
                set.is_empty() || set.iter().any(|one| !of_day.contains(one))
            };
            let others = choices
                .iter()
                .filter(move |choices| choices.iter().all(is_other));
            others.map(move |choices| {
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

#[cfg(test)]
mod tests {
    use scenario::statistics::Mean;

    use super::*;
    use crate::Library;
    use crate::assess::Assessment;
    use crate::paper::{Parameter, Setting};

    #[test]
    fn a_setting_that_contradicts_the_paper_explains_nothing() {
        let parameter = Parameter {
            id: "rtt".into(),
            title: "RTT".into(),
            stated: None,
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
            assessment: assessed(Verdict::Confirmed, 2, 2),
        };
        let mut day = DayResult {
            assessment: assessed(Verdict::Not, 2, 2),
            tried: vec![tried(&longer)],
            screened: Vec::new(),
        };
        assert!(day.cause().is_none());
        day.tried.push(tried(&unstated));
        let cause = day.cause().expect("the second setting");
        assert!(cause.contradicts().is_none());
    }

    fn assessed(verdict: Verdict, points: usize, n: usize) -> Assessment {
        let measured = Mean {
            n,
            mean: 1.0,
            ci95: (n > 1).then_some(0.1),
        };
        Assessment {
            verdict,
            measured: Some(measured),
            signs: None,
            points,
        }
    }

    #[test]
    fn one_point_or_one_run_explains_nothing() {
        let explains = |points, runs| {
            let tried = Tried {
                choices: Vec::new(),
                assessment: assessed(Verdict::Confirmed, points, runs),
            };
            tried.explains()
        };
        assert!(explains(2, 2));
        assert!(!explains(1, 10));
        assert!(!explains(10, 1));
    }

    /// LISA's figure 6a: the published time of the join is the figure's on the paper's day, and is tried today alone.
    #[test]
    fn the_setting_of_a_day_is_not_tried_again() {
        let library = Library::new().unwrap();
        let figures = library.select(Some("lisa/fig6a")).unwrap();
        let (paper, figure) = (figures[0].0, figures[0].1[0]);
        let join = paper
            .parameters(figure)
            .find(|one| one.id == "join")
            .expect("a join");
        assert!(join.stated.is_some());
        let of_day = |day: usize| figure.of_day(&paper.days[day]);
        let published = &join.settings[1];
        assert_eq!(published.set, of_day(0));
        assert!(published.contradicts.is_none());
        assert_eq!(join.settings[0].set, of_day(1));
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
