//! `lisa kernel status`: the loaded algorithms and their connections, as text or JSON.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use kernel::filter::Filter;
use kernel::holders::{self, Detail, Lister, Storage};
use kernel::left_over;
use kernel::registry::{self, Found, Registered};
use kernel::status::{self, Connection, Report, SCHEMA, Status};

use super::connections::{Layout, Namespaces, grouped};
use super::filters::nothing;
use super::summary::summary;
use crate::output::{Failure, complain, counted, print as print_out, terminal_width, wrap};

/// Time between the two listings that give the throughput.
const INTERVAL: Duration = Duration::from_millis(250);

/// Prints the status of the loaded algorithms, as far as it matches.
pub fn print(json: bool, filter: &Filter) -> Result<(), Failure> {
    let mut all = Vec::new();
    for found in registry::find_all()? {
        match found {
            Found::Current(registered) => all.push(*registered),
            Found::Other(registration) => complain(registration.other_version().to_string()),
            Found::Damaged(error) => complain(error.to_string()),
        }
    }
    let is_loaded = !all.is_empty();
    all.retain(|found| filter.has_algorithm(found.name(), found.algorithm()));
    let algorithms = read(&all)?;
    // With the number of open connections.
    let mut algorithms: Vec<(usize, Status)> = algorithms
        .into_iter()
        .map(|status| (status.connections.len(), status))
        .collect();
    for (_, status) in &mut algorithms {
        filter.apply(status);
    }
    if !filter.is_empty() {
        algorithms.retain(|(_, status)| has_content(status));
    }
    if json {
        let report = Report {
            schema: SCHEMA,
            algorithms: algorithms.into_iter().map(|(_, status)| status).collect(),
        };
        let report = serde_json::to_string(&report).expect("plain data");
        return print_out(&(report + "\n"));
    }
    if !is_loaded {
        return print_out("no algorithm is loaded; `lisa kernel load` loads one\n");
    }
    if algorithms.is_empty() {
        return print_out(&(nothing(filter) + "\n"));
    }
    let (width, colours) = (terminal_width(), std::io::stdout().is_terminal());
    let text: String = algorithms
        .iter()
        .map(|(open, status)| text(status, *open, width, colours))
        .collect();
    print_out(&text)
}

fn has_content(status: &Status) -> bool {
    let holders = &status.holders;
    let counts = [
        status.connections.len(),
        holders.sockets.len(),
        holders.defaults.len(),
    ];
    counts.iter().any(|count| *count > 0)
}

/// The status of these algorithms. Deletes entries of connections without a socket.
fn read(all: &[Registered]) -> Result<Vec<Status>, Failure> {
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let mut storage = Storage::default();
    let mut lister = Lister::new(&mut storage)?;
    if all.iter().any(|found| status::entries(found).0 > 0) {
        let started = Instant::now();
        lister.list(Detail::Sockets)?;
        std::thread::sleep(INTERVAL.saturating_sub(started.elapsed()));
    }
    let mut found = lister.list(Detail::Processes)?;
    for registered in all {
        delete_left_over(registered, &found);
    }
    let statuses = all.iter().map(|registered| {
        let holders = found.take(registered);
        Ok(status::status(registered, holders)?)
    });
    statuses.collect()
}

/// Deletes entries of connections without a socket, and reports that.
fn delete_left_over(registered: &Registered, found: &holders::Found) {
    let name = registered.name();
    match left_over::delete(registered, found) {
        Ok(0) => {}
        Ok(deleted) => {
            let entries = counted(deleted, "connection");
            complain(format!(
                "`{name}`: {entries} without a socket: the entries are deleted"
            ));
        }
        Err(error) => {
            complain(format!(
                "`{name}`: entries without a socket are not deleted: {error}"
            ));
        }
    }
}

/// Width of tables that are not for a terminal.
const FILE: usize = 160;

/// The lines of an algorithm that has this number of open connections.
fn text(status: &Status, open: usize, terminal: Option<usize>, colours: bool) -> String {
    let (width, table_width) = (terminal.unwrap_or(usize::MAX), terminal.unwrap_or(FILE));
    let mut lines = Vec::new();
    for line in summary(status, open).lines() {
        lines.extend(wrap(line, width, 4));
    }
    let shown = status.connections.len();
    if shown < open {
        lines.push(format!("  {shown} of these connections match"));
    }
    for line in status.holder_lines() {
        lines.extend(wrap(&format!("  {line}"), width, 6));
    }
    if !status.connections.is_empty() {
        let layout = Layout::new(
            table_width,
            namespaces(&status.connections),
            grouped(&status.connections),
        );
        lines.push(String::new());
        lines.push(layout.header());
        for connection in &status.connections {
            lines.push(layout.connection(connection, None));
            for subflow in &connection.subflows {
                let line = layout.subflow(subflow);
                lines.push(match subflow.phase {
                    "slow start" if colours => format!("{GREEN}{line}{PLAIN}"),
                    "recovery" if colours => format!("{RED}{line}{PLAIN}"),
                    _ => line,
                });
            }
            let notes = layout.notes(connection);
            lines.extend(
                notes
                    .iter()
                    .flat_map(|notes| wrap(&format!("     {notes}"), width, 7)),
            );
        }
        lines.push(String::new());
    }
    lines.into_iter().map(|line| line + "\n").collect()
}

/// Whether these connections are in several network namespaces.
fn namespaces(connections: &[Connection]) -> Namespaces {
    let first = connections.first().map(|connection| connection.netns);
    match connections.iter().all(|c| Some(c.netns) == first) {
        true => Namespaces::One,
        false => Namespaces::Several,
    }
}

const GREEN: &str = "\x1b[32m";
const RED: &str = "\x1b[31m";
const PLAIN: &str = "\x1b[39m";
