//! Sensitivity plot of an unconfirmed claim: its value with each setting of each parameter, and with the first pairs of settings that
//! confirm it. Names and values are text beside the plot, so that they wrap on a narrow page.

use maud::{Markup, html};
use reproduce::value;
use reproduce::{Assessment, ClaimResult, DayResult, Expected, Figure, Tried, Verdict, words};
use scenario::statistics::Mean;

/// Width and height of the coordinates of a line, which stretches to the width of its column.
const WIDTH: f64 = 260.0;
const HEIGHT: f64 = 24.0;
/// Space at both ends, so that a mark at an end is whole.
const SPACE: f64 = 8.0;
/// Least distance of two labels of the axis, and of a label's middle from an end.
const APART: f64 = 60.0;
const EDGE: f64 = 30.0;

/// Largest number of pairs that are drawn: there are dozens for a claim.
const PAIRS: usize = 3;

/// A line of the plot.
struct Line {
    name: String,
    mean: Mean,
    verdict: Verdict,
}

/// The horizontal axis.
struct Axis {
    min: f64,
    span: f64,
    /// Zero of a difference.
    zero: Option<f64>,
    published: Option<f64>,
}

impl Axis {
    fn new(lines: &[Line], zero: Option<f64>, published: Option<f64>) -> Self {
        let ends = lines.iter().flat_map(|line| {
            let half = line.mean.ci95.unwrap_or(0.0);
            [line.mean.mean - half, line.mean.mean + half]
        });
        let all = ends.chain(published).chain(zero);
        let (min, max) = all.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), value| {
            (min.min(value), max.max(value))
        });
        Self {
            min,
            span: if max > min { max - min } else { 1.0 },
            zero,
            published,
        }
    }

    fn at(&self, value: f64) -> f64 {
        SPACE + (value - self.min) / self.span * (WIDTH - 2.0 * SPACE)
    }

    fn x(&self, value: f64) -> String {
        format!("{:.1}", self.at(value))
    }

    /// The vertical lines behind a line of the plot.
    fn marks(&self) -> Markup {
        html! {
            @for (class, value) in [("zero", self.zero), ("published", self.published)] {
                @if let Some(value) = value {
                    line class=(class) x1=(self.x(value)) x2=(self.x(value)) y1="0" y2=(HEIGHT) {}
                }
            }
        }
    }

    /// The labels below the lines.
    fn labels(&self) -> Markup {
        let zero = self.zero.filter(|zero| {
            let others = self.published.iter();
            others
                .copied()
                .all(|other| (self.at(*zero) - self.at(other)).abs() > APART)
        });
        let middle = |value: f64| format!("{:.1}", self.at(value).clamp(EDGE, WIDTH - EDGE));
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" {
                title { "axis" }
                @for (label, value) in [("0", zero), ("published", self.published)] {
                    @if let Some(value) = value {
                        text x=(middle(value)) y="15" text-anchor="middle" { (label) }
                    }
                }
            }
        }
    }
}

/// The plot; empty without other settings.
pub fn plot(figure: &Figure, result: &ClaimResult<'_>, day: &DayResult<'_>) -> Markup {
    let line = |name: String, assessment: &Assessment| {
        let mean = assessment.measured.filter(|mean| mean.mean.is_finite())?;
        let verdict = assessment.verdict;
        Some(Line {
            name,
            mean,
            verdict,
        })
    };
    let (single, pairs): (Vec<&Tried<'_>>, Vec<&Tried<'_>>) =
        day.tried.iter().partition(|tried| tried.choices.len() == 1);
    let pairs = pairs.into_iter().filter(|tried| tried.restores());
    let drawn = single.into_iter().chain(pairs.take(PAIRS));
    let tried = drawn.filter_map(|tried| {
        let stated = tried.contradicts();
        let stated = stated.map_or(String::new(), |stated| format!(" (the paper: {stated})"));
        line(tried.name() + &stated, &tried.assessment)
    });
    let first = line("as it is".into(), &day.assessment);
    let lines: Vec<Line> = first.into_iter().chain(tried).collect();
    if lines.len() < 2 {
        return html! {};
    }
    let published = match result.expected {
        Expected::Number(number) => Some(number),
        Expected::Range(from, to) => Some(f64::midpoint(from, to)),
        _ => None,
    };
    let unit = match published {
        Some(_) => words::unit(figure, result),
        None => "%".into(),
    };
    let zero = (result.claim.than.is_some() || published.is_none()).then_some(0.0);
    let axis = Axis::new(&lines, zero, published);
    html! {
        div.sensitivity {
            @for line in &lines {
                @let half = line.mean.ci95.unwrap_or(0.0);
                @let value = value(&line.mean, &unit);
                span { (line.name) }
                svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" {
                    title { (line.name) ": " (value) }
                    (axis.marks())
                    line.interval x1=(axis.x(line.mean.mean - half)) x2=(axis.x(line.mean.mean + half)) y1=(HEIGHT / 2.0) y2=(HEIGHT / 2.0) {}
                    circle class=(class(line.verdict)) cx=(axis.x(line.mean.mean)) cy=(HEIGHT / 2.0) r="4" {}
                }
                span.value { (value) ", " (line.verdict.name()) }
            }
            span {}
            (axis.labels())
            span {}
        }
    }
}

/// Style class of a verdict.
pub fn class(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Confirmed => "confirmed",
        Verdict::DirectionOnly => "direction",
        Verdict::Not => "not",
        Verdict::Undecided | Verdict::NotStated | Verdict::NotRun => "none",
    }
}
