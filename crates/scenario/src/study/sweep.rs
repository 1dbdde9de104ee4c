//! The points of a sweep: each combination of values, or each point of a list, with each algorithm.

use std::sync::Arc;

use super::problem::{Argument, Problem};
use super::{contenders, rows};
use crate::error::{Error, Location};
use crate::metrics::{Groups, Metric};
use crate::outcome::Outcome;
use crate::scenario::Scenario;
use crate::source::Source;
use crate::vary::{self, Vary};
use crate::warning::Warning;

/// Largest number of runs of a sweep.
const MOST_RUNS: usize = 1_000_000;
/// Largest number of points of a sweep.
const MOST_POINTS: usize = 100_000;

/// Largest number of points with a table. Further points are not kept as scenarios, but read again for each run: they would need more
/// memory than the rows.
pub const MOST_IN_TABLE: usize = 1000;

/// What varies in a sweep.
#[derive(Clone, Debug, Default)]
pub struct Design {
    /// The varied keys with their values.
    pub varied: Vec<Vary>,
    /// Number of points if each has a value of its own of every key, random or of a file; none: all combinations.
    pub listed: Option<usize>,
    /// Whether the points are those of a file.
    pub from_file: bool,
    /// Algorithms of each combination; empty: those of the scenario.
    pub algorithms: Vec<String>,
}

/// A reason against a further varied key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clash {
    /// The key is varied already.
    Varied,
    /// The key is an algorithm, and there is a list of algorithms.
    Algorithms,
}

/// A sweep of a scenario.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Text of the scenario.
    pub source: Arc<Source>,
    /// Overrides of the scenario at all points.
    pub set: Vec<String>,
    /// What varies.
    pub design: Design,
    /// Connections whose algorithm is replaced, by name ([`contenders::connections`]).
    pub connections: Vec<String>,
    /// Whether simulated endpoints run it.
    pub simulated: bool,
}

/// The scenario of a point.
#[derive(Clone, Debug)]
pub enum PointScenario {
    /// In memory.
    Kept(Arc<Scenario>),
    /// Read again for each run.
    Read(Arc<Recipe>),
}

/// How a point's scenario is read.
#[derive(Clone, Debug)]
pub struct Recipe {
    source: Arc<Source>,
    /// Overrides of all points, then those of the point.
    set: Vec<String>,
    /// Algorithm, and the numbers of the connections that have it.
    algorithm: Option<(String, Vec<usize>)>,
}

impl PointScenario {
    /// The scenario.
    ///
    /// # Errors
    /// As [`Source::scenario`].
    pub fn get(&self) -> Result<Arc<Scenario>, Error> {
        match self {
            Self::Kept(scenario) => Ok(scenario.clone()),
            Self::Read(recipe) => {
                let mut scenario = recipe.source.scenario(&recipe.set)?;
                if let Some((algorithm, connections)) = &recipe.algorithm {
                    for &number in connections {
                        scenario.connections[number].algorithm = algorithm.clone();
                    }
                }
                Ok(Arc::new(scenario))
            }
        }
    }
}

/// A combination of values, with an algorithm if algorithms are compared.
#[derive(Clone, Debug)]
pub struct Point {
    /// For each varied key the number of its value.
    pub chosen: Vec<usize>,
    /// The same for the columns of a table, which begin with the keys of the overrides.
    pub settings: Vec<usize>,
    /// Algorithm; none: those of the scenario.
    pub algorithm: Option<String>,
    /// The scenario.
    pub scenario: PointScenario,
    /// The scenario's file, values and algorithm, for errors.
    pub about: Arc<str>,
    /// Number of runs so far.
    pub runs: usize,
    /// The metrics of the point's runs; without a run if there are more than [`MOST_IN_TABLE`] points.
    pub groups: Groups,
}

impl Point {
    /// The values of the keys and the algorithm, as the table shows them.
    #[must_use]
    pub fn names(&self, varied: &[Vary]) -> Vec<String> {
        let mut names: Vec<String> = (varied.iter().zip(&self.chosen))
            .map(|(vary, value)| vary.values[*value].clone())
            .collect();
        names.extend(self.algorithm.clone());
        names
    }
}

/// Adds a run to its point. `number` is that of the run: with each seed all points run, one after the other. Points that differ only
/// in their algorithm, of which there are `algorithms`, stand together; the first is the baseline of the differences.
pub fn add(points: &mut [Point], algorithms: usize, number: usize, outcome: &Outcome) {
    let all = points.len();
    let (seed, at) = (number / all, number % all);
    let (before, rest) = points.split_at_mut(at);
    let point = &mut rest[0];
    let first = at - at % algorithms.max(1);
    let base = before.get(first).map(|base| &base.groups);
    point.runs += 1;
    if all <= MOST_IN_TABLE {
        point.groups.add_paired(seed, outcome, base);
    }
}

/// The warning that seeds differ in the timing of the endpoints alone, if no key of a point draws from the seed. One such point is
/// enough: its interval misleads.
///
/// # Errors
/// As [`PointScenario::get`].
pub fn warning_of_seeds(points: &[Point]) -> Result<Option<Warning>, Error> {
    for point in points.iter().take(MOST_IN_TABLE) {
        if let Some(warning) = point.scenario.get()?.warning_of_seeds()? {
            return Ok(Some(warning));
        }
    }
    Ok(None)
}

