//! Grids of values.

use std::convert::Infallible;

use pyo3::prelude::*;
use scenario::export::columns::Kind;
use scenario::export::columns::Value;
use scenario::export::rows::{Columns, Identity};
use scenario::study::equality;
use scenario::study::problem::{Argument, Problem};
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

/// Runs the scenario at all points.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // The arguments of one call in Python.
#[pyo3(signature = (scenario, vary, algorithms, seeds, connections, metrics, rows, random, points, jobs, progress, sample))]
pub fn sweep(
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
    jobs: Option<usize>,
    progress: Option<Py<PyAny>>,
    sample: Option<String>,
) -> PyResult<Sweep> {
    let prepare = || -> Result<_, Failure> {
        let settings = Settings::new(jobs, progress)?;
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
        Ok((settings, seeds, swept, runs, columns, points, watch))
    };
    let (settings, seeds, swept, runs, columns, mut points, watch) =
        prepare().map_err(|failure| failure.raise(py))?;
    let scenarios: Vec<_> = (points.iter())
        .map(|point| (point.scenario.clone(), point.about.clone()))
        .collect();
    let of_jobs = seeds.0.clone();
    let job = move |number: usize| {
        let (scenario, about) = &scenarios[number % scenarios.len()];
        Ok(Job {
            scenario: PointScenario::get(scenario)?,
            about: about.clone(),
            seed: of_jobs[number / scenarios.len()],
            watch,
        })
    };
    let algorithms = swept.design.algorithms.clone();
    let mut table = Builder::new(columns.kinds());
    table.describe(columns.properties());
    let mut warnings = Warnings::default();
    let mut equality = equality::Results::new(points.len());
    execute(py, &settings, runs, job, |number, run| {
        let at = number % points.len();
        let point = &points[at];
        let identity = Identity {
            settings: &point.settings,
            algorithm: point.algorithm.as_deref(),
        };
        let add = |row: &[_]| {
            table.row(row);
            Ok::<_, Infallible>(())
        };
        let Ok(()) = columns.rows(identity, &run.outcome, &run.samples, add);
        warnings.add_run(&run.outcome);
        equality.add(at, &run.outcome);
        study::add(&mut points, algorithms.len(), number, &run.outcome);
        Ok(())
    })?;
    let of_scenario = || -> Result<_, Error> { study::warning_of_seeds(&points) };
    let each = algorithms.len().max(1);
    let added = warnings.add_seeds(&equality, each, seeds.len(), of_scenario);
    added.map_err(|error| Failure::from(error).raise(py))?;
    warnings.add(equality.equal_algorithms(&algorithms, seeds.len()));
    Ok(Sweep {
        title: scenario.scenario.title.clone(),
        points,
        settings: swept.settings(),
        varied: swept.design.varied,
        algorithms,
        columns,
        table: table.finish()?,
        warnings,
        runs,
    })
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
