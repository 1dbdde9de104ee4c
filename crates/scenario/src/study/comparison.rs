//! The runs of all algorithms on all backends, and their differences.

mod json;

use super::equality;
use super::warnings::Warnings;
use crate::metrics::{Groups, Metric, Part, Samples};
use crate::outcome::Backend;
use crate::run::Run;
use crate::statistics::Mean;

/// The results of a comparison.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// Title of the scenario.
    pub title: String,
    /// Names of the algorithms. The first is the baseline.
    pub algorithms: Vec<String>,
    /// The backends. The first is the baseline.
    pub backends: Vec<Backend>,
    /// The metrics that are compared, in the order of tables.
    pub metrics: Vec<&'static Metric>,
    /// For each backend the equality of the results of its algorithms.
    pub equality: Vec<equality::Results>,
    /// For each algorithm a contender for each backend.
    contenders: Vec<Contender>,
}

/// Place of a contender: the numbers of its algorithm and its backend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct At {
    /// Number of the algorithm, from 0.
    pub algorithm: usize,
    /// Number of the backend, from 0.
    pub backend: usize,
}

/// One algorithm on one backend.
#[derive(Clone, Debug)]
pub struct Contender {
    /// The metrics of all runs.
    pub groups: Groups,
    /// The warnings of all runs.
    pub warnings: Warnings,
    /// The run with the first seed. Has rows if it is drawn.
    pub first: Option<Run>,
}

impl Comparison {
    /// A comparison without runs.
    #[must_use]
    pub fn new(
        title: &str,
        algorithms: &[String],
        backends: &[Backend],
        metrics: Vec<&'static Metric>,
    ) -> Self {
        let contender = |_| Contender {
            groups: Groups::new(metrics.clone()),
            warnings: Warnings::default(),
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
            equality: (backends.iter())
                .map(|_| equality::Results::new(algorithms.len()))
                .collect(),
            contenders,
        }
    }

    /// Adds a run.
    pub fn add(&mut self, at: At, run: Run) {
        let number = self.number(at);
        self.equality[at.backend].add(at.algorithm, &run.outcome);
        let contender = &mut self.contenders[number];
        contender.warnings.add_run(&run.outcome);
        contender.groups.add(&run.outcome);
        contender.first.get_or_insert(run);
    }

    fn number(&self, at: At) -> usize {
        at.algorithm * self.backends.len() + at.backend
    }

    /// The contender of this place.
    #[must_use]
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

    /// A line of JSON for each algorithm on each backend (`docs/compare.schema.json`). Each has the warnings about all runs together.
    #[must_use]
    pub fn json(&self, warnings: &Warnings) -> String {
        json::lines(self, warnings)
    }

    /// Mean of a metric of a part.
    #[must_use]
    pub fn mean(&self, at: At, part: Part<'_>, metric: usize) -> Option<Mean> {
        self.of(at).groups.samples(part)?.mean(metric)
    }

    /// Difference of a metric of a part to the first algorithm on the same backend.
    #[must_use]
    pub fn to_algorithm(&self, at: At, part: Part<'_>, metric: usize) -> Option<Mean> {
        let base = At { algorithm: 0, ..at };
        self.difference(at, base, part, metric)
    }

    /// Difference of a metric of a part to the first backend with the same algorithm.
    #[must_use]
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
