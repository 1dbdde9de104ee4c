//! What `lisa compare` prints: tables, and lines of JSON.

use comfy_table::{Attribute, Table};
use scenario::metrics::{Group, METRICS, Metric};
use scenario::statistics::Mean;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::compare::Comparison;
use super::tables;

/// The version of a line of JSON.
const SCHEMA: &str = "lisa.compare/2";

/// Tables for each name of connections.
pub fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    let several = comparison.backends.len() > 1;
    for base in &comparison.of(0, 0).groups.groups {
        match several {
            true => text += &backends(comparison, base),
            false => text += &format!("\n{}\n", algorithms(comparison, base)),
        }
    }
    for ((algorithm, backend), contender) in comparison.each() {
        let mut of = format!(" with {}", comparison.algorithms[algorithm]);
        if several {
            of += &format!(", {}", comparison.backends[backend].place());
        }
        text += &tables::notes(&contender.groups, &of);
    }
    if several {
        text += "Second lines: the difference to the first column, seed by seed.\n";
    } else if comparison.algorithms.len() > 1 {
        text += &tables::differences_to(&comparison.algorithms[0]);
    }
    text
}

/// The algorithms side by side: a column each.
fn algorithms(comparison: &Comparison, base: &Group) -> Table {
    let mut heading = vec![base.name.as_str()];
    heading.extend(comparison.algorithms.iter().map(String::as_str));
    let mut table = tables::table(&heading, 1);
    for (number, metric) in METRICS.iter().enumerate() {
        if base.mean(number).is_none() {
            continue;
        }
        let cells = comparison.each().map(|(at, contender)| {
            let mean = mean(contender.groups.find(&base.name), number);
            if at == (0, 0) {
                return mean;
            }
            let difference = comparison.to_algorithm(at, &base.name, number);
            format!("{mean}\n{}", tables::difference(difference, base, number))
        });
        add(&mut table, metric, cells.collect());
    }
    table
}

/// The backends side by side, a column each: a table for each algorithm, and one for what each has more than the first.
fn backends(comparison: &Comparison, base: &Group) -> String {
    let name = &base.name;
    let table = |title: String, cell: &dyn Fn(usize, usize) -> Option<String>| {
        let mut heading = vec![title.as_str()];
        heading.extend(comparison.backends.iter().map(|on| on.place()));
        let mut table = tables::table(&heading, 1);
        for (number, metric) in METRICS.iter().enumerate() {
            let cells: Vec<_> = (0..comparison.backends.len())
                .map(|backend| cell(backend, number))
                .collect();
            if cells.iter().any(Option::is_some) {
                let cells = cells
                    .into_iter()
                    .map(|cell| cell.unwrap_or(tables::NONE.into()));
                add(&mut table, metric, cells.collect());
            }
        }
        format!("\n{table}\n")
    };
    let mut text = String::new();
    for (algorithm, with) in comparison.algorithms.iter().enumerate() {
        text += &table(format!("{name}, with {with}"), &|backend, metric| {
            let group = comparison.of(algorithm, backend).groups.find(name)?;
            let mean = tables::mean(Some(group.mean(metric)?), METRICS[metric].decimals);
            let base = comparison.of(algorithm, 0).groups.find(name)?;
            let more = comparison.to_backend((algorithm, backend), name, metric);
            Some(match backend {
                0 => mean,
                _ => format!("{mean}\n{}", tables::measured(more, base, metric)),
            })
        });
    }
    let first = &comparison.algorithms[0];
    for (algorithm, with) in comparison.algorithms.iter().enumerate().skip(1) {
        text += &table(format!("{name}, {with} − {first}"), &|backend, metric| {
            let base = comparison.of(0, backend).groups.find(name)?;
            let more = comparison.to_algorithm((algorithm, backend), name, metric)?;
            Some(tables::difference(Some(more), base, metric))
        });
    }
    text
}

fn mean(group: Option<&Group>, metric: usize) -> String {
    let mean = group.and_then(|group| group.mean(metric));
    tables::mean(mean, METRICS[metric].decimals)
}

fn add(table: &mut Table, metric: &Metric, values: Vec<String>) {
    let mut cells = vec![tables::heading(metric)];
    cells.extend(values);
    let mut row = tables::row(1, cells);
    row[0] = row[0].clone().add_attribute(Attribute::Bold);
    table.add_row(row);
}

/// A line for each algorithm on each backend.
pub fn json(comparison: &Comparison) -> String {
    let line = |(at, _)| {
        let line = serde_json::to_string(&Line { comparison, at });
        line.expect("plain data") + "\n"
    };
    comparison.each().map(line).collect()
}

/// A line of JSON: an algorithm on a backend, by the numbers of both.
struct Line<'a> {
    comparison: &'a Comparison,
    at: (usize, usize),
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (all, (algorithm, backend)) = (self.comparison, self.at);
        let groups = &all.of(algorithm, backend).groups;
        let connections: Vec<Connection<'_>> = (groups.groups.iter())
            .map(|group| Connection { line: self, group })
            .collect();
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("schema", SCHEMA)?;
        map.serialize_entry("scenario", &all.title)?;
        map.serialize_entry("backend", all.backends[backend].name())?;
        map.serialize_entry("baseline_backend", all.backends[0].name())?;
        map.serialize_entry("algorithm", &all.algorithms[algorithm])?;
        map.serialize_entry("baseline", &all.algorithms[0])?;
        map.serialize_entry("n", &groups.runs)?;
        map.serialize_entry("connections", &connections)?;
        map.end()
    }
}

/// In it: the connections of one name.
struct Connection<'a> {
    line: &'a Line<'a>,
    group: &'a Group,
}

impl Serialize for Connection<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Value {
            #[serde(flatten)]
            mean: Mean,
            difference: Option<Mean>,
            backend_difference: Option<Mean>,
        }
        let (all, at, name) = (self.line.comparison, self.line.at, &self.group.name);
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", name)?;
        map.serialize_entry("count", &self.group.connections)?;
        for (number, metric) in METRICS.iter().enumerate() {
            let value = self.group.mean(number).map(|mean| Value {
                mean,
                difference: all.to_algorithm(at, name, number),
                backend_difference: all.to_backend(at, name, number),
            });
            map.serialize_entry(metric.key, &value)?;
        }
        map.end()
    }
}
