//! Streams of random numbers: one for each use, so that no use depends on the number of draws of another.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::time::Span;

/// Use of a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    Loss,
    Reorder,
    Queue,
    Hosts,
    Jitter,
}

/// A stream of random numbers.
#[derive(Debug)]
pub struct RandomStream(Pcg64Mcg);

impl RandomStream {
    /// The stream for the network's `seed`, the link's `stream` and the purpose.
    pub(crate) fn new(seed: u64, stream: u64, purpose: Purpose) -> Self {
        let key = mix(mix(mix(seed).wrapping_add(stream)).wrapping_add(purpose as u64));
        Self(Pcg64Mcg::seed_from_u64(key))
    }

    /// Whether an event of probability `p` happens. An impossible or a certain event draws no number.
    pub(crate) fn chance(&mut self, p: f64) -> bool {
        if p <= 0.0 || p >= 1.0 {
            return p >= 1.0;
        }
        // 53 bits: a double holds each of these fractions exactly.
        let unit = (self.number() >> 11) as f64 / (1u64 << 53) as f64;
        unit < p
    }

    /// A length of time up to and including `longest`, all with the same probability.
    pub(crate) fn span(&mut self, longest: Span) -> Span {
        let values = u128::from(longest.as_nanos()) + 1;
        Span::from_nanos(((u128::from(self.number()) * values) >> 64) as u64)
    }

    /// 64 random bits.
    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }
}

/// Spreads a number over all 64 bits: the finaliser of SplitMix64 (Steele, Lea, Flood, "Fast
/// splittable pseudorandom number generators", OOPSLA 2014), whose constants these are.
pub(crate) const fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_and_repeat() {
        let first = |seed, stream, purpose| RandomStream::new(seed, stream, purpose).number();
        assert_eq!(first(1, 2, Purpose::Loss), first(1, 2, Purpose::Loss));
        let draws = [
            first(1, 2, Purpose::Loss),
            first(2, 2, Purpose::Loss),
            first(2, 1, Purpose::Loss),
            first(1, 2, Purpose::Queue),
            first(1, 3, Purpose::Loss),
        ];
        for (i, draw) in draws.iter().enumerate() {
            assert!(!draws[..i].contains(draw));
        }
    }

    #[test]
    fn events_have_their_probability() {
        let mut random = RandomStream::new(1, 0, Purpose::Loss);
        let hits = (0..100_000).filter(|_| random.chance(0.03)).count();
        // 3000 ± 54 (one standard deviation).
        assert!((2780..3220).contains(&hits), "{hits}");
        assert!(!random.chance(0.0) && random.chance(1.0));
    }
}
