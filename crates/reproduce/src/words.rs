//! Results as reports print them.

use crate::assess::Assessment;
use crate::number::value;
use crate::paper::{Claim, Comparison, Figure};
use crate::published::Expected;
use crate::report::ClaimResult;

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
