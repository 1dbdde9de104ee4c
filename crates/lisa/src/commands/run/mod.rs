//! `lisa run`: a scenario with one seed or several.

mod arguments;
mod plot;
mod speed;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use scenario::export::columns::Format;
use scenario::export::{self, rows::Identity};
use scenario::metrics::{self, Groups};
use scenario::study::equality;
use scenario::study::warnings::Warnings;
use scenario::{Outcome, Source};

pub use self::arguments::Arguments;
pub use self::plot::{MOST as MOST_PANELS, svg as windows_svg};
use self::speed::Speed;
use crate::figure::arguments as figure_arguments;
use crate::figure::drawing::Drawing;
use crate::output::{self, Failure};
use crate::runs::execute::{Executor, Job, Kept, Trace};
use crate::runs::progress::{self, Progress};
use crate::runs::rows_file::{self, RowsFile};
use crate::runs::traces::{TraceFiles, Traces};
use crate::runs::{files, on};
use crate::tables::{self, Links};

/// Runs the scenario, prints tables or outcomes, and writes traces.
pub fn run(arguments: Arguments) -> Result<(), Failure> {
    let common = &arguments.common;
    let interval = arguments.time.interval()?;
    let is_drawn = arguments.plot.is_some();
    figure_arguments::check(is_drawn, &arguments.page, Some(&arguments.time), None)?;
    let executor = Executor::new(common, arguments.on)?;
    let source = Source::read(&common.file)?;
    let scenario = Arc::new(source.scenario(&common.set)?);
    plot::check(&arguments, &scenario)?;
    let seeds: Arc<[u64]> = match &arguments.seeds {
        Some(seeds) => seeds.0.clone(),
        None => [arguments.seed].into(),
    };
    let mut rows = RowsFile::open(common, &arguments.rows, &[], &[])?;
    let fixed = rows_file::fixed(&common.set, &[]);
    let identity = Identity {
        settings: &vec![0; fixed.len()],
        algorithm: None,
    };
    let traced = arguments.trace.is_some();
    let sample = rows_file::sample(&arguments.rows, traced, &[arguments.on])?;
    let traces = traces(&arguments, &scenario.title, &seeds)?;
    if let Some(path) = &arguments.plot {
        files::check("--plot", path, common.force)?;
    }
    let drawing = arguments.plot.as_deref();
    let drawing = drawing
        .map(|path| Drawing::open("--plot", path))
        .transpose()?;
    let about: Arc<str> = source.name.display().to_string().into();
    let job = {
        let (seeds, scenario, traces) = (seeds.clone(), scenario.clone(), traces.clone());
        move |number: usize| {
            Ok(Job {
                scenario: scenario.clone(),
                about: about.clone(),
                seed: seeds[number],
                trace: match (&traces, is_drawn && number == 0) {
                    (Some(traces), kept) => Trace::Write(traces.clone(), Kept(kept)),
                    (None, true) => Trace::Keep,
                    (None, false) => Trace::None,
                },
                sample,
            })
        }
    };
    let cancelled = progress::cancelled()?;
    let progress = Progress::new(seeds.len());
    let mut results = Results::new();
    let mut warnings = Warnings::default();
    let mut equality = equality::Results::new(1);
    let mut drawn = None;
    let finished = executor.execute(seeds.len(), job, &cancelled, &progress, |job, run| {
        if is_drawn && job == 0 {
            drawn = Some(plot::draw(&arguments, &scenario, interval, &run));
        }
        warnings.add_run(&run.outcome);
        equality.add(0, &run.outcome);
        if let Some(rows) = &mut rows {
            rows.add(identity, &run.outcome, &run.samples)?;
        }
        if arguments.json {
            let line = run.outcome.json(arguments.timing) + "\n";
            return progress.suspend(|| output::print(&line));
        }
        results.add(run.outcome);
        Ok(())
    });
    if let Some(traces) = &traces {
        traces.close();
    }
    let finished = finished?;
    let elapsed = progress.elapsed();
    drop(progress);
    if finished == seeds.len() {
        warnings.add_seeds(&equality, 1, seeds.len(), || match arguments.on {
            on::On::Sim => scenario.warning_of_seeds(),
            _ => Ok(None),
        })?;
        output::warn(&warnings);
    }
    if let (Some(drawing), Some(drawn)) = (drawing, drawn) {
        drawing.write(&drawn?)?;
    }
    if !arguments.json && finished > 0 {
        let title = on::title(&scenario.title, &[arguments.on], finished, seeds[0]);
        let tables = results.tables(seeds.len() == 1);
        let speed = results.speed.line(elapsed.as_secs_f64());
        output::print(&format!("{title}\n{tables}{speed}"))?;
    }
    let kept = match rows {
        Some(rows) => {
            let on = [arguments.on];
            let mut properties = rows_file::properties(&source, &on, executor.release());
            properties.extend(warnings.property());
            rows.finish(&properties)?;
            rows_file::kept(&arguments.rows)
        }
        None => String::new(),
    };
    progress::ended(finished, seeds.len(), &kept)
}

