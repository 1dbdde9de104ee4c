//! `lisa sweep`: a grid of values, a row for each connection of each run.

mod arguments;
mod columns;
mod points;
mod rows;
mod table;

use scenario::vary::Vary;

pub use self::arguments::Arguments;
use self::points::Point;
use self::rows::Rows;
use crate::output::{self, Failure};
use crate::runs::execute::{Executor, Job, Trace};
use crate::runs::progress::{self, Progress};
use crate::runs::{metric_names, on};

/// Runs all combinations, prints a table or rows, and writes rows.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let metrics = metric_names::chosen(&arguments.metrics.names)?;
    let executor = Executor::new(&arguments.common, arguments.on)?;
    let varied: Vec<Vary> = points::varied(&arguments)?;
    let seeds = arguments.seeds as usize;
    let runs = points::runs(&arguments, &varied)?;
    let mut points: Vec<Point> = points::points(&arguments, &varied, &metrics)?;
    let job = |number: usize| Job {
        scenario: points[number / seeds].scenario.clone(),
        about: points[number / seeds].about.clone(),
        seed: (number % seeds) as u64 + 1,
        trace: Trace::None,
    };
    let jobs: Vec<Job> = (0..runs).map(job).collect();
    let output = arguments.output.as_deref();
    let mut rows = Rows::open(&varied, &metrics, &points, output, arguments.json)?;
    let cancelled = progress::cancelled()?;
    let progress = Progress::new(runs);
    let finished = executor.execute(jobs, &cancelled, &progress, |number, run| {
        let point = &mut points[number / seeds];
        if !arguments.json {
            point.groups.add(&run.outcome);
        }
        progress.suspend(|| rows.add(point, &run.outcome))
    });
    let elapsed = progress.elapsed();
    drop(progress);
    // Also after an error: the rows of the finished runs are kept.
    rows.finish()?;
    let finished = finished?;
    if !arguments.json {
        let title = &points[0].scenario.title;
        let on = on::runs_on(&[arguments.on], seeds.min(finished.max(1)), 1);
        let table = table::table(&varied, &metrics, &points, arguments.algorithms.len());
        let seconds = elapsed.as_secs_f64();
        output::print(&format!(
            "{title}\n{on}\n{table}{finished} runs in {seconds:.1} s\n"
        ))?;
    }
    let kept = match &arguments.output {
        Some(path) => format!(", their rows are in {}", path.display()),
        None => String::new(),
    };
    progress::ended(finished, runs, &kept)
}
