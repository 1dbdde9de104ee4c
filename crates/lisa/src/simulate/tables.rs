//! Tables of outcomes for the terminal.

use std::fmt::Write;

use comfy_table::{
    Attribute, Cell, CellAlignment, Table, TableComponent, presets::UTF8_HORIZONTAL_ONLY,
};
use scenario::Outcome;
use scenario::metrics::{self, Goodputs, Group, Groups, Metric, Value};
use scenario::outcome::LinkOutcome;
use scenario::statistics::Mean;

use super::arguments::On;
use crate::output::counted;

/// The most rows of a table that people read; JSON has all.
const MOST_ROWS: usize = 40;

/// How many links are shown where there are more than that.
const BUSIEST: usize = 10;

/// A number that there is not.
pub const NONE: &str = "–";

/// A table with this heading: columns of text first, numbers after them.
pub fn table(heading: &[&str], texts: usize) -> Table {
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY);
    table.remove_style(TableComponent::HorizontalLines);
    table.remove_style(TableComponent::MiddleIntersections);
    let heading = heading.iter().map(|title| (*title).into()).collect();
    let bold = |cell: Cell| cell.add_attribute(Attribute::Bold);
    table.set_header(row(texts, heading).into_iter().map(bold));
    table
}

/// Text first, numbers to the right.
pub fn row(texts: usize, cells: Vec<String>) -> Vec<Cell> {
    let cell = |(column, text): (usize, String)| match column < texts {
        true => Cell::new(text),
        false => Cell::new(text).set_alignment(CellAlignment::Right),
    };
    cells.into_iter().enumerate().map(cell).collect()
}

/// What ran, before its tables.
pub fn title(title: &str, on: &[On], runs: usize, seed: u64) -> String {
    let places: Vec<&str> = on.iter().map(|on| on.place()).collect();
    let on = match &places[..] {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        places => places.join(""),
    };
    match runs {
        1 => format!("{title}\n{on}, seed {seed}"),
        _ => format!("{title}\n{on}, {runs} seeds; means with 95 % confidence intervals"),
    }
}

/// A mean, and its interval if it has one.
pub fn mean(mean: Option<Mean>, decimals: usize) -> String {
    match mean {
        None => NONE.into(),
        Some(Mean {
            mean, ci95: None, ..
        }) => format!("{mean:.decimals$}"),
        Some(Mean {
            mean,
            ci95: Some(half),
            ..
        }) => format!("{mean:.decimals$} ± {half:.decimals$}"),
    }
}

/// With its sign, and as a share of the baseline's mean where it is clear.
pub fn difference(difference: Option<Mean>, base: Option<Mean>, decimals: usize) -> String {
    let Some(Mean { mean, ci95, .. }) = difference else {
        return String::new();
    };
    let Some(half) = ci95 else {
        return format!("{mean:+.decimals$}");
    };
    if mean == 0.0 && half == 0.0 {
        return "the same in each run".into();
    }
    let shown = format!("{mean:+.decimals$} ± {half:.decimals$}");
    if mean.abs() <= half {
        return format!("{shown}\nno clear difference");
    }
    match base.map_or(0.0, |mean| mean.mean) {
        of if of > 0.0 => format!("{shown} ({:+.0} %)", 100.0 * mean / of),
        _ => shown,
    }
}

/// The same where a difference is to be small: as a share also where it is not clear.
pub fn measured(difference: Option<Mean>, base: Option<Mean>, decimals: usize) -> String {
    let Some(Mean { mean, ci95, .. }) = difference else {
        return String::new();
    };
    let half = ci95.unwrap_or(0.0);
    if mean == 0.0 && half == 0.0 {
        return "the same in each run".into();
    }
    let with = |value: f64, half: f64, decimals: usize| match ci95 {
        Some(_) => format!("{value:+.decimals$} ± {half:.decimals$}"),
        None => format!("{value:+.decimals$}"),
    };
    let shown = with(mean, half, decimals);
    match base.map_or(0.0, |mean| mean.mean) {
        of if of > 0.0 => {
            let share = with(100.0 * mean / of, 100.0 * half / of, 1);
            format!("{shown} ({share} %)")
        }
        _ => shown,
    }
}

/// What the second lines of a table's cells are.
pub fn differences_to(algorithm: &str) -> String {
    format!("Second lines: the difference to {algorithm}, seed by seed.\n")
}

