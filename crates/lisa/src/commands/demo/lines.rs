//! The lines of a bottleneck's table, for the terminal and the page.

use scenario::metrics::Metric;
use scenario::statistics::Mean;

use super::cells::{Cell, METRICS_SHOWN};
use super::contenders::{BASELINE, CONTENDERS, LISA};
use super::sides::{SIDES, Side};
use crate::tables;

/// A line: a contender or a difference, on one side.
pub struct Line {
    pub title: &'static str,
    pub side: Side,
    /// A cell for each metric.
    pub texts: Vec<String>,
}

/// Title of the lines of differences.
const DIFFERENCE: &str = "LISA − MPTCP LIA";

impl Line {
    /// Whether it is a line of differences.
    pub fn is_difference(&self) -> bool {
        self.title == DIFFERENCE
    }
}

/// Headings of the metrics.
pub fn headings() -> [String; METRICS_SHOWN.len()] {
    METRICS_SHOWN.map(tables::heading)
}

/// Two lines, one for each side, for each contender and for the difference of LISA to the baseline.
pub fn lines(cells: &[Cell]) -> Vec<Line> {
    let each = |of: &dyn Fn(&Metric) -> String| METRICS_SHOWN.map(of).into();
    let contender = |cell: &Cell, side| Line {
        title: CONTENDERS[cell.contender].name,
        side,
        texts: each(&|metric| tables::mean(cell.mean(side, metric), metric.decimals)),
    };
    let change = |side| Line {
        title: DIFFERENCE,
        side,
        texts: each(&|metric| {
            let change = cells[LISA].difference(&cells[BASELINE], side, metric);
            difference(change, metric)
        }),
    };
    let mut lines: Vec<Line> = cells
        .iter()
        .flat_map(|cell| SIDES.map(|side| contender(cell, side)))
        .collect();
    lines.extend(SIDES.map(change));
    lines
}

/// A mean difference with its sign, and `*` if its interval excludes zero.
fn difference(mean: Option<Mean>, metric: &Metric) -> String {
    let decimals = metric.decimals;
    match mean {
        Some(Mean {
            mean,
            ci95: Some(half),
            ..
        }) => {
            let clear = if mean.abs() > half { " *" } else { "" };
            format!("{mean:+.decimals$} ± {half:.decimals$}{clear}")
        }
        Some(Mean { mean, .. }) => format!("{mean:+.decimals$}"),
        None => tables::NONE.into(),
    }
}
