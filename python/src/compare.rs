//! Algorithms side by side, with the same seeds.

use std::convert::Infallible;
use std::sync::Arc;

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use scenario::export::rows::Identity;
use scenario::study::comparison::{At, Comparison as Study};
use scenario::study::contenders;
use scenario::study::rows;
use scenario::study::seeds::Seeds;
use scenario::study::summary;
use scenario::study::warnings::Warnings;
use scenario::vary::Vary;
use scenario::{Backend, Run, Watch};

use crate::error::Failure;
use crate::jobs::{Job, Settings, execute};
use crate::outcomes::{columns, metrics};
use crate::scenario::{Scenario, interval};
use crate::table::{Builder, Table};
use crate::trace;

/// The runs of a scenario with several algorithms.
#[pyclass(frozen, module = "lisa._native")]
pub struct Comparison {
    study: Study,
    warnings: Warnings,
    /// The changed keys, which are columns of tables.
    settings: Vec<Vary>,
    /// All runs: for each seed the algorithms.
    runs: Vec<Run>,
    seeds: Seeds,
}

/// A cell of the table: part, title of the metric, and for each algorithm its text and that of its difference.
type Line = (String, String, Vec<(String, String)>);

/// Runs the scenario with each of the algorithms and seeds.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // The arguments of one call in Python.
#[pyo3(signature = (scenario, algorithms, seeds, connections, metrics, jobs, progress, trace, sample))]
pub fn compare(
    py: Python<'_>,
    scenario: &Scenario,
    algorithms: Vec<String>,
    seeds: Vec<u64>,
    connections: Vec<String>,
    metrics: Option<Vec<String>>,
    jobs: Option<usize>,
    progress: Option<Py<PyAny>>,
    trace: bool,
    sample: Option<String>,
) -> PyResult<Comparison> {
    let prepare = || -> Result<_, Failure> {
        let settings = Settings::new(jobs, progress)?;
        let seeds = seeds_of(seeds)?;
        let metrics = chosen(metrics.as_deref(), scenario::metrics::summary())?;
        if algorithms.is_empty() {
            return Err(Failure::Argument(
                "algorithms: at least one is needed, like `lisa`".into(),
            ));
        }
        contenders::check_distinct(&algorithms)?;
        let numbers = contenders::connections(&scenario.scenario, &connections)?;
        let of = |algorithm: &String| {
            let set = &scenario.set;
            let with = contenders::with_algorithm(
                &scenario.source,
                set,
                true,
                &scenario.scenario,
                &numbers,
                algorithm,
            )?;
            let about: Arc<str> = format!("{} with {algorithm}", scenario.about()).into();
            Ok((with, about))
        };
        let contenders = algorithms
            .iter()
            .map(of)
            .collect::<Result<Vec<_>, Failure>>()?;
        let watch = Watch {
            trace,
            sample: sample.map(|text| interval(&text)).transpose()?,
            ..Watch::default()
        };
        Ok((settings, seeds, metrics, contenders, watch))
    };
    let (settings, seeds, metrics, contenders, watch) =
        prepare().map_err(|failure| failure.raise(py))?;
    let each = contenders.len();
    let of_jobs = seeds.0.clone();
    let job = move |number: usize| {
        let (scenario, about) = &contenders[number % each];
        Ok(Job {
            scenario: scenario.clone(),
            about: about.clone(),
            seed: of_jobs[number / each],
            watch,
        })
    };
    let title = &scenario.scenario.title;
    let mut study = Study::new(title, &algorithms, &[Backend::Sim], metrics);
    let mut warnings = Warnings::default();
    let mut runs = Vec::new();
    execute(py, &settings, seeds.len() * each, job, |number, run| {
        warnings.add_run(&run.outcome);
        let at = At {
            algorithm: number % each,
            backend: 0,
        };
        // The records stay in `runs`.
        study.add(at, Run::of(run.outcome.clone()));
        runs.push(run);
        Ok(())
    })?;
    let of_scenario = || scenario.scenario.warning_of_seeds();
    let equality = &study.equality[0];
    let added = warnings.add_seeds(equality, each, seeds.len(), of_scenario);
    added.map_err(|error| Failure::from(error).raise(py))?;
    warnings.add(equality.equal_algorithms(&algorithms, seeds.len()));
    Ok(Comparison {
        study,
        warnings,
        settings: rows::fixed(&scenario.set, &[]),
        runs,
        seeds,
    })
}

