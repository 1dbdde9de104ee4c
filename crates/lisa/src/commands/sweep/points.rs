//! The points of a sweep: each combination of values, or each line of a file, with each algorithm.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use scenario::metrics::{Groups, Metric};
use scenario::vary::{self, Design, Vary};
use scenario::{Error, Location, Scenario};

use super::arguments::Arguments;
use crate::output::Failure;
use crate::runs::arguments::Common;
use crate::runs::source::Source;
use crate::runs::{rows_file, scenarios};

/// Largest number of runs of a sweep.
const MOST_RUNS: usize = 1_000_000;
/// Largest number of points of a sweep.
const MOST_POINTS: usize = 100_000;

/// Largest number of points with a table. Further points are not kept as scenarios, but read again for each run: they would need more
/// memory than the rows.
pub const MOST_IN_TABLE: usize = 1000;

/// The scenario of a point.
#[derive(Clone)]
pub enum PointScenario {
    Kept(Arc<Scenario>),
    Read(Arc<Recipe>),
}

/// How a point's scenario is read.
pub struct Recipe {
    source: Arc<Source>,
    /// Values of `--set`, then those of the point.
    set: Vec<String>,
    /// Algorithm, and the numbers of the connections that have it.
    algorithm: Option<(String, Vec<usize>)>,
}

