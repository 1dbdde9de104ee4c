//! Warnings of a command, on standard error.

use std::collections::BTreeMap;

use scenario::{Outcome, Warning, WarningKind};

/// The warnings of all runs, each once.
#[derive(Default)]
pub struct Warnings {
    runs: usize,
    /// Text of the first run with the warning, and the number of runs with it.
    of_runs: BTreeMap<(WarningKind, Option<String>), (String, usize)>,
    /// Warnings about the command as a whole.
    whole: Vec<Warning>,
}

impl Warnings {
    /// Adds the warnings of a run.
    pub fn add_run(&mut self, outcome: &Outcome) {
        self.runs += 1;
        for warning in &outcome.warnings {
            let key = (warning.kind, warning.connection.clone());
            let entry = self.of_runs.entry(key);
            entry.or_insert_with(|| (warning.to_string(), 0)).1 += 1;
        }
    }

    /// Adds a warning about the command as a whole.
    pub fn add(&mut self, warning: impl IntoIterator<Item = Warning>) {
        self.whole.extend(warning);
    }

    /// Prints a line for each warning.
    pub fn print(&self) {
        for (text, runs) in self.of_runs.values() {
            match self.runs {
                1 => eprintln!("warning: {text}"),
                all => eprintln!("warning: {text} ({runs} of {all} runs)"),
            }
        }
        for warning in &self.whole {
            eprintln!("warning: {warning}");
        }
    }
}
