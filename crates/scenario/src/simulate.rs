//! `--on sim`: a scenario on simulated endpoints.

mod assistance;
mod endpoints;
mod limits;
mod model;
mod recorder;
mod recording;
mod results;
mod sampler;
mod segments;
mod watcher;

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use netsim::Span;
use transport::Quiet;

use crate::capture::{Capture, Packets};
use crate::draw::Drawn;
use crate::error::Error;
use crate::outcome::Outcome;
use crate::run::{Run, Watch};
use crate::sample::Samples;
use crate::scenario::Scenario;
use limits::Limits;
use model::{Model, Observed};
use recorder::{Recorder, Trace};
use recording::Recording;
use segments::Segments;
use watcher::Watcher;

/// Runs a scenario with the draws of a seed. Without `trace` the run has no rows and no credits, and is faster.
///
/// # Errors
/// For a scenario that the simulator does not support; the error names the key. For a run that exceeds the memory.
pub fn simulate(scenario: &Scenario, seed: u64, trace: bool) -> Result<Run, Error> {
    simulate_within(scenario, seed, trace, u64::MAX)
}

/// Runs a scenario like [`simulate`], with a limit on the number of events. An unknown scenario can take years.
///
/// # Errors
/// As [`simulate`], and for more events.
pub fn simulate_within(
    scenario: &Scenario,
    seed: u64,
    trace: bool,
    max_events: u64,
) -> Result<Run, Error> {
    let watch = Watch {
        trace,
        ..Watch::default()
    };
    run(scenario, seed, watch, Limits::events(max_events))
}

/// Runs a scenario like [`simulate`], with the requested records.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_watched(scenario: &Scenario, seed: u64, watch: Watch) -> Result<Run, Error> {
    run(scenario, seed, watch, Limits::events(u64::MAX))
}

/// Runs a scenario like [`simulate_watched`], until `cancelled` is set: the run then ends with an error, within a fraction of a second.
///
/// # Errors
/// As [`simulate`], and after a cancellation.
pub fn simulate_cancellable(
    scenario: &Scenario,
    seed: u64,
    watch: Watch,
    cancelled: &AtomicBool,
) -> Result<Run, Error> {
    let limits = Limits::cancelled_by(cancelled);
    run(scenario, seed, watch, limits)
}

fn run(scenario: &Scenario, seed: u64, watch: Watch, limits: Limits<'_>) -> Result<Run, Error> {
    // WebAssembly has no clock.
    let begun = cfg!(not(target_family = "wasm")).then(Instant::now);
    let drawn = scenario.draw(seed)?;
    let input = Input {
        scenario,
        drawn: &drawn,
        seed,
        limits,
        sample: watch.sample,
    };
    // The observer is a type parameter: a run without records pays nothing for them.
    let mut run = if watch.capture || watch.segments {
        let watcher = Watcher {
            recorder: watch.trace.then(Recorder::default),
            packets: watch.capture.then(Packets::default),
            segments: watch.segments.then(Segments::default),
        };
        let (outcome, observed) = input.run(watcher)?;
        let Watcher {
            recorder,
            packets,
            segments,
        } = observed.observer;
        let finish = |recorder: Recorder| recorder.finish(&observed.titles);
        let trace = recorder.map(finish).unwrap_or_default();
        let segments = segments.map(|segments| segments.finish(&observed.titles));
        Run {
            segments: segments.unwrap_or_default(),
            capture: packets.map(|packets| Capture::simulated(scenario, &drawn, packets)),
            ..with_trace(outcome, trace, observed.samples)
        }
    } else if watch.trace {
        let (outcome, observed) = input.run(Recorder::default())?;
        let trace = observed.observer.finish(&observed.titles);
        with_trace(outcome, trace, observed.samples)
    } else {
        let (outcome, observed) = input.run(Quiet)?;
        with_trace(outcome, Trace::default(), observed.samples)
    };
    run.outcome.wall_seconds = begun.map(|begun| begun.elapsed().as_secs_f64());
    Ok(run)
}

/// Input of a simulation.
struct Input<'a> {
    scenario: &'a Scenario,
    drawn: &'a Drawn,
    seed: u64,
    limits: Limits<'a>,
    sample: Option<Span>,
}

impl Input<'_> {
    fn run<O: Recording>(&self, observer: O) -> Result<(Outcome, Observed<O>), Error> {
        let mut model = Model::new(self.scenario, self.drawn, observer)?;
        if let Some(interval) = self.sample {
            model.sample_each(interval)?;
        }
        let outcome = results::run(&mut model, self.seed, self.limits)?;
        Ok((outcome, model.finish()))
    }
}

/// A run without a capture.
fn with_trace(outcome: Outcome, trace: Trace, samples: Samples) -> Run {
    let Trace {
        rows,
        credits,
        losses,
    } = trace;
    Run {
        outcome,
        rows,
        credits,
        losses,
        segments: Vec::new(),
        samples,
        capture: None,
    }
}
