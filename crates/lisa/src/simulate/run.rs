//! `lisa run`.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use scenario::Outcome;
use scenario::metrics::Groups;

use super::arguments::Run;
use super::backend::{Backend, Job, Trace, Traces};
use super::choice;
use super::progress::{self, Progress};
use super::tables::{self, Links};
use crate::output::{self, Failure};

/// Runs a scenario with one seed or several.
pub fn run(arguments: Run) -> Result<(), Failure> {
    let common = &arguments.common;
    let backend = Backend::new(common, arguments.on)?;
    let scenario = Arc::new(choice::load(common, &[])?);
    let seeds: Vec<u64> = match arguments.seeds {
        Some(seeds) => (1..=seeds.into()).collect(),
        None => vec![arguments.seed],
    };
    let directory = |option: &str, directory: &Option<PathBuf>| match directory {
        Some(path) => {
            let failed = |error| Failure::new(format!("{option} {}: {error}", path.display()));
            fs::create_dir_all(path)
                .map_err(failed)
                .map(|()| directory.clone())
        }
        None => Ok(None),
    };
    let rows = directory("--trace", &arguments.trace)?;
    let rows = rows.map(|rows| (rows, arguments.trace_format.into()));
    let pcap = directory("--pcap", &arguments.pcap)?;
    let written = rows.is_some() || pcap.is_some();
    let trace = written.then(|| Arc::new(Traces::new(rows, pcap)));
    let about: Arc<str> = common.file.display().to_string().into();
    let job = |seed: &u64| Job {
        scenario: scenario.clone(),
        about: about.clone(),
        seed: *seed,
        trace: trace.clone().map_or(Trace::None, Trace::Write),
    };
    let jobs: Vec<Job> = seeds.iter().map(job).collect();
    let cancelled = progress::cancelled()?;
    let progress = Progress::new(jobs.len());
    let (mut groups, mut links, mut speed) =
        (Groups::default(), Links::default(), Speed::default());
    let mut only = None;
    let finished = backend.execute(jobs, &cancelled, &progress, |_, run| {
        if arguments.json {
            let line = json(run.outcome, arguments.timing) + "\n";
            return progress.suspend(|| output::print(&line));
        }
        groups.add(&run.outcome);
        links.add(&run.outcome);
        speed.add(&run.outcome);
        only = Some(run.outcome);
        Ok(())
    });
    if let Some(traces) = &trace {
        traces.close();
    }
    let finished = finished?;
    let elapsed = progress.elapsed();
    drop(progress);
    if !arguments.json && finished > 0 {
        let mut text = format!(
            "{}\n",
            tables::title(&scenario.title, &[arguments.on], finished, seeds[0])
        );
        match only {
            Some(outcome) if seeds.len() == 1 => text += &tables::one(&outcome),
            _ => text += &tables::several(&groups),
        }
        text += &links.table();
        text += &speed.line(elapsed.as_secs_f64());
        output::print(&text)?;
    }
    progress::ended(finished, seeds.len(), "")
}

/// An outcome as a line. How long it took is nothing that the seed decides: without `timing` it is null.
fn json(mut outcome: Outcome, timing: bool) -> String {
    if !timing {
        outcome.wall_seconds = None;
    }
    serde_json::to_string(&outcome).expect("plain data")
}

/// How fast runs were.
#[derive(Default)]
struct Speed {
    hops: u64,
    /// On the network's clock.
    seconds: f64,
}

impl Speed {
    fn add(&mut self, outcome: &Outcome) {
        self.hops += outcome.packet_hops;
        self.seconds += outcome.sim_seconds;
    }

    fn line(&self, wall: f64) -> String {
        format!(
            "{} packet hops, {:.1} s of network time, in {wall:.3} s: {} hops/s\n",
            tables::large(self.hops as f64),
            self.seconds,
            tables::large(self.hops as f64 / wall)
        )
    }
}
