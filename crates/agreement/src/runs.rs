//! Runs of the suite's points, many at a time.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use lab::Runner;
use scenario::{Outcome, Run, Watch};

use crate::results::Results;
use crate::suite::{Name, Point};

/// A point with a seed.
pub struct Job {
    pub point: Point,
    pub seed: u64,
}

/// All points with all their seeds.
pub fn jobs(points: &[Point]) -> Vec<Job> {
    let each = points
        .iter()
        .flat_map(|point| (1..=point.seeds).map(move |seed| (point, seed)));
    let job = |(point, seed): (&Point, u64)| Job {
        point: point.clone(),
        seed,
    };
    each.map(job).collect()
}

/// The results of the simulator.
pub fn simulate(jobs: Vec<Job>) -> Result<Results> {
    let mut results = Results::default();
    let simulator = Runner::simulator(threads(), Arc::default());
    run(simulator, jobs, |name, outcome| {
        results.add(name, outcome);
        Ok(())
    })?;
    Ok(results)
}

/// Runs the jobs on the kernel in VMs until `cancelled` is set, and calls `done` for each outcome. Returns the number of
/// finished runs.
pub fn in_vms(
    jobs: Vec<Job>,
    cancelled: &Arc<AtomicBool>,
    done: impl FnMut(&Name, &Outcome) -> Result<()>,
) -> Result<usize> {
    run(Runner::vm(None, threads(), cancelled.clone())?, jobs, done)
}

/// The release of the kernel in the VM.
pub fn kernel_release() -> Result<String> {
    let release = Runner::vm(None, 1, Arc::default())?.release();
    Ok(release.unwrap_or_default())
}

fn run(
    mut runner: Runner,
    jobs: Vec<Job>,
    mut done: impl FnMut(&Name, &Outcome) -> Result<()>,
) -> Result<usize> {
    let style = "{bar:30} {pos}/{len} runs, {elapsed} of about {duration}";
    let style = ProgressStyle::with_template(style).expect("a valid template");
    let bar = ProgressBar::new(jobs.len() as u64).with_style(style);
    let runs = jobs.iter().map(|job| lab::Job {
        scenario: job.point.scenario.clone(),
        seed: job.seed,
        watch: Watch::default(),
    });
    let runs = runs.collect();
    let names: Vec<Name> = jobs.iter().map(|job| job.point.name.clone()).collect();
    let receive = move |number: usize, run: Result<Run, lab::Error>| {
        let Job { point, seed } = &jobs[number];
        let run = run.with_context(|| format!("{}, seed {seed}", point.name))?;
        Ok(run.outcome)
    };
    let finished = runner.run_all(
        runs,
        receive,
        |finished| bar.set_position(finished as u64),
        |number, outcome| done(&names[number], &outcome),
    );
    bar.finish_and_clear();
    finished
}

/// Number of runs at a time: one for each core.
fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}
