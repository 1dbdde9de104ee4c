//! The page docs/kernels.md: for each kernel a part with a table of the algorithms.

use crate::examine::{Findings, Found, OPENS, Row};
use crate::support::selection::of_kernels;
use mpcc_harness::instructions::{self, Baseline, Counts};
use std::fs;
use std::sync::Mutex;

/// The page, from this crate's folder.
pub const PAGE: &str = "../../docs/kernels.md";

/// The command that writes the page and the counts of instructions.
pub const RENEW: &str = "make test-kernels UPDATE_KERNELS=1";

/// Kernels are tested at the same time.
static WRITES: Mutex<()> = Mutex::new(());

/// A row of a kernel's table.
fn row(row: &Row, counts: &Counts) -> String {
    let yes = |held: bool| if held { "yes" } else { "no" }.to_owned();
    let number = |found: &Found<usize>| match found {
        Ok(number) => number.to_string(),
        Err(_) => "no".into(),
    };
    let loads = match &row.loads {
        Ok(own) if own.is_empty() => "Linux's own".into(),
        Ok(_) => match counts.get(&row.algorithm) {
            Some(counts) => thousands(counts.iter().sum()),
            None => "yes".into(),
        },
        Err(_) => "no".into(),
    };
    format!(
        "| `{}` | {loads} | {} | {} | {} | {} |",
        row.algorithm,
        number(&row.examples),
        yes(row.two.is_ok()),
        yes(row.eight.is_ok()),
        yes(row.opens.is_ok())
    )
}

/// `1 234 567`
fn thousands(number: u32) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{} {:03}", thousands(number / 1000), number % 1000),
    }
}

fn heading(linux: &str) -> String {
    format!("## {linux}\n")
}

/// A part of the page.
fn part(findings: &Findings) -> String {
    // Of any compiler: this table shows one.
    let counts = Baseline::open().counts(&format!("{}, ", findings.linux));
    let counts = counts.unwrap_or_default();
    let rows = findings.rows.iter().map(|found| row(found, &counts) + "\n");
    format!(
        "{}\n| algorithm | loads: instructions | worked examples | 2 subflows | 8 subflows | {OPENS} opened and closed |\n\
         | --- | --: | --: | --- | --- | --- |\n{}",
        heading(&findings.linux),
        rows.collect::<String>()
    )
}

/// Replaces the part of this kernel in the page, and its counts of instructions in their file.
///
/// # Panics
/// If not all algorithms were tested: the lines of the others would be lost.
pub fn write(findings: &Findings) {
    let all = of_kernels().count();
    assert_eq!(findings.rows.len(), all, "`{RENEW}` takes all algorithms");
    let _turn = WRITES
        .lock()
        .unwrap_or_else(|panicked| panicked.into_inner());
    let counted = |row: &Row| Some((row.algorithm.clone(), row.loads.clone().ok()?));
    let counts = findings.rows.iter().filter_map(counted);
    let ours: Counts = counts.filter(|(_, counts)| !counts.is_empty()).collect();
    Baseline::open().renew(&instructions::title(&findings.linux), &ours);
    let page = fs::read_to_string(PAGE).expect(PAGE);
    let mut parts: Vec<String> = page.split("\n## ").map(String::from).collect();
    let ours = part(findings);
    let ours = ours.trim_start_matches("## ").trim_end();
    let title = format!("{}\n", findings.linux);
    match parts.iter().position(|part| part.starts_with(&title)) {
        Some(at) => parts[at] = format!("{ours}\n"),
        None => parts.push(format!("{ours}\n")),
    }
    fs::write(PAGE, parts.join("\n## ")).expect(PAGE);
}

/// Differences of these findings to the page; `None` if the page lacks this kernel.
pub fn missing(findings: &Findings) -> Option<Vec<String>> {
    let page = fs::read_to_string(PAGE).expect(PAGE);
    let (_, about) = page.split_once(&heading(&findings.linux))?;
    let about = about.split("\n## ").next().unwrap_or(about);
    let ours = part(findings);
    let lacks = |line: &&str| !about.lines().any(|said| said == *line);
    let lines = ours.lines().skip(1).filter(lacks);
    Some(lines.map(String::from).collect())
}
