//! `lisa demo`: the paper's bottlenecks with and without LISA, on a kernel and in the simulator.

mod arguments;
mod cells;
mod contenders;
mod files;
mod findings;
mod lines;
mod measure;
mod page;
mod sides;
mod text;

use std::fs;

pub use self::arguments::Arguments;
use self::measure::measure;
use self::sides::{Found, Kernel, SIDES};
use crate::output::{Failure, complain};
use crate::runs::{self, progress};

/// Makes all runs, prints tables or outcomes, and writes the report.
pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let out = &arguments.out;
    let cancelled = progress::cancelled()?;
    for name in ["report.html", "outcomes.jsonl", "credits.jsonl"] {
        let file = out.join(name);
        if file.exists() {
            runs::files::check("--out", &file, arguments.force)?;
        }
    }
    fs::create_dir_all(out).map_err(|error| Failure::new(format!("{}: {error}", out.display())))?;
    let Found {
        kernel,
        mut runner,
        obstacle,
    } = Kernel::find(&cancelled)?;
    if let Some(obstacle) = obstacle {
        complain(format!("the kernel is {}: {obstacle}", kernel.label()));
    }
    let cells = measure(&mut runner, arguments.runs, &cancelled)?;
    if arguments.json {
        let runs = cells
            .iter()
            .flat_map(|cell| SIDES.map(|side| cell.of(side)));
        for run in runs.flatten() {
            let outcome = serde_json::to_string(&run.outcome).expect("plain data");
            println!("{outcome}");
        }
    } else {
        print!("{}", text::all_tables(&kernel, &cells));
    }
    files::write(out, &kernel, &cells)?;
    if !arguments.json {
        println!("\n{}", text::verdict(&kernel, &cells));
        println!("Report: {}", out.join("report.html").display());
    }
    Ok(())
}
