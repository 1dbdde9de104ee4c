//! The table of docs/options.md: a row for each option that does not work on every kernel, a column for each kernel.

use crate::Column;
use crate::list::{Choice, OPTIONS};
use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;

/// The page, from this crate's folder.
const PAGE: &str = "../../docs/options.md";
const RENEW: &str = "UPDATE_OPTIONS=1 cargo test -p lisa --test options";
const BEGIN: &str = "<!-- measured: UPDATE_OPTIONS=1 cargo test -p lisa --test options -->\n";
const END: &str = "<!-- end -->";

/// Kernels are tested at the same time.
static WRITES: Mutex<()> = Mutex::new(());

/// Cells by kernel (major and minor version) and option.
type Cells = BTreeMap<(u32, u32), BTreeMap<String, String>>;

/// Compares a kernel's answers with the page, or writes them into it.
///
/// # Panics
/// If they differ.
pub fn compare(column: &Column) {
    let _turn = WRITES
        .lock()
        .unwrap_or_else(|panicked| panicked.into_inner());
    let page = fs::read_to_string(PAGE).expect(PAGE);
    let (before, rest) = page.split_once(BEGIN).expect("the begin of the table");
    let (table, after) = rest.split_once(END).expect("the end of the table");
    let (mut cells, version) = (read(table), version(&column.linux));
    let names = OPTIONS.iter().map(|option| option.name.to_owned());
    let found: BTreeMap<_, _> = names.zip(column.cells.iter().cloned()).collect();
    if std::env::var_os("UPDATE_OPTIONS").is_some() {
        cells.insert(version, found);
        let page = format!("{before}{BEGIN}{}{END}{after}", write(&cells));
        return fs::write(PAGE, page).expect(PAGE);
    }
    let Some(known) = cells.get(&version) else {
        eprintln!(
            "{PAGE} has no column for Linux {}; `{RENEW}` adds it",
            column.linux
        );
        return;
    };
    let differences: Vec<String> = found
        .iter()
        .filter(|(name, cell)| known.get(*name).map_or("yes", |known| known) != *cell)
        .map(|(name, cell)| format!("{name}: {cell}, on the page {:?}", known.get(name)))
        .collect();
    assert!(
        differences.is_empty(),
        "Linux {}: {}; `{RENEW}` writes the page anew",
        column.linux,
        differences.join("; ")
    );
    let all: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
    let unknown = known.keys().find(|name| !all.contains(&name.as_str()));
    assert_eq!(unknown, None, "an option of the page that is not tried");
    assert_eq!(table, write(&cells), "`{RENEW}` writes the page anew");
}

fn version(linux: &str) -> (u32, u32) {
    let (major, minor) = linux.split_once('.').expect("two numbers");
    (
        major.parse().expect("a number"),
        minor.parse().expect("a number"),
    )
}

/// The cells of the kernels in a table.
fn read(table: &str) -> Cells {
    let mut rows = table.lines().filter(|line| line.starts_with("| "));
    let split = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().to_owned()).collect()
    };
    let mut cells = Cells::new();
    let Some(header) = rows.next().map(split) else {
        return cells;
    };
    let rows: Vec<_> = rows.skip(1).map(split).collect();
    for (column, title) in header.iter().enumerate() {
        let Some(linux) = title.strip_prefix("Linux ") else {
            continue;
        };
        let of_row = |row: &Vec<String>| (row[0].trim_matches('`').to_owned(), row[column].clone());
        cells.insert(version(linux), rows.iter().map(of_row).collect());
    }
    cells
}

/// The table, and the names of the options that every kernel has.
fn write(cells: &Cells) -> String {
    let cell = |option: &Choice, of: &BTreeMap<String, String>| {
        of.get(option.name).map_or("yes".to_owned(), String::clone)
    };
    let is_refused = |option: &&Choice| cells.values().any(|of| cell(option, of) != "yes");
    let linux: Vec<String> = cells
        .keys()
        .map(|(major, minor)| format!(" Linux {major}.{minor} |"))
        .collect();
    let mut text = format!(
        "\n| option | used by |{} instead |\n| --- | --- |{} --- |\n",
        linux.concat(),
        " --- |".repeat(linux.len())
    );
    let (refused, rest): (Vec<_>, Vec<_>) = OPTIONS.iter().partition(is_refused);
    for option in refused {
        let cells: Vec<_> = cells
            .values()
            .map(|of| format!(" {} |", cell(option, of)))
            .collect();
        let Choice {
            name,
            used_by,
            instead,
            ..
        } = option;
        assert!(
            !used_by.is_empty() && !instead.is_empty(),
            "{name} differs from TCP: {cells:?}"
        );
        text += &format!("| `{name}` | {used_by} |{} {instead} |\n", cells.concat());
    }
    let names: Vec<_> = rest
        .iter()
        .map(|option| format!("`{}`", option.name))
        .collect();
    text + &format!("\nAs with TCP: {}.\n\n", names.join(", "))
}
