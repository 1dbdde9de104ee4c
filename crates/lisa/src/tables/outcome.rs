//! Tables of a single run.

use std::fmt::Write;

use scenario::Outcome;
use scenario::metrics::{self, Goodputs, Groups, Metric, Value};

use super::groups::groups;
use super::metric::column;
use super::{MOST_ROWS, row, table};
use crate::output::counted;
use scenario::study::cells::NONE;

/// A row for each connection and a row for each subflow. Many connections are shown as means.
pub fn outcome(outcome: &Outcome) -> String {
    if outcome.connections.len() > MOST_ROWS {
        let mut means = Groups::moments(metrics::summary().collect());
        means.add(outcome);
        return groups(&means);
    }
    let goodputs = Goodputs::of(outcome);
    // A single connection has no share.
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
        if let Some(line) = connection.limited.line() {
            let _ = writeln!(notes, "{name}: {line}");
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
        n if n > MOST_ROWS => {
            let subflows = counted(n, "subflow");
            return format!("\n{subflows} are left out: --json prints all\n");
        }
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
            "slow start\nend [s]",
            "cwnd at exit\n[segments]",
            "cwnd at end\n[segments]",
            "srtt\n[ms]",
            "window\nreductions",
            "first reduction\n[s]",
        ],
        1,
    );
    let seconds = |value: Option<f64>| value.map_or(NONE.into(), |value| format!("{value:.3}"));
    for connection in &outcome.connections {
        let name = connection.title();
        for subflow in &connection.subflows {
            let exit = subflow.cwnd_at_slow_start_exit_segments;
            table.add_row(row(
                1,
                vec![
                    format!("{name}, subflow {}", subflow.subflow),
                    subflow.path.to_string(),
                    format!("{:.3}", subflow.established_s),
                    seconds(subflow.goodput_mbps),
                    subflow.retransmits.to_string(),
                    subflow.retransmits_slow_start.to_string(),
                    seconds(subflow.slow_start_exit_s),
                    exit.map_or(NONE.into(), |cwnd| cwnd.to_string()),
                    subflow.cwnd_at_end_segments.to_string(),
                    format!("{:.1}", subflow.srtt_s * 1e3),
                    subflow.losses.to_string(),
                    seconds(subflow.first_loss_s),
                ],
            ));
        }
    }
    format!("\n{table}\n")
}
