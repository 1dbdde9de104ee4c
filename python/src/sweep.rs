//! Grids of values.

use std::convert::Infallible;
use std::path::PathBuf;

use pyo3::prelude::*;
use scenario::export::columns::{Format, Kind, Property, Table as Parquet, Value};
use scenario::export::rows::{Columns, Identity};
use scenario::study::equality;
use scenario::study::problem::{Argument, Problem};
use scenario::study::seeds::Seeds;
use scenario::study::shard::{MOST, Numbers, Shard};
use scenario::study::summary;
use scenario::study::sweep::{self as study, Clash, Design, Point, PointScenario};
use scenario::study::warnings::Warnings;
use scenario::vary::{self, Vary};
use scenario::{Error, Watch};

use crate::compare::{chosen, seeds_of};
use crate::error::Failure;
use crate::jobs::{Job, Settings, execute};
use crate::outcomes::columns;
use crate::scenario::{Scenario, interval};
use crate::table::{Builder, Table};

/// The runs of a scenario at several points.
#[pyclass(frozen, module = "lisa._native")]
pub struct Sweep {
    title: String,
    points: Vec<Point>,
    /// The keys with a column.
    settings: Vec<Vary>,
    varied: Vec<Vary>,
    algorithms: Vec<String>,
    columns: Columns,
    table: Table,
    warnings: Warnings,
    runs: usize,
}

/// The varied keys: of each its values, or a text like `1..34`.
type Varied = Vec<(String, Values)>;

/// Values of a varied key.
#[derive(FromPyObject)]
pub enum Values {
    Text(String),
    List(Vec<String>),
}

/// What varies, by the arguments.
fn design(
    vary: Varied,
    algorithms: Vec<String>,
    random: Option<(usize, bool)>,
    points: bool,
) -> Result<Design, Failure> {
    let mut design = Design {
        algorithms,
        from_file: points,
        ..Design::default()
    };
    for (key, values) in vary {
        let wrong = |problem: &str| Problem::of(Argument::Vary, &key, problem);
        let number = design.varied.len() as u64;
        let vary = match (values, random) {
            (Values::List(values), _) if values.is_empty() => {
                return Err(wrong("at least one value is needed").into());
            }
            (Values::List(values), None) => Vary {
                key: key.clone(),
                values,
            },
            (Values::Text(text), None) => Vary::parse(&format!("{key}={text}"))
                .map_err(|problem| Problem::of(Argument::Vary, format!("{key}={text}"), problem))?,
            (values, Some((points, latin))) => {
                let text = match values {
                    Values::Text(text) => text,
                    Values::List(values) => values.join(","),
                };
                let of = match latin {
                    true => vary::Design::Latin,
                    false => vary::Design::Uniform,
                };
                Vary::draw(&format!("{key}={text}"), number, points, of)
                    .map_err(|problem| wrong(&problem))?
            }
        };
        if points {
            match design.listed {
                Some(listed) if listed != vary.values.len() => {
                    return Err(wrong("each key needs a value for each point").into());
                }
                _ => design.listed = Some(vary.values.len()),
            }
        }
        design.vary(vary).map_err(|clash| {
            wrong(match clash {
                Clash::Varied => "this key is varied already",
                Clash::Algorithms => "use this key or `algorithms`, not both",
            })
        })?;
    }
    if let Some((points, _)) = random {
        design.listed = Some(points);
    }
    Ok(design)
}

/// A sweep before it runs: its arguments are valid, its points are read.
#[pyclass(frozen, module = "lisa._native")]
pub struct Plan {
    title: String,
    swept: study::Sweep,
    seeds: Seeds,
    points: Vec<Point>,
    columns: Columns,
    watch: Watch,
    runs: usize,
}

