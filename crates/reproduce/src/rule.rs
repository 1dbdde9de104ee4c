//! The rule by which a claim gets its verdict. Its input is what reports print: rounded means with their intervals, and numbers of
//! points. The printed values therefore never contradict a verdict.

use scenario::statistics::Mean;

use crate::number::number;
use crate::paper::Claim;
use crate::published::Expected;

/// Largest difference from a published number, as a share of it, where a claim has no limit of its own.
const TOLERANCE: f64 = 0.2;
/// Least number of tenths of the points at which a sign holds: "for almost all queues".
const NEARLY_ALL: usize = 9;
/// Least number of tenths of the points at which a sign holds somewhere, and largest number at which the opposite one does.
const SOME: usize = 1;

/// Whether a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The published value, or the published sign at nine of ten points.
    Confirmed,
    /// The published sign of the mean difference alone.
    DirectionOnly,
    /// Neither.
    Not,
    /// A sign, of which single runs say nothing.
    Undecided,
    /// The paper's value is not at hand.
    NotStated,
    /// There was no run.
    NotRun,
}

impl Verdict {
    /// All verdicts, in the order of tables.
    pub const ALL: [Self; 6] = [
        Self::Confirmed,
        Self::DirectionOnly,
        Self::Not,
        Self::Undecided,
        Self::NotStated,
        Self::NotRun,
    ];

    /// Name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Confirmed => "confirmed",
            Self::DirectionOnly => "direction only",
            Self::Not => "not",
            Self::Undecided => "undecided",
            Self::NotStated => "not stated",
            Self::NotRun => "not run",
        }
    }

    /// The rule in words, as reports, `--help` and docs/papers/README.md print it.
    #[must_use]
    pub fn rule(self) -> &'static str {
        match self {
            Self::Confirmed => {
                "the measured value is within the limits beside the published one; a sign holds at nine of ten points or more, or where the \
                 paper says so at one of ten"
            }
            Self::DirectionOnly => {
                "not confirmed, but the mean difference has the published sign, and its 95 % interval excludes zero"
            }
            Self::Not => "neither",
            Self::Undecided => "a sign, with one run at each point: it has no interval",
            Self::NotStated => "the paper's value is not at hand; the measured one stands alone",
            Self::NotRun => "no run exists",
        }
    }
}

/// What a sign at a point is, in words.
pub const SIGN: &str = "At a point one line is lower or higher than another if the 95 % interval of the difference, paired by seed, excludes zero; \
                        a single run has no interval and no sign, and a prediction is exact. Both are similar if the interval includes zero, or the difference is at most a tenth.";

/// Name of a claim that a setting of unstated parameters explains.
pub const EXPLAINED: &str = "explained";

/// When a setting explains a claim, in words.
pub const EXPLAINED_RULE: &str = "not confirmed, but confirmed with another setting of one or two parameters that the paper does not state, at two points or more \
                                  with two runs or more each; counted apart. A setting is a possible cause, not a proof, and one point explains nothing";

/// Least number of points, and of runs at each of them, with which a setting explains a claim.
pub(crate) const LEAST: usize = 2;

/// Points of a claim about a sign.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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

/// The values of a number that confirm a claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    from: f64,
    to: f64,
}

impl Limits {
    /// The limits of a claim; none of one about signs, or without a published value.
    #[must_use]
    pub fn of(claim: &Claim, expected: Expected) -> Option<Self> {
        let (from, to) = match expected {
            Expected::Range(from, to) => (from, to),
            Expected::Number(number) => {
                let around = |half: f64| (number - half, number + half);
                match (claim.within, claim.factor) {
                    _ if claim.at_least => (number, f64::INFINITY),
                    (Some(within), _) => around(within),
                    (None, Some(factor)) => (number / factor, number * factor),
                    (None, None) => around(TOLERANCE * number.abs()),
                }
            }
            _ => return None,
        };
        // Five decimals: 0.94 − 0.08 is 0.86, and not a little less.
        let printed = |limit: f64| (limit * 1e5).round() / 1e5;
        Some(Self {
            from: printed(from),
            to: printed(to),
        })
    }

