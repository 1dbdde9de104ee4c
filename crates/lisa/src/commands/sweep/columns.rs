//! The columns of a sweep's rows, and the values of a row.

use std::collections::{BTreeMap, BTreeSet};

use scenario::Outcome;
use scenario::export::columns::{Kind, Value};
use scenario::metrics::{Goodputs, Metric, Value as Of};
use scenario::outcome::{ConnectionOutcome, LinkOutcome};
use scenario::vary::{Numbers, Vary};

use super::points::Point;
use crate::output::Failure;

/// The columns that each row has between the varied keys and the metrics.
const FIXED: [(&str, Kind); 6] = [
    ("algorithm", Kind::Text),
    ("seed", Kind::Integer),
    ("connection", Kind::Text),
    ("number", Kind::Integer),
    ("start_s", Kind::Float),
    ("bytes", Kind::Integer),
];

/// All columns: the varied keys, the fixed ones, the metrics, and the note.
pub struct Columns {
    keys: Vec<Key>,
    metrics: Vec<Column>,
    /// Names of all columns.
    pub names: Vec<String>,
    kinds: Vec<Kind>,
}

/// A varied key with its values, as text and as numbers.
struct Key {
    numbers: Numbers,
    texts: Vec<String>,
}

/// A column of a metric.
struct Column {
    name: String,
    metric: &'static Metric,
    part: Part,
}

/// The part of the network to which a column's values belong.
enum Part {
    /// The row's connection, or its run.
    Whole,
    /// A subflow of the row's connection, by its number from 1.
    Subflow(usize),
    /// A link, by its name.
    Link(String),
}

/// The parts of an outcome that the rows of a run share.
pub struct RunParts<'a> {
    seed: u64,
    goodputs: Option<Goodputs>,
    links: BTreeMap<&'a str, &'a LinkOutcome>,
}

impl<'a> RunParts<'a> {
    /// The parts of this outcome.
    pub fn of(outcome: &'a Outcome) -> Self {
        Self {
            seed: outcome.seed,
            goodputs: Goodputs::of(outcome),
            links: (outcome.links.iter())
                .map(|link| (link.name.as_str(), link))
                .collect(),
        }
    }
}

impl Columns {
    /// The columns of a sweep over these keys and points.
    pub fn new(
        varied: &[Vary],
        metrics: &[&'static Metric],
        points: &[Point],
    ) -> Result<Self, Failure> {
        let metrics = of_metrics(metrics, points)?;
        let (mut names, mut kinds) = (Vec::new(), Vec::new());
        let mut add = |name: &str, kind: Kind| {
            names.push(name.to_owned());
            kinds.push(kind);
        };
        for vary in varied {
            let kind = match vary.numbers() {
                Numbers::Integers(_) => Kind::Integer,
                Numbers::Floats(_) => Kind::Float,
                Numbers::Texts => Kind::Text,
            };
            add(&vary.key, kind);
        }
        for (name, kind) in FIXED {
            add(name, kind);
        }
        for column in &metrics {
            let kind = match column.metric.whole {
                true => Kind::Integer,
                false => Kind::Float,
            };
            add(&column.name, kind);
        }
        add("note", Kind::Text);
        let key = |vary: &Vary| Key {
            numbers: vary.numbers(),
            texts: vary.values.clone(),
        };
        Ok(Self {
            keys: varied.iter().map(key).collect(),
            metrics,
            names,
            kinds,
        })
    }

    /// Names and kinds of all columns.
    pub fn each(&self) -> Vec<(&str, Kind)> {
        let names = self.names.iter().map(String::as_str);
        names.zip(self.kinds.iter().copied()).collect()
    }

    /// The values of a connection's row.
    pub fn row<'a>(
        &'a self,
        point: &'a Point,
        run: &RunParts<'_>,
        connection: &'a ConnectionOutcome,
    ) -> Vec<Value<'a>> {
        let mut row: Vec<Value<'_>> = Vec::with_capacity(self.names.len());
        let keys = self.keys.iter().zip(&point.chosen);
        row.extend(keys.map(|(key, value)| key.value(*value)));
        let algorithm = point.algorithm.as_ref().unwrap_or(&connection.algorithm);
        row.extend([
            Value::Text(algorithm),
            Value::Integer(run.seed as i64),
            Value::Text(&connection.name),
            Value::Integer(connection.number.into()),
            Value::Float(connection.start_s),
            Value::Integer(connection.bytes as i64),
        ]);
        row.extend(
            self.metrics
                .iter()
                .map(|column| match column.value(run, connection) {
                    Some(value) if column.metric.whole => Value::Integer(value as i64),
                    value => value.into(),
                }),
        );
        row.push(connection.note.as_deref().map_or(Value::None, Value::Text));
        row
    }
}

impl Key {
    fn value(&self, number: usize) -> Value<'_> {
        match &self.numbers {
            Numbers::Integers(values) => Value::Integer(values[number]),
            Numbers::Floats(values) => Value::Float(values[number]),
            Numbers::Texts => Value::Text(&self.texts[number]),
        }
    }
}

impl Column {
    fn value(&self, run: &RunParts<'_>, connection: &ConnectionOutcome) -> Option<f64> {
        let (metric, goodputs) = (self.metric, run.goodputs.as_ref());
        match &self.part {
            Part::Whole => (metric.of_connection(connection, goodputs)).or(metric.of_run(goodputs)),
            Part::Subflow(number) => {
                let mut subflows = connection.subflows.iter();
                metric.of_subflow(subflows.find(|subflow| subflow.subflow == *number)?)
            }
            Part::Link(name) => metric.of_link(run.links.get(name.as_str())?),
        }
    }
}

/// The columns of the metrics, for all subflows and links of the points.
fn of_metrics(metrics: &[&'static Metric], points: &[Point]) -> Result<Vec<Column>, Failure> {
    let connections = points.iter().flat_map(|point| &point.scenario.connections);
    let subflows = connections.map(|c| c.subflows as usize).max().unwrap_or(0);
    let links = match metrics.iter().any(|m| matches!(m.value, Of::Link(_))) {
        true => links(points)?,
        false => Vec::new(),
    };
    let mut columns = Vec::new();
    for &metric in metrics {
        let column = |name: String, part| Column { name, metric, part };
        let field = metric.field();
        match metric.value {
            Of::Subflow(_) => {
                columns.extend((1..=subflows).map(|number| {
                    column(format!("subflows.{number}.{field}"), Part::Subflow(number))
                }))
            }
            Of::Link(_) => columns.extend(
                links
                    .iter()
                    .map(|link| column(format!("links.{link}.{field}"), Part::Link(link.clone()))),
            ),
            // A fixed column already has this metric.
            _ if FIXED.iter().any(|(name, _)| *name == field) => {}
            _ => columns.push(column(field.into(), Part::Whole)),
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
