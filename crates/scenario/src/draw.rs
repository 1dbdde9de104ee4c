//! What a seed draws. The same seed draws the same for every algorithm, so that runs are paired.

use netsim::Span;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// The round-trip times of a run as a multiple of the scenario's, uniform from 0.9 to 1.1: results at one fixed RTT
/// depend on where in a round trip things fall, and their mean says little.
pub fn rtt_factor(seed: u64) -> f64 {
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    // 53 bits: every such fraction is a double of its own.
    let unit = (generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    0.9 + 0.2 * unit
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
        let draws: Vec<f64> = (0..1000).map(rtt_factor).collect();
        assert!(draws.iter().all(|factor| (0.9..1.1).contains(factor)));
        let mean = draws.iter().sum::<f64>() / 1000.0;
        assert!((mean - 1.0).abs() < 0.01, "{mean}");
        assert_eq!(rtt_factor(7).to_bits(), rtt_factor(7).to_bits());
        assert_ne!(rtt_factor(7), rtt_factor(8));
        assert_eq!(scaled(Span::from_millis(40), 0.9), Span::from_millis(36));
    }
}
