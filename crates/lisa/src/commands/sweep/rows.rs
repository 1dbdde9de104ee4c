//! Output of a sweep's rows, into a file and as JSON (docs/sweep.schema.json).

use std::path::Path;
use std::time::{Duration, Instant};

use scenario::Outcome;
use scenario::export::columns::{Format, Table, Value};
use scenario::metrics::Metric;
use scenario::vary::Vary;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::columns::{Columns, RunParts};
use super::points::Point;
use crate::output::{self, Failure};

/// The version of a line of JSON.
const SCHEMA: &str = "lisa.sweep/3";

/// Longest time between two flushes of the file, so that other programs can follow a CSV file.
const FLUSH: Duration = Duration::from_millis(500);

/// The destination of rows.
pub struct Rows {
    columns: Columns,
    table: Option<Table>,
    json: bool,
    /// Time of the last flush.
    flushed: Option<Instant>,
}

impl Rows {
    /// Creates the file before the first run, so that a path that cannot be written fails at once.
    pub fn open(
        varied: &[Vary],
        metrics: &[&'static Metric],
        points: &[Point],
        output: Option<&Path>,
        json: bool,
    ) -> Result<Self, Failure> {
        let columns = Columns::new(varied, metrics, points)?;
        let table = match output {
            None => None,
            Some(path) => {
                let format = Format::of(path).ok_or_else(|| {
                    let path = path.display();
                    Failure::usage(format!("-o {path}: a name ends with .parquet or .csv"))
                })?;
                Some(Table::create(path, format, &columns.each())?)
            }
        };
        Ok(Self {
            columns,
            table,
            json,
            flushed: None,
        })
    }

    /// Adds the rows of a run.
    pub fn add(&mut self, point: &Point, outcome: &Outcome) -> Result<(), Failure> {
        let run = RunParts::of(outcome);
        for connection in &outcome.connections {
            let values = self.columns.row(point, &run, connection);
            if self.json {
                let line = Line {
                    names: &self.columns.names,
                    values: &values,
                };
                let line = serde_json::to_string(&line).expect("plain data");
                output::print(&(line + "\n"))?;
            }
            if let Some(table) = &mut self.table {
                table.row(&values)?;
            }
        }
        if self.flushed.is_none_or(|at| at.elapsed() >= FLUSH) {
            self.flushed = Some(Instant::now());
            self.table.as_mut().map_or(Ok(()), Table::flush)?;
        }
        Ok(())
    }

    /// Writes the end of the file.
    pub fn finish(self) -> Result<(), Failure> {
        Ok(self.table.map_or(Ok(()), Table::finish)?)
    }
}

/// A row as JSON.
struct Line<'a> {
    names: &'a [String],
    values: &'a [Value<'a>],
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("schema", SCHEMA)?;
        for (name, value) in self.names.iter().zip(self.values) {
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