/// 12345678 as `12.3 M`.
pub fn large(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.2} G", n / 1e9),
        n if n >= 1e6 => format!("{:.2} M", n / 1e6),
        n if n >= 1e4 => format!("{:.1} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}

/// `completion [s]`, for a row.
pub fn heading(metric: &Metric) -> String {
    with_unit(metric, " ")
}

/// The same for a column, in two lines.
pub fn column(metric: &Metric) -> String {
    with_unit(metric, "\n")
}

fn with_unit(metric: &Metric, between: &str) -> String {
    match metric.unit {
        "" => metric.title.into(),
        unit => format!("{}{between}[{unit}]", metric.title),
    }
}

/// `download: lia lisa`, and how many there are of it.
pub fn describe(group: &Group) -> String {
    let kind = format!("{} {}", group.protocol.name(), group.algorithm);
    let what = match kind.trim_end() {
        // Without a name of its own it is called so.
        kind if group.name.starts_with(kind) => group.name.clone(),
        kind => format!("{}: {kind}", group.name),
    };
    match group.connections {
        1 => what,
        n => format!("{what}\n{n} connections, means of each run"),
    }
}

/// Of one run: each connection, as far as these are few, and each subflow.
pub fn one(outcome: &Outcome) -> String {
    let connections = outcome.connections.len();
    if connections > MOST_ROWS {
        let mut groups = Groups::default();
        groups.add(outcome);
        return several(&groups);
    }
    let goodputs = Goodputs::of(outcome);
    // A share is only among several.
    let metrics: Vec<&Metric> = metrics::standard()
        .filter(|metric| match metric.value {
            Value::Connection(_) => true,
            Value::Share(_) => goodputs.is_some(),
            _ => false,
        })
        .collect();
    let titles: Vec<String> = metrics.iter().map(|metric| column(metric)).collect();
    let mut heading = vec!["connection", "algorithm"];
    heading.extend(titles.iter().map(String::as_str));
    let mut all = table(&heading, 2);
    let mut notes = String::new();
    for connection in &outcome.connections {
        let name = connection.title();
        if let Some(note) = &connection.note {
            let _ = writeln!(notes, "{name}: {note}");
        }
        let of = |metric: &&Metric| match metric.of_connection(connection, goodputs.as_ref()) {
            Some(value) if metric.whole => format!("{value:.0}"),
            Some(value) => format!("{value:.*}", metric.decimals),
            None => NONE.into(),
        };
        let kind = format!("{} {}", connection.protocol.name(), connection.algorithm);
        let mut cells = vec![name, kind.trim_end().into()];
        cells.extend(metrics.iter().map(of));
        all.add_row(row(2, cells));
    }
    let run = |metric: &Metric| {
        let value = metric.of_run(goodputs.as_ref())?;
        Some(format!("{}: {value:.*}\n", metric.title, metric.decimals))
    };
    let run: String = metrics::standard().filter_map(run).collect();
    format!("{all}\n{run}{notes}{}", subflows(outcome))
}

fn subflows(outcome: &Outcome) -> String {
    let all = || outcome.connections.iter().flat_map(|c| &c.subflows);
    match all().count() {
        0 => return String::new(),
        n if n > MOST_ROWS => return format!("\n{}: --json has each\n", counted(n, "subflow")),
        _ => {}
    }
    let mut table = table(
        &[
            "subflow",
            "path",
            "joined\n[s]",
            "goodput\n[Mbit/s]",
            "retransmits\n[segments]",
            "R_ss\n[segments]",
            "slow start\nuntil [s]",
            "cwnd then\n[segments]",
            "cwnd at end\n[segments]",
            "srtt\n[ms]",
            "reductions",
            "the first\n[s]",
        ],
        1,
    );
    let seconds = |value: Option<f64>| value.map_or(NONE.into(), |value| format!("{value:.3}"));
    for connection in &outcome.connections {
        let name = connection.title();
        for subflow in &connection.subflows {
            let exit = subflow.cwnd_at_slow_start_exit;
            table.add_row(row(
                1,
                vec![
                    format!("{name}, subflow {}", subflow.subflow + 1),
                    (subflow.path + 1).to_string(),
                    format!("{:.3}", subflow.established_s),
                    seconds(subflow.goodput_mbps),
                    subflow.retransmits.to_string(),
                    subflow.retransmits_slow_start.to_string(),
                    seconds(subflow.slow_start_exit_s),
                    exit.map_or(NONE.into(), |cwnd| cwnd.to_string()),
                    subflow.cwnd_at_end.to_string(),
                    format!("{:.1}", subflow.srtt * 1e3),
                    subflow.losses.to_string(),
                    seconds(subflow.first_loss_s),
                ],
            ));
        }
    }
    format!("\n{table}\n")
}

/// Of several runs: a column for each name of connections, and a line for each metric of the runs.
pub fn several(groups: &Groups) -> String {
    let titles: Vec<String> = groups.groups.iter().map(describe).collect();
    let mut heading = vec![""];
    heading.extend(titles.iter().map(String::as_str));
    let mut table = table(&heading, 1);
    let mut run = String::new();
    for (number, metric) in groups.metrics.iter().enumerate() {
        let all = groups.groups.iter();
        let values: Vec<Option<Mean>> = all.map(|g| g.samples.mean(number)).collect();
        if values.iter().any(Option::is_some) {
            let mut cells = vec![self::heading(metric)];
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

/// What a reader must know of a figure, a line each.
pub fn notes(groups: &Groups, of: &str) -> String {
    let mut text = String::new();
    for group in &groups.groups {
        for (note, count) in &group.notes {
            let all = group.connections * groups.runs;
            let _ = writeln!(text, "{}{of}: {note} ({count} of {all})", group.name);
        }
    }
    text
}

/// Links, over several runs.
#[derive(Default)]
pub struct Links {
    runs: Vec<Vec<LinkOutcome>>,
}

impl Links {
    pub fn add(&mut self, outcome: &Outcome) {
        self.runs.push(outcome.links.clone());
    }

    /// The links that have a rate or lost something; of many the busiest, in their own order.
    pub fn table(&self) -> String {
        let Some(first) = self.runs.first() else {
            return String::new();
        };
        let all = |link: usize| self.runs.iter().filter_map(move |links| links.get(link));
        let of = |link: usize, value: fn(&LinkOutcome) -> Option<f64>| {
            let values: Vec<f64> = all(link).filter_map(value).collect();
            Mean::of(&values)
        };
        let busy = |link: usize| of(link, |l| l.utilisation).map_or(0.0, |mean| mean.mean);
        let mut shown: Vec<usize> = (0..first.len())
            .filter(|&link| all(link).any(|l| l.utilisation.is_some() || l.drops + l.losses > 0))
            .collect();
        let rest = match shown.len() {
            n if n > MOST_ROWS => {
                shown.sort_by(|a, b| busy(*b).total_cmp(&busy(*a)));
                shown.truncate(BUSIEST);
                shown.sort_unstable();
                let rest = n - shown.len();
                format!(
                    "{} less busy: --json has each\n",
                    counted(rest, "more link")
                )
            }
            _ => String::new(),
        };
        // Few scenarios have these.
        let some =
            |value: fn(&LinkOutcome) -> u64| self.runs.iter().flatten().any(|l| value(l) > 0);
        let (losses, marks) = (some(|l| l.losses), some(|l| l.marks));
        let mut heading = vec!["link", "utilisation\n[%]", "loss rate\n[%]"];
        heading.push("drops\n[packets]");
        heading.extend(losses.then_some("losses\n[packets]"));
        heading.extend(marks.then_some("marks\n[packets]"));
        heading.extend(["queue, mean\n[packets]", "queue, most\n[packets]"]);
        let mut table = table(&heading, 1);
        let whole = usize::from(self.runs.len() > 1);
        for &link in &shown {
            let percent = of(link, |l| l.utilisation.map(|part| part * 100.0));
            let count = |value: fn(&LinkOutcome) -> Option<f64>| mean(of(link, value), whole);
            let rate = of(link, |l| l.loss_rate.map(|part| part * 100.0));
            let mut cells = vec![first[link].name.clone(), mean(percent, 1), mean(rate, 2)];
            cells.push(count(|l| Some(l.drops as f64)));
            cells.extend(losses.then(|| count(|l| Some(l.losses as f64))));
            cells.extend(marks.then(|| count(|l| Some(l.marks as f64))));
            cells.push(mean(of(link, |l| Some(l.queue_mean)), 2));
            cells.push(
                all(link)
                    .map(|l| l.queue_max)
                    .max()
                    .unwrap_or(0)
                    .to_string(),
            );
            table.add_row(row(1, cells));
        }
        format!("\n{table}\n{rest}")
    }
}
