//! The files of the demo.

use std::io::Write;
use std::path::Path;

use scenario::export;
use scenario::export::columns::Format;

use super::cells::Cell;
use super::page;
use super::sides::{Kernel, SIDES};
use crate::output::Failure;

/// Writes the report, the outcomes, the credits, and the traces of the first run of each cell.
pub fn write(out: &Path, kernel: &Kernel, cells: &[Cell]) -> Result<(), Failure> {
    let put = |name: &str, bytes: &[u8]| {
        let path = out.join(name);
        ::files::write(&path, bytes).map_err(|e| Failure::new(format!("{}: {e}", path.display())))
    };
    let mut outcomes = Vec::new();
    let mut credits = Vec::new();
    for (number, cell) in cells.iter().enumerate() {
        for run in SIDES.into_iter().flat_map(|side| cell.of(side)) {
            let outcome = serde_json::to_string(&run.outcome).expect("plain data");
            writeln!(outcomes, "{outcome}")?;
            for credit in &run.credits {
                let credit = export::credit(credit);
                let line = serde_json::json!({
                    "scenario": run.outcome.scenario, "seed": run.outcome.seed, "backend": run.outcome.backend, "credit": credit,
                });
                writeln!(credits, "{line}")?;
            }
        }
        for side in SIDES {
            let Some(first) = cell.of(side).first() else {
                continue;
            };
            let path = out.join(format!("trace-{number:02}-{}.csv", side.name()));
            export::write_rows(&first.rows, &path, Format::Csv)?;
        }
    }
    put("outcomes.jsonl", &outcomes)?;
    put("credits.jsonl", &credits)?;
    put("report.html", page::html(kernel, cells).as_bytes())
}
