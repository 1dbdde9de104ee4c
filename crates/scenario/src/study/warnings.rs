//! Warnings of several runs, each once, for standard error and JSON.

use std::collections::BTreeMap;

use serde::Serialize;

use super::equality;
use crate::export::columns::Property;
use crate::outcome::Outcome;
use crate::warning::{self, Warning, WarningKind};

/// The warnings of all runs, each once.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    runs: usize,
    /// Warning of the first run that has it, and the number of runs with it.
    of_runs: BTreeMap<(WarningKind, Option<String>), (Warning, usize)>,
    /// Transfers of all runs, by the name of the connection.
    transfers: BTreeMap<String, Transfers>,
    /// Warnings about all runs together.
    whole: Vec<Warning>,
}

/// Numbers of transfers.
#[derive(Clone, Copy, Debug, Default)]
struct Transfers {
    count: u64,
    unfinished: u64,
}

/// A warning, with the number of runs that have it.
#[derive(Clone, Debug, Serialize)]
pub struct Counted {
    /// The warning of the first run that has it.
    #[serde(flatten)]
    pub warning: Warning,
    /// Number of runs with the warning; none for a warning about all runs together.
    pub runs: Option<usize>,
}

impl Warnings {
    /// Adds the warnings of a run.
    pub fn add_run(&mut self, outcome: &Outcome) {
        self.runs += 1;
        for warning in &outcome.warnings {
            let key = (warning.kind, warning.connection.clone());
            let entry = self.of_runs.entry(key);
            entry.or_insert_with(|| (warning.clone(), 0)).1 += 1;
        }
        for of_name in &outcome.transfers {
            if !self.transfers.contains_key(&of_name.name) {
                let none = Transfers::default();
                self.transfers.insert(of_name.name.clone(), none);
            }
            if let Some(all) = self.transfers.get_mut(&of_name.name) {
                all.count += of_name.count;
                all.unfinished += of_name.unfinished;
            }
        }
    }

    /// Adds a warning about all runs together.
    pub fn add(&mut self, warning: impl IntoIterator<Item = Warning>) {
        self.whole.extend(warning);
    }

    /// Adds the warning that several seeds have equal results, or else the one that `of_scenario` returns.
    ///
    /// # Errors
    /// That of `of_scenario`.
    pub fn add_seeds<E>(
        &mut self,
        results: &equality::Results,
        algorithms: usize,
        seeds: usize,
        of_scenario: impl FnOnce() -> Result<Option<Warning>, E>,
    ) -> Result<(), E> {
        if seeds > 1 {
            let equal = results.equal_seeds(algorithms, seeds);
            let warning = equal.map_or_else(of_scenario, |warning| Ok(Some(warning)))?;
            self.add(warning);
        }
        Ok(())
    }

    /// All warnings. The number of unfinished transfers is that of all runs together.
    #[must_use]
    pub fn list(&self) -> Vec<Counted> {
        let of_runs = self.of_runs.values().map(|(first, runs)| {
            let mut warning = first.clone();
            let name = warning.connection.as_ref();
            let transfers = name.and_then(|name| self.transfers.get(name));
            if let (WarningKind::UnfinishedTransfers, Some(all)) = (warning.kind, transfers) {
                warning.text = warning::unfinished_text(all.unfinished, all.count);
            }
            Counted {
                warning,
                runs: Some(*runs),
            }
        });
        let whole = self.whole.iter().map(|warning| Counted {
            warning: warning.clone(),
            runs: None,
        });
        of_runs.chain(whole).collect()
    }

    /// The warnings about all runs together.
    #[must_use]
    pub fn whole(&self) -> Vec<Counted> {
        let mut list = self.list();
        list.retain(|counted| counted.runs.is_none());
        list
    }

    /// A line for each warning.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let line = |Counted { warning, runs }| match runs.filter(|_| self.runs > 1) {
            None => format!("{warning}"),
            Some(runs) => format!("{warning} ({runs} of {} runs)", self.runs),
        };
        self.list().into_iter().map(line).collect()
    }

    /// The warnings as metadata of a table; none without a warning.
    ///
    /// # Panics
    /// Never: warnings are plain data.
    #[must_use]
    pub fn property(&self) -> Option<Property> {
        let list = self.list();
        (!list.is_empty()).then(|| Property {
            key: "lisa.warnings",
            value: serde_json::to_string(&list).expect("plain data"),
        })
    }
}
