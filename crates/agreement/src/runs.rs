//! Runs points of the suite, many at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use lab::Vm;
use scenario::{Outcome, Watch, batch};

use crate::results::Results;
use crate::suite::{Name, Point};

/// A point with a seed.
pub type Job = (Point, u64);

/// All of these points with all their seeds.
pub fn jobs(points: &[Point]) -> Vec<Job> {
    let each = points
        .iter()
        .flat_map(|point| (1..=point.seeds).map(move |seed| (point, seed)));
    each.map(|(point, seed)| (point.clone(), seed)).collect()
}

/// In the simulator.
pub fn simulate(jobs: Vec<Job>) -> Result<Results> {
    let mut results = Results::default();
    let never = Arc::default();
    run(jobs, &never, simulated, |name, outcome| {
        results.add(name, outcome);
        Ok(())
    })?;
    Ok(results)
}

fn simulated((point, seed): &Job) -> Result<Option<Outcome>> {
    let run = scenario::simulate(&point.scenario, *seed, false);
    let run = run.with_context(|| format!("{}, seed {seed}", point.name))?;
    Ok(Some(run.outcome))
}

/// On the kernel, as long as `cancelled` is false. Hands over each outcome. Returns how many there were.
pub fn in_vms(
    jobs: Vec<Job>,
    cancelled: &Arc<AtomicBool>,
    done: impl FnMut(&Name, &Outcome) -> Result<()>,
) -> Result<usize> {
    let vm = Vm::new(None, cancelled.clone())?;
    let work = move |(point, seed): &Job| {
        match vm.run(&point.scenario, *seed, Watch::default()) {
            // The VM may see that it is to end before anyone else does.
            Err(lab::Error::Interrupted) => Ok(None),
            run => {
                let run = run.with_context(|| format!("{}, seed {seed}", point.name))?;
                Ok(Some(run.outcome))
            }
        }
    };
    run(jobs, cancelled, work, done)
}

fn run(
    jobs: Vec<Job>,
    cancelled: &AtomicBool,
    work: impl Fn(&Job) -> Result<Option<Outcome>> + Send + Sync + 'static,
    mut done: impl FnMut(&Name, &Outcome) -> Result<()>,
) -> Result<usize> {
    let style = "{bar:30} {pos}/{len} runs, {elapsed} of about {duration}";
    let style = ProgressStyle::with_template(style).expect("a valid template");
    let bar = ProgressBar::new(jobs.len() as u64).with_style(style);
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let jobs = Arc::new(jobs);
    let all = jobs.clone();
    let mut handed = 0;
    let result = batch::in_order(
        jobs.len(),
        threads,
        cancelled,
        move |number| work(&all[number]),
        |finished| bar.set_position(finished as u64),
        |number, outcome: Option<Outcome>| {
            let Some(outcome) = outcome else {
                return Ok(());
            };
            handed += 1;
            done(&jobs[number].0.name, &outcome)
        },
    );
    bar.finish_and_clear();
    result.map(|_| handed)
}
