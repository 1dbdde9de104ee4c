//! Equal results: of all seeds of a contender, and of two contenders.

use crate::metrics;
use crate::outcome::Outcome;
use crate::warning::{self, Points, Warning};

/// Digests of the runs of each contender: an algorithm on a backend, or with the values of a sweep.
#[derive(Clone, Debug)]
pub struct Results(Vec<Contender>);

/// Digests of the runs of a contender.
#[derive(Clone, Copy, Debug, Default)]
struct Contender {
    runs: usize,
    /// Digest of the first run.
    first: u64,
    /// Whether another run has another digest.
    differs: bool,
    /// Digest of all runs with their seeds, in order.
    all: u64,
}

impl Results {
    /// No runs yet of this many contenders.
    #[must_use]
    pub fn new(contenders: usize) -> Self {
        Self(vec![Contender::default(); contenders])
    }

    /// Adds a run. The runs of all contenders have the same order of seeds.
    pub fn add(&mut self, contender: usize, outcome: &Outcome) {
        let digest = metrics::fingerprint(outcome);
        let of = &mut self.0[contender];
        match of.runs {
            0 => of.first = digest,
            _ => of.differs |= of.first != digest,
        }
        of.runs += 1;
        for word in [outcome.seed, digest] {
            // FNV-1a, by words.
            of.all = (of.all ^ word).wrapping_mul(0x0100_0000_01b3);
        }
    }

    /// The warning that all seeds have the same results: with all algorithms of a point, of which there are `algorithms`.
    #[must_use]
    pub fn equal_seeds(&self, algorithms: usize, seeds: usize) -> Option<Warning> {
        let points = self.0.chunks(algorithms.max(1));
        let equal = |point: &&[Contender]| point.iter().all(|of| of.runs > 1 && !of.differs);
        let points = Points {
            all: points.len(),
            with: points.filter(equal).count(),
        };
        (points.with > 0).then(|| warning::equal_seeds(seeds, points))
    }

    /// Warnings about algorithms with the same results as the first one, at each point or at some.
    #[must_use]
    pub fn equal_algorithms(&self, algorithms: &[String], seeds: usize) -> Vec<Warning> {
        let mut warnings = Vec::new();
        for (number, name) in algorithms.iter().enumerate().skip(1) {
            let points = self.0.chunks(algorithms.len());
            let equal = |point: &&[Contender]| {
                let (first, other) = (&point[0], &point[number]);
                first.runs > 0 && (first.runs, first.all) == (other.runs, other.all)
            };
            let points = Points {
                all: points.len(),
                with: points.filter(equal).count(),
            };
            if points.with > 0 && *name != algorithms[0] {
                warnings.push(warning::identical(&algorithms[0], name, seeds, points));
            }
        }
        warnings
    }
}
