//! Metrics over several runs.
//!
//! Connections of one name are equal, and their mean is the value of a run. One run is one observation, not one connection:
//! the connections of a run depend on each other.
//!
//! A comparison keeps the values of all runs ([`Groups::new`]). A sweep or a long series of seeds keeps moments
//! ([`Groups::moments`]), whose memory does not grow with the number of runs.

use std::collections::BTreeMap;

use super::{Goodputs, Metric, Value};
use crate::connection::Protocol;
use crate::outcome::{ConnectionOutcome, LinkOutcome, Outcome, SubflowOutcome};
use crate::statistics::{Mean, Moments, quantile};

/// Values of one part of the runs: a series for each metric of [`Groups`].
#[derive(Clone, Debug)]
pub struct Samples {
    series: Vec<Series>,
    /// Completion times of all connections of all runs, if a metric is a quantile of them.
    completions: Vec<f64>,
}

/// Memory of [`Groups`] for runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Values,
    Moments,
}

/// Values of a metric.
#[derive(Clone, Debug)]
enum Series {
    /// Value in each run. A missing value is NaN, and missing values after the last one are not stored.
    Runs(Vec<f64>),
    /// Moments of the values.
    Moments(Box<Paired>),
    /// This quantile of the completion times.
    Quantile(f64),
}

/// Moments of a metric, and of its difference to a baseline.
#[derive(Clone, Debug, Default)]
struct Paired {
    values: Moments,
    differences: Moments,
    /// Number and value of the last run.
    last: Option<(usize, f64)>,
}

impl Series {
    fn runs(&self) -> &[f64] {
        match self {
            Self::Runs(values) => values,
            Self::Moments(_) | Self::Quantile(_) => &[],
        }
    }
}

impl Samples {
    /// Samples without a value.
    fn new(metrics: &[&Metric], memory: Memory) -> Self {
        let series = metrics.iter().map(|metric| match (metric.value, memory) {
            (Value::Completion(quantile), _) => Series::Quantile(quantile),
            (_, Memory::Values) => Series::Runs(Vec::new()),
            (_, Memory::Moments) => Series::Moments(Box::default()),
        });
        Self {
            series: series.collect(),
            completions: Vec::new(),
        }
    }

    /// Mean of a metric over the runs with a value. A quantile has no interval, and `n` counts transfers.
    #[must_use]
    pub fn mean(&self, metric: usize) -> Option<Mean> {
        match &self.series[metric] {
            Series::Runs(_) => Mean::of(&self.present(metric)),
            Series::Moments(paired) => paired.values.mean(),
            Series::Quantile(p) => {
                let mut values = self.completions.clone();
                values.sort_by(f64::total_cmp);
                Some(Mean {
                    n: values.len(),
                    mean: quantile(&values, *p)?,
                    ci95: None,
                })
            }
        }
    }

    /// Values of a metric in the runs that have one.
    fn present(&self, metric: usize) -> Vec<f64> {
        let values = self.series[metric].runs().iter().copied();
        values.filter(|value| !value.is_nan()).collect()
    }

    /// Mean difference to `base`, run by run: runs with the same seed are paired. Moments have the difference to the baseline of
    /// [`Groups::add_paired`]. None of a quantile.
    #[must_use]
    pub fn difference(&self, base: &Samples, metric: usize) -> Option<Mean> {
        if let Series::Moments(paired) = &self.series[metric] {
            return paired.differences.mean();
        }
        let pairs = self.series[metric].runs().iter();
        let pairs = pairs.zip(base.series[metric].runs());
        let values = pairs.map(|(a, b)| a - b).filter(|value| !value.is_nan());
        Mean::of(&values.collect::<Vec<f64>>())
    }

    /// Sets the values of a run, which `base` may have, too.
    fn set(&mut self, run: usize, base: Option<&Samples>, value: impl Fn(usize) -> Option<f64>) {
        for (metric, series) in self.series.iter_mut().enumerate() {
            let value = match series {
                Series::Quantile(_) => continue,
                Series::Runs(_) | Series::Moments(_) => value(metric),
            };
            let Some(value) = value else {
                continue;
            };
            match series {
                Series::Quantile(_) => {}
                Series::Runs(values) => {
                    if values.len() <= run {
                        values.resize(run + 1, f64::NAN);
                    }
                    values[run] = value;
                }
                Series::Moments(paired) => {
                    paired.values.add(value);
                    paired.last = Some((run, value));
                    let base = base.and_then(|base| base.last(metric));
                    if let Some((_, base)) = base.filter(|(number, _)| *number == run) {
                        paired.differences.add(value - base);
                    }
                }
            }
        }
    }

