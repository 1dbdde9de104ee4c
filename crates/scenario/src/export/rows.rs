//! Tables of runs: a row for each connection, subflow, link or sample of each run (docs/rows.md).
//!
//! A row begins with the columns that identify it, so that tables of several commands can be appended to each other.

use std::collections::BTreeMap;

use super::columns::{Kind, Property, Value};
use super::samples::{ROWS, Sample};
use crate::metrics::{self, Goodputs, Metric, Value as Of};
use crate::outcome::Outcome;
use crate::sample::Samples;
use crate::vary::{Numbers, Vary};

/// Version of the form of the tables.
pub const SCHEMA: &str = "lisa.rows/1";

/// Part of a run that has a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// Each connection.
    #[default]
    Connection,
    /// Each established subflow.
    Subflow,
    /// Each link.
    Link,
    /// Each link and each established subflow at each time of a time series.
    Sample,
}

impl RowKind {
    /// Name in arguments and metadata.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Connection => "connection",
            Self::Subflow => "subflow",
            Self::Link => "link",
            Self::Sample => "sample",
        }
    }

    /// Whether rows of this kind have the metric. Each kind but that of samples has the metrics of the run.
    #[must_use]
    pub fn has(self, metric: &Metric) -> bool {
        match metric.value {
            Of::Run(_) => self != Self::Sample,
            // Quantiles are of several rows, which have the completion times.
            Of::Completion(_) => false,
            Of::Connection(_) | Of::Share(_) => self == Self::Connection,
            Of::Subflow(_) => self == Self::Subflow,
            Of::Link(_) => self == Self::Link,
        }
    }

    /// Metrics of the rows if none are chosen: of connections the standard ones, of subflows and links all.
    #[must_use]
    pub fn metrics(self) -> Vec<&'static Metric> {
        match self {
            Self::Connection => metrics::standard().collect(),
            kind => metrics::all()
                .filter(|metric| !matches!(metric.value, Of::Run(_)) && kind.has(metric))
                .collect(),
        }
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column {
    /// Name; ends with the unit.
    pub name: String,
    /// Type of the values.
    pub kind: Kind,
    /// Unit; empty for a number, a share, an index or a text.
    pub unit: &'static str,
    /// Content, as a phrase.
    pub description: String,
}

/// The columns of a table of runs.
#[derive(Clone, Debug)]
pub struct Columns {
    rows: RowKind,
    settings: Vec<Setting>,
    metrics: Vec<&'static Metric>,
    columns: Vec<Column>,
}

/// A key with its values, as text and as numbers.
#[derive(Clone, Debug)]
struct Setting {
    numbers: Numbers,
    texts: Vec<String>,
}

/// Identity of a run among those of a table.
#[derive(Clone, Copy, Debug)]
pub struct Identity<'a> {
    /// For each setting the index of its value.
    pub settings: &'a [usize],
    /// Algorithm of the run; none: each connection has its own.
    pub algorithm: Option<&'a str>,
}

