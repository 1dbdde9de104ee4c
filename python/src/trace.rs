//! The records of a run as tables.

use pyo3::prelude::*;
use scenario::{Run, export};

use crate::table::{Builder, Table};

/// The events of the senders.
pub fn events(run: &Run) -> PyResult<Table> {
    let mut table = Builder::new(export::TRACE_COLUMNS);
    table.describe(export::trace_properties(&run.outcome));
    for row in &run.rows {
        table.row(&export::trace_values(row));
    }
    table.finish()
}

/// The losses: time and subflow of each data segment.
pub fn losses(run: &Run) -> PyResult<Table> {
    let mut table = Builder::new(export::LOSS_COLUMNS);
    for loss in &run.losses {
        table.row(&export::loss_values(loss));
    }
    table.finish()
}
