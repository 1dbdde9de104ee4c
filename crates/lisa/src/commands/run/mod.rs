//! `lisa run`: a scenario with one seed or several.

mod arguments;
mod speed;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scenario::Outcome;
use scenario::metrics::Groups;

pub use self::arguments::Arguments;
use self::speed::Speed;
use crate::output::{self, Failure};
use crate::runs::execute::{Executor, Job, Trace};
use crate::runs::progress::{self, Progress};
use crate::runs::traces::{TraceFiles, Traces};
use crate::runs::{on, scenarios};
use crate::tables::{self, Links};

/// Runs the scenario, prints tables or outcomes, and writes traces.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let executor = Executor::new(common, arguments.on)?;
    let scenario = Arc::new(scenarios::load(common)?);
    let seeds: Vec<u64> = match arguments.seeds {
        Some(seeds) => (1..=seeds.into()).collect(),
        None => vec![arguments.seed],
    };
    let traces = traces(&arguments)?;
    let about: Arc<str> = common.file.display().to_string().into();
    let job = |seed: &u64| Job {
        scenario: scenario.clone(),
        about: about.clone(),
        seed: *seed,
        trace: traces.clone().map_or(Trace::None, Trace::Write),
    };
    let jobs: Vec<Job> = seeds.iter().map(job).collect();
    let cancelled = progress::cancelled()?;
    let progress = Progress::new(jobs.len());
    let mut results = Results::default();
    let finished = executor.execute(jobs, &cancelled, &progress, |_, run| {
        if arguments.json {
            let line = json(run.outcome, arguments.timing) + "\n";
            return progress.suspend(|| output::print(&line));
        }
        results.add(run.outcome);
        Ok(())
    });
    if let Some(traces) = &traces {
        traces.close();
    }
    let finished = finished?;
    let elapsed = progress.elapsed();
    drop(progress);
    if !arguments.json && finished > 0 {
        let title = on::title(&scenario.title, &[arguments.on], finished, seeds[0]);
        let tables = results.tables(seeds.len() == 1);
        let speed = results.speed.line(elapsed.as_secs_f64());
        output::print(&format!("{title}\n{tables}{speed}"))?;
    }
    progress::ended(finished, seeds.len(), "")
}

/// The destination of traces and captures, whose directories are created.
fn traces(arguments: &Arguments) -> Result<Option<Arc<Traces>>, Failure> {
    let create = |option: &str, directory: &Path| {
        fs::create_dir_all(directory)
            .map_err(|error| Failure::new(format!("{option} {}: {error}", directory.display())))
    };
    if let Some(directory) = &arguments.trace {
        create("--trace", directory)?;
    }
    if let Some(directory) = &arguments.pcap {
        create("--pcap", directory)?;
    }
    if arguments.trace.is_none() && arguments.pcap.is_none() {
        return Ok(None);
    }
    let files = |directory: PathBuf| TraceFiles {
        directory,
        format: arguments.trace_format.into(),
    };
    let trace = arguments.trace.clone().map(files);
    Ok(Some(Arc::new(Traces::new(trace, arguments.pcap.clone()))))
}

/// An outcome as a line. The wall time is not decided by the seed: without `timing` it is null.
fn json(mut outcome: Outcome, timing: bool) -> String {
    if !timing {
        outcome.wall_seconds = None;
    }
    serde_json::to_string(&outcome).expect("plain data")
}

/// The results of the runs, for tables.
#[derive(Default)]
struct Results {
    groups: Groups,
    links: Links,
    speed: Speed,
    last: Option<Outcome>,
}

impl Results {
    fn add(&mut self, outcome: Outcome) {
        self.groups.add(&outcome);
        self.links.add(&outcome);
        self.speed.add(&outcome);
        self.last = Some(outcome);
    }

    /// The tables of a single run, or of the means of several.
    fn tables(&self, single: bool) -> String {
        let connections = match &self.last {
            Some(outcome) if single => tables::outcome(outcome),
            _ => tables::groups(&self.groups),
        };
        connections + &self.links.table()
    }
}
