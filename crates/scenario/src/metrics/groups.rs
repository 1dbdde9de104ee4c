//! Metrics over several runs.
//!
//! Connections of one name are equal, and their mean is the value of a run. One run is one observation, not one connection:
//! the connections of a run depend on each other.

use std::collections::BTreeMap;

use super::{Goodputs, Metric, Value, summary};
use crate::connection::Protocol;
use crate::outcome::{ConnectionOutcome, LinkOutcome, Outcome, SubflowOutcome};
use crate::statistics::{Mean, quantile};

/// Values of one part of the runs: a series for each metric of [`Groups`].
#[derive(Clone, Debug)]
pub struct Samples(Vec<Series>);

/// Values of a metric.
#[derive(Clone, Debug)]
enum Series {
    /// Value in each run. A missing value is NaN, and missing values after the last one are not stored: a sweep has millions of
    /// values.
    Runs(Vec<f64>),
    /// Values of all connections of all runs, of which the metric is this quantile.
    Quantile(f64, Vec<f64>),
}

impl Series {
    fn runs(&self) -> &[f64] {
        match self {
            Self::Runs(values) => values,
            Self::Quantile(..) => &[],
        }
    }
}

impl Samples {
    /// Samples without a value.
    fn new(metrics: &[&Metric]) -> Self {
        let series = metrics.iter().map(|metric| match metric.value {
            Value::Completion(quantile) => Series::Quantile(quantile, Vec::new()),
            _ => Series::Runs(Vec::new()),
        });
        Self(series.collect())
    }

    /// Mean of a metric over the runs with a value. A quantile has no interval, and `n` counts transfers.
    #[must_use]
    pub fn mean(&self, metric: usize) -> Option<Mean> {
        match &self.0[metric] {
            Series::Runs(_) => Mean::of(&self.present(metric)),
            Series::Quantile(p, values) => {
                let mut values = values.clone();
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
    #[must_use]
    pub fn present(&self, metric: usize) -> Vec<f64> {
        let values = self.0[metric].runs().iter().copied();
        values.filter(|value| !value.is_nan()).collect()
    }

    /// Mean difference to `base`, run by run: runs with the same seed are paired. None of a quantile.
    #[must_use]
    pub fn difference(&self, base: &Samples, metric: usize) -> Option<Mean> {
        let pairs = self.0[metric].runs().iter().zip(base.0[metric].runs());
        let values = pairs.map(|(a, b)| a - b).filter(|value| !value.is_nan());
        Mean::of(&values.collect::<Vec<f64>>())
    }

    /// Value in a run. None of a quantile.
    #[must_use]
    pub fn value(&self, metric: usize, run: usize) -> Option<f64> {
        let value = self.0[metric].runs().get(run).copied();
        value.filter(|value| !value.is_nan())
    }

    /// Sets the values of a run.
    fn set(&mut self, run: usize, value: impl Fn(usize) -> Option<f64>) {
        for (metric, series) in self.0.iter_mut().enumerate() {
            let Series::Runs(values) = series else {
                continue;
            };
            if let Some(value) = value(metric) {
                if values.len() <= run {
                    values.resize(run + 1, f64::NAN);
                }
                values[run] = value;
            }
        }
    }

    /// Adds completion times to the quantiles.
    fn add_completions(&mut self, completions: impl Iterator<Item = f64> + Clone) {
        for series in &mut self.0 {
            if let Series::Quantile(_, values) = series {
                values.extend(completions.clone());
            }
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
}

impl Default for Groups {
    fn default() -> Self {
        Self::new(summary().collect())
    }
}

impl Groups {
    /// Groups without a run.
    #[must_use]
    pub fn new(metrics: Vec<&'static Metric>) -> Self {
        Self {
            runs: 0,
            groups: Vec::new(),
            links: Vec::new(),
            run: Samples::new(&metrics),
            metrics,
        }
    }

    /// Adds a run after those so far.
    pub fn add(&mut self, outcome: &Outcome) {
        self.add_at(self.runs, outcome);
    }

    /// Adds a run with this number. Differences pair runs of one number: those with the same seed.
    pub fn add_at(&mut self, run: usize, outcome: &Outcome) {
        let goodputs = Goodputs::of(outcome);
        let mut named: Vec<(&str, Vec<&ConnectionOutcome>)> = Vec::new();
        for connection in &outcome.connections {
            match named.iter_mut().find(|(name, _)| *name == connection.name) {
                Some((_, list)) => list.push(connection),
                None => named.push((&connection.name, vec![connection])),
            }
        }
        let metrics = self.metrics.clone();
        for (_, connections) in named {
            let group = self.group(connections[0]);
            group.add(run, &metrics, &connections, goodputs.as_ref());
            if metrics.iter().any(|m| matches!(m.value, Value::Subflow(_))) {
                group.add_subflows(run, &metrics, &connections);
            }
        }
        self.run
            .set(run, |metric| metrics[metric].of_run(goodputs.as_ref()));
        if metrics.iter().any(|m| matches!(m.value, Value::Link(_))) {
            for (at, link) in outcome.links.iter().enumerate() {
                self.link(link, at)
                    .set(run, |metric| metrics[metric].of_link(link));
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
            let samples = Samples::new(&self.metrics);
            self.links.push((link.name.clone(), samples));
            self.links.len() - 1
        });
        &mut self.links[at].1
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
                samples: Samples::new(&self.metrics),
                subflows: BTreeMap::new(),
            });
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }
}

impl Group {
    fn add(
        &mut self,
        run: usize,
        metrics: &[&Metric],
        connections: &[&ConnectionOutcome],
        goodputs: Option<&Goodputs>,
    ) {
        self.connections = self.connections.max(connections.len());
        self.all += connections.len();
        let completions = connections.iter().filter_map(|c| c.completion_s);
        self.samples.add_completions(completions);
        for note in connections.iter().filter_map(|c| c.note.as_ref()) {
            *self.notes.entry(note.clone()).or_default() += 1;
        }
        self.samples.set(run, |metric| {
            mean(
                connections
                    .iter()
                    .map(|c| metrics[metric].of_connection(c, goodputs)),
            )
        });
    }
}

impl Group {
    /// Adds the subflows of a run.
    fn add_subflows(
        &mut self,
        run: usize,
        metrics: &[&Metric],
        connections: &[&ConnectionOutcome],
    ) {
        let mut numbered: BTreeMap<usize, Vec<&SubflowOutcome>> = BTreeMap::new();
        for subflow in connections.iter().flat_map(|c| &c.subflows) {
            numbered.entry(subflow.subflow).or_default().push(subflow);
        }
        for (number, subflows) in numbered {
            let samples = self.subflows.entry(number);
            let samples = samples.or_insert_with(|| Samples::new(metrics));
            samples.set(run, |metric| {
                mean(subflows.iter().map(|s| metrics[metric].of_subflow(s)))
            });
        }
    }
}

/// Mean of the present values.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.flatten().collect();
    Mean::of(&values).map(|mean| mean.mean)
}

#[cfg(test)]
#[path = "groups_tests.rs"]
pub(super) mod tests;
