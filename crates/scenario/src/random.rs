//! Random numbers, the same on every machine.

use rand_core::Rng;

/// Exponentially distributed number. The functions of libm are the same on every machine.
pub(crate) fn exponential(mean: f64, generator: &mut impl Rng) -> f64 {
    // 1 - unit is above 0.
    mean * -libm::log(1.0 - unit(generator))
}

/// Pareto distributed number with this mean; `shape` is more than 1.
pub(crate) fn pareto(mean: f64, shape: f64, generator: &mut impl Rng) -> f64 {
    let least = mean * (shape - 1.0) / shape;
    least / libm::pow(1.0 - unit(generator), 1.0 / shape)
}

/// Uniform number in [0, 1).
pub(crate) fn unit(generator: &mut impl Rng) -> f64 {
    // 53 bits: each fraction is a double.
    (generator.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Uniform number below `end`, with a bias of at most `end` / 2⁶⁴.
pub(crate) fn below(end: u64, generator: &mut impl Rng) -> u64 {
    ((u128::from(generator.next_u64()) * u128::from(end)) >> 64) as u64
}

/// Finalizer of SplitMix64 (Steele, Lea and Flood, 2014): each input bit changes half of the output bits.
pub(crate) fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}
