//! The rows of a sweep, into a file and as JSON: one for each run and connection.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use scenario::Outcome;
use scenario::export::columns::{Format, Kind, Table, Value};
use scenario::metrics::{Goodputs, Metric, Value as Of};
use scenario::outcome::{ConnectionOutcome, LinkOutcome};
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
    metrics: Vec<Column>,
}

/// A metric's column: one for each connection or run, one for each subflow or one for each link.
struct Column {
    name: String,
    metric: &'static Metric,
    place: Place,
}

enum Place {
    Whole,
    /// By its number in the connection, from 0.
    Subflow(usize),
    Link(String),
}

/// The columns that each row has.
const FIXED: [(&str, Kind); 6] = [
    ("algorithm", Kind::Text),
    ("seed", Kind::Integer),
    ("connection", Kind::Text),
    ("number", Kind::Integer),
    ("start_s", Kind::Float),
    ("bytes", Kind::Integer),
];

/// The columns of the metrics, for all subflows and links of the scenarios.
fn columns(metrics: &[&'static Metric], points: &[Point]) -> Result<Vec<Column>, Failure> {
    let connections = || points.iter().flat_map(|point| &point.scenario.connections);
    let subflows = connections()
        .map(|c| c.subflows as usize)
        .max()
        .unwrap_or(0);
    let links = match metrics.iter().any(|m| matches!(m.value, Of::Link(_))) {
        true => links(points)?,
        false => Vec::new(),
    };
    let mut columns = Vec::new();
    for &metric in metrics {
        let column = |name: String, place| Column {
            name,
            metric,
            place,
        };
        let field = metric.field();
        match metric.value {
            Of::Subflow(_) => columns.extend((0..subflows).map(|number| {
                column(format!("subflows.{number}.{field}"), Place::Subflow(number))
            })),
            Of::Link(_) => columns.extend(
                links
                    .iter()
                    .map(|link| column(format!("links.{link}.{field}"), Place::Link(link.clone()))),
            ),
            // It is there already.
            _ if FIXED.iter().any(|(name, _)| *name == field) => {}
            _ => columns.push(column(field.into(), Place::Whole)),
        }
    }
    Ok(columns)
}

/// The names of the links, in the order in which they first occur.
fn links(points: &[Point]) -> Result<Vec<String>, Failure> {
    let (mut links, mut found) = (Vec::new(), BTreeSet::new());
    for point in points {
        let graph = point.scenario.topology.build();
        let graph = graph.map_err(|error| Failure::new(error.to_string()))?;
        for link in graph.links() {
            if found.insert(link.name.clone()) {
                links.push(link.name.clone());
            }
        }
    }
    Ok(links)
}

impl Rows {
    /// Creates the file, so that one that cannot be written is known before the first run.
    pub fn open(
        varied: &[Vary],
        metrics: &[&'static Metric],
        points: &[Point],
        output: Option<&Path>,
        json: bool,
    ) -> Result<Self, Failure> {
        let metrics = self::columns(metrics, points)?;
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
        columns.extend(FIXED);
        let kind = |metric: &Metric| match metric.whole {
            true => Kind::Integer,
            false => Kind::Float,
        };
        columns.extend(metrics.iter().map(|c| (c.name.as_str(), kind(c.metric))));
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
        let names = columns.iter().map(|(name, _)| (*name).into()).collect();
        Ok(Self {
            columns: Columns {
                names,
                values,
                metrics,
            },
            table,
            json,
            shown: None,
        })
    }

    /// A run.
    pub fn add(&mut self, point: &Point, outcome: &Outcome) -> Result<(), Failure> {
        let about = About {
            seed: outcome.seed,
            goodputs: Goodputs::of(outcome),
            links: (outcome.links.iter())
                .map(|link| (link.name.as_str(), link))
                .collect(),
        };
        for connection in &outcome.connections {
            let row = self.columns.row(point, &about, connection);
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

/// What the rows of a run have in common.
struct About<'a> {
    seed: u64,
    goodputs: Option<Goodputs>,
    links: BTreeMap<&'a str, &'a LinkOutcome>,
}

impl Column {
    fn value(&self, about: &About<'_>, connection: &ConnectionOutcome) -> Option<f64> {
        let (metric, goodputs) = (self.metric, about.goodputs.as_ref());
        match &self.place {
            Place::Whole => {
                (metric.of_connection(connection, goodputs)).or(metric.of_run(goodputs))
            }
            Place::Subflow(number) => {
                let mut subflows = connection.subflows.iter();
                metric.of_subflow(subflows.find(|subflow| subflow.subflow == *number)?)
            }
            Place::Link(name) => metric.of_link(about.links.get(name.as_str())?),
        }
    }
}

impl Columns {
    fn row<'a>(
        &'a self,
        point: &'a Point,
        about: &About<'_>,
        connection: &'a ConnectionOutcome,
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
            Value::Integer(about.seed as i64),
            Value::Text(&connection.name),
            Value::Integer(connection.number.into()),
            Value::Float(connection.start_s),
            Value::Integer(connection.bytes as i64),
        ]);
        row.extend(
            self.metrics
                .iter()
                .map(|column| match column.value(about, connection) {
                    Some(value) if column.metric.whole => Value::Integer(value as i64),
                    value => value.into(),
                }),
        );
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
