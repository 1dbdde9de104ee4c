//! The table of a sweep.

use scenario::metrics::{Groups, Metric, Part, Samples};
use scenario::study::sweep::Point;
use scenario::vary::Vary;

use crate::tables;

/// A part of the network with its values at a point: a row of the table.
struct Row<'a> {
    title: String,
    part: Part<'a>,
    samples: &'a Samples,
}

/// The parts of a point that have values. Of the links only these.
fn rows<'a>(groups: &'a Groups, links: &[&'a str]) -> Vec<Row<'a>> {
    let connections = groups.groups.iter().flat_map(|group| {
        let name = group.name.as_str();
        let subflows = group.subflows.keys().map(move |&number| {
            let title = format!("{name}, subflow {}", number);
            (title, Part::Subflow(name, number))
        });
        [(name.into(), Part::Connection(name))]
            .into_iter()
            .chain(subflows)
    });
    let links = links
        .iter()
        .map(|name| (name.to_string(), Part::Link(name)));
    let has = |samples: &&Samples| (0..groups.metrics.len()).any(|m| samples.mean(m).is_some());
    connections
        .chain(links)
        .chain([("all connections".into(), Part::Run)])
        .filter_map(|(title, part)| {
            Some(Row {
                title,
                part,
                samples: groups.samples(part).filter(has)?,
            })
        })
        .collect()
}

/// A point with its rows and its baseline.
struct Entry<'a> {
    point: &'a Point,
    rows: Vec<Row<'a>>,
    /// The point of the first algorithm with the same values; none at that point.
    baseline: Option<&'a Point>,
}

/// A row for each part of each point, and notes. Points that differ only in their algorithm, of which there are
/// `algorithms`, stand together, the baseline first.
pub fn table(
    varied: &[Vary],
    metrics: &[&'static Metric],
    points: &[Point],
    algorithms: usize,
) -> String {
    let mut notes: Vec<String> = Vec::new();
    let mut entries: Vec<Entry<'_>> = Vec::new();
    for together in points.chunks(algorithms.max(1)) {
        let first = &together[0];
        // The same links for all algorithms.
        let links = tables::busiest(&first.groups);
        if !notes.contains(&links.note()) {
            notes.push(links.note());
        }
        entries.extend(together.iter().map(|point| Entry {
            point,
            rows: rows(&point.groups, &links.shown),
            baseline: Some(first).filter(|first| !std::ptr::eq(*first, point)),
        }));
    }
    let all = || entries.iter().flat_map(|entry| &entry.rows);
    let metrics: Vec<(usize, &Metric)> = (metrics.iter().copied().enumerate())
        .filter(|(metric, _)| all().any(|row| row.samples.mean(*metric).is_some()))
        .collect();
    let several = entries.iter().any(|entry| entry.rows.len() > 1);
    let columns: Vec<String> = metrics.iter().map(|(_, m)| tables::column(m)).collect();
    let mut heading: Vec<&str> = varied.iter().map(|vary| vary.key.as_str()).collect();
    heading.extend((points.iter().any(|point| point.algorithm.is_some())).then_some("algorithm"));
    heading.extend(several.then_some("connection"));
    let texts = heading.len();
    heading.extend(columns.iter().map(String::as_str));
    let mut table = tables::table(&heading, texts).repeating(texts);
    for Entry {
        point,
        rows,
        baseline,
    } in &entries
    {
        let names = point.names(varied);
        let with = format!(" with {}", names.join(", "));
        notes.push(tables::notes(&point.groups, &with));
        for row in rows {
            let base = baseline.and_then(|point| point.groups.samples(row.part));
            let mut cells = names.clone();
            cells.extend(several.then(|| row.title.clone()));
            cells.extend(metrics.iter().map(|&metric| cell(row, base, metric)));
            table.add_row(tables::row(texts, cells));
        }
    }
    if algorithms > 1 {
        let first = points[0].algorithm.as_deref();
        notes.push(tables::differences_to(
            first.expect("algorithms are compared"),
        ));
    }
    format!("{table}\n{}", notes.concat())
}

/// The mean of a metric, and on a second line its difference to the baseline. Empty if the part cannot have the metric.
fn cell(row: &Row<'_>, base: Option<&Samples>, (number, metric): (usize, &Metric)) -> String {
    if !metric.is_of(row.part) {
        return String::new();
    }
    let mean = tables::mean(row.samples.mean(number), metric.decimals);
    let Some(base) = base else {
        return mean;
    };
    let difference = row.samples.difference(base, number);
    let difference = tables::difference(difference, base.mean(number), metric.decimals);
    format!("{mean}\n{difference}")
}
