//! What `lisa compare` prints: tables, and lines of JSON.

use comfy_table::{Attribute, Table};
use scenario::metrics::{Group, Part, Samples};
use scenario::statistics::Mean;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::compare::Comparison;
use super::tables;

/// The version of a line of JSON.
const SCHEMA: &str = "lisa.compare/3";

/// What one table shows.
struct Section<'a> {
    title: &'a str,
    rows: Vec<Row<'a>>,
}

/// A metric of a part, by its number.
struct Row<'a> {
    part: Part<'a>,
    metric: usize,
    heading: String,
}

/// One for each name of connections, then the run as a whole.
fn sections(comparison: &Comparison) -> Vec<Section<'_>> {
    let first = &comparison.of(0, 0).groups;
    let names = first.groups.iter().map(|group| group.name.as_str());
    let parts = names.map(|name| (name, Part::Connection(name)));
    let section = |(title, part)| {
        let has = |metric: &usize| {
            let mut all = comparison.each().map(|(_, contender)| &contender.groups);
            all.any(|groups| {
                groups
                    .samples(part)
                    .is_some_and(|s| s.mean(*metric).is_some())
            })
        };
        let row = |metric| Row {
            part,
            metric,
            heading: tables::heading(comparison.metrics[metric]),
        };
        let rows = (0..comparison.metrics.len()).filter(has).map(row).collect();
        Section { title, rows }
    };
    let all = parts.chain([("all connections", Part::Run)]).map(section);
    all.filter(|section| !section.rows.is_empty()).collect()
}

/// The tables.
pub fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    let several = comparison.backends.len() > 1;
    for section in &sections(comparison) {
        match several {
            true => text += &backends(comparison, section),
            false => text += &format!("\n{}\n", algorithms(comparison, section)),
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
fn algorithms(comparison: &Comparison, section: &Section<'_>) -> Table {
    let mut heading = vec![section.title];
    heading.extend(comparison.algorithms.iter().map(String::as_str));
    let mut table = tables::table(&heading, 1);
    for row in &section.rows {
        let decimals = comparison.metrics[row.metric].decimals;
        let base = mean(comparison, (0, 0), row);
        let cells = comparison.each().map(|(at, _)| {
            let mean = tables::mean(mean(comparison, at, row), decimals);
            if at == (0, 0) {
                return mean;
            }
            let difference = comparison.to_algorithm(at, row.part, row.metric);
            format!("{mean}\n{}", tables::difference(difference, base, decimals))
        });
        add(&mut table, &row.heading, cells.collect());
    }
    table
}

/// The backends side by side, a column each: a table for each algorithm, and one for what each has more than the first.
fn backends(comparison: &Comparison, section: &Section<'_>) -> String {
    let table = |title: String, cell: &dyn Fn(usize, &Row<'_>) -> Option<String>| {
        let mut heading = vec![title.as_str()];
        heading.extend(comparison.backends.iter().map(|on| on.place()));
        let mut table = tables::table(&heading, 1);
        for row in &section.rows {
            let cells: Vec<_> = (0..comparison.backends.len())
                .map(|backend| cell(backend, row))
                .collect();
            if cells.iter().any(Option::is_some) {
                let cells = cells
                    .into_iter()
                    .map(|cell| cell.unwrap_or(tables::NONE.into()));
                add(&mut table, &row.heading, cells.collect());
            }
        }
        format!("\n{table}\n")
    };
    let decimals = |row: &Row<'_>| comparison.metrics[row.metric].decimals;
    let mut text = String::new();
    for (algorithm, with) in comparison.algorithms.iter().enumerate() {
        let title = format!("{}, with {with}", section.title);
        text += &table(title, &|backend, row| {
            let at = (algorithm, backend);
            let shown = tables::mean(Some(mean(comparison, at, row)?), decimals(row));
            let base = mean(comparison, (algorithm, 0), row);
            let more = comparison.to_backend(at, row.part, row.metric);
            Some(match backend {
                0 => shown,
                _ => format!("{shown}\n{}", tables::measured(more, base, decimals(row))),
            })
        });
    }
    let first = &comparison.algorithms[0];
    for (algorithm, with) in comparison.algorithms.iter().enumerate().skip(1) {
        let title = format!("{}, {with} − {first}", section.title);
        text += &table(title, &|backend, row| {
            let base = mean(comparison, (0, backend), row);
            let more = comparison.to_algorithm((algorithm, backend), row.part, row.metric)?;
            Some(tables::difference(Some(more), base, decimals(row)))
        });
    }
    text
}

/// Of an algorithm on a backend, by the numbers of both.
fn mean(comparison: &Comparison, at: (usize, usize), row: &Row<'_>) -> Option<Mean> {
    let samples = comparison.of(at.0, at.1).groups.samples(row.part)?;
    samples.mean(row.metric)
}

fn add(table: &mut Table, heading: &str, values: Vec<String>) {
    let mut cells = vec![heading.into()];
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
        self.metrics(&mut map, Part::Run, &groups.run)?;
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
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &self.group.name)?;
        map.serialize_entry("count", &self.group.connections)?;
        let part = Part::Connection(&self.group.name);
        self.line.metrics(&mut map, part, &self.group.samples)?;
        map.end()
    }
}

impl Line<'_> {
    /// The metrics of a part, by their keys.
    fn metrics<M: SerializeMap>(
        &self,
        map: &mut M,
        part: Part<'_>,
        samples: &Samples,
    ) -> Result<(), M::Error> {
        #[derive(serde::Serialize)]
        struct Value {
            #[serde(flatten)]
            mean: Mean,
            difference: Option<Mean>,
            backend_difference: Option<Mean>,
        }
        for (number, metric) in self.comparison.metrics.iter().enumerate() {
            if !metric.is_of(part) {
                continue;
            }
            let value = samples.mean(number).map(|mean| Value {
                mean,
                difference: self.comparison.to_algorithm(self.at, part, number),
                backend_difference: self.comparison.to_backend(self.at, part, number),
            });
            map.serialize_entry(metric.key, &value)?;
        }
        Ok(())
    }
}
