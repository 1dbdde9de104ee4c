//! A scenario: its text, and what it says.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use scenario::study::seeds::Seeds;
use scenario::units;
use scenario::{Error, Location, Source, Watch};

use crate::error::Failure;
use crate::jobs::{Job, Settings, execute};
use crate::outcomes::Outcomes;
use crate::values;

/// A scenario with the text that it was read from.
#[pyclass(frozen, module = "lisa._native")]
pub struct Scenario {
    pub source: Arc<Source>,
    /// Changes of keys, `KEY=VALUE`.
    pub set: Vec<String>,
    /// Whether the text is that of a dictionary, whose lines are those of no file.
    pub of_values: bool,
    pub scenario: Arc<scenario::Scenario>,
}

impl Scenario {
    fn new(source: Source, set: Vec<String>, of_values: bool) -> Result<Self, Failure> {
        let read = source.scenario(&set);
        let scenario = read.map_err(|error| match of_values {
            true => without_line(error),
            false => error,
        })?;
        Ok(Self {
            source: Arc::new(source),
            set,
            of_values,
            scenario: Arc::new(scenario),
        })
    }

    /// The scenario's file, for errors of runs.
    pub fn about(&self) -> Arc<str> {
        self.source.name.display().to_string().into()
    }
}

/// The error without the line of a text that the user did not write.
fn without_line(error: Error) -> Error {
    match error.location {
        Location::Line(_) => Error {
            file: String::new(),
            location: Location::File,
            ..error
        },
        _ => error,
    }
}

#[pymethods]
impl Scenario {
    /// Reads a file.
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf, set: Vec<String>) -> PyResult<Self> {
        let read = || Self::new(Source::read_file(&path)?, set, false);
        read().map_err(|failure| failure.raise(py))
    }

    /// Reads text. `name` is the name of the file, for errors and for files beside it.
    #[staticmethod]
    fn from_text(py: Python<'_>, text: String, name: PathBuf, set: Vec<String>) -> PyResult<Self> {
        Self::new(Source { name, text }, set, false).map_err(|failure| failure.raise(py))
    }

    /// Reads a dictionary with the keys of a file.
    #[staticmethod]
    fn from_values(
        py: Python<'_>,
        table: &Bound<'_, PyDict>,
        name: PathBuf,
        set: Vec<String>,
    ) -> PyResult<Self> {
        let read = || {
            let text = values::toml(table)?;
            Self::new(Source { name, text }, set, true)
        };
        read().map_err(|failure| failure.raise(py))
    }

    /// The scenario with further changes.
    fn with_set(&self, py: Python<'_>, set: Vec<String>) -> PyResult<Self> {
        let all = [&self.set[..], &set].concat();
        let source = Source::clone(&self.source);
        Self::new(source, all, self.of_values).map_err(|failure| failure.raise(py))
    }

    /// Title.
    #[getter]
    fn title(&self) -> &str {
        &self.scenario.title
    }

    /// A scenario by its source text, name and changes.
    #[staticmethod]
    fn restore(
        py: Python<'_>,
        text: String,
        name: PathBuf,
        set: Vec<String>,
        of_values: bool,
    ) -> PyResult<Self> {
        Self::new(Source { name, text }, set, of_values).map_err(|failure| failure.raise(py))
    }

    /// Text of the file, with the changes.
    fn text(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.source.changed(&self.set);
        text.map_err(|error| Failure::from(error).raise(py))
    }

    /// Text of the file, without the changes.
    #[getter]
    fn source_text(&self) -> &str {
        &self.source.text
    }

    /// Whether the text is that of a dictionary.
    #[getter]
    fn of_values(&self) -> bool {
        self.of_values
    }

    /// Name of the file.
    #[getter]
    fn name(&self) -> String {
        self.source.name.display().to_string()
    }

    /// Changes of keys.
    #[getter]
    fn set(&self) -> Vec<String> {
        self.set.clone()
    }

    /// Names of the connections.
    #[getter]
    fn connections(&self) -> Vec<String> {
        let all = self.scenario.connections.iter();
        all.map(|connection| connection.name.clone()).collect()
    }

    /// Runs the scenario with each of the seeds.
    #[pyo3(signature = (seeds, jobs, progress, trace, sample))]
    fn run(
        &self,
        py: Python<'_>,
        seeds: Vec<u64>,
        jobs: Option<usize>,
        progress: Option<Py<PyAny>>,
        trace: bool,
        sample: Option<String>,
    ) -> PyResult<Outcomes> {
        let raise = |failure: Failure| failure.raise(py);
        let settings = Settings::new(jobs, progress).map_err(raise)?;
        let seeds = Seeds::listed(seeds);
        let seeds =
            seeds.map_err(|problem| raise(Failure::Argument(format!("seeds: {problem}"))))?;
        let sample = sample.map(|text| interval(&text)).transpose();
        let watch = Watch {
            trace,
            sample: sample.map_err(raise)?,
            ..Watch::default()
        };
        let (scenario, about, of_jobs) = (self.scenario.clone(), self.about(), seeds.0.clone());
        let job = move |number: usize| {
            Ok(Job {
                scenario: scenario.clone(),
                about: about.clone(),
                seed: of_jobs[number],
                watch,
            })
        };
        let mut outcomes = Outcomes::new(self.scenario.clone(), &self.set);
        execute(py, &settings, seeds.len(), job, |_, run| {
            outcomes.add(run);
            Ok(())
        })?;
        outcomes.finish().map_err(raise)?;
        Ok(outcomes)
    }
}

/// The seeds of a text like `11..20` or `1,5,10..20`.
#[pyfunction]
pub fn parse_seeds(py: Python<'_>, text: &str) -> PyResult<Vec<u64>> {
    let seeds = Seeds::parse(text);
    let seeds = seeds.map_err(|problem| {
        let forms = scenario::study::seeds::FORMS;
        Failure::Argument(format!("seeds: {problem}; {forms}")).raise(py)
    })?;
    Ok(seeds.0.to_vec())
}

/// Interval of time series.
pub fn interval(text: &str) -> Result<netsim::Span, Failure> {
    match units::parse_time(text) {
        Ok(interval) if interval != netsim::Span::ZERO => Ok(interval),
        _ => Err(Failure::Argument(format!(
            "sample {text}: a time of more than 0, like `10ms`; units are ns, us, ms, s, min, h, d"
        ))),
    }
}
