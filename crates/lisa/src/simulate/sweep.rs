//! `lisa sweep`: a grid of values, a row a run.

use std::sync::Arc;

use scenario::metrics::{Groups, Metric, Part, Samples};
use scenario::vary::{self, Vary};
use scenario::{Error, Location, Scenario};

use super::arguments::{Common, On, Sweep};
use super::backend::{Backend, Job, Trace};
use super::progress::{self, Progress};
use super::rows::Rows;
use super::{choice, metrics, tables};
use crate::output::{self, Failure};

/// The most runs of a sweep, and the most scenarios in it.
const MOST: usize = 1_000_000;
const MOST_SCENARIOS: usize = 100_000;

/// A combination of values, and an algorithm if these are compared.
pub struct Point {
    /// The number of each key's value.
    pub chosen: Vec<usize>,
    pub algorithm: Option<String>,
    pub scenario: Arc<Scenario>,
    about: Arc<str>,
    /// What its runs came to.
    groups: Groups,
}

/// Runs all combinations.
pub fn sweep(arguments: Sweep) -> Result<(), Failure> {
    let common = &arguments.common;
    let metrics = metrics::chosen(&arguments.metrics)?;
    let backend = Backend::new(common, arguments.on)?;
    let varied = varied(&arguments)?;
    let seeds = arguments.seeds as usize;
    let runs = runs(&arguments, &varied)?;
    let mut points = points(&arguments, &varied, &metrics)?;
    let job = |number: usize| Job {
        scenario: points[number / seeds].scenario.clone(),
        about: points[number / seeds].about.clone(),
        seed: (number % seeds) as u64 + 1,
        trace: Trace::None,
    };
    let jobs: Vec<Job> = (0..runs).map(job).collect();
    let output = arguments.output.as_deref();
    let mut rows = Rows::open(&varied, &metrics, &points, output, arguments.json)?;
    let cancelled = progress::cancelled()?;
    let progress = Progress::new(runs);
    let finished = backend.execute(jobs, &cancelled, &progress, |number, run| {
        let point = &mut points[number / seeds];
        if !arguments.json {
            point.groups.add(&run.outcome);
        }
        progress.suspend(|| rows.add(point, &run.outcome))
    });
    let elapsed = progress.elapsed();
    drop(progress);
    // Also after a failure: what is finished is worth keeping.
    rows.finish()?;
    let finished = finished?;
    if !arguments.json {
        let title = &points[0].scenario.title;
        let mut text = format!("{title}\n{}\n", heading(arguments.on, finished, seeds));
        text += &table(&varied, &metrics, &points, arguments.algorithms.len());
        text += &format!("{finished} runs in {:.1} s\n", elapsed.as_secs_f64());
        output::print(&text)?;
    }
    let kept = match &arguments.output {
        Some(path) => format!(", their rows are in {}", path.display()),
        None => String::new(),
    };
    progress::ended(finished, runs, &kept)
}

fn heading(on: On, finished: usize, seeds: usize) -> String {
    let title = tables::title("", &[on], seeds.min(finished.max(1)), 1);
    title.trim_start().into()
}

fn varied(arguments: &Sweep) -> Result<Vec<Vary>, Failure> {
    let mut varied: Vec<Vary> = Vec::new();
    for text in &arguments.vary {
        let wrong = |problem: &str| Failure::usage(format!("--vary {text}: {problem}"));
        let vary = Vary::parse(text).map_err(|problem| wrong(&problem))?;
        if varied.iter().any(|other| vary.replaces(other)) {
            return Err(wrong("this key is varied already"));
        }
        let algorithm = vary.key.ends_with(".algorithm");
        if algorithm && !arguments.algorithms.is_empty() {
            return Err(wrong("-a would replace it: give one of them"));
        }
        varied.push(vary);
    }
    Ok(varied)
}

/// How many runs there will be.
fn runs(arguments: &Sweep, varied: &[Vary]) -> Result<usize, Failure> {
    let scenarios = (vary::combinations(varied))
        .and_then(|n| n.checked_mul(arguments.algorithms.len().max(1)))
        .filter(|n| *n <= MOST_SCENARIOS)
        .ok_or_else(|| {
            Failure::usage(format!(
                "at most {MOST_SCENARIOS} combinations are possible: give wider steps, like `1..34/3`"
            ))
        })?;
    match scenarios * arguments.seeds as usize {
        runs if runs > MOST => Err(Failure::usage(format!(
            "{runs} runs: at most {MOST} are possible; give fewer --seeds, or wider steps like `1..34/3`"
        ))),
        runs => Ok(runs),
    }
}

