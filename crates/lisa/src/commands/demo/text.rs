//! The demo's output on the terminal.

use std::fmt::Write;

use comfy_table::{Attribute, Cell as Text, CellAlignment};

use super::cells::{Cell, METRICS_SHOWN, by_bottleneck};
use super::contenders::BYTES;
use super::findings::findings;
use super::lines::{Line, headings, lines};
use super::sides::Kernel;
use crate::tables;

/// A table for each bottleneck.
pub fn all_tables(kernel: &Kernel, cells: &[Cell]) -> String {
    let mut text = String::new();
    for group in by_bottleneck(cells) {
        let titles: Vec<String> = headings().into_iter().collect();
        let mut heading = vec!["", ""];
        heading.extend(titles.iter().map(String::as_str));
        let mut table = tables::table(&heading, 2).repeating(2).with_lines();
        // Each row has two lines: the kernel's values above the simulator's.
        for pair in lines(group).chunks(2) {
            let bold = |text: Text| match pair[0].is_difference() {
                true => text.add_attribute(Attribute::Bold),
                false => text,
            };
            let both = |of: &dyn Fn(&Line) -> String| {
                let texts: Vec<String> = pair.iter().map(of).collect();
                Text::new(texts.join("\n"))
            };
            let mut row = vec![
                bold(Text::new(pair[0].title)),
                both(&|line| line.side.label(kernel)),
            ];
            for i in 0..METRICS_SHOWN.len() {
                let text = bold(both(&|line| line.texts[i].clone()));
                row.push(text.set_alignment(CellAlignment::Right));
            }
            table.add_row(row);
        }
        let _ = writeln!(
            text,
            "{} KB, {}\n{table}\n",
            BYTES / 1000,
            group[0].bottleneck
        );
    }
    text.push_str("Means with 95 % confidence intervals; differences are taken seed by seed, * where the interval excludes zero.\n");
    text
}

/// The findings.
pub fn verdict(kernel: &Kernel, cells: &[Cell]) -> String {
    let findings = findings(cells)
        .into_iter()
        .map(|finding| format!("\n  {finding}"));
    format!(
        "LISA compared with MPTCP LIA on {}:{}",
        kernel.label(),
        findings.collect::<String>()
    )
}
