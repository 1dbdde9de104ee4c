//! Sensitivity plot of an unconfirmed claim: its value with each setting of each unstated parameter, and with the pairs of
//! settings that were tried at all points.

use maud::{Markup, html};
use reproduce::{ClaimResult, DayResult, Expected, Figure, Verdict};
use scenario::statistics::Mean;

use super::text;

/// Width of the plot and of the values, pixels.
const COLUMNS: (f64, f64) = (260.0, 210.0);
/// Width of a character of the names at most, pixels (12 px sans-serif).
const CHARACTER: f64 = 6.8;
/// Least distance of two labels of the axis, pixels.
const APART: f64 = 40.0;
/// Height of a line.
const LINE: f64 = 22.0;

/// A line of the plot.
struct Line {
    name: String,
    mean: Mean,
    verdict: Verdict,
}

/// The plot; empty without other settings.
pub fn plot(figure: &Figure, result: &ClaimResult<'_>, day: &DayResult<'_>) -> Markup {
    let mut lines = Vec::new();
    let mut add = |name: String, assessment: &reproduce::Assessment| {
        if let Some(mean) = assessment.measured {
            let verdict = assessment.verdict;
            lines.push(Line {
                name,
                mean,
                verdict,
            });
        }
    };
    add("as in the scenario file".into(), &day.assessment);
    for tried in &day.tried {
        let mut name = tried.name();
        if let Some(stated) = tried.contradicts() {
            name += &format!(" (the paper: {stated})");
        }
        add(name, &tried.assessment);
    }
    if lines.len() < 2 {
        return html! {};
    }
    let published = match result.expected {
        Expected::Number(number) => Some(number),
        Expected::Range(from, to) => Some(f64::midpoint(from, to)),
        _ => None,
    };
    let unit = match published {
        Some(_) => text::unit(figure, result),
        None => "%".into(),
    };
    let ends = lines.iter().flat_map(|line| {
        let half = line.mean.ci95.unwrap_or(0.0);
        [line.mean.mean - half, line.mean.mean + half]
    });
    let zero = (result.claim.than.is_some() || published.is_none()).then_some(0.0);
    let all: Vec<f64> = ends
        .chain(published)
        .chain(zero)
        .filter(|value| value.is_finite())
        .collect();
    let min = all.iter().copied().fold(f64::INFINITY, f64::min);
    let max = all.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let span = if max > min { max - min } else { 1.0 };
    let longest = lines.iter().map(|line| line.name.chars().count()).max();
    let names = longest.unwrap_or(0) as f64 * CHARACTER;
    let at = |value: f64| names + 8.0 + (value - min) / span * (COLUMNS.0 - 16.0);
    let x = |value: f64| format!("{:.1}", at(value));
    let is_apart = |zero: f64| published.is_none_or(|other| (at(zero) - at(other)).abs() > APART);
    let width = names + COLUMNS.0 + COLUMNS.1;
    let bottom = lines.len() as f64 * LINE + 4.0;
    let y = |number: usize| (number as f64 + 0.5) * LINE + 2.0;
    html! {
        svg.sensitivity width=(width) viewBox=(format!("0 0 {width} {}", bottom + 18.0)) role="img" aria-label="sensitivity" {
            @if let Some(zero) = zero {
                line.zero x1=(x(zero)) x2=(x(zero)) y1="0" y2=(bottom) {}
                @if is_apart(zero) {
                    text.axis x=(x(zero)) y=(bottom + 13.0) text-anchor="middle" { "0" }
                }
            }
            @if let Some(published) = published {
                line.published x1=(x(published)) x2=(x(published)) y1="0" y2=(bottom) {}
                text.axis x=(x(published)) y=(bottom + 13.0) text-anchor="middle" { "published" }
            }
            @for (number, line) in lines.iter().enumerate() {
                @let half = line.mean.ci95.unwrap_or(0.0);
                text x="0" y=(y(number) + 4.0) { (line.name) }
                line.interval x1=(x(line.mean.mean - half)) x2=(x(line.mean.mean + half)) y1=(y(number)) y2=(y(number)) {}
                circle class=(class(line.verdict)) cx=(x(line.mean.mean)) cy=(y(number)) r="4" {}
                text x=(names + COLUMNS.0 + 8.0) y=(y(number) + 4.0) {
                    (text::value(&line.mean, &unit)) ", " (line.verdict.name())
                }
            }
        }
    }
}

/// Style class of a verdict.
pub fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Confirmed => "confirmed",
        Verdict::DirectionOnly => "direction",
        Verdict::Not => "not",
        Verdict::NotStated | Verdict::NotRun => "none",
    }
}
