//! Means of all metrics of several runs, and their differences to a baseline: a row for each part and metric.

use super::cells;
use crate::export::columns::{Kind, Value};
use crate::metrics::{Groups, Metric, Part};
use crate::statistics::Mean;

/// A metric of a part.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Part of the runs.
    pub part: Part<'a>,
    /// The metric.
    pub metric: &'static Metric,
    /// Its mean.
    pub mean: Mean,
    /// Mean of the baseline.
    pub base: Option<Mean>,
    /// Difference to the baseline, seed by seed; none of the baseline itself.
    pub difference: Option<Mean>,
}

/// Columns of a table of rows, after those that identify the runs.
pub const COLUMNS: [(&str, Kind); 11] = [
    ("part", Kind::Text),
    ("connection", Kind::Text),
    ("subflow", Kind::Integer),
    ("link", Kind::Text),
    ("metric", Kind::Text),
    ("unit", Kind::Text),
    ("n", Kind::Integer),
    ("mean", Kind::Float),
    ("ci95", Kind::Float),
    ("difference", Kind::Float),
    ("difference_ci95", Kind::Float),
];

/// The rows of these runs: connections with their subflows, then links, then the runs as a whole; of each the metrics with a value.
/// `base` are the runs of the baseline; none: these runs are the baseline, or there is none.
#[must_use]
pub fn rows<'a>(groups: &'a Groups, base: Option<&'a Groups>) -> Vec<Row<'a>> {
    let connections = groups.groups.iter().flat_map(|group| {
        let name = group.name.as_str();
        let subflows = group.subflows.keys();
        let subflows = subflows.map(move |&number| Part::Subflow(name, number));
        [Part::Connection(name)].into_iter().chain(subflows)
    });
    let links = groups.links.iter().map(|(name, _)| Part::Link(name));
    let parts = connections.chain(links).chain([Part::Run]);
    let mut rows = Vec::new();
    for part in parts {
        let Some(samples) = groups.samples(part) else {
            continue;
        };
        let base = base.and_then(|base| base.samples(part));
        for (number, &metric) in groups.metrics.iter().enumerate() {
            if !metric.is_of(part) {
                continue;
            }
            let Some(mean) = samples.mean(number) else {
                continue;
            };
            rows.push(Row {
                part,
                metric,
                mean,
                base: base.and_then(|base| base.mean(number)),
                difference: base.and_then(|base| samples.difference(base, number)),
            });
        }
    }
    rows
}

/// Name of a part: `download, subflow 1`.
#[must_use]
pub fn part_name(part: Part<'_>) -> String {
    match part {
        Part::Run => "all connections".into(),
        Part::Connection(name) | Part::Link(name) => name.into(),
        Part::Subflow(name, number) => format!("{name}, subflow {number}"),
    }
}

impl<'a> Row<'a> {
    /// Title of the metric with its unit: `completion [s]`.
    #[must_use]
    pub fn title(&self) -> String {
        match self.metric.unit {
            "" => self.metric.title.into(),
            unit => format!("{} [{unit}]", self.metric.title),
        }
    }

    /// The values of [`COLUMNS`].
    #[must_use]
    pub fn values(&self) -> [Value<'a>; COLUMNS.len()] {
        let mut row = [Value::None; COLUMNS.len()];
        let text = Value::Text;
        match self.part {
            Part::Run => row[0] = text("run"),
            Part::Connection(name) => (row[0], row[1]) = (text("connection"), text(name)),
            Part::Subflow(name, number) => {
                (row[0], row[1]) = (text("subflow"), text(name));
                row[2] = Value::Integer(number as i64);
            }
            Part::Link(name) => (row[0], row[3]) = (text("link"), text(name)),
        }
        row[4] = text(self.metric.field());
        row[5] = text(self.metric.unit);
        row[6] = Value::Integer(self.mean.n as i64);
        row[7] = Value::Float(self.mean.mean);
        row[8] = self.mean.ci95.into();
        row[9] = self.difference.map(|difference| difference.mean).into();
        row[10] = self
            .difference
            .and_then(|difference| difference.ci95)
            .into();
        row
    }

    /// The mean, as tables show it.
    #[must_use]
    pub fn cell(&self) -> String {
        cells::mean(Some(self.mean), self.metric.decimals)
    }

    /// The difference, as tables show it; empty without one.
    #[must_use]
    pub fn difference_cell(&self) -> String {
        cells::difference(self.difference, self.base, self.metric.decimals)
    }
}
