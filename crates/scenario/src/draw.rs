//! What a seed draws. The same seed draws the same for every algorithm, so that runs are paired.

use netsim::Span;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use topology::{Graph, Path};

use crate::{Error, Scenario};

/// What one seed runs of a scenario.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The network.
    pub graph: Graph,
    /// What runs on it, in the order of the connections and their numbers.
    pub flows: Vec<Flow>,
}

/// One connection that runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its place in [`Scenario::connections`], which says all that is not drawn.
    pub connection: usize,
    /// Which of those of this name, from 1.
    pub number: u32,
    /// When it starts.
    pub start: Span,
    /// The path of each subflow.
    pub paths: Vec<Path>,
    /// What it draws from while it runs: gaps, times of sending and silence.
    pub seed: u64,
}

impl Scenario {
    /// The scenario as this seed draws it.
    pub fn draw(&self, _seed: u64) -> Result<Drawn, Error> {
        todo!()
    }
}

/// The round-trip times of a run as a multiple of the scenario's, uniform within `spread` of 1.
pub fn rtt_factor(seed: u64, spread: f64) -> f64 {
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    // 53 bits: every such fraction is a double of its own.
    let unit = (generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    (1.0 - spread) + 2.0 * spread * unit
}

/// A time multiplied, to the nanosecond.
pub fn scaled(span: Span, factor: f64) -> Span {
    Span::from_nanos((span.as_nanos() as f64 * factor).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_over_the_range_and_the_same_each_time() {
        let draws: Vec<f64> = (0..1000).map(|seed| rtt_factor(seed, 0.1)).collect();
        assert!(draws.iter().all(|factor| (0.9..1.1).contains(factor)));
        let mean = draws.iter().sum::<f64>() / 1000.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert_eq!(rtt_factor(7, 0.1).to_bits(), rtt_factor(7, 0.1).to_bits());
        assert_ne!(rtt_factor(7, 0.1), rtt_factor(8, 0.1));
        assert_eq!(rtt_factor(7, 0.0), 1.0);
        assert_eq!(scaled(Span::from_millis(40), 0.9), Span::from_millis(36));
    }
}
