//! Metrics over several runs.
//!
//! Connections of one name are alike; a run counts with their mean, so that a run, and not a connection, is one
//! observation: connections of one run disturb each other.

use std::collections::BTreeMap;

use super::{Goodputs, Metric, standard};
use crate::outcome::ConnectionOutcome;
use crate::statistics::Mean;
use crate::{Outcome, Protocol};

/// Values of one part of the network: for each metric of [`Groups`] its value in each run.
#[derive(Clone, Debug)]
pub struct Samples(Vec<Vec<Option<f64>>>);

impl Samples {
    /// Without a value in each of so many runs.
    fn new(metrics: usize, runs: usize) -> Self {
        Self(vec![vec![None; runs]; metrics])
    }

    /// A metric's mean over the runs that have it.
    #[must_use]
    pub fn mean(&self, metric: usize) -> Option<Mean> {
        let values: Vec<f64> = self.0[metric].iter().flatten().copied().collect();
        Mean::of(&values)
    }

    /// The mean of what this has more than `base` in the same run: with the same seeds, runs are paired.
    #[must_use]
    pub fn difference(&self, base: &Samples, metric: usize) -> Option<Mean> {
        let pairs = self.0[metric].iter().zip(&base.0[metric]);
        let values: Vec<f64> = pairs.filter_map(|(a, b)| Some((*a)? - (*b)?)).collect();
        Mean::of(&values)
    }

    /// A value of each run, as far as it has it.
    #[must_use]
    pub fn values(&self, metric: usize) -> &[Option<f64>] {
        &self.0[metric]
    }

    /// Adds a run.
    fn push(&mut self, value: impl Fn(usize) -> Option<f64>) {
        for (metric, values) in self.0.iter_mut().enumerate() {
            values.push(value(metric));
        }
    }

    /// What did not occur in the last run has no value in it.
    fn fill(&mut self, runs: usize) {
        for values in &mut self.0 {
            values.resize(runs, None);
        }
    }
}

/// Connections of one name, over several runs.
#[derive(Clone, Debug)]
pub struct Group {
    /// Their name.
    pub name: String,
    /// How they are carried.
    pub protocol: Protocol,
    /// Their congestion control.
    pub algorithm: String,
    /// The most of them in one run.
    pub connections: usize,
    /// What a reader of the figures must know, and of how many connections.
    pub notes: BTreeMap<String, usize>,
    /// Their metrics.
    pub samples: Samples,
}

/// What has metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// All connections of a run together.
    Run,
    /// The connections of this name.
    Connection(&'a str),
}

/// Some metrics of some runs: of all connections, by their names in the order in which they first occur, and of the run as a whole.
#[derive(Clone, Debug)]
pub struct Groups {
    /// How many runs.
    pub runs: usize,
    /// Which metrics, in the order of tables.
    pub metrics: Vec<&'static Metric>,
    /// Each name's.
    pub groups: Vec<Group>,
    /// The run's own.
    pub run: Samples,
}

impl Default for Groups {
    fn default() -> Self {
        Self::new(standard().collect())
    }
}

impl Groups {
    /// Of no runs yet.
    #[must_use]
    pub fn new(metrics: Vec<&'static Metric>) -> Self {
        Self {
            runs: 0,
            groups: Vec::new(),
            run: Samples::new(metrics.len(), 0),
            metrics,
        }
    }

    /// Adds a run.
    pub fn add(&mut self, outcome: &Outcome) {
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
            group.add(&metrics, &connections, goodputs.as_ref());
        }
        self.run
            .push(|metric| metrics[metric].of_run(goodputs.as_ref()));
        self.runs += 1;
        for group in &mut self.groups {
            group.samples.fill(self.runs);
        }
    }

    /// The connections of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
    }

    /// A part's metrics.
    #[must_use]
    pub fn samples(&self, part: Part<'_>) -> Option<&Samples> {
        match part {
            Part::Run => Some(&self.run),
            Part::Connection(name) => self.find(name).map(|group| &group.samples),
        }
    }

    fn group(&mut self, first: &ConnectionOutcome) -> &mut Group {
        let at = self.groups.iter().position(|g| g.name == first.name);
        let at = at.unwrap_or_else(|| {
            self.groups.push(Group {
                name: first.name.clone(),
                protocol: first.protocol,
                algorithm: first.algorithm.clone(),
                connections: 0,
                notes: BTreeMap::new(),
                samples: Samples::new(self.metrics.len(), self.runs),
            });
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }
}

impl Group {
    fn add(
        &mut self,
        metrics: &[&Metric],
        connections: &[&ConnectionOutcome],
        goodputs: Option<&Goodputs>,
    ) {
        self.connections = self.connections.max(connections.len());
        for note in connections.iter().filter_map(|c| c.note.as_ref()) {
            *self.notes.entry(note.clone()).or_default() += 1;
        }
        self.samples.push(|metric| {
            mean(
                connections
                    .iter()
                    .map(|c| metrics[metric].of_connection(c, goodputs)),
            )
        });
    }
}

/// The mean of those that there are.
fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = values.flatten().collect();
    Mean::of(&values).map(|mean| mean.mean)
}

#[cfg(test)]
#[path = "groups_tests.rs"]
pub(super) mod tests;