impl Columns {
    /// Columns of rows with these settings, and with those of these metrics that rows of this kind have.
    #[must_use]
    pub fn new(rows: RowKind, settings: &[Vary], metrics: &[&'static Metric]) -> Self {
        let mut columns = Vec::new();
        let mut add = |name: &str, kind, unit, description: &str| {
            columns.push(Column {
                name: name.into(),
                kind,
                unit,
                description: description.into(),
            });
        };
        for setting in settings {
            let kind = match setting.numbers() {
                Numbers::Integers(_) => Kind::Integer,
                Numbers::Floats(_) => Kind::Float,
                Numbers::Texts => Kind::Text,
            };
            add(&setting.key, kind, "", "value of this key");
        }
        add("algorithm", Kind::Text, "", "congestion control");
        add("backend", Kind::Text, "", "endpoints: sim, host or vm");
        add("seed", Kind::Integer, "", "seed of the run");
        if matches!(rows, RowKind::Connection | RowKind::Subflow) {
            add("connection", Kind::Text, "", "name of the connection");
            let number = "number among the connections of this name, from 1";
            add("number", Kind::Integer, "", number);
        }
        let fixed: &[&str] = match rows {
            RowKind::Connection => {
                let start = "time of the first SYN since the start of the run";
                add("start_s", Kind::Float, "s", start);
                let bytes = "bytes of data acknowledged, of UDP received";
                add("bytes", Kind::Integer, "bytes", bytes);
                &["start_s", "bytes"]
            }
            RowKind::Subflow => {
                let number = "number of the subflow in its connection, from 1";
                add("subflow", Kind::Integer, "", number);
                add("path", Kind::Integer, "", "number of the path, from 1");
                add("path_name", Kind::Text, "", "name of the path");
                &["path"]
            }
            RowKind::Link => {
                add("link", Kind::Text, "", "name of the link");
                &[]
            }
            RowKind::Sample => {
                for (name, kind, unit, description) in ROWS {
                    add(name, kind, unit, description);
                }
                &[]
            }
        };
        let metrics: Vec<_> = (metrics.iter().copied())
            .filter(|metric| rows.has(metric) && !fixed.contains(&metric.field()))
            .collect();
        for metric in &metrics {
            let kind = match metric.whole {
                true => Kind::Integer,
                false => Kind::Float,
            };
            add(metric.field(), kind, metric.unit, metric.title);
        }
        if rows == RowKind::Connection {
            add(
                "note",
                Kind::Text,
                "",
                "restriction on the use of the figures",
            );
        }
        let setting = |setting: &Vary| Setting {
            numbers: setting.numbers(),
            texts: setting.values.clone(),
        };
        Self {
            rows,
            settings: settings.iter().map(setting).collect(),
            metrics,
            columns,
        }
    }

    /// All columns.
    #[must_use]
    pub fn all(&self) -> &[Column] {
        &self.columns
    }

    /// Names and types of all columns.
    #[must_use]
    pub fn kinds(&self) -> Vec<(&str, Kind)> {
        let columns = self.columns.iter();
        columns.map(|c| (c.name.as_str(), c.kind)).collect()
    }

    /// Metadata that describes the columns.
    #[must_use]
    pub fn properties(&self) -> Vec<Property> {
        let column = |column: &Column| {
            serde_json::json!({
                "name": column.name,
                "unit": column.unit,
                "description": column.description,
            })
        };
        let columns: Vec<_> = self.columns.iter().map(column).collect();
        let property = |key, value: String| Property { key, value };
        vec![
            property("lisa.schema", SCHEMA.into()),
            property("lisa.rows", self.rows.name().into()),
            property("lisa.version", env!("CARGO_PKG_VERSION").into()),
            property("lisa.columns", serde_json::Value::from(columns).to_string()),
        ]
    }

    /// The values of the settings of a run.
    #[must_use]
    pub fn settings(&self, identity: Identity<'_>) -> Vec<Value<'_>> {
        let settings = self.settings.iter().zip(identity.settings);
        settings.map(|(key, value)| key.value(*value)).collect()
    }

    /// Passes the values of each row of a run to `add`. Rows of samples need its `samples`.
    ///
    /// # Errors
    /// The first error of `add`.
    pub fn rows<'a, E>(
        &'a self,
        identity: Identity<'a>,
        outcome: &'a Outcome,
        samples: &'a Samples,
        mut add: impl FnMut(&[Value<'a>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let goodputs = Goodputs::of(outcome);
        let goodputs = goodputs.as_ref();
        let begin = |algorithm: Option<&'a str>| {
            let mut row: Vec<Value<'a>> = self.settings(identity);
            let algorithm = identity.algorithm.or(algorithm);
            row.push(algorithm.map_or(Value::None, Value::Text));
            row.push(Value::Text(outcome.backend.name()));
            row.push(Value::Integer(outcome.seed as i64));
            row
        };
        if self.rows == RowKind::Link {
            for link in &outcome.links {
                let mut row = begin(None);
                row.push(Value::Text(&link.name));
                row.extend(self.values(|m| m.of_link(link).or(m.of_run(goodputs))));
                add(&row)?;
            }
            return Ok(());
        }
        if self.rows == RowKind::Sample {
            let algorithms: BTreeMap<&str, &str> = (outcome.connections.iter())
                .map(|connection| (&*connection.name, &*connection.algorithm))
                .collect();
            for sample in Sample::all(samples, outcome) {
                let mut row = begin(match &sample {
                    Sample::Link(_) => None,
                    Sample::Subflow(of, _) => algorithms.get(&*of.connection).copied(),
                });
                row.extend(sample.row());
                add(&row)?;
            }
            return Ok(());
        }
        for connection in &outcome.connections {
            let mut row = begin(Some(&connection.algorithm));
            row.push(Value::Text(&connection.name));
            row.push(Value::Integer(connection.number.into()));
            if self.rows == RowKind::Connection {
                row.push(Value::Float(connection.start_s));
                row.push(Value::Integer(connection.bytes as i64));
                let value = |m: &Metric| m.of_connection(connection, goodputs);
                row.extend(self.values(|m| value(m).or(m.of_run(goodputs))));
                row.push(connection.note.as_deref().map_or(Value::None, Value::Text));
                add(&row)?;
                continue;
            }
            for subflow in &connection.subflows {
                let mut row = row.clone();
                row.push(Value::Integer(subflow.subflow as i64));
                row.push(Value::Integer(subflow.path as i64));
                let name = subflow.path_name.as_deref();
                row.push(name.map_or(Value::None, Value::Text));
                row.extend(self.values(|m| m.of_subflow(subflow).or(m.of_run(goodputs))));
                add(&row)?;
            }
        }
        Ok(())
    }

    /// The values of the metrics.
    fn values(&self, value: impl Fn(&Metric) -> Option<f64>) -> Vec<Value<'static>> {
        let value = |metric: &&'static Metric| match value(metric) {
            Some(value) if metric.whole => Value::Integer(value as i64),
            value => value.into(),
        };
        self.metrics.iter().map(value).collect()
    }
}

impl Setting {
    fn value(&self, number: usize) -> Value<'_> {
        match &self.numbers {
            Numbers::Integers(values) => Value::Integer(values[number]),
            Numbers::Floats(values) => Value::Float(values[number]),
            // A key that was removed.
            Numbers::Texts if self.texts[number].is_empty() => Value::None,
            Numbers::Texts => Value::Text(&self.texts[number]),
        }
    }
}

#[cfg(test)]
#[path = "rows_tests.rs"]
mod tests;
