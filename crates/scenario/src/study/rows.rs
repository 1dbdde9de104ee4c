//! The columns of tables of runs.

use std::collections::BTreeSet;

use crate::export::rows::{Columns, RowKind};
use crate::metrics::{METRICS, Metric, Value};
use crate::vary::Vary;

/// A metric that rows of a kind do not have.
#[derive(Clone, Copy, Debug)]
pub struct Missing {
    /// The metric.
    pub metric: &'static Metric,
    /// The kind of rows.
    pub rows: RowKind,
    /// A kind of rows that has the metric.
    pub other: RowKind,
}

/// The columns of rows of a kind; without `metrics` those of the kind. `settings` are the changed and varied keys.
///
/// # Errors
/// For a metric that these rows do not have.
pub fn columns(
    rows: RowKind,
    settings: &[Vary],
    metrics: Option<&[&'static Metric]>,
) -> Result<Columns, Missing> {
    let mut metrics = match metrics {
        None => rows.metrics(),
        // Rows of samples have columns of their own.
        Some(_) if rows == RowKind::Sample => Vec::new(),
        Some(metrics) => metrics.to_vec(),
    };
    // A quantile is one of several rows, which have the completion times.
    for metric in &mut metrics {
        if matches!(metric.value, Value::Completion(_)) {
            *metric = &METRICS[0];
        }
    }
    let mut seen = BTreeSet::new();
    metrics.retain(|metric| seen.insert(metric.key));
    if let Some(&metric) = metrics.iter().find(|metric| !rows.has(metric)) {
        let other = [RowKind::Connection, RowKind::Subflow, RowKind::Link];
        let other = other.into_iter().find(|kind| kind.has(metric));
        return Err(Missing {
            metric,
            rows,
            other: other.unwrap_or_default(),
        });
    }
    Ok(Columns::new(rows, settings, &metrics))
}

/// The keys of the overrides, without those that are changed again.
#[must_use]
pub fn fixed(set: &[String], varied: &[Vary]) -> Vec<Vary> {
    let set: Vec<Vary> = set.iter().map(|set| Vary::fixed(set)).collect();
    let lasts = set.iter().enumerate().filter(|(number, key)| {
        let mut later = set[number + 1..].iter().chain(varied);
        !later.any(|other| other.replaces(key))
    });
    lasts.map(|(_, key)| key.clone()).collect()
}
