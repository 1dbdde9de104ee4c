//! What `lisa compare` prints: tables, and lines of JSON.

use comfy_table::{Attribute, Table};
use scenario::metrics::{Group, Metric, Part, Samples, Value};
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

/// One for each name of connections, with its subflows; then the links, and the run as a whole.
fn sections(comparison: &Comparison) -> Vec<Section<'_>> {
    let first = &comparison.of(0, 0).groups;
    let connections = first.groups.iter().map(|group| {
        let name = group.name.as_str();
        let subflows = group.subflows.keys();
        let subflows = subflows.map(|&n| (Part::Subflow(name, n), format!("subflow {}: ", n + 1)));
        let parts = [(Part::Connection(name), String::new())].into_iter();
        (name, parts.chain(subflows).collect())
    });
    let links = first.links.iter();
    let links = links.map(|(name, _)| (Part::Link(name), format!("{name}: ")));
    let run = vec![(Part::Run, String::new())];
    connections
        .chain([("links", links.collect()), ("all connections", run)])
        .map(|(title, parts)| Section {
            title,
            rows: rows(comparison, parts),
        })
        .filter(|section| !section.rows.is_empty())
        .collect()
}

/// The metrics of some parts, as far as any run has them; with what stands before the metric's title.
fn rows<'a>(comparison: &Comparison, parts: Vec<(Part<'a>, String)>) -> Vec<Row<'a>> {
    let has = |metric: usize, part: Part<'_>| {
        let all = comparison.each().map(|(_, contender)| &contender.groups);
        let mut samples = all.filter_map(|groups| groups.samples(part));
        samples.any(|samples| samples.mean(metric).is_some())
    };
    let mut rows = Vec::new();
    for (number, metric) in comparison.metrics.iter().enumerate() {
        let parts = parts.iter().filter(|(part, _)| has(number, *part));
        rows.extend(parts.map(|(part, before)| Row {
            part: *part,
            metric: number,
            heading: format!("{before}{}", tables::heading(metric)),
        }));
    }
    rows
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
        if self.any(|metric| matches!(metric.value, Value::Link(_))) {
            let links = groups.links.iter();
            let links: Vec<Named<'_>> = links
                .map(|(name, samples)| Named {
                    line: self,
                    key: "name",
                    name: name.as_str().into(),
                    part: Part::Link(name),
                    samples,
                })
                .collect();
            map.serialize_entry("links", &links)?;
        }
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
        if (self.line).any(|metric| matches!(metric.value, Value::Subflow(_))) {
            let subflows = self.group.subflows.iter();
            let subflows: Vec<Named<'_>> = subflows
                .map(|(&number, samples)| Named {
                    line: self.line,
                    key: "subflow",
                    name: number.into(),
                    part: Part::Subflow(&self.group.name, number),
                    samples,
                })
                .collect();
            map.serialize_entry("subflows", &subflows)?;
        }
        map.end()
    }
}

/// In it: a subflow or a link, and what tells it apart.
struct Named<'a> {
    line: &'a Line<'a>,
    key: &'static str,
    name: serde_json::Value,
    part: Part<'a>,
    samples: &'a Samples,
}

impl Serialize for Named<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry(self.key, &self.name)?;
        self.line.metrics(&mut map, self.part, self.samples)?;
        map.end()
    }
}

impl Line<'_> {
    /// Whether such a metric is compared.
    fn any(&self, is: impl Fn(&Metric) -> bool) -> bool {
        self.comparison.metrics.iter().any(|metric| is(metric))
    }

    /// The metrics of a part, by their names in it.
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
            map.serialize_entry(metric.field(), &value)?;
        }
        Ok(())
    }
}
