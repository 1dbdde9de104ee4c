//! The runs of all algorithms on all backends, and their differences.

use scenario::metrics::{Groups, Metric, Part, Samples};
use scenario::statistics::Mean;
use scenario::{Run, Warning, warning};

use crate::runs::on::On;

/// The results of a comparison.
pub struct Comparison {
    /// Title of the scenario.
    pub title: String,
    /// Names of the algorithms. The first is the baseline.
    pub algorithms: Vec<String>,
    /// The backends. The first is the baseline.
    pub backends: Vec<On>,
    /// The metrics that are compared, in the order of tables.
    pub metrics: Vec<&'static Metric>,
    /// For each algorithm a contender for each backend.
    contenders: Vec<Contender>,
}

/// Place of a contender: the numbers of its algorithm and its backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    pub algorithm: usize,
    pub backend: usize,
}

/// One algorithm on one backend.
pub struct Contender {
    /// The metrics of all runs.
    pub groups: Groups,
    /// The run with the first seed. Has rows if it is drawn.
    pub first: Option<Run>,
}

impl Comparison {
    /// A comparison without runs.
    pub fn new(
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

    /// Adds a run.
    pub fn add(&mut self, at: At, run: Run) {
        let number = self.number(at);
        let contender = &mut self.contenders[number];
        contender.groups.add(&run.outcome);
        contender.first.get_or_insert(run);
    }

    fn number(&self, at: At) -> usize {
        at.algorithm * self.backends.len() + at.backend
    }

    /// The contender of this place.
    pub fn of(&self, at: At) -> &Contender {
        &self.contenders[self.number(at)]
    }

    /// All contenders with their places: for each algorithm its backends.
    pub fn each(&self) -> impl Iterator<Item = (At, &Contender)> {
        let backends = self.backends.len();
        let all = self.contenders.iter().enumerate();
        all.map(move |(number, contender)| {
            let at = At {
                algorithm: number / backends,
                backend: number % backends,
            };
            (at, contender)
        })
    }

    /// Warnings about algorithms with the same results as the first one, on the same backend.
    pub fn identical(&self) -> Vec<Warning> {
        let pairs = self.each().filter(|(at, _)| at.algorithm > 0);
        let same = pairs.filter(|(at, contender)| {
            let base = &self
                .of(At {
                    algorithm: 0,
                    ..*at
                })
                .groups;
            let names = self.algorithms[at.algorithm] != self.algorithms[0];
            names && contender.groups.has_same_values(base)
        });
        let warning = |(at, contender): (At, &Contender)| {
            let [first, second] = [0, at.algorithm].map(|n| &self.algorithms[n]);
            warning::identical(first, second, contender.groups.runs as u64)
        };
        same.map(warning).collect()
    }

    /// Mean of a metric of a part.
    pub fn mean(&self, at: At, part: Part<'_>, metric: usize) -> Option<Mean> {
        self.of(at).groups.samples(part)?.mean(metric)
    }

    /// Difference of a metric of a part to the first algorithm on the same backend.
    pub fn to_algorithm(&self, at: At, part: Part<'_>, metric: usize) -> Option<Mean> {
        let base = At { algorithm: 0, ..at };
        self.difference(at, base, part, metric)
    }

    /// Difference of a metric of a part to the first backend with the same algorithm.
    pub fn to_backend(&self, at: At, part: Part<'_>, metric: usize) -> Option<Mean> {
        let base = At { backend: 0, ..at };
        self.difference(at, base, part, metric)
    }

    /// None of a contender to itself.
    fn difference(&self, at: At, base: At, part: Part<'_>, metric: usize) -> Option<Mean> {
        let samples = |at: At| -> Option<&Samples> { self.of(at).groups.samples(part) };
        match at == base {
            true => None,
            false => samples(at)?.difference(samples(base)?, metric),
        }
    }
}
