//! Lines of JSON with the rows of a sweep (docs/sweep.schema.json).

use scenario::Outcome;
use scenario::export::columns::Value;
use scenario::export::rows::{Columns, Identity};
use scenario::sample::Samples;
use scenario::study::warnings::{Counted, Warnings};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::output::{self, Failure};

/// The version of a line of JSON.
const SCHEMA: &str = "lisa.sweep/4";

/// Prints the rows of a run.
pub fn print(
    columns: &Columns,
    identity: Identity<'_>,
    outcome: &Outcome,
    samples: &Samples,
) -> Result<(), Failure> {
    columns.rows(identity, outcome, samples, |values| {
        let line = serde_json::to_string(&Line { columns, values }).expect("plain data");
        output::print(&(line + "\n"))
    })
}

/// Prints a line with the warnings, if there are any.
pub fn print_warnings(warnings: &Warnings) -> Result<(), Failure> {
    #[derive(serde::Serialize)]
    struct Line {
        schema: &'static str,
        warnings: Vec<Counted>,
    }
    let line = Line {
        schema: SCHEMA,
        warnings: warnings.list(),
    };
    match line.warnings.is_empty() {
        true => Ok(()),
        false => output::print(&(serde_json::to_string(&line).expect("plain data") + "\n")),
    }
}

/// A row as JSON.
struct Line<'a> {
    columns: &'a Columns,
    values: &'a [Value<'a>],
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("schema", SCHEMA)?;
        for (column, value) in self.columns.all().iter().zip(self.values) {
            let name = &column.name;
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
