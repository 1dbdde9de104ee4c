//! A table that fits into the terminal: columns without room continue below, and numbers are never broken.

use std::fmt;

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{Attribute, Cell, ColumnConstraint, ContentArrangement, TableComponent};
use dialoguer::console::measure_text_width;

use crate::output::terminal_width;

/// A table. Its text has the width of the terminal, or all columns side by side if standard output is no terminal.
pub struct Table {
    heading: Vec<Cell>,
    rows: Vec<Vec<Cell>>,
    /// Number of columns with text, which may be wrapped; they are the first ones.
    texts: usize,
    /// Number of columns that each part of a wide table repeats.
    keys: usize,
    has_lines: bool,
}

impl Table {
    pub(super) fn new(heading: Vec<Cell>, texts: usize) -> Self {
        let bold = |cell: Cell| cell.add_attribute(Attribute::Bold);
        Self {
            heading: heading.into_iter().map(bold).collect(),
            rows: Vec::new(),
            texts,
            keys: 1,
            has_lines: false,
        }
    }

    /// Each part of a wide table begins with this number of columns instead of one.
    pub fn repeating(self, keys: usize) -> Self {
        Self { keys, ..self }
    }

    /// Lines between the rows.
    pub fn with_lines(self) -> Self {
        Self {
            has_lines: true,
            ..self
        }
    }

    /// Adds a row.
    pub fn add_row<T: Into<Cell>>(&mut self, row: impl IntoIterator<Item = T>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table in lines of at most `width` characters.
    pub fn fitted(&self, width: Option<usize>) -> String {
        let all: Vec<usize> = (0..self.heading.len()).collect();
        let Some(width) = width.filter(|width| self.width(&all) > *width) else {
            return self.part(&all, None).to_string();
        };
        let keys = self.keys.min(all.len());
        let mut parts = Vec::new();
        let mut part = all[..keys].to_vec();
        for column in all[keys..].iter().copied() {
            let more = [&part[..], &[column]].concat();
            if part.len() > keys && self.width(&more) > width {
                parts.push(part);
                part = [&all[..keys], &[column]].concat();
            } else {
                part = more;
            }
        }
        parts.push(part);
        let texts = parts.iter().map(|part| {
            let limit = Some(width).filter(|width| self.width(part) > *width);
            self.part(part, limit).to_string()
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    fn width(&self, columns: &[usize]) -> usize {
        let text = self.part(columns, None).to_string();
        text.lines().map(measure_text_width).max().unwrap_or(0)
    }

    /// These columns side by side. With a width, text is wrapped.
    fn part(&self, columns: &[usize], width: Option<usize>) -> comfy_table::Table {
        let mut table = comfy_table::Table::new();
        table.load_preset(UTF8_HORIZONTAL_ONLY);
        if !self.has_lines {
            table.remove_style(TableComponent::HorizontalLines);
            table.remove_style(TableComponent::MiddleIntersections);
        }
        let chosen = |row: &[Cell]| -> Vec<Cell> {
            columns
                .iter()
                .filter_map(|column| row.get(*column).cloned())
                .collect()
        };
        table.set_header(chosen(&self.heading));
        for row in &self.rows {
            table.add_row(chosen(row));
        }
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic);
            table.set_width(width.try_into().unwrap_or(u16::MAX));
            let numbers = (columns.iter().enumerate()).filter(|(_, column)| **column >= self.texts);
            for (number, _) in numbers {
                let column = table.column_mut(number).expect("a column of the part");
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
        table
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.fitted(terminal_width()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{row, table};

    #[test]
    fn columns_without_room_continue_below_and_numbers_stay_whole() {
        let names: Vec<String> = (0..9)
            .map(|number| format!("metric {number}\n[unit]"))
            .collect();
        let mut heading = vec!["connection", "algorithm"];
        heading.extend(names.iter().map(String::as_str));
        let mut all = table(&heading, 2);
        let long = "a connection with a name of many words, which nobody has but somebody could";
        for name in ["download", long] {
            let mut cells = vec![name.to_string(), "mptcp lisa".into()];
            cells.extend((0..9).map(|number| format!("{number}23456.789 ± 0.001")));
            all.add_row(row(2, cells));
        }
        let wide = all.fitted(None);
        assert_eq!(wide.lines().count(), 7, "{wide}");
        for width in [60, 80, 120, 200] {
            let text = all.fitted(Some(width));
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{width}:\n{text}");
            for number in 0..9 {
                let value = format!("{number}23456.789 ± 0.001");
                assert_eq!(text.matches(&value).count(), 2, "{width}: {value}\n{text}");
            }
            assert!(text.matches("download").count() > 1, "{text}");
        }
        assert_eq!(all.fitted(Some(1000)), wide);
    }
}
