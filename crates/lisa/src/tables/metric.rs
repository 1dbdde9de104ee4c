//! Titles of metrics in tables.

use scenario::metrics::Metric;

/// Title and unit on one line, for a row: `completion [s]`.
pub fn heading(metric: &Metric) -> String {
    with_unit(metric, " ")
}

/// Title and unit on two lines, for a column.
pub fn column(metric: &Metric) -> String {
    with_unit(metric, "\n")
}

fn with_unit(metric: &Metric, between: &str) -> String {
    match metric.unit {
        "" => metric.title.into(),
        unit => format!("{}{between}[{unit}]", metric.title),
    }
}
