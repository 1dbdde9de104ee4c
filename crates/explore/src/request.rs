//! Requests of the page, and their answers.

use std::collections::BTreeMap;

use netsim::Span;
use scenario::{Outcome, Protocol, Scenario, Watch, simulate_watched, simulate_within};
use serde::{Deserialize, Serialize};

use crate::records::Records;

/// Largest number of events of a run in the page: some seconds.
const MAX_EVENTS: u64 = 10_000_000;
/// Largest number of events of a run that has records: beyond it they are more than a page can draw.
const MAX_RECORDED_EVENTS: u64 = 2_000_000;
/// Number of samples of each link.
const SAMPLES: u64 = 1500;
/// Shortest interval of samples, ns.
const SHORTEST_SAMPLE: u64 = 100_000;

#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
enum Request {
    /// The table of algorithms.
    Algorithms,
    /// The outcome of a run, as `lisa run --json`.
    Outcome(Job),
    /// The outcome of a run and its records.
    Run(Job),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Job {
    /// Name of the file, for errors and as the title of a scenario without one.
    file: String,
    /// Text of the file.
    text: String,
    seed: u64,
    /// Algorithm of all MPTCP connections, without any of all TCP connections; none: those of the file.
    algorithm: Option<String>,
    /// Files beside the scenario, by path.
    #[serde(default)]
    files: BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Algorithm {
    name: &'static str,
    about: &'static str,
    slow_start: &'static str,
    avoidance: &'static str,
}

/// Answer to a request of the page: a JSON object, with the one key `error` for a wrong request or scenario.
#[must_use]
pub fn answer(request: &str) -> String {
    match serde_json::from_str(request) {
        Ok(request) => respond(request).unwrap_or_else(|problem| error(&problem)),
        Err(problem) => error(&format!("the request: {problem}")),
    }
}

fn error(problem: &str) -> String {
    #[derive(Serialize)]
    struct Wrong<'a> {
        error: &'a str,
    }
    json(&Wrong { error: problem })
}

fn respond(request: Request) -> Result<String, String> {
    match request {
        Request::Algorithms => Ok(json(&algorithms())),
        Request::Outcome(job) => {
            let scenario = job.scenario()?;
            Ok(json(&job.outcome(&scenario, u64::MAX)?))
        }
        Request::Run(job) => job.run(),
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("plain data")
}

fn algorithms() -> Vec<Algorithm> {
    let algorithm = |algorithm: mpcc::Algorithm| Algorithm {
        name: algorithm.name(),
        about: algorithm.about(),
        slow_start: algorithm.slow_start(),
        avoidance: algorithm.avoidance(),
    };
    mpcc::Algorithm::all().map(algorithm).collect()
}

impl Job {
    fn scenario(&self) -> Result<Scenario, String> {
        #[cfg(target_family = "wasm")]
        for (path, text) in &self.files {
            scenario::provide_file(path.into(), text.clone());
        }
        #[cfg(not(target_family = "wasm"))]
        let _ = &self.files;
        let mut scenario =
            Scenario::parse(&self.text, &self.file).map_err(|error| error.to_string())?;
        let Some(algorithm) = &self.algorithm else {
            return Ok(scenario);
        };
        let has = |protocol| (scenario.connections.iter()).any(|c| c.protocol == protocol);
        let protocol = match has(Protocol::Mptcp) {
            true => Protocol::Mptcp,
            false => Protocol::Tcp,
        };
        for number in 0..scenario.connections.len() {
            if scenario.connections[number].protocol != protocol {
                continue;
            }
            // The reader of files checks the name, and the settings in the file.
            let set = format!("connection.{}.algorithm={algorithm:?}", number + 1);
            let changed = Scenario::parse_with(&self.text, &self.file, &[&set]);
            let changed = changed.map_err(|error| error.to_string())?;
            // Other connections keep their names: a default name has the algorithm in it.
            let name = std::mem::take(&mut scenario.connections[number].name);
            scenario.connections[number] = changed.connections[number].clone();
            scenario.connections[number].name = name;
        }
        Ok(scenario)
    }

    fn outcome(&self, scenario: &Scenario, max_events: u64) -> Result<Outcome, String> {
        let run = simulate_within(scenario, self.seed, false, max_events);
        let mut outcome = run.map_err(|error| self.located(error))?.outcome;
        outcome.wall_seconds = None;
        Ok(outcome)
    }

    fn run(&self) -> Result<String, String> {
        let mut scenario = self.scenario()?;
        let outcome = self.outcome(&scenario, MAX_EVENTS)?;
        if outcome.events > MAX_RECORDED_EVENTS {
            let (events, most) = (outcome.events, MAX_RECORDED_EVENTS);
            return Err(format!(
                "{events} events are too many to draw: at most {most}; shorten `stop`, lower rates, or use `lisa run`"
            ));
        }
        let nanos = (outcome.sim_seconds * 1e9) as u64;
        // The limit on samples is that of a run until `stop`, and transfers can end long before.
        let end = Span::from_nanos(nanos) + Span::from_millis(1);
        if scenario.warmup < end {
            scenario.stop = scenario.stop.min(end);
        }
        let watch = Watch {
            trace: true,
            segments: true,
            sample: Some(Span::from_nanos((nanos / SAMPLES).max(SHORTEST_SAMPLE))),
            ..Watch::default()
        };
        let run = simulate_watched(&scenario, self.seed, watch);
        let run = run.map_err(|error| self.located(error))?;
        let records = Records::new(&scenario, &outcome, run);
        Ok(json(&records.map_err(|error| self.located(error))?))
    }

    /// The message of an error during a run: with the file, as the program has it.
    fn located(&self, error: scenario::Error) -> String {
        let file = format!("{}, seed {}", self.file, self.seed);
        scenario::Error { file, ..error }.to_string()
    }
}
