//! `lisa sweep`: a grid of values, a row for each connection, subflow or link of each run.

mod arguments;
mod plot;
mod points;
mod results;
mod rows;
mod table;

use std::fmt::Write as _;
use std::sync::Arc;

use netsim::Span;
use scenario::Source;
use scenario::export::{journal, rows as table_rows};
use scenario::metrics;
use scenario::study::shard::{Numbers, Shard};
use scenario::study::sweep::{MOST_IN_TABLE, Point, PointScenario, Sweep};
use scenario::units;
use scenario::vary::Vary;

pub use self::arguments::Arguments;
use self::plot::Figure;
use self::results::{Existing, Output, Results, Settings};
use crate::output::{self, Failure};
use crate::runs::execute::{Executor, Job, Trace};
use crate::runs::on::On;
use crate::runs::progress::{self, Progress};
use crate::runs::{metric_names, on, rows_file};

/// Runs all combinations, prints a table or rows, and writes rows.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    if arguments.vary.is_empty() && arguments.points.is_none() && arguments.algorithms.is_empty() {
        return Err(Failure::usage(
            "nothing varies: give --vary KEY=VALUES, like topology.queue.packets=1..34, or -a LIST, like lia,lisa; see `lisa sweep --help`",
        ));
    }
    let metrics = metric_names::chosen(&arguments.metrics.names, metrics::standard())?;
    let mut figure = Figure::new(&arguments, &metrics)?;
    let executor = Executor::new(&arguments.common, arguments.on)?;
    let design = points::design(&arguments)?;
    let varied = design.varied.clone();
    let runs = design.runs(arguments.seeds.len())?;
    let columns = match arguments.json || arguments.rows.output.is_some() {
        true => Some(columns(&arguments, &varied, &metrics)?),
        false => None,
    };
    let sample = rows_file::sample(&arguments.rows, false, &[arguments.on])?;
    let format = rows_file::check(&arguments.rows, arguments.json)?;
    let source = Arc::new(Source::read(&arguments.common.file)?);
    let sweep = Sweep {
        source: source.clone(),
        set: arguments.common.set.clone(),
        design,
        connections: arguments.connections.names.clone(),
        simulated: arguments.on == On::Sim,
    };
    let mut points: Vec<Point> = sweep.points(&metrics)?;
    let shard = arguments.shard.unwrap_or(Shard::ALL);
    let numbers = Numbers { shard, runs };
    figure.open(&arguments, &varied)?;
    let output = match (&arguments.rows.output, format, &columns) {
        (Some(path), Some(format), Some(columns)) => {
            let identity = identity(&arguments, &source, &points, columns, sample);
            let existing = Existing {
                resume: arguments.resume,
                force: arguments.common.force,
            };
            let runs = (&identity, runs);
            Some(Output::open(path, format, columns.clone(), runs, existing)?)
        }
        _ => None,
    };
    if points.len() > MOST_IN_TABLE && !arguments.json && output.is_none() {
        return Err(Failure::usage(format!(
            "{} points are too many for a table: write the rows with `-o rows.parquet`, or print them with --json",
            points.len()
        )));
    }
    let missing: Arc<[u32]> = missing(numbers, output.as_ref());
    let job = jobs(
        &arguments,
        &points,
        missing.clone(),
        output.as_ref(),
        sample,
    );
    let cancelled = progress::cancelled()?;
    let progress = Progress::new(numbers.len());
    progress.next_part(numbers.len() - missing.len());
    // Without rows the columns are those of an empty table.
    let columns = columns.unwrap_or_else(|| table_rows::Columns::new(Default::default(), &[], &[]));
    let mut results = Results::new(
        &mut points,
        &columns,
        Settings {
            algorithms: &arguments.algorithms,
            seeds: arguments.seeds.len(),
            on: arguments.on,
            json: arguments.json,
        },
        output,
        numbers,
        &mut figure,
    );
    let executed = executor.execute(missing.len(), job, &cancelled, &progress, |job, run| {
        progress.suspend(|| results.add(missing[job] as usize, run))
    });
    let elapsed = progress.elapsed();
    drop(progress);
    // Also after an error: the rows of the finished runs are kept.
    let on = [arguments.on];
    let properties = rows_file::properties(&source, &on, executor.release());
    let finished = results.finish(properties)?;
    executed?;
    if finished == numbers.len() {
        figure.write(&points[0].scenario.get()?.title)?;
    }
    if !arguments.json {
        let title = &points[0].scenario.get()?.title;
        let most = points.iter().map(|point| point.runs).max();
        let on = on::runs_on(&on, most.unwrap_or(1).max(1), arguments.seeds.0[0]);
        let table = match points.len() {
            ..=MOST_IN_TABLE => {
                table::table(&varied, &metrics, &points, arguments.algorithms.len())
            }
            many => format!("{many} points: too many for a table, the rows have all\n"),
        };
        let seconds = elapsed.as_secs_f64();
        output::print(&format!(
            "{title}\n{on}\n{table}{finished} runs in {seconds:.1} s\n"
        ))?;
    }
    let kept = Results::kept(arguments.rows.output.as_deref());
    progress::ended(finished, numbers.len(), &kept)
}

