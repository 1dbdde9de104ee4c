//! Metrics over several runs.
//!
//! Connections of one name are equal, and their mean is the value of a run. One run is one observation, not one connection:
//! the connections of a run depend on each other.

use std::collections::BTreeMap;

use super::{Goodputs, Metric, Value, standard};
use crate::connection::Protocol;
use crate::outcome::{ConnectionOutcome, LinkOutcome, Outcome, SubflowOutcome};
use crate::statistics::Mean;

/// Values of one part of the runs: for each metric of [`Groups`] the value in each run.
#[derive(Clone, Debug)]
pub struct Samples(Vec<Vec<Option<f64>>>);

impl Samples {
    /// Samples of this many runs without a value.
    fn new(metrics: usize, runs: usize) -> Self {
        Self(vec![vec![None; runs]; metrics])
    }

    /// Mean of a metric over the runs with a value.
    #[must_use]
    pub fn mean(&self, metric: usize) -> Option<Mean> {
        let values: Vec<f64> = self.0[metric].iter().flatten().copied().collect();
        Mean::of(&values)
    }

    /// Mean difference to `base`, run by run: runs with the same seed are paired.
    #[must_use]
    pub fn difference(&self, base: &Samples, metric: usize) -> Option<Mean> {
        let pairs = self.0[metric].iter().zip(&base.0[metric]);
        let values: Vec<f64> = pairs.filter_map(|(a, b)| Some((*a)? - (*b)?)).collect();
        Mean::of(&values)
    }

    /// Value of each run; none for a run without one.
    #[must_use]
    pub fn values(&self, metric: usize) -> &[Option<f64>] {
        &self.0[metric]
    }

    /// Adds the values of a run.
    fn push(&mut self, value: impl Fn(usize) -> Option<f64>) {
        for (metric, values) in self.0.iter_mut().enumerate() {
            values.push(value(metric));
        }
    }

    /// Adds missing values up to this number of runs.
    fn fill(&mut self, runs: usize) {
        for values in &mut self.0 {
            values.resize(runs, None);
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
    /// Notes of the connections, with the number of connections of each.
    pub notes: BTreeMap<String, usize>,
    /// Samples of the connections.
    pub samples: Samples,
    /// Samples of the subflows, by the number in the connection, from 0; empty without a metric of subflows.
    pub subflows: BTreeMap<usize, Samples>,
}

/// Part of a run that has metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The run as a whole.
    Run,
    /// The connections of this name.
    Connection(&'a str),
    /// The subflows of this number, from 0, of the connections of this name.
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
        Self::new(standard().collect())
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
            let runs = self.runs;
            let group = self.group(connections[0]);
            group.add(&metrics, &connections, goodputs.as_ref());
            if metrics.iter().any(|m| matches!(m.value, Value::Subflow(_))) {
                group.add_subflows(&metrics, &connections, runs);
            }
        }
        self.run
            .push(|metric| metrics[metric].of_run(goodputs.as_ref()));
        if metrics.iter().any(|m| matches!(m.value, Value::Link(_))) {
            for (at, link) in outcome.links.iter().enumerate() {
                self.link(link, at)
                    .push(|metric| metrics[metric].of_link(link));
            }
        }
        self.runs += 1;
        let groups = self.groups.iter_mut();
        let connections =
            groups.flat_map(|group| group.subflows.values_mut().chain([&mut group.samples]));
        let links = self.links.iter_mut().map(|(_, samples)| samples);
        for samples in connections.chain(links) {
            samples.fill(self.runs);
        }
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
            let samples = Samples::new(self.metrics.len(), self.runs);
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
                notes: BTreeMap::new(),
                samples: Samples::new(self.metrics.len(), self.runs),
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

impl Group {
    /// Adds the subflows of a run, which follows this many runs.
    fn add_subflows(
        &mut self,
        metrics: &[&Metric],
        connections: &[&ConnectionOutcome],
        runs: usize,
    ) {
        let mut numbered: BTreeMap<usize, Vec<&SubflowOutcome>> = BTreeMap::new();
        for subflow in connections.iter().flat_map(|c| &c.subflows) {
            numbered.entry(subflow.subflow).or_default().push(subflow);
        }
        for (number, subflows) in numbered {
            let samples = self.subflows.entry(number);
            let samples = samples.or_insert_with(|| Samples::new(metrics.len(), runs));
            samples.push(|metric| mean(subflows.iter().map(|s| metrics[metric].of_subflow(s))));
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
