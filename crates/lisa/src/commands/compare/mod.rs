//! `lisa compare`: algorithms side by side, and backends side by side, with the same seeds.

mod arguments;
mod plot;
mod tables;

use std::sync::Arc;

use netsim::Span;
use scenario::export::rows::Identity;
use scenario::metrics;
use scenario::sample::Samples;
use scenario::study::comparison::{At, Comparison};
use scenario::study::contenders;
use scenario::study::warnings::Warnings;
use scenario::{Backend, Scenario, Source};

pub use self::arguments::Arguments;
use crate::figure::arguments as figure_arguments;
use crate::figure::drawing::Drawing;
use crate::figure::results::{self, Feed};
use crate::output::{self, Failure};
use crate::runs::execute::{Executor, Job, Trace};
use crate::runs::progress::{self, Progress};
use crate::runs::rows_file::{self, RowsFile};
use crate::runs::{files, metric_names, on};

/// Runs the scenario with each algorithm on each backend, and prints tables or JSON.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let metrics = metric_names::chosen(&arguments.metrics.names, metrics::summary())?;
    let interval = arguments.time.interval()?;
    let is_drawn = arguments.plot.is_some();
    figure_arguments::check(is_drawn, &arguments.page, Some(&arguments.time), None)?;
    let executors = Executor::each(common, &arguments.on)?;
    let source = Source::read(&common.file)?;
    let scenario = source.scenario(&common.set)?;
    let chosen = contenders::connections(&scenario, &arguments.connections.names)?;
    let contenders = contenders(&arguments, &source, &scenario, &chosen)?;
    let sample = rows_file::sample(&arguments.rows, false, &arguments.on)?;
    let mut rows = RowsFile::open(common, &arguments.rows, &arguments.metrics.names, &metrics)?;
    let settings = rows_file::fixed(&common.set, &[]);
    let fixed = vec![0; settings.len()];
    let mut feeds: Vec<Feed> = match is_drawn {
        true => metrics
            .iter()
            .filter_map(|metric| Feed::new(&settings, metric))
            .collect(),
        false => Vec::new(),
    };
    if let Some(plot) = &arguments.plot {
        files::check("--plot", plot, common.force)?;
    }
    let drawing = arguments.plot.as_deref();
    let drawing = drawing
        .map(|path| Drawing::open("--plot", path))
        .transpose()?;
    let backends: Vec<Backend> = arguments.on.iter().copied().map(Backend::from).collect();
    let mut comparison =
        Comparison::new(&scenario.title, &arguments.algorithms, &backends, metrics);
    let seeds = arguments.seeds.len();
    let (each, cancelled) = (seeds * contenders.len(), progress::cancelled()?);
    let of = each * executors.len();
    let progress = Progress::new(of);
    let mut warnings = Warnings::default();
    let mut finished = 0;
    for (backend, executor) in executors.iter().enumerate() {
        progress.next_part(finished);
        let job = jobs(&arguments, contenders.clone(), sample);
        finished += executor.execute(each, job, &cancelled, &progress, |job, mut run| {
            let algorithm = job % contenders.len();
            warnings.add_run(&run.outcome);
            let identity = Identity {
                settings: &fixed,
                algorithm: Some(&arguments.algorithms[algorithm]),
            };
            if let Some(rows) = &mut rows {
                rows.add(identity, &run.outcome, &run.samples)?;
            }
            run.samples = Samples::default();
            for feed in &mut feeds {
                feed.add(identity, &run.outcome);
            }
            comparison.add(At { algorithm, backend }, run);
            Ok(())
        })?;
        if finished < each * (backend + 1) {
            break;
        }
    }
    drop(progress);
    warnings.add_seeds(
        &comparison.equality[0],
        contenders.len(),
        seeds,
        || match arguments.on[..] {
            [on::On::Sim] => scenario.warning_of_seeds(),
            _ => Ok(None),
        },
    )?;
    for equality in &comparison.equality {
        warnings.add(equality.equal_algorithms(&arguments.algorithms, seeds));
    }
    let kept = match rows {
        Some(rows) => {
            let kernel = executors.iter().find_map(Executor::release);
            let mut properties = rows_file::properties(&source, &arguments.on, kernel);
            properties.extend(warnings.property());
            rows.finish(&properties)?;
            rows_file::kept(&arguments.rows)
        }
        None => String::new(),
    };
    progress::ended(finished, of, &kept)?;
    output::warn(&warnings);

    if let Some(drawing) = drawing {
        let data: Vec<_> = feeds.into_iter().map(Feed::finish).collect();
        let page = plot::Page {
            settings: results::settings::of(&settings),
            interval,
            size: arguments.page.size,
        };
        let svg = plot::draw(&scenario, &comparison, &data, &page);
        drawing.write(&svg.map_err(|problem| Failure::new(format!("--plot: {problem}")))?)?;
    }
    if arguments.json {
        return output::print(&comparison.json(&warnings));
    }
    let title = on::title(&scenario.title, &arguments.on, seeds, arguments.seeds.0[0]);
    output::print(&format!("{title}\n{}", tables::text(&comparison)))
}

/// The scenario with one of the algorithms.
struct Contender {
    scenario: Arc<Scenario>,
    /// File and algorithm, for errors.
    about: Arc<str>,
}

/// A contender for each algorithm.
fn contenders(
    arguments: &Arguments,
    source: &Source,
    scenario: &Scenario,
    chosen: &[usize],
) -> Result<Arc<[Contender]>, Failure> {
    contenders::check_distinct(&arguments.algorithms)?;
    let common = &arguments.common;
    let contender = |algorithm: &String| {
        let about = format!("{} with {algorithm}", source.name.display());
        Ok(Contender {
            scenario: contenders::with_algorithm(
                source,
                &common.set,
                arguments.on.contains(&on::On::Sim),
                scenario,
                chosen,
                algorithm,
            )?,
            about: about.into(),
        })
    };
    arguments.algorithms.iter().map(contender).collect()
}

/// The runs of all contenders. Contenders take turns, so that other load on the host affects all of them alike.
fn jobs(
    arguments: &Arguments,
    contenders: Arc<[Contender]>,
    sample: Option<Span>,
) -> impl Fn(usize) -> Result<Job, Failure> + Send + Sync + use<> {
    let (drawn, seeds) = (arguments.plot.is_some(), arguments.seeds.0.clone());
    move |number| {
        let contender = &contenders[number % contenders.len()];
        Ok(Job {
            scenario: contender.scenario.clone(),
            about: contender.about.clone(),
            seed: seeds[number / contenders.len()],
            trace: match drawn && number < contenders.len() {
                true => Trace::Keep,
                false => Trace::None,
            },
            sample,
        })
    }
}
