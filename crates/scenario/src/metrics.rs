//! What is compared between runs: the metrics of connections, by their names in an [`Outcome`].
//!
//! Connections of one name are alike; a run counts with their mean, so that a run, and not a connection, is one
//! observation: connections of one run disturb each other.

use std::collections::BTreeMap;

use crate::outcome::ConnectionOutcome;
use crate::statistics::Mean;
use crate::{Outcome, Protocol};

/// A metric of a connection.
#[derive(Debug)]
pub struct Metric {
    /// Its name in an outcome.
    pub key: &'static str,
    /// What people call it.
    pub title: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// How many decimals of a mean are worth showing.
    pub decimals: usize,
    /// Whether it is a whole number of one connection.
    pub whole: bool,
    /// Of a connection; none where it has none.
    pub value: fn(&ConnectionOutcome) -> Option<f64>,
}

/// All metrics, in the order of tables.
pub const METRICS: [Metric; 6] = [
    Metric {
        key: "completion_s",
        title: "completion",
        unit: "s",
        decimals: 3,
        whole: false,
        value: |c| c.completion_s,
    },
    Metric {
        key: "goodput_mbps",
        title: "goodput",
        unit: "Mbit/s",
        decimals: 3,
        whole: false,
        value: |c| c.goodput_mbps,
    },
    Metric {
        key: "retransmits",
        title: "retransmits",
        unit: "segments",
        decimals: 1,
        whole: true,
        value: |c| of_tcp(c, c.retransmits as f64),
    },
    Metric {
        key: "retransmits_slow_start",
        title: "R_ss",
        unit: "segments",
        decimals: 1,
        whole: true,
        value: |c| of_tcp(c, c.retransmits_slow_start as f64),
    },
    Metric {
        key: "sum_cwnd_at_slow_start_exit",
        title: "Σcwnd at exit",
        unit: "segments",
        decimals: 1,
        whole: true,
        value: |c| c.sum_cwnd_at_slow_start_exit.map(f64::from),
    },
    Metric {
        key: "sum_cwnd_at_end",
        title: "Σcwnd at end",
        unit: "segments",
        decimals: 1,
        whole: true,
        value: |c| of_tcp(c, c.sum_cwnd_at_end.into()),
    },
];

fn of_tcp(connection: &ConnectionOutcome, value: f64) -> Option<f64> {
    (connection.protocol != Protocol::Udp).then_some(value)
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
    /// For each of [`METRICS`] its value in each run.
    values: [Vec<Option<f64>>; METRICS.len()],
}

impl Group {
    /// A metric's mean over the runs that have it.
    #[must_use]
    pub fn mean(&self, metric: usize) -> Option<Mean> {
        let values: Vec<f64> = self.values[metric].iter().flatten().copied().collect();
        Mean::of(&values)
    }

    /// The mean of what this has more than `base` in the same run: with the same seeds, runs are paired.
    #[must_use]
    pub fn difference(&self, base: &Group, metric: usize) -> Option<Mean> {
        let pairs = self.values[metric].iter().zip(&base.values[metric]);
        let values: Vec<f64> = pairs.filter_map(|(a, b)| Some((*a)? - (*b)?)).collect();
        Mean::of(&values)
    }

    /// A value of each run, as far as it has it.
    #[must_use]
    pub fn values(&self, metric: usize) -> &[Option<f64>] {
        &self.values[metric]
    }
}

/// All connections of some runs, by their names in the order in which they first occur.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// How many runs.
    pub runs: usize,
    /// Each name's.
    pub groups: Vec<Group>,
}

impl Groups {
    /// Adds a run.
    pub fn add(&mut self, outcome: &Outcome) {
        let mut named: Vec<(&str, Vec<&ConnectionOutcome>)> = Vec::new();
        for connection in &outcome.connections {
            match named.iter_mut().find(|(name, _)| *name == connection.name) {
                Some((_, list)) => list.push(connection),
                None => named.push((&connection.name, vec![connection])),
            }
        }
        for (_, connections) in named {
            self.group(connections[0]).add(&connections);
        }
        self.runs += 1;
        // What did not occur in this run has no value in it.
        for group in &mut self.groups {
            for values in &mut group.values {
                values.resize(self.runs, None);
            }
        }
    }

    /// The connections of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Group> {
        self.groups.iter().find(|group| group.name == name)
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
                values: std::array::from_fn(|_| vec![None; self.runs]),
            });
            self.groups.len() - 1
        });
        &mut self.groups[at]
    }
}

impl Group {
    fn add(&mut self, connections: &[&ConnectionOutcome]) {
        self.connections = self.connections.max(connections.len());
        for note in connections.iter().filter_map(|c| c.note.as_ref()) {
            *self.notes.entry(note.clone()).or_default() += 1;
        }
        for (metric, values) in METRICS.iter().zip(&mut self.values) {
            let all: Vec<f64> = (connections.iter())
                .filter_map(|connection| (metric.value)(connection))
                .collect();
            values.push(Mean::of(&all).map(|mean| mean.mean));
        }
    }
}

#[cfg(test)]
#[path = "metrics_tests.rs"]
mod tests;
