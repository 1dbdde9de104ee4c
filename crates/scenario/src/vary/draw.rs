//! Random values of a key: `bottleneck.rate=1Mbit..10Mbit` with `--random` or `--latin`.
//!
//! A range is continuous: a time is drawn in nanoseconds, a rate in bit/s, a size in bytes, a share in millionths. Numbers
//! without a unit are whole numbers if both ends are, else they have six decimals more than the ends. A list and a range with
//! a step are sets of values, of which one is drawn.
//!
//! Draws are the same on every run: the n-th key has a stream of random numbers of its own. The first points of a larger
//! number of random points are those of the smaller number.

use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::{MAX_VALUES, Number, Vary};
use crate::random::{below, mix, unit};
use crate::units;

/// Start of all streams.
const STREAM: u64 = 0x6c69_7361;
/// Decimals of a share or a number that is not whole.
const DECIMALS: usize = 6;

/// Choice of random points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Design {
    /// Independent, uniform.
    Uniform,
    /// Latin hypercube (McKay, Beckman and Conover, 1979): of n points each key has one in each n-th of its range.
    Latin,
}

/// Values of a key from which points are drawn.
enum Range {
    Set(Vec<String>),
    /// Numbers from `first` to `last`, in units of `unit` with `decimals`.
    Continuous {
        first: u64,
        last: u64,
        decimals: usize,
        unit: &'static str,
    },
}

impl Vary {
    /// Parses `KEY=VALUES` like [`Vary::parse`], and draws the values of `points` points. `key` is the number of the key
    /// among those of the sweep.
    ///
    /// # Errors
    /// A text with the correct form.
    pub fn draw(text: &str, key: u64, points: usize, design: Design) -> Result<Self, String> {
        if points as u64 > MAX_VALUES {
            return Err(format!("at most {MAX_VALUES} points are possible"));
        }
        let range = match continuous(text)? {
            Some(range) => range,
            None => Range::Set(Self::parse(text)?.values),
        };
        let (name, _) = text.split_once('=').unwrap_or((text, ""));
        let mut random = Pcg64Mcg::seed_from_u64(mix(STREAM.wrapping_add(key)));
        let strata: Option<Vec<usize>> = (design == Design::Latin).then(|| {
            // Fisher and Yates.
            let mut strata: Vec<usize> = (0..points).collect();
            for last in (1..points).rev() {
                strata.swap(last, below(last as u64 + 1, &mut random) as usize);
            }
            strata
        });
        let position = |point: usize| {
            let within = unit(&mut random);
            match &strata {
                Some(strata) => (strata[point] as f64 + within) / points as f64,
                None => within,
            }
        };
        let values = (0..points).map(position).map(|at| range.value(at));
        Ok(Self {
            key: name.trim().into(),
            values: values.collect(),
        })
    }
}

impl Range {
    /// The value at a position from 0 to 1, exclusive.
    fn value(&self, at: f64) -> String {
        match self {
            Self::Set(values) => {
                let index = (at * values.len() as f64) as usize;
                values[index.min(values.len() - 1)].clone()
            }
            Self::Continuous {
                first,
                last,
                decimals,
                unit,
            } => {
                let width = last - first + 1;
                let value = first + ((at * width as f64) as u64).min(width - 1);
                let size = 10u64.pow(*decimals as u32);
                match decimals {
                    0 => format!("{value}{unit}"),
                    _ => format!("{}.{:0decimals$}{unit}", value / size, value % size),
                }
            }
        }
    }
}

