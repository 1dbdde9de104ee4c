//! Tables of results for the terminal.

mod cells;
mod groups;
mod links;
mod metric;
mod outcome;

use comfy_table::{
    Attribute, Cell, CellAlignment, Table, TableComponent, presets::UTF8_HORIZONTAL_ONLY,
};

pub use cells::{NONE, difference, differences_to, large, mean, measured};
pub use groups::{groups, notes};
pub use links::{Links, busiest};
pub use metric::{column, heading};
pub use outcome::outcome;

/// Largest number of rows of a table. With more rows a table shows a selection or means; JSON has all.
const MOST_ROWS: usize = 40;

/// A table with this heading: first `texts` columns of text, then numbers.
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

/// A row: first `texts` cells of text, then numbers, which are aligned to the right.
pub fn row(texts: usize, cells: Vec<String>) -> Vec<Cell> {
    let cell = |(column, text): (usize, String)| match column < texts {
        true => Cell::new(text),
        false => Cell::new(text).set_alignment(CellAlignment::Right),
    };
    cells.into_iter().enumerate().map(cell).collect()
}
