//! The tables of a comparison.

use comfy_table::Attribute;
use scenario::metrics::Part;
use scenario::statistics::Mean;
use scenario::study::comparison::{At, Comparison};

use crate::runs::on::On;
use crate::tables::{self, Table};

/// One table: the connections of one name, the links, or the runs as a whole.
struct Section<'a> {
    title: &'a str,
    rows: Vec<Row<'a>>,
    /// The line below the table, or nothing.
    note: String,
}

/// A metric of a part.
struct Row<'a> {
    part: Part<'a>,
    /// Number of the metric in the comparison.
    metric: usize,
    heading: String,
}

/// A part with the words that stand before its metrics.
struct Named<'a> {
    part: Part<'a>,
    prefix: String,
}

/// A section for each name of connections, with their subflows; then one for the links, and one for the runs.
fn sections(comparison: &Comparison) -> Vec<Section<'_>> {
    let first = &comparison.of(At::default()).groups;
    let connections = first.groups.iter().map(|group| {
        let name = group.name.as_str();
        let subflows = group.subflows.keys().map(|&number| Named {
            part: Part::Subflow(name, number),
            prefix: format!("subflow {}: ", number),
        });
        let own = Named {
            part: Part::Connection(name),
            prefix: String::new(),
        };
        section(comparison, name, [own].into_iter().chain(subflows))
    });
    let links = tables::busiest(first);
    let named = links.shown.iter().map(|name| Named {
        part: Part::Link(name),
        prefix: format!("{name}: "),
    });
    let links = Section {
        note: links.note(),
        ..section(comparison, "links", named)
    };
    let run = Named {
        part: Part::Run,
        prefix: String::new(),
    };
    let run = section(comparison, "all connections", [run].into_iter());
    let sections = connections.chain([links, run]);
    sections
        .filter(|section| !section.rows.is_empty())
        .collect()
}

/// A section with a row for each metric and part that has a value in any run.
fn section<'a>(
    comparison: &Comparison,
    title: &'a str,
    parts: impl Iterator<Item = Named<'a>>,
) -> Section<'a> {
    let has = |metric: usize, part: Part<'_>| {
        let mut all = comparison.each();
        all.any(|(at, _)| comparison.mean(at, part, metric).is_some())
    };
    let parts: Vec<Named<'_>> = parts.collect();
    let mut rows = Vec::new();
    for (number, metric) in comparison.metrics.iter().enumerate() {
        let parts = parts.iter().filter(|named| has(number, named.part));
        rows.extend(parts.map(|named| Row {
            part: named.part,
            metric: number,
            heading: format!("{}{}", named.prefix, tables::heading(metric)),
        }));
    }
    Section {
        title,
        rows,
        note: String::new(),
    }
}

/// All tables and their notes.
pub fn text(comparison: &Comparison) -> String {
    let mut text = String::new();
    let several = comparison.backends.len() > 1;
    for section in &sections(comparison) {
        match several {
            true => text += &backends(comparison, section),
            false => text += &format!("\n{}\n", algorithms(comparison, section)),
        }
        text += &section.note;
    }
    for (at, contender) in comparison.each() {
        let mut of = format!(" with {}", comparison.algorithms[at.algorithm]);
        if several {
            of += &format!(", {}", On::from(comparison.backends[at.backend]).place());
        }
        text += &tables::notes(&contender.groups, &of);
    }
    if several {
        text += &tables::differences_to("the first column");
    } else if comparison.algorithms.len() > 1 {
        text += &tables::differences_to(&comparison.algorithms[0]);
    }
    text
}

/// A table with a column for each algorithm.
fn algorithms(comparison: &Comparison, section: &Section<'_>) -> Table {
    let mut heading = vec![section.title];
    heading.extend(comparison.algorithms.iter().map(String::as_str));
    let mut table = tables::table(&heading, 1);
    for row in &section.rows {
        let decimals = comparison.metrics[row.metric].decimals;
        let base = mean(comparison, At::default(), row);
        let cells = comparison.each().map(|(at, _)| {
            let mean = tables::mean(mean(comparison, at, row), decimals);
            if at == At::default() {
                return mean;
            }
            let difference = comparison.to_algorithm(at, row.part, row.metric);
            format!("{mean}\n{}", tables::difference(difference, base, decimals))
        });
        add(&mut table, &row.heading, cells.collect());
    }
    table
}

/// Tables with a column for each backend: one for each algorithm, and one for the differences of each algorithm to the
/// first.
fn backends(comparison: &Comparison, section: &Section<'_>) -> String {
    let table = |title: String, cell: &dyn Fn(usize, &Row<'_>) -> Option<String>| {
        let mut heading = vec![title.as_str()];
        heading.extend(
            comparison
                .backends
                .iter()
                .map(|backend| On::from(*backend).place()),
        );
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
            let at = At { algorithm, backend };
            let shown = tables::mean(Some(mean(comparison, at, row)?), decimals(row));
            let base = mean(comparison, At { backend: 0, ..at }, row);
            let difference = comparison.to_backend(at, row.part, row.metric);
            Some(match backend {
                0 => shown,
                _ => format!(
                    "{shown}\n{}",
                    tables::measured(difference, base, decimals(row))
                ),
            })
        });
    }
    let first = &comparison.algorithms[0];
    for (algorithm, with) in comparison.algorithms.iter().enumerate().skip(1) {
        let title = format!("{}, {with} − {first}", section.title);
        text += &table(title, &|backend, row| {
            let at = At { algorithm, backend };
            let base = mean(comparison, At { algorithm: 0, ..at }, row);
            let difference = comparison.to_algorithm(at, row.part, row.metric)?;
            Some(tables::difference(Some(difference), base, decimals(row)))
        });
    }
    text
}

fn mean(comparison: &Comparison, at: At, row: &Row<'_>) -> Option<Mean> {
    comparison.mean(at, row.part, row.metric)
}

/// Adds a row with a bold heading.
fn add(table: &mut Table, heading: &str, values: Vec<String>) {
    let mut cells = vec![heading.into()];
    cells.extend(values);
    let mut row = tables::row(1, cells);
    row[0] = row[0].clone().add_attribute(Attribute::Bold);
    table.add_row(row);
}