/// The seeds of an argument.
pub fn seeds_of(seeds: Vec<u64>) -> Result<Seeds, Failure> {
    Seeds::listed(seeds).map_err(|problem| Failure::Argument(format!("seeds: {problem}")))
}

/// The metrics of these names; none: these.
pub fn chosen(
    names: Option<&[String]>,
    standard: impl Iterator<Item = &'static scenario::metrics::Metric>,
) -> Result<Vec<&'static scenario::metrics::Metric>, Failure> {
    Ok(metrics(names)?.unwrap_or_else(|| standard.collect()))
}

impl Comparison {
    fn run(&self, algorithm: usize, seed: usize) -> PyResult<&Run> {
        let run = self
            .runs
            .get(seed * self.study.algorithms.len() + algorithm);
        run.ok_or_else(|| PyIndexError::new_err("no such run"))
    }
}

#[pymethods]
impl Comparison {
    /// Names of the algorithms.
    #[getter]
    fn algorithms(&self) -> Vec<String> {
        self.study.algorithms.clone()
    }

    /// The seeds.
    #[getter]
    fn seeds(&self) -> Vec<u64> {
        self.seeds.0.to_vec()
    }

    /// Title of the scenario.
    #[getter]
    fn title(&self) -> &str {
        &self.study.title
    }

    /// A line of JSON for each algorithm.
    fn json(&self) -> String {
        self.study.json(&self.warnings)
    }

    /// Means and differences: a row for each algorithm, part and metric.
    fn summary(&self) -> PyResult<Table> {
        let key = ("algorithm", scenario::export::columns::Kind::Text);
        let mut table = Builder::new([key].into_iter().chain(summary::COLUMNS));
        for (number, algorithm) in self.study.algorithms.iter().enumerate() {
            for row in self.rows_of(number) {
                let mut values = vec![scenario::export::columns::Value::Text(algorithm)];
                values.extend(row.values());
                table.row(&values);
            }
        }
        table.finish()
    }

    /// The same rows as texts, as the program prints them.
    fn lines(&self) -> Vec<Line> {
        let mut lines: Vec<Line> = Vec::new();
        let algorithms = self.study.algorithms.len();
        for number in 0..algorithms {
            for row in self.rows_of(number) {
                let (part, title) = (summary::part_name(row.part), row.title());
                let at = lines
                    .iter()
                    .position(|line| (&line.0, &line.1) == (&part, &title));
                let at = at.unwrap_or_else(|| {
                    let none = (String::new(), String::new());
                    lines.push((part, title, vec![none; algorithms]));
                    lines.len() - 1
                });
                lines[at].2[number] = (row.cell(), row.difference_cell());
            }
        }
        lines
    }

    /// A table with a row for each connection, subflow, link or sample of each run.
    fn table(&self, py: Python<'_>, rows: &str, metrics: Option<Vec<String>>) -> PyResult<Table> {
        let columns = columns(rows, &self.settings, metrics.as_deref());
        let columns = columns.map_err(|failure| failure.raise(py))?;
        let fixed = vec![0; self.settings.len()];
        let mut table = Builder::new(columns.kinds());
        table.describe(columns.properties());
        for (number, run) in self.runs.iter().enumerate() {
            let algorithms = &self.study.algorithms;
            let identity = Identity {
                settings: &fixed,
                algorithm: Some(&algorithms[number % algorithms.len()]),
            };
            let add = |row: &[_]| {
                table.row(row);
                Ok::<_, Infallible>(())
            };
            let Ok(()) = columns.rows(identity, &run.outcome, &run.samples, add);
        }
        table.finish()
    }

    /// The events of the senders, by the numbers of algorithm and seed.
    fn trace(&self, algorithm: usize, seed: usize) -> PyResult<Table> {
        trace::events(self.run(algorithm, seed)?)
    }

    /// The losses.
    fn losses(&self, algorithm: usize, seed: usize) -> PyResult<Table> {
        trace::losses(self.run(algorithm, seed)?)
    }

    /// A line for each warning.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.lines()
    }
}

impl Comparison {
    /// The rows of an algorithm. The first algorithm is the baseline.
    fn rows_of(&self, algorithm: usize) -> Vec<summary::Row<'_>> {
        let groups = |algorithm| {
            let at = At {
                algorithm,
                backend: 0,
            };
            &self.study.of(at).groups
        };
        let base = (algorithm > 0).then(|| groups(0));
        summary::rows(groups(algorithm), base)
    }
}
