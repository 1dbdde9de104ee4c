//! Time in integer nanoseconds, and rates in bits per second.
//!
//! Integers, so that a run has the same results on every machine. An event between two nanoseconds is rounded to the later one, so
//! that no event is early.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Nanoseconds in a second.
pub(crate) const NS_PER_S: u64 = 1_000_000_000;

/// An instant: nanoseconds since the start of the run. `u64` holds 584 years.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Time(u64);

/// A length of time in nanoseconds.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Span(u64);

/// A rate in bits per second, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Rate(u64);

impl Time {
    /// The start of the run.
    pub const ZERO: Self = Self(0);

    /// The instant `ns` nanoseconds after the start.
    #[must_use]
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// Nanoseconds since the start.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Seconds since the start, rounded, for display.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        Span(self.0).as_secs_f64()
    }

    /// Time since `earlier`; zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Zero.
    pub const ZERO: Self = Self(0);

    /// `ns` nanoseconds.
    #[must_use]
    pub const fn from_nanos(ns: u64) -> Self {
        Self(ns)
    }

    /// `us` microseconds.
    #[must_use]
    pub const fn from_micros(us: u64) -> Self {
        Self(us * 1_000)
    }

    /// `ms` milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * 1_000_000)
    }

    /// `s` seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self(s * NS_PER_S)
    }

    /// In nanoseconds.
    #[must_use]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// In seconds, rounded, for display.
    #[must_use]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / NS_PER_S as f64
    }
}

/// End of a transmission: `nanos + rest / rate` nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transmission {
    /// Whole nanoseconds.
    pub(crate) nanos: u64,
    /// Rest, in 1/rate nanoseconds.
    pub(crate) rest: u64,
}

impl Rate {
    /// `bits_per_second`.
    ///
    /// # Panics
    /// If it is zero: no packet would ever be sent.
    #[must_use]
    pub const fn from_bits_per_second(bits_per_second: u64) -> Self {
        assert!(bits_per_second > 0, "a rate is at least 1 bit/s");
        Self(bits_per_second)
    }

    /// In bits per second.
    #[must_use]
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Transmission time of `bytes` at this rate, rounded up to a whole nanosecond.
    ///
    /// For several packets in a row use `Rate::send`: the rounding errors of this function would add up.
    #[must_use]
    pub const fn serialisation(self, bytes: u32) -> Span {
        let Transmission { nanos, rest } = self.send(bytes, 0);
        Span(nanos + (rest > 0) as u64)
    }

    /// Transmission time of a byte if it is a whole number of nanoseconds in 32 bits, else 0.
    pub(crate) const fn nanos_per_byte(self) -> u32 {
        let nanos = 8 * NS_PER_S / self.0;
        if nanos * self.0 == 8 * NS_PER_S && nanos <= u32::MAX as u64 {
            nanos as u32
        } else {
            0
        }
    }

    /// Transmission of `bytes` that begins `rest`/rate nanoseconds after a whole nanosecond. Its end is relative to that nanosecond.
    ///
    /// With the rest carried over, a busy link is exact however long it is busy.
    #[must_use]
    pub(crate) const fn send(self, bytes: u32, rest: u64) -> Transmission {
        // The hot path is one 64-bit division: 2^30 · 8e9 + 2^62 < 2^64.
        if bytes < 1 << 30 && self.0 < 1 << 62 {
            let work = bytes as u64 * (8 * NS_PER_S) + rest;
            Transmission {
                nanos: work / self.0,
                rest: work % self.0,
            }
        } else {
            let work = bytes as u128 * (8 * NS_PER_S) as u128 + rest as u128;
            Transmission {
                nanos: (work / self.0 as u128) as u64,
                rest: (work % self.0 as u128) as u64,
            }
        }
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl From<Duration> for Span {
    /// A duration of more than 584 years becomes 584 years.
    fn from(duration: Duration) -> Self {
        Self(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Span> for Duration {
    fn from(span: Span) -> Self {
        Self::from_nanos(span.0)
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.9}s", self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn serialisation_is_exact_and_rounds_up() {
        let at = |bps| {
            Rate::from_bits_per_second(bps)
                .serialisation(1500)
                .as_nanos()
        };
        assert_eq!(at(2_500_000), 4_800_000);
        assert_eq!(at(5_000_000), 2_400_000);
        assert_eq!(at(100_000_000_000), 120);
        assert_eq!(at(64_000), 187_500_000);
        // 12 000 bits at 7 bit/s: 1714.285714285714… s.
        assert_eq!(at(7), 1_714_285_714_286);
        // More than a bit in a nanosecond is rounded up to a nanosecond.
        assert_eq!(
            Rate::from_bits_per_second(u64::MAX)
                .serialisation(1)
                .as_nanos(),
            1
        );
        assert_eq!(Rate::from_bits_per_second(1).serialisation(0), Span::ZERO);
    }

    #[test]
    fn a_byte_that_takes_whole_nanoseconds() {
        let per_byte = |bps| Rate(bps).nanos_per_byte();
        let rates = [2_500_000, 5_000_000, 1_000_000_000, 8_000_000_000];
        assert_eq!(rates.map(per_byte), [3200, 1600, 8, 1]);
        // 0.8 ns, 684 + 4/11.7 ns, 8e9 ns (more than 32 bits hold), a third of a nanosecond.
        let others = [10_000_000_000, 11_700_000, 1, 24_000_000_000];
        assert_eq!(others.map(per_byte), [0; 4]);
    }

    proptest! {
        #[test]
        fn sending_agrees_with_wide_arithmetic(bytes: u32, rate in 1..u64::MAX, rest: u64) {
            let rest = rest % rate;
            let sent = Rate(rate).send(bytes, rest);
            let work = u128::from(bytes) * 8_000_000_000 + u128::from(rest);
            prop_assume!(work / u128::from(rate) <= u128::from(u64::MAX));
            prop_assert_eq!(u128::from(sent.nanos) * u128::from(rate) + u128::from(sent.rest), work);
            prop_assert!(sent.rest < rate);
        }
    }
}
