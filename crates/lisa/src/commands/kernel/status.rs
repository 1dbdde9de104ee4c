//! `lisa kernel status`: the loaded algorithms and their connections, as tables or JSON.

use comfy_table::{Cell, CellAlignment, Color, Table, presets::UTF8_HORIZONTAL_ONLY};
use kernel::status::{self, Connection, SCHEMA, Status};
use kernel::registry::{self, Found};
use kernel::{holders, left_over};
use serde::Serialize;

use super::subflows::{COLUMNS, cells, columns, grouped};
use super::summary::summary;
use crate::output::{Failure, counted};

/// The JSON.
#[derive(Serialize)]
struct Report {
    schema: &'static str,
    algorithms: Vec<Status>,
}

/// Prints the status of all loaded algorithms.
pub fn print(json: bool) -> Result<(), Failure> {
    let mut algorithms = Vec::new();
    let all = registry::find_all()?;
    let holders = match all.is_empty() {
        true => holders::Found::default(),
        false => holders::find()?,
    };
    for found in all {
        match found {
            Found::Current(registered) => {
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
            Found::Other(registration) => eprintln!("lisa: {}", registration.other_version()),
            Found::Damaged(error) => eprintln!("lisa: {error}"),
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
        println!("{}", summary(status));
        for line in status.holder_lines() {
            println!("  {line}");
        }
        if !status.connections.is_empty() {
            println!("{}\n", table(&status.connections));
        }
    }
    Ok(())
}

/// A row for each subflow.
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
