//! Any text is a scenario that can be drawn, or one line that says why it is none.
//!
//! Begin with what there is: `cargo fuzz run scenario ../experiments/examples ../experiments/lisa`.
#![no_main]

use libfuzzer_sys::fuzz_target;
use lisa_scenario::Scenario;

fuzz_target!(|text: &str| {
    // Traces are read from files; what a file system says is not what is tested.
    if text.contains("trace") {
        return;
    }
    match Scenario::parse(text, "a.toml") {
        Ok(scenario) => drop(scenario.draw(1).expect("what is read can be drawn")),
        Err(error) => assert!(!error.to_string().contains('\n')),
    }
});
