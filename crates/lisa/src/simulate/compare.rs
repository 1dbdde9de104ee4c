//! `lisa compare`: algorithms side by side and backends against each other, with the same seeds.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use scenario::metrics::{Groups, Metric, Part, Samples};
use scenario::statistics::Mean;
use scenario::{Run, Scenario};

use super::arguments::{Compare, On};
use super::backend::{Backend, Job, Trace};
use super::progress::{self, Progress};
use super::{choice, compared, metrics, plot, tables};
use crate::output::{self, Failure};

/// All that is compared.
pub struct Comparison {
    /// The scenario's title.
    pub title: String,
    pub algorithms: Vec<String>,
    pub backends: Vec<On>,
    /// What is compared, in the order of tables.
    pub metrics: Vec<&'static Metric>,
    /// Of each algorithm one for each backend.
    contenders: Vec<Contender>,
}

/// One algorithm on one backend: all its runs, and what the first seed's looked like.
pub struct Contender {
    pub groups: Groups,
    /// With its rows where somebody wants to see them.
    pub first: Option<Run>,
}

impl Comparison {
    fn new(
        title: &str,
        algorithms: &[String],
        backends: &[On],
        metrics: Vec<&'static Metric>,
    ) -> Self {
        let contender = |_| Contender {
            groups: Groups::new(metrics.clone()),
            first: None,
        };
        let contenders = (0..algorithms.len() * backends.len())
            .map(contender)
            .collect();
        Self {
            title: title.into(),
            algorithms: algorithms.into(),
            backends: backends.into(),
            metrics,
            contenders,
        }
    }

    fn at(&self, algorithm: usize, backend: usize) -> usize {
        algorithm * self.backends.len() + backend
    }

    /// By the numbers of both.
    pub fn of(&self, algorithm: usize, backend: usize) -> &Contender {
        &self.contenders[self.at(algorithm, backend)]
    }

    /// All, with these numbers: an algorithm's one after another.
    pub fn each(&self) -> impl Iterator<Item = ((usize, usize), &Contender)> {
        let backends = self.backends.len();
        let all = self.contenders.iter().enumerate();
        all.map(move |(number, contender)| ((number / backends, number % backends), contender))
    }

    /// What it has of a part more than the first algorithm, on the same backend.
    pub fn to_algorithm(
        &self,
        (algorithm, backend): (usize, usize),
        part: Part<'_>,
        metric: usize,
    ) -> Option<Mean> {
        let base = self.of(0, backend).groups.samples(part)?;
        let samples = self.of(algorithm, backend).groups.samples(part)?;
        difference(samples, base, metric)
    }

    /// What it has of a part more than on the first backend, with the same algorithm.
    pub fn to_backend(
        &self,
        (algorithm, backend): (usize, usize),
        part: Part<'_>,
        metric: usize,
    ) -> Option<Mean> {
        let base = self.of(algorithm, 0).groups.samples(part)?;
        let samples = self.of(algorithm, backend).groups.samples(part)?;
        difference(samples, base, metric)
    }
}

/// None to itself.
fn difference(samples: &Samples, base: &Samples, metric: usize) -> Option<Mean> {
    match std::ptr::eq(samples, base) {
        true => None,
        false => samples.difference(base, metric),
    }
}

/// Runs a scenario with several algorithms, on one backend or several.
pub fn compare(arguments: Compare) -> Result<(), Failure> {
    let common = &arguments.common;
    let metrics = metrics::chosen(&arguments.metrics)?;
    let backends = Backend::all(common, &arguments.on)?;
    let scenario = choice::load(common, &[])?;
    let chosen = choice::connections(&scenario, &arguments.connection)?;
    let scenarios = (arguments.algorithms.iter())
        .map(|algorithm| {
            let about = format!("{} with {algorithm}", common.file.display());
            let changed =
                choice::with_algorithm(common, &arguments.on, &scenario, &chosen, algorithm)?;
            Ok((changed, about.into()))
        })
        .collect::<Result<Vec<(Arc<Scenario>, Arc<str>)>, Failure>>()?;
    let drawing = arguments.plot.as_deref().map(Drawing::open).transpose()?;
    // Algorithms take turns, so that what befalls a host meanwhile befalls all alike.
    let jobs = || -> Vec<Job> {
        (1..=u64::from(arguments.seeds))
            .flat_map(|seed| scenarios.iter().map(move |scenario| (seed, scenario)))
            .map(|(seed, (scenario, about))| Job {
                scenario: scenario.clone(),
                about: about.clone(),
                seed,
                trace: match (&arguments.plot, seed) {
                    (Some(_), 1) => Trace::Keep,
                    _ => Trace::None,
                },
            })
            .collect()
    };
    let mut comparison = Comparison::new(
        &scenario.title,
        &arguments.algorithms,
        &arguments.on,
        metrics,
    );
    let seeds = arguments.seeds as usize;
    let (each, cancelled) = (seeds * scenarios.len(), progress::cancelled()?);
    let of = each * backends.len();
    let progress = Progress::new(of);
    let mut finished = 0;
    for (number, backend) in backends.iter().enumerate() {
        progress.next_part(finished);
        finished += backend.execute(jobs(), &cancelled, &progress, |job, run| {
            let at = comparison.at(job % scenarios.len(), number);
            let contender = &mut comparison.contenders[at];
            contender.groups.add(&run.outcome);
            contender.first.get_or_insert(run);
            Ok(())
        })?;
        if finished < each * (number + 1) {
            break;
        }
    }
    drop(progress);
    progress::ended(finished, of, "")?;

    if let Some(drawing) = drawing {
        let name = &scenario.connections[chosen[0]].name;
        drawing.write(&plot::draw(name, &comparison))?;
    }
    if arguments.json {
        return output::print(&compared::json(&comparison));
    }
    let title = tables::title(&scenario.title, &arguments.on, seeds, 1);
    output::print(&format!("{title}\n{}", compared::text(&comparison)))
}

/// The file of a drawing. Where nothing is drawn there is none that was not there before.
struct Drawing<'a> {
    path: &'a Path,
    goes: bool,
}

impl<'a> Drawing<'a> {
    /// What cannot be written is better known before the work than after it.
    fn open(path: &'a Path) -> Result<Self, Failure> {
        let goes = !path.exists();
        let opened = File::options().create(true).append(true).open(path);
        opened.map_err(|error| Self::unwritable(path, &error))?;
        Ok(Self { path, goes })
    }

    fn write(mut self, svg: &str) -> Result<(), Failure> {
        fs::write(self.path, svg).map_err(|error| Self::unwritable(self.path, &error))?;
        self.goes = false;
        Ok(())
    }

    fn unwritable(path: &Path, error: &io::Error) -> Failure {
        Failure::new(format!("--plot {}: {error}", path.display()))
    }
}

impl Drop for Drawing<'_> {
    fn drop(&mut self) {
        if self.goes {
            let _ = fs::remove_file(self.path);
        }
    }
}
