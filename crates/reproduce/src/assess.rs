//! Verdicts: measured quantities beside the published ones.

use scenario::statistics::Mean;

use crate::paper::{Claim, Comparison, Figure, Over, Point};
use crate::published::Expected;
use crate::series::{Samples, Series};

/// Largest difference from a published number, as a share of it, where a claim has no limit of its own.
const TOLERANCE: f64 = 0.2;
/// Share of points at which a sign must hold: "for almost all queues".
const NEARLY_ALL: f64 = 0.9;
/// Share of points at which a sign holds somewhere, and at which the other one may hold.
const SOME: f64 = 0.1;
/// Largest difference of two values that are similar, as a share of the second.
const SIMILAR: f64 = 0.1;

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The published value, or the published sign at nine of ten points.
    Confirmed,
    /// The published sign, but not the value, or not at nine of ten points.
    DirectionOnly,
    /// Neither.
    Not,
    /// The paper's value is not at hand.
    NotStated,
    /// There was no run.
    NotRun,
}

impl Verdict {
    /// Name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::DirectionOnly => "direction only",
            Self::Not => "not",
            Self::NotStated => "not stated",
            Self::NotRun => "not run",
        }
    }
}

/// Points of a claim about a sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Signs {
    /// Points whose interval lies below 0.
    pub lower: usize,
    /// Points whose interval lies above 0.
    pub higher: usize,
    /// Points at which both are similar.
    pub similar: usize,
    /// Points at which the first is higher, or both are similar.
    pub higher_or_similar: usize,
    /// All points.
    pub of: usize,
}

impl Signs {
    /// Number of points with the expected sign; none of a claim about other than signs at single points.
    #[must_use]
    pub fn holding(&self, expected: Expected) -> Option<usize> {
        match expected {
            Expected::Lower => Some(self.lower),
            Expected::Higher => Some(self.higher),
            Expected::Similar => Some(self.similar),
            Expected::HigherOrSimilar => Some(self.higher_or_similar),
            _ => None,
        }
    }
}

/// The measured quantity of a claim.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Assessment {
    /// The verdict.
    pub verdict: Verdict,
    /// The measured number; of a claim about signs the mean difference in % of the second line.
    pub measured: Option<Mean>,
    /// Signs at the points of a claim about them.
    pub signs: Option<Signs>,
}

/// Differences of a point.
struct Difference {
    /// `of` − `than`, or the value without `than`.
    values: Samples,
    /// Mean of `than`.
    base: f64,
}

impl Difference {
    fn mean(&self, factor: f64) -> Option<Mean> {
        let values = self.values.iter().flatten();
        Mean::of(&values.map(|value| value * factor).collect::<Vec<f64>>())
    }

    /// −1, 0 or 1: the sign of the difference, 0 if its interval includes 0.
    fn sign(&self) -> i8 {
        match self.mean(1.0) {
            Some(mean) if mean.mean + mean.ci95.unwrap_or(0.0) < 0.0 => -1,
            Some(mean) if mean.mean - mean.ci95.unwrap_or(0.0) > 0.0 => 1,
            _ => 0,
        }
    }

    fn is_similar(&self) -> bool {
        let mean = self.mean(1.0).map_or(0.0, |mean| mean.mean);
        self.sign() == 0 || mean.abs() <= SIMILAR * self.base.abs()
    }
}