impl Design {
    /// Adds a varied key.
    ///
    /// # Errors
    /// For a key that varies already.
    pub fn vary(&mut self, vary: Vary) -> Result<(), Clash> {
        if self.varied.iter().any(|other| vary.replaces(other)) {
            return Err(Clash::Varied);
        }
        if vary.key.ends_with(".algorithm") && !self.algorithms.is_empty() {
            return Err(Clash::Algorithms);
        }
        self.varied.push(vary);
        Ok(())
    }

    /// Number of combinations, before they are multiplied by the algorithms.
    fn combinations(&self) -> Option<usize> {
        self.listed.or_else(|| vary::combinations(&self.varied))
    }

    /// Number of runs of the sweep with this many seeds.
    ///
    /// # Errors
    /// For too many.
    pub fn runs(&self, seeds: usize) -> Result<usize, Problem> {
        let points = self
            .combinations()
            .and_then(|n| n.checked_mul(self.algorithms.len().max(1)))
            .filter(|n| *n <= MOST_POINTS)
            .ok_or_else(|| {
                Problem::whole(format!(
                    "at most {MOST_POINTS} combinations are possible: give wider steps, like `1..34/3`"
                ))
            })?;
        match points * seeds {
            runs if runs > MOST_RUNS => Err(Problem::whole(format!(
                "{runs} runs: at most {MOST_RUNS} are possible; give fewer seeds, or wider steps like `1..34/3`"
            ))),
            runs => Ok(runs),
        }
    }
}

impl Sweep {
    /// The keys with a column: those of the overrides, then the varied ones.
    #[must_use]
    pub fn settings(&self) -> Vec<Vary> {
        let varied = &self.design.varied;
        let mut settings = rows::fixed(&self.set, varied);
        settings.extend(varied.iter().cloned());
        settings
    }

    /// All points, for each combination its algorithms. Each is read from the file with its values, so that an error in any
    /// point is found before the first run.
    ///
    /// # Errors
    /// The first error of a value or an algorithm.
    pub fn points(&self, metrics: &[&'static Metric]) -> Result<Vec<Point>, Problem> {
        let Design {
            varied,
            listed,
            algorithms,
            ..
        } = &self.design;
        let mut points = Vec::new();
        let fixed = rows::fixed(&self.set, varied).len();
        let combinations = self.design.combinations().unwrap_or(0);
        let in_table = combinations * algorithms.len().max(1) <= MOST_IN_TABLE;
        for number in 0..combinations {
            let chosen = match listed {
                Some(_) => vec![number; varied.len()],
                None => vary::combination(varied, number),
            };
            let set: Vec<String> = (varied.iter().zip(&chosen))
                .map(|(vary, value)| vary.set(*value))
                .collect();
            let scenario = self.load(&set)?;
            let mut add = |algorithm: Option<(String, Vec<usize>)>, scenario| {
                let name = algorithm.as_ref().map(|(name, _)| name.clone());
                let mut with = set.clone();
                with.extend(name.clone());
                let file = self.source.name.display();
                let about = match &with[..] {
                    [] => file.to_string(),
                    with => format!("{file} with {}", with.join(", ")),
                };
                points.push(Point {
                    about: about.into(),
                    settings: [vec![0; fixed], chosen.clone()].concat(),
                    chosen: chosen.clone(),
                    algorithm: name,
                    scenario: match points.len() < MOST_IN_TABLE {
                        true => PointScenario::Kept(scenario),
                        false => PointScenario::Read(Arc::new(Recipe {
                            source: self.source.clone(),
                            set: [&self.set[..], &set].concat(),
                            algorithm,
                        })),
                    },
                    runs: 0,
                    groups: Groups::moments(match in_table {
                        true => metrics.to_vec(),
                        false => Vec::new(),
                    }),
                });
            };
            if algorithms.is_empty() {
                add(None, Arc::new(scenario));
                continue;
            }
            contenders::check_distinct(algorithms)?;
            let replaced = contenders::connections(&scenario, &self.connections)?;
            for algorithm in algorithms {
                let changed = contenders::with_algorithm(
                    &self.source,
                    &self.set,
                    self.simulated,
                    &scenario,
                    &replaced,
                    algorithm,
                )?;
                add(Some((algorithm.clone(), replaced.clone())), changed);
            }
        }
        Ok(points)
    }

    /// The scenario with these values. The error of a value names its argument.
    fn load(&self, set: &[String]) -> Result<Scenario, Problem> {
        let all: Vec<&String> = self.set.iter().chain(set).collect();
        self.source
            .scenario(&all)
            .map_err(|error| match &error.location {
                Location::Override(text) if set.contains(text) => {
                    let text = text.clone();
                    let rest = Error {
                        location: Location::File,
                        file: String::new(),
                        ..error
                    };
                    // `1-34` is text.
                    let value = text.split_once('=').map_or("", |(_, value)| value);
                    let is_text = !value.contains(['{', '[']) && value.parse::<f64>().is_err();
                    let range = match is_text && !self.design.from_file {
                        true => "; a range is `1..34`",
                        false => "",
                    };
                    let argument = match self.design.from_file {
                        true => Argument::Points,
                        false => Argument::Vary,
                    };
                    Problem::of(argument, text, format!("{rest}{range}"))
                }
                _ => error.into(),
            })
    }
}