    /// Number and value of the last run of moments.
    fn last(&self, metric: usize) -> Option<(usize, f64)> {
        match &self.series[metric] {
            Series::Moments(paired) => paired.last,
            Series::Runs(_) | Series::Quantile(_) => None,
        }
    }

    /// Adds completion times, if there is a quantile.
    fn add_completions(&mut self, completions: impl Iterator<Item = f64>) {
        let mut series = self.series.iter();
        if series.any(|series| matches!(series, Series::Quantile(_))) {
            self.completions.extend(completions);
        }
    }
}

/// Connections of one name, over several runs.
#[derive(Clone, Debug)]
pub struct Group {
    /// Name.
    pub name: String,
    /// Transport protocol.
    pub protocol: Protocol,
    /// Congestion control.
    pub algorithm: String,
    /// Largest number of connections in one run.
    pub connections: usize,
    /// Number of connections in all runs together.
    pub all: usize,
    /// Notes of the connections, with the number of connections of each.
    pub notes: BTreeMap<String, usize>,
    /// Samples of the connections.
    pub samples: Samples,
    /// Samples of the subflows, by the number in the connection, from 1; empty without a metric of subflows.
    pub subflows: BTreeMap<usize, Samples>,
}

/// Part of a run that has metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The run as a whole.
    Run,
    /// The connections of this name.
    Connection(&'a str),
    /// The subflows of this number, from 1, of the connections of this name.
    Subflow(&'a str, usize),
    /// The link of this name.
    Link(&'a str),
}

/// Metrics of several runs: of connections and links by name, in the order of their first occurrence, and of the run as a
/// whole.
#[derive(Clone, Debug)]
pub struct Groups {
    /// Number of runs.
    pub runs: usize,
    /// Metrics, in the order of tables.
    pub metrics: Vec<&'static Metric>,
    /// Connections, by name.
    pub groups: Vec<Group>,
    /// Links, by name; empty without a metric of links.
    pub links: Vec<(String, Samples)>,
    /// Samples of the runs as a whole.
    pub run: Samples,
    memory: Memory,
}

impl Groups {
    /// Groups without a run, which keep the values of each run: differences to any other groups are possible.
    #[must_use]
    pub fn new(metrics: Vec<&'static Metric>) -> Self {
        Self::with(metrics, Memory::Values)
    }

    /// Groups without a run, which keep moments, and all completion times only if a metric is a quantile of them.
    #[must_use]
    pub fn moments(metrics: Vec<&'static Metric>) -> Self {
        Self::with(metrics, Memory::Moments)
    }

    fn with(metrics: Vec<&'static Metric>, memory: Memory) -> Self {
        Self {
            runs: 0,
            groups: Vec::new(),
            links: Vec::new(),
            run: Samples::new(&metrics, memory),
            metrics,
            memory,
        }
    }

    /// Adds a run after those so far.
    pub fn add(&mut self, outcome: &Outcome) {
        self.add_paired(self.runs, outcome, None);
    }

    /// Adds a run with this number. Runs of one number have the same seed: if the last run of the baseline `base` has the same
    /// number, the moments include the difference to it.
    pub fn add_paired(&mut self, run: usize, outcome: &Outcome, base: Option<&Groups>) {
        let goodputs = Goodputs::of(outcome);
        let mut named: Vec<(&str, Vec<&ConnectionOutcome>)> = Vec::new();
        for connection in &outcome.connections {
            match named.iter_mut().find(|(name, _)| *name == connection.name) {
                Some((_, list)) => list.push(connection),
                None => named.push((&connection.name, vec![connection])),
            }
        }
        let metrics = self.metrics.clone();
        let of_base = |part| base.and_then(|base| base.samples(part));
        let of_subflows = |metric: &&Metric| matches!(metric.value, Value::Subflow(_));
        for (name, connections) in named {
            let group = self.group(connections[0]);
            let paired = of_base(Part::Connection(name));
            group.add(&connections);
            group.samples.set(run, paired, |metric| {
                let of =
                    |c: &&ConnectionOutcome| metrics[metric].of_connection(c, goodputs.as_ref());
                mean(connections.iter().map(of))
            });
            if metrics.iter().any(of_subflows) {
                for (number, subflows) in numbered(&connections) {
                    let paired = of_base(Part::Subflow(name, number));
                    let samples = self.subflow(name, number);
                    let of = |metric: usize| {
                        mean(subflows.iter().map(|s| metrics[metric].of_subflow(s)))
                    };
                    samples.set(run, paired, of);
                }
            }
        }
        let of_run = |metric: usize| metrics[metric].of_run(goodputs.as_ref());
        self.run.set(run, of_base(Part::Run), of_run);
        if metrics.iter().any(|m| matches!(m.value, Value::Link(_))) {
            for (at, link) in outcome.links.iter().enumerate() {
                let paired = of_base(Part::Link(&link.name));
                let of = |metric: usize| metrics[metric].of_link(link);
                self.link(link, at).set(run, paired, of);
            }
        }
        self.runs += 1;
    }

    /// The connections of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// Samples of a part.
    #[must_use]
    pub fn samples(&self, part: Part<'_>) -> Option<&Samples> {
        match part {
            Part::Run => Some(&self.run),
            Part::Connection(name) => self.find(name).map(|group| &group.samples),
            Part::Subflow(name, number) => self.find(name)?.subflows.get(&number),
            Part::Link(name) => {
                let mut links = self.links.iter();
                links
                    .find(|(link, _)| link == name)
                    .map(|(_, samples)| samples)
            }
        }
    }

    /// Samples of a link. Runs list their links in one order: the link is usually at the index `at`.
    fn link(&mut self, link: &LinkOutcome, at: usize) -> &mut Samples {
        let is = |(name, _): &(String, Samples)| *name == link.name;
        let found = match self.links.get(at).is_some_and(is) {
            true => Some(at),
            false => self.links.iter().position(is),
        };
        let at = found.unwrap_or_else(|| {
            let samples = Samples::new(&self.metrics, self.memory);
            self.links.push((link.name.clone(), samples));
            self.links.len() - 1
        });
        &mut self.links[at].1
    }

    /// Samples of a subflow of a group that exists.
    fn subflow(&mut self, name: &str, number: usize) -> &mut Samples {
        let (metrics, memory) = (&self.metrics, self.memory);
        let mut groups = self.groups.iter_mut();
        let group = groups.find(|group| group.name == name).expect("a group");
        let samples = group.subflows.entry(number);
        samples.or_insert_with(|| Samples::new(metrics, memory))
    }

    fn group(&mut self, first: &ConnectionOutcome) -> &mut Group {
        let at = self.groups.iter().position(|g| g.name == first.name);
        let at = at.unwrap_or_else(|| {
            self.groups.push(Group {
                name: first.name.clone(),
                protocol: first.protocol,
                algorithm: first.algorithm.clone(),
                connections: 0,
                all: 0,
                notes: BTreeMap::new(),
                samples: Samples::new(&self.metrics, self.memory),
                subflows: BTreeMap::new(),
            });
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }
}

impl Group {
    /// Adds the connections of a run, without their metrics.
    fn add(&mut self, connections: &[&ConnectionOutcome]) {
        self.connections = self.connections.max(connections.len());
        self.all += connections.len();
        let completions = connections.iter().filter_map(|c| c.completion_s);
        self.samples.add_completions(completions);
        for note in connections.iter().filter_map(|c| c.note.as_ref()) {
            *self.notes.entry(note.clone()).or_default() += 1;
        }
    }
}

/// The subflows of connections, by their number in the connection.
fn numbered<'a>(connections: &[&'a ConnectionOutcome]) -> BTreeMap<usize, Vec<&'a SubflowOutcome>> {
    let mut numbered: BTreeMap<usize, Vec<&SubflowOutcome>> = BTreeMap::new();
    for subflow in connections.iter().flat_map(|c| &c.subflows) {
        numbered.entry(subflow.subflow).or_default().push(subflow);
    }
    numbered
}

/// Mean of the present values.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.flatten().collect();
    Mean::of(&values).map(|mean| mean.mean)
}

#[cfg(test)]
#[path = "groups_tests.rs"]
pub(super) mod tests;
