//! `lisa compare`: algorithms side by side, with the same seeds.

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::Arc;

use comfy_table::Attribute;
use scenario::metrics::{Group, Groups, METRICS, Metric};
use scenario::statistics::Mean;
use scenario::{Run, Scenario};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::arguments::Compare;
use super::backend::{Backend, Job, Trace};
use super::progress::{self, Progress};
use super::{choice, plot, tables};
use crate::output::{self, Failure};

/// The version of a line of JSON.
const SCHEMA: &str = "lisa.compare/1";

/// One algorithm: all its runs, and what the first seed's looked like.
pub struct Contender {
    pub algorithm: String,
    pub groups: Groups,
    /// With its rows where somebody wants to see them.
    pub first: Option<Run>,
}

/// Runs a scenario with several algorithms.
pub fn compare(arguments: Compare) -> Result<(), Failure> {
    let common = &arguments.common;
    let backend = Backend::new(common)?;
    let scenario = choice::load(common, &[])?;
    let chosen = choice::connections(&scenario, &arguments.connection)?;
    let scenarios = (arguments.algorithms.iter())
        .map(|algorithm| {
            let about = format!("{} with {algorithm}", common.file.display());
            let changed = choice::with_algorithm(common, &scenario, &chosen, algorithm)?;
            Ok((changed, about.into()))
        })
        .collect::<Result<Vec<(Arc<Scenario>, Arc<str>)>, Failure>>()?;
    let drawing = arguments.plot.as_deref().map(Drawing::open).transpose()?;
    let mut contenders: Vec<Contender> = (arguments.algorithms.iter())
        .map(|algorithm| Contender {
            algorithm: algorithm.clone(),
            groups: Groups::default(),
            first: None,
        })
        .collect();
    // Algorithms take turns, so that what befalls a host meanwhile befalls all alike.
    let jobs: Vec<Job> = (1..=u64::from(arguments.seeds))
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
        .collect();
    let (of, cancelled) = (jobs.len(), progress::cancelled()?);
    let progress = Progress::new(of);
    let count = contenders.len();
    let finished = backend.execute(jobs, &cancelled, &progress, |number, run| {
        let contender = &mut contenders[number % count];
        contender.groups.add(&run.outcome);
        contender.first.get_or_insert(run);
        Ok(())
    })?;
    drop(progress);
    progress::ended(finished, of, "")?;

    if let Some(drawing) = drawing {
        let name = &scenario.connections[chosen[0]].name;
        drawing.write(&plot::draw(&scenario.title, name, &contenders))?;
    }
    if arguments.json {
        let line = |contender| Line {
            scenario: &scenario.title,
            backend: backend.name(),
            contender,
            baseline: &contenders[0],
        };
        let line = |contender| serde_json::to_string(&line(contender)).expect("plain data");
        let lines: Vec<String> = contenders.iter().map(line).collect();
        return output::print(&(lines.join("\n") + "\n"));
    }
    let seeds = arguments.seeds as usize;
    let title = tables::title(&scenario.title, backend.name(), seeds, 1);
    output::print(&format!("{title}\n{}", text(&contenders)))
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

/// A table for each name of connections.
fn text(contenders: &[Contender]) -> String {
    let mut text = String::new();
    let (first, others) = contenders.split_first().expect("at least one algorithm");
    for base in &first.groups.groups {
        let mut heading = vec![first.algorithm.as_str()];
        heading.extend(others.iter().map(|other| other.algorithm.as_str()));
        heading.insert(0, &base.name);
        let mut table = tables::table(&heading, 1);
        for (number, metric) in METRICS.iter().enumerate() {
            let Some(mean) = base.mean(number) else {
                continue;
            };
            let decimals = metric.decimals;
            let mut cells = vec![tables::heading(metric), tables::mean(Some(mean), decimals)];
            for other in others {
                let group = other.groups.find(&base.name);
                let mean = tables::mean(group.and_then(|group| group.mean(number)), decimals);
                let difference = group.and_then(|group| group.difference(base, number));
                let difference = tables::difference(difference, base, number);
                cells.push(format!("{mean}\n{difference}"));
            }
            let mut row = tables::row(1, cells);
            row[0] = row[0].clone().add_attribute(Attribute::Bold);
            table.add_row(row);
        }
        text += &format!("\n{table}\n");
    }
    for contender in contenders {
        text += &tables::notes(&contender.groups, &format!(" with {}", contender.algorithm));
    }
    if !others.is_empty() {
        text += &tables::differences_to(&first.algorithm);
    }
    text
}

/// A line of JSON: an algorithm.
struct Line<'a> {
    scenario: &'a str,
    backend: &'a str,
    contender: &'a Contender,
    baseline: &'a Contender,
}

impl Serialize for Line<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let groups = &self.contender.groups;
        let connections: Vec<Connection<'_>> = (groups.groups.iter())
            .map(|group| Connection {
                group,
                base: self.baseline.groups.find(&group.name),
            })
            .collect();
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("schema", SCHEMA)?;
        map.serialize_entry("scenario", self.scenario)?;
        map.serialize_entry("backend", self.backend)?;
        map.serialize_entry("algorithm", &self.contender.algorithm)?;
        map.serialize_entry("baseline", &self.baseline.algorithm)?;
        map.serialize_entry("n", &groups.runs)?;
        map.serialize_entry("connections", &connections)?;
        map.end()
    }
}

/// In it: the connections of one name.
struct Connection<'a> {
    group: &'a Group,
    base: Option<&'a Group>,
}

impl Serialize for Connection<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Value {
            #[serde(flatten)]
            mean: Mean,
            difference: Option<Mean>,
        }
        let value = |(number, _): (usize, &Metric)| {
            let base = self.base.filter(|base| !std::ptr::eq(*base, self.group));
            self.group.mean(number).map(|mean| Value {
                mean,
                difference: base.and_then(|base| self.group.difference(base, number)),
            })
        };
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("name", &self.group.name)?;
        map.serialize_entry("count", &self.group.connections)?;
        for (metric, value) in METRICS.iter().zip(METRICS.iter().enumerate().map(value)) {
            map.serialize_entry(metric.key, &value)?;
        }
        map.end()
    }
}
