//! Measured quantities of claims, and their verdicts.

use scenario::statistics::Mean;

use crate::number::rounded;
use crate::paper::{Claim, Comparison, Figure, Over, Point};
use crate::published::Expected;
use crate::rule::{LEAST, Signs, Verdict, judge};
use crate::series::{Samples, Series};

/// Largest difference of two values that are similar, as a share of the second.
const SIMILAR: f64 = 0.1;

/// The measured quantity of a claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// The verdict.
    pub verdict: Verdict,
    /// The measured number, rounded as it is printed; of a claim about signs the mean difference in % of the second line.
    pub measured: Option<Mean>,
    /// Signs at the points of a claim about them.
    pub signs: Option<Signs>,
    /// Number of points that decide the verdict.
    pub points: usize,
}

impl Assessment {
    /// A claim without a run.
    pub(crate) fn not_run() -> Self {
        Self {
            verdict: Verdict::NotRun,
            measured: None,
            signs: None,
            points: 0,
        }
    }

    /// Whether there are points and runs enough for a setting to explain a claim.
    pub(crate) fn is_of_several(&self) -> bool {
        self.points >= LEAST && self.measured.is_some_and(|mean| mean.n >= LEAST)
    }
}

/// Differences of a point.
struct Difference {
    /// `of` − `than`, or the value without `than`.
    values: Samples,
    /// Mean of `than`.
    base: f64,
    /// Whether the values are predictions, which have no spread.
    is_exact: bool,
}

impl Difference {
    fn mean(&self, factor: f64) -> Option<Mean> {
        let values = self.values.iter().flatten();
        let mean = Mean::of(&values.map(|value| value * factor).collect::<Vec<f64>>())?;
        let exact = self.is_exact.then_some(0.0);
        let ci95 = mean.ci95.or(exact);
        Some(Mean { ci95, ..mean })
    }

    /// −1, 0 or 1: the sign of the difference; 0 if its interval includes 0, none without an interval.
    fn sign(&self) -> Option<i8> {
        let mean = self.mean(1.0)?;
        let ci95 = mean.ci95?;
        Some(match () {
            () if mean.mean + ci95 < 0.0 => -1,
            () if mean.mean - ci95 > 0.0 => 1,
            () => 0,
        })
    }

    fn is_similar(&self) -> bool {
        let mean = self.mean(1.0).map_or(f64::NAN, |mean| mean.mean);
        self.sign() == Some(0) || mean.abs() <= SIMILAR * self.base.abs()
    }
}

/// Compares the values of a figure with a claim.
#[must_use]
pub fn assess(figure: &Figure, claim: &Claim, expected: Expected, series: &Series) -> Assessment {
    let (Some(measure), None) = (figure.measure(claim), &figure.not_run) else {
        return Assessment::not_run();
    };
    let differences = differences(claim, measure, series);
    let is_number = match expected {
        Expected::Number(_) | Expected::Range(..) => true,
        Expected::Unpublished => claim.than.is_none() || claim.comparison.is_some(),
        _ => false,
    };
    let signs = (!is_number).then(|| signs(&differences));
    let measured = match is_number {
        true => of_number(claim, &differences),
        false => over_points(&differences, percent),
    };
    let with_values = differences.iter().filter(|one| one.mean(1.0).is_some());
    let points = match (claim.over, with_values.count()) {
        (_, 0) => return Assessment::not_run(),
        (Over::Max, _) => 1,
        (Over::Mean, points) => points,
    };
    let measured = measured.map(rounded);
    Assessment {
        verdict: match is_number && measured.is_none() {
            true => Verdict::NotRun,
            false => judge(claim, expected, measured, signs),
        },
        measured,
        signs,
        points,
    }
}

fn differences(claim: &Claim, measure: usize, series: &Series) -> Vec<Difference> {
    let Some(of) = series.line(&claim.of) else {
        return Vec::new();
    };
    let than = claim.than.as_ref().and_then(|name| series.line(name));
    let than_point = claim.than_point.as_ref().and_then(|name| {
        let mut points = series.points.iter();
        points.position(|point| point.name == *name)
    });
    let points = series.points.iter().enumerate();
    let points = points.filter(|(_, point)| claim.is_at(point));
    let difference = |(point, _): (usize, &Point)| {
        let values = of.measures[measure][point].clone();
        let Some(than) = than else {
            return Difference {
                values,
                base: 1.0,
                is_exact: of.is_theory,
            };
        };
        let pairs = values
            .iter()
            .zip(&than.measures[measure][than_point.unwrap_or(point)]);
        let paired: Vec<Option<(f64, f64)>> =
            pairs.map(|(of, than)| Some(((*of)?, (*than)?))).collect();
        let bases: Vec<f64> = paired.iter().flatten().map(|(_, than)| *than).collect();
        Difference {
            values: paired
                .iter()
                .map(|pair| pair.map(|(of, than)| of - than))
                .collect(),
            base: Mean::of(&bases).map_or(0.0, |mean| mean.mean),
            is_exact: of.is_theory && than.is_theory,
        }
    };
    points.map(difference).collect()
}

/// Mean over points: first over the points of a sample, then over the samples.
fn over_points(differences: &[Difference], factor: impl Fn(&Difference) -> f64) -> Option<Mean> {
    let samples = differences.iter().map(|one| one.values.len()).max()?;
    let of_sample = |sample: usize| {
        let values = differences.iter().filter_map(|one| {
            let value = one.values.get(sample).copied().flatten()?;
            Some(value * factor(one)).filter(|value| value.is_finite())
        });
        Mean::of(&values.collect::<Vec<f64>>()).map(|mean| mean.mean)
    };
    let mean = Mean::of(&(0..samples).filter_map(of_sample).collect::<Vec<f64>>())?;
    let is_exact = differences.iter().all(|one| one.is_exact);
    let ci95 = mean.ci95.or(is_exact.then_some(0.0));
    Some(Mean { ci95, ..mean })
}

fn percent(difference: &Difference) -> f64 {
    100.0 / difference.base
}

/// The measured number of a claim about one.
fn of_number(claim: &Claim, differences: &[Difference]) -> Option<Mean> {
    let factor = |difference: &Difference| match claim.comparison {
        None | Some(Comparison::More) => 1.0,
        Some(Comparison::Less) => -1.0,
        Some(Comparison::MorePercent) => percent(difference),
        Some(Comparison::LessPercent) => -percent(difference),
    };
    match claim.over {
        Over::Mean => over_points(differences, factor),
        Over::Max => {
            let means = differences.iter().filter_map(|one| one.mean(factor(one)));
            means
                .filter(|mean| mean.mean.is_finite())
                .max_by(|a, b| a.mean.total_cmp(&b.mean))
        }
    }
}

fn signs(differences: &[Difference]) -> Signs {
    let count = |of: fn(&Difference) -> bool| differences.iter().filter(|one| of(one)).count();
    Signs {
        lower: count(|one| one.sign() == Some(-1)),
        higher: count(|one| one.sign() == Some(1)),
        similar: count(Difference::is_similar),
        higher_or_similar: count(|one| one.sign() == Some(1) || one.is_similar()),
        of: differences.len(),
    }
}

#[cfg(test)]
#[path = "assess_tests.rs"]
mod tests;