impl PointScenario {
    /// The scenario.
    pub fn get(&self) -> Result<Arc<Scenario>, Failure> {
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
pub struct Point {
    /// For each varied key the number of its value.
    pub chosen: Vec<usize>,
    /// The same for the columns of a table, which begin with the keys of `--set`.
    pub settings: Vec<usize>,
    pub algorithm: Option<String>,
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
    pub fn names(&self, varied: &[Vary]) -> Vec<String> {
        let mut names: Vec<String> = (varied.iter().zip(&self.chosen))
            .map(|(vary, value)| vary.values[*value].clone())
            .collect();
        names.extend(self.algorithm.clone());
        names
    }
}

/// The varied keys with their values.
pub fn varied(arguments: &Arguments) -> Result<Vec<Vary>, Failure> {
    let mut varied: Vec<Vary> = Vec::new();
    for vary in arguments.points.as_deref().map_or(Ok(Vec::new()), read)? {
        let wrong = |problem| Failure::usage(format!("--points: `{}`: {problem}", vary.key));
        check(arguments, &varied, &vary).map_err(wrong)?;
        varied.push(vary);
    }
    for text in &arguments.vary {
        let wrong = |problem: &str| Failure::usage(format!("--vary {text}: {problem}"));
        let key = varied.len() as u64;
        let vary = match random(arguments) {
            Some((points, design)) => Vary::draw(text, key, points, design),
            None => Vary::parse(text),
        };
        let vary = vary.map_err(|problem| wrong(&problem))?;
        check(arguments, &varied, &vary).map_err(wrong)?;
        varied.push(vary);
    }
    Ok(varied)
}

/// The keys of `--points` with their values.
fn read(path: &Path) -> Result<Vec<Vary>, Failure> {
    let wrong = |problem| Failure::new(format!("--points {}: {problem}", path.display()));
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    vary::points(file).map_err(wrong)
}

/// Checks a key beside those before it.
fn check(arguments: &Arguments, varied: &[Vary], vary: &Vary) -> Result<(), &'static str> {
    if varied.iter().any(|other| vary.replaces(other)) {
        return Err("this key is varied already");
    }
    if vary.key.ends_with(".algorithm") && !arguments.algorithms.is_empty() {
        return Err("use this key or -a, not both");
    }
    Ok(())
}

/// Number and choice of random points; none for all combinations.
fn random(arguments: &Arguments) -> Option<(usize, Design)> {
    let uniform = arguments
        .random
        .map(|points| (points as usize, Design::Uniform));
    let latin = arguments
        .latin
        .map(|points| (points as usize, Design::Latin));
    uniform.or(latin)
}

/// Number of points if each has a value of its own of every key, random or of a file; none for all combinations.
fn listed(arguments: &Arguments, varied: &[Vary]) -> Option<usize> {
    match &arguments.points {
        Some(_) => varied.first().map(|vary| vary.values.len()),
        None => random(arguments).map(|(points, _)| points),
    }
}

/// Number of combinations, before they are multiplied by the algorithms.
fn combinations(arguments: &Arguments, varied: &[Vary]) -> Option<usize> {
    listed(arguments, varied).or_else(|| vary::combinations(varied))
}

/// Number of runs of the sweep.
pub fn runs(arguments: &Arguments, varied: &[Vary]) -> Result<usize, Failure> {
    let points = combinations(arguments, varied)
        .and_then(|n| n.checked_mul(arguments.algorithms.len().max(1)))
        .filter(|n| *n <= MOST_POINTS)
        .ok_or_else(|| {
            Failure::usage(format!(
                "at most {MOST_POINTS} combinations are possible: give wider steps, like `1..34/3`"
            ))
        })?;
    match points * arguments.seeds.len() {
        runs if runs > MOST_RUNS => Err(Failure::usage(format!(
            "{runs} runs: at most {MOST_RUNS} are possible; give fewer --seeds, or wider steps like `1..34/3`"
        ))),
        runs => Ok(runs),
    }
}

/// All points, for each combination its algorithms. Each is read from the file with its values, so that an error in any
/// point is found before the first run.
pub fn points(
    arguments: &Arguments,
    source: &Arc<Source>,
    varied: &[Vary],
    metrics: &[&'static Metric],
) -> Result<Vec<Point>, Failure> {
    let common = &arguments.common;
    let mut points = Vec::new();
    let fixed = rows_file::fixed(&common.set, varied).len();
    let combinations_in_table = combinations(arguments, varied).unwrap_or(0)
        * arguments.algorithms.len().max(1)
        <= MOST_IN_TABLE;
    for number in 0..combinations(arguments, varied).unwrap_or(0) {
        let chosen = match listed(arguments, varied) {
            Some(_) => vec![number; varied.len()],
            None => vary::combination(varied, number),
        };
        let set: Vec<String> = (varied.iter().zip(&chosen))
            .map(|(vary, value)| vary.set(*value))
            .collect();
        let option = match arguments.points {
            Some(_) => "--points",
            None => "--vary",
        };
        let scenario = load(source, common, &set, option)?;
        let mut add = |algorithm: Option<(String, Vec<usize>)>, scenario| {
            let name = algorithm.as_ref().map(|(name, _)| name.clone());
            let mut with = set.clone();
            with.extend(name.clone());
            let about = match &with[..] {
                [] => source.name.display().to_string(),
                with => format!("{} with {}", source.name.display(), with.join(", ")),
            };
            points.push(Point {
                about: about.into(),
                settings: [vec![0; fixed], chosen.clone()].concat(),
                chosen: chosen.clone(),
                algorithm: name,
                scenario: match points.len() < MOST_IN_TABLE {
                    true => PointScenario::Kept(scenario),
                    false => PointScenario::Read(Arc::new(Recipe {
                        source: source.clone(),
                        set: [&common.set[..], &set].concat(),
                        algorithm,
                    })),
                },
                runs: 0,
                groups: Groups::moments(match combinations_in_table {
                    true => metrics.to_vec(),
                    false => Vec::new(),
                }),
            });
        };
        if arguments.algorithms.is_empty() {
            add(None, Arc::new(scenario));
            continue;
        }
        let replaced = scenarios::connections(&scenario, &arguments.connections.names)?;
        for algorithm in &arguments.algorithms {
            let on = [arguments.on];
            let changed =
                scenarios::with_algorithm(source, common, &on, &scenario, &replaced, algorithm)?;
            add(Some((algorithm.clone(), replaced.clone())), changed);
        }
    }
    Ok(points)
}

/// The scenario with these values. The error of a value names their option.
fn load(
    source: &Source,
    common: &Common,
    set: &[String],
    option: &str,
) -> Result<Scenario, Failure> {
    let all: Vec<&String> = common.set.iter().chain(set).collect();
    source
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
                let range = match is_text && option == "--vary" {
                    true => "; a range is `1..34`",
                    false => "",
                };
                Failure::usage(format!("{option} {text}: {rest}{range}"))
            }
            _ => error.into(),
        })
}