/// The range of `KEY=LOW..HIGH`; none for other forms.
fn continuous(text: &str) -> Result<Option<Range>, String> {
    let Some((_, values)) = text.split_once('=') else {
        return Ok(None);
    };
    let Some((low, high)) = values
        .split_once("..")
        .filter(|(_, high)| !high.contains(['/', ',']))
    else {
        return Ok(None);
    };
    let (Some(first), Some(last)) = (Number::read(low), Number::read(high)) else {
        return Ok(None);
    };
    let units = [first.unit, last.unit];
    let low = match first.unit {
        // `1..10Mbit`: a missing unit is that of the last number.
        "" => format!("{}{}", low.trim(), last.unit),
        _ => low.trim().to_owned(),
    };
    let high = high.trim();
    let ordered = |first: u64, last: u64, decimals, unit| match first <= last {
        true => Ok(Some(Range::Continuous {
            first,
            last,
            decimals,
            unit,
        })),
        false => Err(format!("`{}`: a range must not descend", values.trim())),
    };
    let both = |of: &dyn Fn(&str) -> Option<u64>| Some((of(&low)?, of(high)?));
    if units == ["", ""] {
        let decimals = match first.decimals.max(last.decimals) {
            0 => 0,
            decimals => decimals.max(DECIMALS),
        };
        let scaled = (first.scaled(decimals), last.scaled(decimals));
        let (Some(first), Some(last)) = scaled else {
            return Err(format!("`{}`: the numbers are too long", values.trim()));
        };
        return ordered(first, last, decimals, "");
    }
    if let Some((first, last)) = both(&|text| Some(units::parse_time(text).ok()?.as_nanos())) {
        return ordered(first, last, 0, "ns");
    }
    if let Some((first, last)) = both(&|text| Some(units::parse_rate(text).ok()?.bits_per_second()))
    {
        return ordered(first, last, 0, "bit");
    }
    if let Some((first, last)) = both(&|text| units::parse_bytes(text).ok()) {
        return ordered(first, last, 0, "B");
    }
    if units.iter().all(|unit| matches!(*unit, "" | "%")) {
        let scaled = (first.scaled(DECIMALS), last.scaled(DECIMALS));
        if let (Some(first), Some(last)) = scaled {
            return ordered(first, last, DECIMALS, "%");
        }
    }
    Err(format!("`{}`: use units of one kind", values.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(text: &str, points: usize, design: Design) -> Vec<String> {
        Vary::draw(text, 0, points, design).unwrap().values
    }

    #[test]
    fn values_are_within_the_range_and_keep_their_kind() {
        let integers = drawn("k=3..5", 1000, Design::Uniform);
        for value in ["3", "4", "5"] {
            let count = integers.iter().filter(|found| *found == value).count();
            // 333 ± 15 (one standard deviation).
            assert!((273..393).contains(&count), "{value}: {count}");
        }
        assert!(
            integers
                .iter()
                .all(|value| matches!(&**value, "3" | "4" | "5"))
        );
        for value in drawn("k=1Mbit..2.5Mbit", 100, Design::Uniform) {
            let rate = units::parse_rate(&value).unwrap().bits_per_second();
            assert!((1_000_000..=2_500_000).contains(&rate), "{value}");
        }
        for value in drawn("k=500us..40ms", 100, Design::Uniform) {
            let time = units::parse_time(&value).unwrap().as_nanos();
            assert!((500_000..=40_000_000).contains(&time), "{value}");
        }
        for value in drawn("k=50KB..2MB", 100, Design::Uniform) {
            let size = units::parse_bytes(&value).unwrap();
            assert!((50_000..=2_000_000).contains(&size), "{value}");
        }
        for value in drawn("k=0.5%..2%", 100, Design::Uniform) {
            let share = units::parse_share(&value).unwrap();
            assert!((0.005..=0.02).contains(&share), "{value}");
        }
        for value in drawn("k=0.1..0.3", 100, Design::Uniform) {
            assert!((0.1..=0.3).contains(&value.parse().unwrap()), "{value}");
        }
        let set = drawn("k=lia,lisa,10..30/10", 300, Design::Uniform);
        for value in ["lia", "lisa", "10", "20", "30"] {
            assert!(set.iter().any(|found| found == value), "{value}");
        }
    }

    #[test]
    fn a_latin_hypercube_has_a_point_in_each_part() {
        let mut values: Vec<u64> = drawn("k=0..999", 100, Design::Latin)
            .iter()
            .map(|value| value.parse().unwrap())
            .collect();
        assert!(values.windows(2).any(|pair| pair[1] < pair[0]), "shuffled");
        values.sort_unstable();
        let parts: Vec<u64> = values.iter().map(|value| value / 10).collect();
        assert_eq!(parts, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn draws_repeat_and_differ_by_key() {
        let uniform =
            |key, points| Vary::draw("k=1..1000000", key, points, Design::Uniform).unwrap();
        assert_eq!(uniform(0, 50), uniform(0, 50));
        assert_eq!(uniform(0, 50).values[..20], uniform(0, 20).values);
        assert_ne!(uniform(0, 50), uniform(1, 50));
    }

    #[test]
    fn other_ranges_are_errors() {
        for (text, problem) in [
            ("k=9..1", "`9..1`: a range must not descend"),
            ("k=1s..1ms", "`1s..1ms`: a range must not descend"),
            ("k=1s..2Mbit", "`1s..2Mbit`: use units of one kind"),
            ("k", "write it as KEY=VALUES"),
            ("k=1..x", "`1..x`: `x` is not a number"),
        ] {
            let error = Vary::draw(text, 0, 5, Design::Uniform).unwrap_err();
            assert!(error.starts_with(problem), "{text}: {error}");
        }
    }
}
