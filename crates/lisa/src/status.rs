//! `lisa kernel status`: tables for people, JSON for programs.

use crate::output::{Failure, age, counted};
use comfy_table::{Cell, CellAlignment, Color, Table, presets::UTF8_HORIZONTAL_ONLY};
use kernel::{
    holders, left_over, registry,
    status::{self, Connection, SCHEMA, Status, Subflow},
};
use serde::Serialize;

#[derive(Serialize)]
struct Report {
    schema: &'static str,
    algorithms: Vec<Status>,
}

/// Prints the status of all that is loaded.
pub fn print(json: bool) -> Result<(), Failure> {
    let mut algorithms = Vec::new();
    let all = registry::find_all()?;
    let holders = match all.is_empty() {
        true => holders::Found::default(),
        false => holders::find()?,
    };
    for found in all {
        match found {
            Ok(registered) => {
                let name = registered.name();
                match left_over::delete(&registered, &holders) {
                    Ok(0) => {}
                    Ok(deleted) => {
                        let entries = counted(deleted, "connection");
                        eprintln!(
                            "lisa: `{name}`: {entries} without a socket: the entries are deleted"
                        );
                    }
                    Err(error) => eprintln!(
                        "lisa: `{name}`: entries without a socket are not deleted: {error}"
                    ),
                }
                algorithms.push(status::status(&registered, holders.of(&registered))?)
            }
            Err(error) => eprintln!("lisa: {error}"),
        }
    }
    if json {
        let report = Report {
            schema: SCHEMA,
            algorithms,
        };
        println!("{}", serde_json::to_string(&report).expect("plain data"));
        return Ok(());
    }
    if algorithms.is_empty() {
        println!("no algorithm is loaded; `lisa kernel load lisa` loads one");
    }
    for status in &algorithms {
        println!("{}", heading(status));
        for line in status.holder_lines() {
            println!("  {line}");
        }
        if !status.connections.is_empty() {
            println!("{}\n", table(&status.connections));
        }
    }
    Ok(())
}

/// One line about an algorithm, and one about what it did.
pub fn heading(status: &Status) -> String {
    let totals = &status.totals;
    let mut notes = vec![format!("loaded {} ago", age(status.age_s))];
    if let Some(pid) = status.owner_pid {
        notes.push(format!("for process {pid}"));
    }
    if status.leaving {
        notes.push("unloaded".into());
    }
    notes.push(format!(
        "in use by {} {}",
        status.users,
        if status.users == 1 {
            "socket or namespace"
        } else {
            "sockets or namespaces"
        }
    ));
    let plain = totals.plain_opened.saturating_sub(totals.plain_closed);
    let mut text = format!(
        "{} ({}): {}\n  {} open of {}, {} plain TCP; credits: {} taken, {} settled, {} void",
        status.name,
        status.about,
        notes.join(", "),
        counted(status.connections.len(), "connection"),
        totals.connections_opened,
        plain,
        totals.credits_taken,
        totals.credits_settled,
        totals.credits_void,
    );
    let alone = totals.connections_alone + totals.subflows_alone;
    if alone > 0 {
        let alone = counted(alone as usize, "subflow");
        text.push_str(&format!("\n  {alone} found no room and run uncoupled"));
    }
    if totals.deletions_failed > 0 {
        let kept = counted(totals.deletions_failed as usize, "deletion");
        text.push_str(&format!(
            "\n  {kept} of map entries failed; `lisa kernel status` deletes entries without a socket"
        ));
    }
    text
}

/// The columns of a subflow, with their titles. The last is there where subflows are [`grouped`].
pub const COLUMNS: [&str; 10] = [
    "connection",
    "subflow",
    "cwnd",
    "ssthresh",
    "srtt",
    "flight",
    "phase",
    "losses",
    "credit",
    "group",
];

/// How many of the columns are shown.
pub fn columns(grouped: bool) -> usize {
    COLUMNS.len() - usize::from(!grouped)
}

/// Whether a subflow of these connections is in another group than all are at first, or is asked to be.
pub fn grouped(connections: &[Connection]) -> bool {
    let mut subflows = connections.iter().flat_map(|c| &c.subflows);
    subflows.any(|subflow| subflow.group != 0 || subflow.group_asked.is_some())
}

/// The group of a subflow, and the one that it is asked to be in: `1`, `0 → 1`.
pub fn group(subflow: &Subflow) -> String {
    match subflow.group_asked {
        Some(asked) => format!("{} → {asked}", subflow.group),
        None => subflow.group.to_string(),
    }
}

/// The cells of a subflow, in the order of [`COLUMNS`].
pub fn cells(connection: &Connection, subflow: &Subflow) -> [String; 10] {
    let mut credit = Vec::new();
    if let Some(from) = subflow.credit_from {
        credit.push(format!("took {} from {from}", subflow.credit));
    }
    if subflow.credits_settled > 0 {
        credit.push(format!("gave {}", subflow.credits_settled));
    }
    if subflow.debit > 0 {
        credit.push(format!("owes {}", subflow.debit));
    }
    if subflow.credits_void > 0 {
        credit.push(format!("{} void", subflow.credits_void));
    }
    [
        connection.token.clone(),
        subflow.ends(),
        subflow.cwnd.to_string(),
        subflow.ssthresh.map_or("–".into(), |s| s.to_string()),
        subflow
            .srtt_us
            .map_or("–".into(), |us| format!("{:.1} ms", us / 1e3)),
        subflow.flight.to_string(),
        subflow.phase.into(),
        subflow.losses.to_string(),
        credit.join(", "),
        group(subflow),
    ]
}

fn table(connections: &[Connection]) -> Table {
    let columns = columns(grouped(connections));
    let mut table = Table::new();
    table.load_preset(UTF8_HORIZONTAL_ONLY);
    table.set_header(&COLUMNS[..columns]);
    for connection in connections {
        for subflow in &connection.subflows {
            let cells = cells(connection, subflow)
                .into_iter()
                .take(columns)
                .enumerate()
                .map(|(i, text)| {
                    let cell = Cell::new(text);
                    match i {
                        2..=5 | 7 | 9 => cell.set_alignment(CellAlignment::Right),
                        6 if subflow.phase == "slow start" => cell.fg(Color::Green),
                        6 if subflow.phase == "recovery" => cell.fg(Color::Red),
                        _ => cell,
                    }
                });
            table.add_row(cells);
        }
    }
    table
}
