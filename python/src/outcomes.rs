//! The runs of a scenario, and their tables.

use std::convert::Infallible;
use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use scenario::export;
use scenario::export::rows::{Columns, Identity, RowKind};
use scenario::metrics::Metric;
use scenario::study::equality;
use scenario::study::rows;
use scenario::study::warnings::Warnings;
use scenario::vary::Vary;
use scenario::{Run, Scenario};
use serde::Deserialize;

use crate::error::Failure;
use crate::table::{Builder, Table};
use crate::trace;

/// The runs of a scenario with several seeds.
#[pyclass(frozen, module = "lisa._native")]
pub struct Outcomes {
    scenario: Arc<Scenario>,
    /// Changes of keys, `KEY=VALUE`.
    set: Vec<String>,
    /// The changed keys, which are columns of tables.
    settings: Vec<Vary>,
    runs: Vec<Run>,
    warnings: Warnings,
    equality: equality::Results,
}

/// What outcomes are restored from.
#[derive(Deserialize)]
struct Kept {
    scenario: Scenario,
    set: Vec<String>,
    runs: Vec<Run>,
}

impl Outcomes {
    /// No runs yet of a scenario with these changes.
    pub fn new(scenario: Arc<Scenario>, set: &[String]) -> Self {
        Self {
            scenario,
            set: set.to_vec(),
            settings: rows::fixed(set, &[]),
            runs: Vec::new(),
            warnings: Warnings::default(),
            equality: equality::Results::new(1),
        }
    }

    /// Adds a run.
    pub fn add(&mut self, run: Run) {
        self.warnings.add_run(&run.outcome);
        self.equality.add(0, &run.outcome);
        self.runs.push(run);
    }

    /// Adds the warnings about all runs together.
    pub fn finish(&mut self) -> Result<(), Failure> {
        let of_scenario = || self.scenario.warning_of_seeds();
        let seeds = self.runs.len();
        Ok((self.warnings).add_seeds(&self.equality, 1, seeds, of_scenario)?)
    }

    fn run(&self, index: usize) -> PyResult<&Run> {
        let run = self.runs.get(index);
        run.ok_or_else(|| PyIndexError::new_err(format!("no run {index}")))
    }
}

/// The kind of rows of this name.
pub fn row_kind(name: &str) -> Result<RowKind, Failure> {
    const KINDS: [RowKind; 4] = [
        RowKind::Connection,
        RowKind::Subflow,
        RowKind::Link,
        RowKind::Sample,
    ];
    let kind = KINDS.into_iter().find(|kind| kind.name() == name);
    kind.ok_or_else(|| {
        let nearest = scenario::nearest(name, KINDS.map(RowKind::name));
        let known = scenario::there_are(&KINDS.map(RowKind::name));
        Failure::Argument(format!("rows {name}: no such rows{nearest}; {known}"))
    })
}

/// The metrics of these names; none: those of the rows.
pub fn metrics(names: Option<&[String]>) -> Result<Option<Vec<&'static Metric>>, Failure> {
    let chosen = names.map(scenario::metrics::choose).transpose();
    chosen.map_err(|problem| Failure::Argument(format!("metrics: {problem}")))
}

/// The columns of a table of runs.
pub fn columns(
    rows: &str,
    settings: &[Vary],
    names: Option<&[String]>,
) -> Result<Columns, Failure> {
    let columns = rows::columns(row_kind(rows)?, settings, metrics(names)?.as_deref());
    columns.map_err(|missing| {
        let (kind, other) = (missing.rows.name(), missing.other.name());
        Failure::Argument(format!(
            "metrics: rows=\"{kind}\" has no `{}`: use rows=\"{other}\"",
            missing.metric.key
        ))
    })
}

#[pymethods]
impl Outcomes {
    fn __len__(&self) -> usize {
        self.runs.len()
    }

    /// All runs as JSON, for [`Outcomes::restore`] of the same version.
    fn dump(&self) -> String {
        let kept = serde_json::json!({
            "scenario": &*self.scenario,
            "set": self.set,
            "runs": self.runs,
        });
        kept.to_string()
    }

    /// The outcomes of [`Outcomes::dump`].
    #[staticmethod]
    fn restore(py: Python<'_>, text: &str) -> PyResult<Self> {
        let restore = || -> Result<Self, Failure> {
            let kept: Kept = serde_json::from_str(text)
                .map_err(|error| Failure::Argument(format!("no outcomes: {error}")))?;
            let mut outcomes = Self::new(kept.scenario.into(), &kept.set);
            kept.runs.into_iter().for_each(|run| outcomes.add(run));
            outcomes.finish()?;
            Ok(outcomes)
        };
        restore().map_err(|failure| failure.raise(py))
    }

    /// Seeds of the runs.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.runs.iter().map(|run| run.outcome.seed).collect()
    }

    /// The outcome of a run as a line of JSON. Without `timing` `wall_seconds` is null.
    fn json(&self, index: usize, timing: bool) -> PyResult<String> {
        Ok(self.run(index)?.outcome.json(timing))
    }

    /// A table with a row for each connection, subflow, link or sample.
    fn table(&self, py: Python<'_>, rows: &str, metrics: Option<Vec<String>>) -> PyResult<Table> {
        let raise = |failure: Failure| failure.raise(py);
        let columns = columns(rows, &self.settings, metrics.as_deref()).map_err(raise)?;
        let identity = Identity {
            settings: &vec![0; self.settings.len()],
            algorithm: None,
        };
        let mut table = Builder::new(columns.kinds());
        table.describe(columns.properties());
        for run in &self.runs {
            let add = |row: &[_]| {
                table.row(row);
                Ok::<_, Infallible>(())
            };
            let Ok(()) = columns.rows(identity, &run.outcome, &run.samples, add);
        }
        table.finish()
    }

    /// The events of the senders of a run.
    fn trace(&self, index: usize) -> PyResult<Table> {
        trace::events(self.run(index)?)
    }

    /// The losses of a run: time and subflow of each data segment.
    fn losses(&self, index: usize) -> PyResult<Table> {
        trace::losses(self.run(index)?)
    }

    /// The credits between subflows of a run, as JSON.
    fn credits(&self, index: usize) -> PyResult<String> {
        let credits = self.run(index)?.credits.iter().map(export::credit);
        Ok(serde_json::Value::Array(credits.collect()).to_string())
    }

    /// A line for each warning.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.lines()
    }
}