/// All combinations, each read from the file with its values: what is wrong with any is known before the first runs.
fn points(
    arguments: &Sweep,
    varied: &[Vary],
    metrics: &[&'static Metric],
) -> Result<Vec<Point>, Failure> {
    let common = &arguments.common;
    let mut points = Vec::new();
    for number in 0..vary::combinations(varied).unwrap_or(0) {
        let chosen = vary::combination(varied, number);
        let set: Vec<String> = (varied.iter().zip(&chosen))
            .map(|(vary, value)| vary.set(*value))
            .collect();
        let scenario = load(common, &set)?;
        let mut add = |algorithm: Option<String>, scenario| {
            let mut with = set.clone();
            with.extend(algorithm.clone());
            let about = format!("{} with {}", common.file.display(), with.join(", "));
            points.push(Point {
                about: about.into(),
                chosen: chosen.clone(),
                algorithm,
                scenario,
                groups: Groups::new(metrics.to_vec()),
            });
        };
        if arguments.algorithms.is_empty() {
            add(None, Arc::new(scenario));
            continue;
        }
        let whose = choice::connections(&scenario, &arguments.connection)?;
        for algorithm in &arguments.algorithms {
            let changed =
                choice::with_algorithm(common, &[arguments.on], &scenario, &whose, algorithm)?;
            add(Some(algorithm.clone()), changed);
        }
    }
    Ok(points)
}

/// A value that is wrong was given with `--vary`, and the error says so.
fn load(common: &Common, set: &[String]) -> Result<Scenario, Failure> {
    let all: Vec<&String> = common.set.iter().chain(set).collect();
    Scenario::load_with(&common.file, &all).map_err(|error| match &error.location {
        Location::Override(text) if set.contains(text) => {
            let text = text.clone();
            let rest = Error {
                location: Location::File,
                file: String::new(),
                ..error
            };
            Failure::usage(format!("--vary {text}: {rest}"))
        }
        _ => error.into(),
    })
}

/// The parts of a point that have values, a row of the table each, with their names.
fn parts(groups: &Groups) -> Vec<(String, Part<'_>, &Samples)> {
    let connections = groups.groups.iter().flat_map(|group| {
        let name = group.name.as_str();
        let subflows = group.subflows.keys().map(move |&number| {
            let title = format!("{name}, subflow {}", number + 1);
            (title, Part::Subflow(name, number))
        });
        [(name.into(), Part::Connection(name))]
            .into_iter()
            .chain(subflows)
    });
    let links = groups.links.iter();
    let links = links.map(|(name, _)| (name.clone(), Part::Link(name)));
    let has = |samples: &&Samples| (0..groups.metrics.len()).any(|m| samples.mean(m).is_some());
    connections
        .chain(links)
        .chain([("all connections".into(), Part::Run)])
        .filter_map(|(name, part)| Some((name, part, groups.samples(part).filter(has)?)))
        .collect()
}

/// A row for each point and each part. Where algorithms are compared, a point
/// stands with `algorithms - 1` others of the same values, and the first of these is the baseline.
fn table(
    varied: &[Vary],
    metrics: &[&'static Metric],
    points: &[Point],
    algorithms: usize,
) -> String {
    let all: Vec<_> = points.iter().map(|point| parts(&point.groups)).collect();
    let several = all.iter().any(|parts| parts.len() > 1);
    let compared = points.iter().any(|point| point.algorithm.is_some());
    let has = |metric: usize| {
        let mut samples = all.iter().flatten().map(|(_, _, samples)| samples);
        samples.any(|samples| samples.mean(metric).is_some())
    };
    let metrics: Vec<(usize, &Metric)> = (metrics.iter().copied().enumerate())
        .filter(|(metric, _)| has(*metric))
        .collect();
    let columns: Vec<String> = metrics.iter().map(|(_, m)| tables::column(m)).collect();
    let mut heading: Vec<&str> = varied.iter().map(|vary| vary.key.as_str()).collect();
    heading.extend(compared.then_some("algorithm"));
    heading.extend(several.then_some("connection"));
    let texts = heading.len();
    heading.extend(columns.iter().map(String::as_str));
    let mut table = tables::table(&heading, texts);
    let mut notes = String::new();
    for (number, (point, parts)) in points.iter().zip(&all).enumerate() {
        let baseline = &points[number - number % algorithms.max(1)];
        let baseline = Some(baseline).filter(|first| !std::ptr::eq(*first, point));
        let mut about: Vec<String> = (varied.iter().zip(&point.chosen))
            .map(|(vary, value)| vary.values[*value].clone())
            .collect();
        about.extend(point.algorithm.clone());
        notes += &tables::notes(&point.groups, &format!(" with {}", about.join(", ")));
        for &(ref name, part, samples) in parts {
            let mut cells = about.clone();
            cells.extend(several.then(|| name.clone()));
            let base = baseline.and_then(|first| first.groups.samples(part));
            cells.extend(metrics.iter().map(|&(number, metric)| {
                if !metric.is_of(part) {
                    return String::new();
                }
                let mean = tables::mean(samples.mean(number), metric.decimals);
                let Some(base) = base else {
                    return mean;
                };
                let difference = samples.difference(base, number);
                let difference = tables::difference(difference, base.mean(number), metric.decimals);
                format!("{mean}\n{difference}")
            }));
            table.add_row(tables::row(texts, cells));
        }
    }
    if algorithms > 1 {
        let first = points[0].algorithm.as_deref();
        notes += &tables::differences_to(first.expect("algorithms are compared"));
    }
    format!("{table}\n{notes}")
}