    fn has(self, value: f64) -> bool {
        (self.from..=self.to).contains(&value)
    }
}

impl std::fmt::Display for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.to.is_finite() {
            true => write!(f, "{} to {}", number(self.from), number(self.to)),
            false => write!(f, "{} or more", number(self.from)),
        }
    }
}

/// Least number of points that are this number of tenths of all.
fn tenths(number: usize, of: usize) -> usize {
    (number * of).div_ceil(10)
}

/// What confirms a claim with this number of points, in words: `0.15 to 0.25`, or `lower at 25 of 27 points`. Empty without a
/// published value.
#[must_use]
pub fn confirmed_by(claim: &Claim, expected: Expected, points: usize) -> String {
    if let Some(limits) = Limits::of(claim, expected) {
        return limits.to_string();
    }
    let most = tenths(NEARLY_ALL, points);
    let all = format!(
        "{most} of {points} {}",
        if points == 1 { "point" } else { "points" }
    );
    let signed = |sign: &str, other: &str| match claim.somewhere {
        true => format!(
            "{sign} at {} of {points} points, {other} at {} at most",
            tenths(SOME, points),
            SOME * points / 10
        ),
        false => format!("{sign} at {all}"),
    };
    match expected {
        Expected::Lower => signed("lower", "higher"),
        Expected::Higher => signed("higher", "lower"),
        Expected::Similar => format!("similar at {all}"),
        Expected::HigherOrSimilar => format!("higher or similar at {all}"),
        Expected::NoTrend => format!("neither lower nor higher at {all}"),
        Expected::Unpublished | Expected::Number(_) | Expected::Range(..) => String::new(),
    }
}

/// The verdict of printed values: of a number the rounded mean; of a sign the numbers of points, and the rounded mean difference.
pub(crate) fn judge(
    claim: &Claim,
    expected: Expected,
    mean: Option<Mean>,
    signs: Option<Signs>,
) -> Verdict {
    if expected == Expected::Unpublished {
        return Verdict::NotStated;
    }
    // −1, 0 or 1: the sign of a mean difference; 0 if its interval includes 0, or does not exist.
    let sign = mean.map_or(0.0, |mean| match mean.ci95 {
        Some(ci95) if mean.mean.abs() > ci95 => mean.mean.signum(),
        _ => 0.0,
    });
    let confirmed = match (Limits::of(claim, expected), signs) {
        (Some(limits), _) => mean.is_some_and(|mean| limits.has(mean.mean)),
        (None, Some(signs)) => holds(claim, expected, signs),
        (None, None) => false,
    };
    let published = match expected {
        Expected::Number(number) if claim.comparison.is_some() => number,
        Expected::Range(from, to) if claim.comparison.is_some() => f64::midpoint(from, to),
        Expected::Lower => -1.0,
        Expected::Higher | Expected::HigherOrSimilar => 1.0,
        _ => 0.0,
    };
    let is_single = signs.is_some() && mean.is_some_and(|mean| mean.ci95.is_none());
    match confirmed {
        // Single runs show no sign, which does not mean that there is no trend.
        true if !is_single || expected != Expected::NoTrend => Verdict::Confirmed,
        _ if is_single => Verdict::Undecided,
        _ if sign * published > 0.0 => Verdict::DirectionOnly,
        _ => Verdict::Not,
    }
}

/// Whether the published sign holds at enough points.
fn holds(claim: &Claim, expected: Expected, signs: Signs) -> bool {
    let nearly_all = |number: usize| number >= tenths(NEARLY_ALL, signs.of);
    let signed = |number: usize, other: usize| match claim.somewhere {
        true => number >= tenths(SOME, signs.of) && 10 * other <= SOME * signs.of,
        false => nearly_all(number),
    };
    match expected {
        Expected::Lower => signed(signs.lower, signs.higher),
        Expected::Higher => signed(signs.higher, signs.lower),
        Expected::Similar => nearly_all(signs.similar),
        Expected::HigherOrSimilar => nearly_all(signs.higher_or_similar),
        Expected::NoTrend => !nearly_all(signs.lower) && !nearly_all(signs.higher),
        Expected::Unpublished | Expected::Number(_) | Expected::Range(..) => false,
    }
}
