//! Any text is a scenario that can be drawn and run, or one line that says why it is none.
//!
//! Begin with what there is: `cargo fuzz run scenario ../experiments/examples ../experiments/lisa`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lisa_scenario::{Scenario, simulate_within};

/// A run ends, at the latest, after so many packets and timers: some milliseconds.
const EVENTS: u64 = 20_000;

/// More subflows take longer to set up than to run.
const SUBFLOWS: usize = 2000;

fuzz_target!(|text: &str| {
    // Traces are read from files; what a file system says is not what is tested.
    if text.contains("trace") {
        return;
    }
    let error = match Scenario::parse(text, "a.toml") {
        Ok(scenario) => {
            let drawn = scenario.draw(1).expect("what is read can be drawn");
            let subflows = drawn.flows.iter().map(|flow| flow.paths.len());
            if subflows.sum::<usize>() > SUBFLOWS {
                return;
            }
            simulate_within(&scenario, 1, true, EVENTS).err()
        }
        Err(error) => Some(error),
    };
    if let Some(error) = error {
        assert!(!error.to_string().contains('\n'));
    }
});
