//! The rows of a sweep, into a file and as JSON: one for each run and connection.

use std::path::Path;
use std::time::{Duration, Instant};

use scenario::Outcome;
use scenario::columns::{Format, Kind, Table, Value};
use scenario::metrics::{self, Goodputs, Metric};
use scenario::outcome::ConnectionOutcome;
use scenario::vary::{Numbers, Vary};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::sweep::Point;
use crate::output::{self, Failure};

/// The version of a line of JSON.
const SCHEMA: &str = "lisa.sweep/2";

/// How long others wait at most until they see a row in a CSV file.
const SHOW: Duration = Duration::from_millis(500);

/// Where rows go.
pub struct Rows {
    columns: Columns,
    table: Option<Table>,
    json: bool,
    /// When the file was last made to show what is in it.
    shown: Option<Instant>,
}

struct Columns {
    names: Vec<String>,
    /// Each key's values, and the numbers that they are.
    values: Vec<(Numbers, Vec<String>)>,
}

impl Rows {
    /// Creates the file, so that one that cannot be written is known before the first run.
    pub fn open(varied: &[Vary], output: Option<&Path>, json: bool) -> Result<Self, Failure> {
        let values: Vec<_> = (varied.iter())
            .map(|vary| (vary.numbers(), vary.values.clone()))
            .collect();
        let mut columns: Vec<(&str, Kind)> = (varied.iter().zip(&values))
            .map(|(vary, (numbers, _))| {
                let kind = match numbers {
                    Numbers::Integers(_) => Kind::Integer,
                    Numbers::Floats(_) => Kind::Float,
                    Numbers::Texts => Kind::Text,
                };
                (vary.key.as_str(), kind)
            })
            .collect();
        columns.extend([
            ("algorithm", Kind::Text),
            ("seed", Kind::Integer),
            ("connection", Kind::Text),
            ("number", Kind::Integer),
            ("start_s", Kind::Float),
            ("bytes", Kind::Integer),
        ]);
        let kind = |metric: &Metric| match metric.whole {
            true => Kind::Integer,
            false => Kind::Float,
        };
        columns.extend(metrics::standard().map(|metric| (metric.key, kind(metric))));
        columns.push(("note", Kind::Text));
        let table = match output {
            None => None,
            Some(path) => {
                let format = Format::of(path).ok_or_else(|| {
                    let path = path.display();
                    Failure::usage(format!("-o {path}: a name ends with .parquet or .csv"))
                })?;
                Some(Table::create(path, format, &columns)?)
            }
        };
        Ok(Self {
            columns: Columns {
                names: columns.iter().map(|(name, _)| (*name).into()).collect(),
                values,
            },
            table,
            json,
            shown: None,
        })
    }

    /// A run.
    pub fn add(&mut self, point: &Point, outcome: &Outcome) -> Result<(), Failure> {
        let goodputs = Goodputs::of(outcome);
        for connection in &outcome.connections {
            let goodputs = goodputs.as_ref();
            let row = self.columns.row(point, outcome.seed, connection, goodputs);
            if self.json {
                let line = Line(&self.columns.names, &row);
                let line = serde_json::to_string(&line).expect("plain data");
                output::print(&(line + "\n"))?;
            }
            if let Some(table) = &mut self.table {
                table.row(&row)?;
            }
        }
        if self.shown.is_none_or(|shown| shown.elapsed() >= SHOW) {
            self.shown = Some(Instant::now());
            self.table.as_mut().map_or(Ok(()), Table::flush)?;
        }
        Ok(())
    }

    /// Writes what is left.
    pub fn finish(self) -> Result<(), Failure> {
        Ok(self.table.map_or(Ok(()), Table::finish)?)
    }
}

impl Columns {
    fn row<'a>(
        &'a self,
        point: &'a Point,
        seed: u64,
        connection: &'a ConnectionOutcome,
        goodputs: Option<&Goodputs>,
    ) -> Vec<Value<'a>> {
        let mut row: Vec<Value<'_>> = Vec::with_capacity(self.names.len());
        let value =
            |((numbers, texts), &number): (&'a (Numbers, Vec<String>), &usize)| match numbers {
                Numbers::Integers(values) => Value::Integer(values[number]),
                Numbers::Floats(values) => Value::Float(values[number]),
                Numbers::Texts => Value::Text(&texts[number]),
            };
        row.extend(self.values.iter().zip(&point.chosen).map(value));
        let algorithm = point.algorithm.as_ref().unwrap_or(&connection.algorithm);
        row.extend([
            Value::Text(algorithm),
            Value::Integer(seed as i64),
            Value::Text(&connection.name),
            Value::Integer(connection.number.into()),
            Value::Float(connection.start_s),
            Value::Integer(connection.bytes as i64),
        ]);
        row.extend(metrics::standard().map(|metric| {
            let value = (metric.of_connection(connection, goodputs)).or(metric.of_run(goodputs));
            match value {
                Some(value) if metric.whole => Value::Integer(value as i64),
                value => value.into(),
            }
        }));
        row.push(connection.note.as_deref().map_or(Value::None, Value::Text));
        row
    }
}

/// A row as JSON.
struct Line<'a>(&'a [String], &'a [Value<'a>]);

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("schema", SCHEMA)?;
        for (name, value) in self.0.iter().zip(self.1) {
            match value {
                Value::None => map.serialize_entry(name, &())?,
                Value::Integer(value) => map.serialize_entry(name, value)?,
                Value::Float(value) => map.serialize_entry(name, value)?,
                Value::Text(value) => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}
