//! Tables of several runs: a column for each name of connections.

use std::fmt::Write;

use scenario::metrics::{Group, Groups};
use scenario::statistics::Mean;

use super::{metric, row, table};
use scenario::study::cells::mean;

/// A row for each metric of connections, and a line for each metric of runs.
pub fn groups(groups: &Groups) -> String {
    let titles: Vec<String> = groups.groups.iter().map(title).collect();
    let mut heading = vec![""];
    heading.extend(titles.iter().map(String::as_str));
    let mut table = table(&heading, 1);
    let mut run = String::new();
    for (number, metric) in groups.metrics.iter().enumerate() {
        let all = groups.groups.iter();
        let values: Vec<Option<Mean>> = all.map(|g| g.samples.mean(number)).collect();
        if values.iter().any(Option::is_some) {
            let mut cells = vec![metric::heading(metric)];
            cells.extend(values.into_iter().map(|value| mean(value, metric.decimals)));
            table.add_row(row(1, cells));
        }
        if let Some(value) = groups.run.mean(number) {
            let value = mean(Some(value), metric.decimals);
            let _ = writeln!(run, "{}: {value}", metric.title);
        }
    }
    format!("{table}\n{run}{}", notes(groups, ""))
}

/// `download: mptcp lisa`, with the number of connections if there are several.
fn title(group: &Group) -> String {
    let kind = format!("{} {}", group.protocol.name(), group.algorithm);
    let title = match kind.trim_end() {
        // A connection without a name in the file is named after its protocol and algorithm.
        kind if group.name.starts_with(kind) => group.name.clone(),
        kind => format!("{}: {kind}", group.name),
    };
    match group.connections {
        1 => title,
        n => format!("{title}\n{n} connections, means of each run"),
    }
}

/// The notes of connections, a line each, such as that a transfer did not finish. `of` follows the connection's name.
pub fn notes(groups: &Groups, of: &str) -> String {
    let mut text = String::new();
    for group in &groups.groups {
        for (note, count) in &group.notes {
            let all = group.all;
            let _ = writeln!(text, "{}{of}: {note} ({count} of {all})", group.name);
        }
    }
    text
}