/// The destination of traces and captures, whose directories are created.
fn traces(
    arguments: &Arguments,
    title: &str,
    seeds: &[u64],
) -> Result<Option<Arc<Traces>>, Failure> {
    let create = |option: &str, directory: &Path| {
        fs::create_dir_all(directory)
            .map_err(|error| Failure::new(format!("{option} {}: {error}", directory.display())))
    };
    if let Some(directory) = &arguments.trace {
        create("--trace", directory)?;
    }
    if let Some(directory) = &arguments.pcap {
        create("--pcap", directory)?;
    }
    if arguments.trace.is_none() && arguments.pcap.is_none() {
        return Ok(None);
    }
    let settings = arguments.common.set.join(" ");
    let stem = export::stem(title, &settings);
    let format: Format = arguments.trace_format.into();
    let check = |option: &str, directory: &Option<PathBuf>, extension: &str| {
        let files = seeds
            .iter()
            .map(|seed| export::file_name(&stem, *seed, extension));
        let mut files = files.zip(std::iter::repeat(directory.as_ref()));
        files.try_for_each(|(name, directory)| match directory {
            Some(directory) => files::check(option, &directory.join(name), arguments.common.force),
            None => Ok(()),
        })
    };
    check("--trace", &arguments.trace, format.extension())?;
    check("--trace", &arguments.trace, "credits.jsonl")?;
    if arguments.rows.sample.is_some() {
        for end in export::SAMPLES {
            let extension = format!("{end}.{}", format.extension());
            check("--sample", &arguments.trace, &extension)?;
        }
    }
    check("--pcap", &arguments.pcap, "pcap")?;
    let files = |directory: PathBuf| TraceFiles {
        directory,
        format,
        samples: arguments.rows.sample.is_some(),
    };
    let trace = arguments.trace.clone().map(files);
    let pcap = arguments.pcap.clone();
    Ok(Some(Arc::new(Traces::new(stem, trace, pcap))))
}

/// The results of the runs, for tables.
struct Results {
    groups: Groups,
    links: Links,
    speed: Speed,
    last: Option<Outcome>,
}

impl Results {
    fn new() -> Self {
        Self {
            groups: Groups::moments(metrics::summary().collect()),
            links: Links::default(),
            speed: Speed::default(),
            last: None,
        }
    }

    fn add(&mut self, outcome: Outcome) {
        self.groups.add(&outcome);
        self.links.add(&outcome);
        self.speed.add(&outcome);
        self.last = Some(outcome);
    }

    /// The tables of a single run, or of the means of several.
    fn tables(&self, single: bool) -> String {
        let connections = match &self.last {
            Some(outcome) if single => tables::outcome(outcome),
            _ => tables::groups(&self.groups),
        };
        connections + &self.links.table()
    }
}