/// Compares the values of a figure with a claim.
#[must_use]
pub fn assess(figure: &Figure, claim: &Claim, expected: Expected, series: &Series) -> Assessment {
    let none = |verdict| Assessment {
        verdict,
        measured: None,
        signs: None,
    };
    let (Some(measure), None) = (figure.measure(claim), &figure.not_run) else {
        return none(Verdict::NotRun);
    };
    let differences = differences(claim, measure, series);
    if differences.iter().all(|one| one.mean(1.0).is_none()) {
        return none(Verdict::NotRun);
    }
    match expected {
        Expected::Number(_) | Expected::Range(..) => of_number(claim, expected, &differences),
        Expected::Unpublished if claim.than.is_none() || claim.comparison.is_some() => {
            of_number(claim, expected, &differences)
        }
        _ => of_signs(claim, expected, &differences),
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
            return Difference { values, base: 1.0 };
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
    Mean::of(&(0..samples).filter_map(of_sample).collect::<Vec<f64>>())
}

fn percent(difference: &Difference) -> f64 {
    100.0 / difference.base
}

fn of_number(claim: &Claim, expected: Expected, differences: &[Difference]) -> Assessment {
    let factor = |difference: &Difference| match claim.comparison {
        None | Some(Comparison::More) => 1.0,
        Some(Comparison::Less) => -1.0,
        Some(Comparison::MorePercent) => percent(difference),
        Some(Comparison::LessPercent) => -percent(difference),
    };
    let measured = match claim.over {
        Over::Mean => over_points(differences, factor),
        Over::Max => {
            let means = differences.iter().filter_map(|one| one.mean(factor(one)));
            means
                .filter(|mean| mean.mean.is_finite())
                .max_by(|a, b| a.mean.total_cmp(&b.mean))
        }
    };
    let Some(mean) = measured else {
        return Assessment {
            verdict: Verdict::NotRun,
            measured,
            signs: None,
        };
    };
    let (from, to) = match expected {
        Expected::Range(from, to) => (from, to),
        Expected::Number(number) => match (claim.within, claim.factor) {
            _ if claim.at_least => (number, f64::INFINITY),
            (Some(within), _) => (number - within, number + within),
            (None, Some(factor)) => (number / factor, number * factor),
            (None, None) => (
                number - TOLERANCE * number.abs(),
                number + TOLERANCE * number.abs(),
            ),
        },
        _ => {
            return Assessment {
                verdict: Verdict::NotStated,
                measured,
                signs: None,
            };
        }
    };
    // A number at the limit itself is within it, although solvers end about 1e-5 of the capacity from their result.
    const AT_THE_LIMIT: f64 = 1e-4;
    let is_in = mean.mean >= from - AT_THE_LIMIT && mean.mean <= to + AT_THE_LIMIT;
    let is_clear = mean.mean.abs() > mean.ci95.unwrap_or(0.0);
    let published = match expected {
        Expected::Number(number) => number,
        _ => f64::midpoint(from, to),
    };
    let same_sign = claim.comparison.is_some() && is_clear && mean.mean * published > 0.0;
    Assessment {
        verdict: match (is_in, same_sign) {
            (true, _) => Verdict::Confirmed,
            (false, true) => Verdict::DirectionOnly,
            (false, false) => Verdict::Not,
        },
        measured,
        signs: None,
    }
}

fn of_signs(claim: &Claim, expected: Expected, differences: &[Difference]) -> Assessment {
    let count = |of: fn(&Difference) -> bool| differences.iter().filter(|one| of(one)).count();
    let signs = Signs {
        lower: count(|one| one.sign() < 0),
        higher: count(|one| one.sign() > 0),
        similar: count(Difference::is_similar),
        higher_or_similar: count(|one| one.sign() > 0 || one.is_similar()),
        of: differences.len(),
    };
    let measured = over_points(differences, percent);
    let mean = measured.map_or(0.0, |mean| mean.mean);
    let share = |number: usize| number as f64 / signs.of as f64;
    let nearly_all = |number: usize| share(number) >= NEARLY_ALL;
    let signed = |number: usize, other: usize, same_sign: bool| {
        let somewhere = claim.somewhere && share(number) >= SOME && share(other) <= SOME;
        match somewhere || nearly_all(number) {
            true => Verdict::Confirmed,
            false if number > other && same_sign => Verdict::DirectionOnly,
            false => Verdict::Not,
        }
    };
    let either = |holds: bool| {
        if holds {
            Verdict::Confirmed
        } else {
            Verdict::Not
        }
    };
    let verdict = match expected {
        Expected::Lower => signed(signs.lower, signs.higher, mean < 0.0),
        Expected::Higher => signed(signs.higher, signs.lower, mean > 0.0),
        Expected::Similar => either(nearly_all(signs.similar)),
        Expected::HigherOrSimilar => {
            let holds = signs.higher_or_similar;
            signed(holds, signs.of - holds, true)
        }
        Expected::NoTrend => either(!nearly_all(signs.lower) && !nearly_all(signs.higher)),
        Expected::Unpublished | Expected::Number(_) | Expected::Range(..) => Verdict::NotStated,
    };
    Assessment {
        verdict,
        measured,
        signs: Some(signs),
    }
}

#[cfg(test)]
#[path = "assess_tests.rs"]
mod tests;
