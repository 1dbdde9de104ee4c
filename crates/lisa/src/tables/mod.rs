//! Tables of results for the terminal.

mod groups;
mod layout;
mod links;
mod metric;
mod outcome;

use comfy_table::{Cell, CellAlignment};

pub use groups::{groups, notes};
pub use layout::Table;
pub use links::{Links, busiest};
pub use metric::{column, heading};
pub use outcome::outcome;
pub use scenario::study::cells::{NONE, difference, differences_to, large, mean, measured};

/// Largest number of rows of a table. With more rows a table shows a selection or means; JSON has all.
const MOST_ROWS: usize = 40;

/// A table with this heading: first `texts` columns of text, then numbers.
pub fn table(heading: &[&str], texts: usize) -> Table {
    let heading = heading.iter().map(|title| (*title).into()).collect();
    Table::new(row(texts, heading), texts)
}

/// A row: first `texts` cells of text, then numbers, which are aligned to the right.
pub fn row(texts: usize, cells: Vec<String>) -> Vec<Cell> {
    let cell = |(column, text): (usize, String)| match column < texts {
        true => Cell::new(text),
        false => Cell::new(text).set_alignment(CellAlignment::Right),
    };
    cells.into_iter().enumerate().map(cell).collect()
}