fn columns(
    arguments: &Arguments,
    varied: &[Vary],
    metrics: &[&'static scenario::metrics::Metric],
) -> Result<table_rows::Columns, Failure> {
    let names = &arguments.metrics.names;
    let kind = arguments.rows.rows.unwrap_or_default();
    rows_file::columns(&arguments.common, kind, varied, names, metrics)
}

/// The numbers of the runs that the journal does not have. There are at most a million runs, which fits into 32 bits.
fn missing(numbers: Numbers, output: Option<&Output>) -> Arc<[u32]> {
    let journal = output.map(|output| output.journal().lock().expect("no thread runs yet"));
    let has = |number: usize| journal.as_ref().is_some_and(|journal| journal.has(number));
    let missing = numbers.all().filter(|number| !has(*number));
    missing.map(|number| number as u32).collect()
}

/// The jobs of the runs with these numbers. Each is made when its run begins.
fn jobs(
    arguments: &Arguments,
    points: &[Point],
    missing: Arc<[u32]>,
    output: Option<&Output>,
    sample: Option<Span>,
) -> impl Fn(usize) -> Result<Job, Failure> + Send + Sync + use<> {
    let seeds = arguments.seeds.0.clone();
    let journal = output.map(|output| output.journal().clone());
    let points: Vec<(PointScenario, Arc<str>)> = (points.iter())
        .map(|point| (point.scenario.clone(), point.about.clone()))
        .collect();
    move |job| {
        let number = missing[job] as usize;
        let (scenario, about) = &points[number % points.len()];
        Ok(Job {
            scenario: scenario.get()?,
            about: about.clone(),
            seed: seeds[number / points.len()],
            trace: match &journal {
                Some(journal) => Trace::Journal(journal.clone(), number),
                None => Trace::None,
            },
            sample,
        })
    }
}

/// All that decides the runs and rows of the sweep.
fn identity(
    arguments: &Arguments,
    source: &Source,
    points: &[Point],
    columns: &table_rows::Columns,
    sample: Option<Span>,
) -> journal::Identity {
    let list = |items: &[String]| items.join(" ");
    let kernel = match arguments.on {
        On::Sim => String::new(),
        On::Host => kernel::requirements::release(),
        On::Vm => {
            let kernel = arguments.common.kernel.as_ref();
            kernel.map_or("default".into(), |path| path.display().to_string())
        }
    };
    let abouts: Vec<&str> = points.iter().map(|point| &*point.about).collect();
    let names: Vec<&str> = columns.all().iter().map(|c| c.name.as_str()).collect();
    let mut seeds = String::new();
    for seed in &*arguments.seeds.0 {
        let _ = write!(seeds, "{seed},");
    }
    let mut identity = journal::Identity::default();
    identity.add("schema", scenario::outcome::SCHEMA);
    identity.add("version", env!("CARGO_PKG_VERSION"));
    identity.add("backend", arguments.on.name());
    identity.add("kernel", kernel);
    identity.add("scenario", &*source.text);
    identity.add("--set", list(&arguments.common.set));
    identity.add("--vary", list(&arguments.vary));
    identity.add("--algorithms", arguments.algorithms.join(","));
    identity.add("--connection", list(&arguments.connections.names));
    identity.add("points", abouts.join("\n"));
    identity.add("--seeds", seeds);
    identity.add("--shard", arguments.shard.unwrap_or(Shard::ALL).to_string());
    identity.add("columns", names.join(","));
    let sample = sample.map_or(String::new(), units::show_time);
    identity.add("--sample", sample);
    identity
}
