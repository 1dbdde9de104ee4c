//! What the page (docs/kernels.md) says of a kernel: a part for each, with a table of the algorithms.

use crate::examine::{Findings, Found, OPENS, Row};
use kernel::instructions::{self, BASELINE, Counts};
use std::fs;
use std::sync::Mutex;

/// The page, from this crate's folder.
pub const PAGE: &str = "../../docs/kernels.md";

/// How it is written anew.
pub const RENEW: &str = "make test-kernels UPDATE_KERNELS=1";

/// Kernels are tested at the same time.
static WRITES: Mutex<()> = Mutex::new(());

/// The counts of the first part of the baseline that is about this kernel, whatever the compiler was.
fn counts(linux: &str) -> Counts {
    let parts = instructions::parts(BASELINE);
    let first = format!("{linux}, ");
    let part = parts.iter().find(|part| part.starts_with(&first));
    part.map_or_else(Counts::new, |part| instructions::read(part))
}

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
    let counts = counts(&findings.linux);
    let rows = findings.rows.iter().map(|found| row(found, &counts) + "\n");
    format!(
        "{}\n| algorithm | loads: instructions | worked examples | 2 subflows | 8 subflows | {OPENS} opened and closed |\n\
         | --- | --: | --: | --- | --- | --- |\n{}",
        heading(&findings.linux),
        rows.collect::<String>()
    )
}

/// Puts the part into the page, in the place of what it had of this kernel.
pub fn write(findings: &Findings) {
    let _turn = WRITES
        .lock()
        .unwrap_or_else(|panicked| panicked.into_inner());
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

/// What the page does not say of these findings, or says otherwise; `None` where it knows nothing of this kernel.
pub fn missing(findings: &Findings) -> Option<Vec<String>> {
    let page = fs::read_to_string(PAGE).expect(PAGE);
    let (_, about) = page.split_once(&heading(&findings.linux))?;
    let about = about.split("\n## ").next().unwrap_or(about);
    let ours = part(findings);
    let lacks = |line: &&str| !about.lines().any(|said| said == *line);
    let lines = ours.lines().skip(1).filter(lacks);
    Some(lines.map(String::from).collect())
}