/// Reads the arguments of a sweep.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // The arguments of one call in Python.
#[pyo3(signature = (scenario, vary, algorithms, seeds, connections, metrics, rows, random, points, sample))]
pub fn plan(
    py: Python<'_>,
    scenario: &Scenario,
    vary: Varied,
    algorithms: Vec<String>,
    seeds: Vec<u64>,
    connections: Vec<String>,
    metrics: Option<Vec<String>>,
    rows: &str,
    random: Option<(usize, bool)>,
    points: bool,
    sample: Option<String>,
) -> PyResult<Plan> {
    let prepare = || -> Result<_, Failure> {
        if vary.is_empty() && algorithms.is_empty() {
            return Err(Failure::Argument(
                    "nothing varies: give `vary`, like {\"topology.queue\": \"1..34\"}, or `algorithms`".into(),
                ));
        }
        let seeds = seeds_of(seeds)?;
        let names = metrics.as_deref();
        let metrics = chosen(names, scenario::metrics::standard())?;
        let swept = study::Sweep {
            source: scenario.source.clone(),
            set: scenario.set.clone(),
            design: design(vary, algorithms, random, points)?,
            connections,
            simulated: true,
        };
        let runs = swept.design.runs(seeds.len())?;
        let columns = columns(rows, &swept.settings(), names)?;
        let points = swept.points(&metrics)?;
        let watch = Watch {
            sample: sample.map(|text| interval(&text)).transpose()?,
            ..Watch::default()
        };
        Ok(Plan {
            title: scenario.scenario.title.clone(),
            swept,
            seeds,
            points,
            columns,
            watch,
            runs,
        })
    };
    prepare().map_err(|failure| failure.raise(py))
}

impl Plan {
    /// The job of a run, by its number: with each seed all points run, one after the other.
    fn job(&self) -> impl Fn(usize) -> Result<Job, Failure> + Send + Sync + use<> {
        let scenarios: Vec<_> = (self.points.iter())
            .map(|point| (point.scenario.clone(), point.about.clone()))
            .collect();
        let (seeds, watch) = (self.seeds.0.clone(), self.watch);
        move |number: usize| {
            let (scenario, about) = &scenarios[number % scenarios.len()];
            Ok(Job {
                scenario: PointScenario::get(scenario)?,
                about: about.clone(),
                seed: seeds[number / scenarios.len()],
                watch,
            })
        }
    }

    /// What the columns of a run have beside its results.
    fn identity(&self, number: usize) -> Identity<'_> {
        let point = &self.points[number % self.points.len()];
        Identity {
            settings: &point.settings,
            algorithm: point.algorithm.as_deref(),
        }
    }

    /// Adds the warnings about all runs together.
    fn warn(&self, warnings: &mut Warnings, equality: &equality::Results) -> Result<(), Error> {
        let of_scenario = || -> Result<_, Error> { study::warning_of_seeds(&self.points) };
        let algorithms = &self.swept.design.algorithms;
        let seeds = self.seeds.len();
        warnings.add_seeds(equality, algorithms.len().max(1), seeds, of_scenario)?;
        warnings.add(equality.equal_algorithms(algorithms, seeds));
        Ok(())
    }
}

#[pymethods]
impl Plan {
    /// Number of runs.
    #[getter]
    fn runs(&self) -> usize {
        self.runs
    }

    /// Number of points, each algorithm of a combination counted.
    #[getter]
    fn points(&self) -> usize {
        self.points.len()
    }

