//! Numbers and results as reports print them.

use scenario::statistics::Mean;

use crate::assess::Assessment;
use crate::paper::{Claim, Comparison, Figure};
use crate::published::Expected;
use crate::report::ClaimResult;

/// Significant digits of the larger one of a mean and half of its interval.
const DIGITS: i32 = 3;
/// Most digits after the point.
const MOST_DECIMALS: i32 = 5;

/// Digits after the point of a mean and its interval.
fn decimals(mean: &Mean) -> i32 {
    let size = mean.mean.abs().max(mean.ci95.unwrap_or(0.0));
    match size > 0.0 {
        true => (DIGITS - 1 - size.log10().floor() as i32).clamp(0, MOST_DECIMALS),
        false => 0,
    }
}

/// The mean as it is printed.
pub(crate) fn rounded(mean: Mean) -> Mean {
    let factor = 10_f64.powi(decimals(&mean));
    // Without a negative zero.
    let round = |value: f64| (value * factor).round() / factor + 0.0;
    let once = Mean {
        mean: round(mean.mean),
        ci95: mean.ci95.map(round),
        ..mean
    };
    // 9.996 becomes 10.00, which has three digits with one after the point.
    match decimals(&once) < decimals(&mean) {
        true => rounded(once),
        false => once,
    }
}

/// A number with the digits that it has.
pub(crate) fn number(value: f64) -> String {
    value.to_string().replace('-', "−")
}

/// A mean with its interval; an interval of 0 is left out.
#[must_use]
pub fn value(mean: &Mean, unit: &str) -> String {
    let mean = rounded(*mean);
    let decimals = decimals(&mean) as usize;
    let number = |value: f64| format!("{value:.decimals$}").replace('-', "−");
    let unit = match unit {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    match mean.ci95 {
        Some(ci95) if ci95 > 0.0 => format!("{} ± {}{unit}", number(mean.mean), number(ci95)),
        _ => format!("{}{unit}", number(mean.mean)),
    }
}

impl Claim {
    /// The claim in one line.
    #[must_use]
    pub fn name(&self) -> String {
        match self.condition.as_str() {
            "" | "same" => format!("{} ({})", self.metric, self.algorithm),
            condition => format!("{condition}: {} ({})", self.metric, self.algorithm),
        }
    }
}

/// A claim in one line.
#[must_use]
pub fn claim(result: &ClaimResult<'_>) -> String {
    result.claim.name()
}

/// The published value with the paper's restrictions.
#[must_use]
pub fn published(result: &ClaimResult<'_>) -> String {
    let Some(row) = result.row else {
        return "–".into();
    };
    let unit = match row.unit.as_str() {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let note = match row.note.as_str() {
        "" => String::new(),
        note => format!(" ({note})"),
    };
    format!("{}{unit}{note}", row.value)
}

/// Unit of the measured value of a claim.
#[must_use]
pub fn unit(figure: &Figure, result: &ClaimResult<'_>) -> String {
    let percent = [Comparison::LessPercent, Comparison::MorePercent];
    match result.claim.comparison {
        Some(comparison) if percent.contains(&comparison) => "%".into(),
        _ => (figure.measure(result.claim)).map_or(String::new(), |measure| {
            figure.measures[measure].unit.clone()
        }),
    }
}

/// The measured value of a claim.
#[must_use]
pub fn measured(figure: &Figure, result: &ClaimResult<'_>, assessment: &Assessment) -> String {
    let Some(mean) = assessment.measured else {
        return "–".into();
    };
    let Some(signs) = assessment.signs else {
        return value(&mean, &unit(figure, result));
    };
    let points = match result.expected {
        Expected::Similar => format!("similar at {} of {}", signs.similar, signs.of),
        Expected::HigherOrSimilar => {
            format!(
                "higher or similar at {} of {}",
                signs.higher_or_similar, signs.of
            )
        }
        _ => format!(
            "lower at {}, higher at {} of {}",
            signs.lower, signs.higher, signs.of
        ),
    };
    let plus = if mean.mean > 0.0 { "+" } else { "" };
    format!("{points}; mean {plus}{}", value(&mean, "%"))
}