    /// Makes all runs.
    #[pyo3(signature = (jobs, progress))]
    fn run(
        &self,
        py: Python<'_>,
        jobs: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Sweep> {
        let raise = |failure: Failure| failure.raise(py);
        let settings = Settings::new(jobs, progress).map_err(raise)?;
        let mut points = self.points.clone();
        let algorithms = self.swept.design.algorithms.len();
        let mut table = Builder::new(self.columns.kinds());
        table.describe(self.columns.properties());
        let mut warnings = Warnings::default();
        let mut equality = equality::Results::new(points.len());
        execute(py, &settings, self.runs, self.job(), |number, run| {
            let add = |row: &[_]| {
                table.row(row);
                Ok::<_, Infallible>(())
            };
            let identity = self.identity(number);
            let Ok(()) = (self.columns).rows(identity, &run.outcome, &run.samples, add);
            warnings.add_run(&run.outcome);
            equality.add(number % points.len(), &run.outcome);
            study::add(&mut points, algorithms, number, &run.outcome);
            Ok(())
        })?;
        let warned = self.warn(&mut warnings, &equality);
        warned.map_err(|error| raise(error.into()))?;
        Ok(Sweep {
            title: self.title.clone(),
            points,
            settings: self.swept.settings(),
            varied: self.swept.design.varied.clone(),
            algorithms: self.swept.design.algorithms.clone(),
            columns: self.columns.clone(),
            table: table.finish()?,
            warnings,
            runs: self.runs,
        })
    }

    /// Makes the runs of part `number` of `of` parts, and writes their rows into a Parquet file. Returns a line for each warning.
    #[pyo3(signature = (number, of, file, jobs))]
    fn write_part(
        &self,
        py: Python<'_>,
        number: usize,
        of: usize,
        file: PathBuf,
        jobs: Option<usize>,
    ) -> PyResult<Vec<String>> {
        let raise = |failure: Failure| failure.raise(py);
        let settings = Settings::new(jobs, None).map_err(raise)?;
        let shard = Shard::new(number, of).ok_or_else(|| {
            raise(Failure::Argument(format!(
                "part {number} of {of}: a part is from 1 to the number of parts, of which there are at most {MOST}"
            )))
        })?;
        let numbers = Numbers {
            shard,
            runs: self.runs,
        };
        let job = self.job();
        let of_number = move |at| job(numbers.get(at).expect("less than the length"));
        let mut table = Parquet::create(&file, Format::Parquet, &self.columns.kinds())?;
        let mut warnings = Warnings::default();
        execute(py, &settings, numbers.len(), of_number, |at, run| {
            let identity = self.identity(numbers.get(at).expect("less than the length"));
            let add = |row: &[_]| table.row(row);
            let added = (self.columns).rows(identity, &run.outcome, &run.samples, add);
            added.map_err(|error| Failure::Python(error.into()))?;
            warnings.add_run(&run.outcome);
            Ok(())
        })?;
        table.describe(&self.columns.properties());
        table.describe(&[
            Property {
                key: "lisa.scenario",
                value: self.swept.source.text.clone(),
            },
            Property {
                key: "lisa.backend",
                value: "sim".into(),
            },
        ]);
        if let Some(property) = warnings.property() {
            table.describe(&[property]);
        }
        table.finish()?;
        Ok(warnings.lines())
    }
}

#[pymethods]
impl Sweep {
    /// Title of the scenario.
    #[getter]
    fn title(&self) -> &str {
        &self.title
    }

    /// Number of runs.
    fn __len__(&self) -> usize {
        self.runs
    }

    /// The varied keys.
    #[getter]
    fn varied(&self) -> Vec<String> {
        self.varied.iter().map(|vary| vary.key.clone()).collect()
    }

    /// Names of the algorithms; empty: those of the scenario.
    #[getter]
    fn algorithms(&self) -> Vec<String> {
        self.algorithms.clone()
    }

    /// The rows of all runs.
    fn table(&self) -> Table {
        self.table.clone()
    }

    /// Means and differences: a row for each point, algorithm, part and metric.
    fn summary(&self) -> PyResult<Table> {
        let kinds = self.columns.kinds();
        let keys = kinds.iter().take(self.settings.len()).copied();
        let columns = keys.chain([("algorithm", Kind::Text)]);
        let mut table = Builder::new(columns.chain(summary::COLUMNS));
        for (number, point) in self.points.iter().enumerate() {
            let algorithm = point.algorithm.as_deref();
            let identity = Identity {
                settings: &point.settings,
                algorithm,
            };
            let first = number - number % self.algorithms.len().max(1);
            let base = (first < number).then(|| &self.points[first].groups);
            for row in summary::rows(&point.groups, base) {
                let mut values = self.columns.settings(identity);
                values.push(algorithm.map_or(Value::None, Value::Text));
                values.extend(row.values());
                table.row(&values);
            }
        }
        table.finish()
    }

    /// For each row of the summary the names of its point, its part, the title of its metric, its text, and that of its difference, as
    /// the program prints them.
    fn lines(&self) -> Vec<(Vec<String>, String, String, String, String)> {
        let mut lines = Vec::new();
        for (number, point) in self.points.iter().enumerate() {
            let first = number - number % self.algorithms.len().max(1);
            let base = (first < number).then(|| &self.points[first].groups);
            for row in summary::rows(&point.groups, base) {
                let names = point.names(&self.varied);
                let part = summary::part_name(row.part);
                lines.push((names, part, row.title(), row.cell(), row.difference_cell()));
            }
        }
        lines
    }

    /// A line for each warning.
    #[getter]
    fn warnings(&self) -> Vec<String> {
        self.warnings.lines()
    }
}
