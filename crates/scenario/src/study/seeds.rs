//! Seeds of several runs.

use std::sync::Arc;

use crate::error::shown;

/// Largest number of seeds.
pub const MOST: u64 = 1_000_000;

/// The correct forms, for errors.
pub const FORMS: &str =
    "a number of seeds (`10`: 1 to 10), a range (`11..20`) or a list (`1,5,10..20`)";

/// Seeds in the order of their runs. A clone shares them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(pub Arc<[u64]>);

impl Seeds {
    /// The seeds from 1 to `n`.
    #[must_use]
    pub fn first(n: u64) -> Self {
        Self((1..=n).collect())
    }

    /// Parses `10` (1 to 10), `11..20`, or a list such as `1,5,10..20`.
    ///
    /// # Errors
    /// The problem of the text; the correct forms are [`FORMS`].
    pub fn parse(text: &str) -> Result<Self, String> {
        let number = |text: &str| -> Result<u64, String> {
            text.trim()
                .parse()
                .map_err(|_| format!("`{}` is not a seed", shown(text.trim())))
        };
        if !text.contains(',') && !text.contains("..") {
            return match number(text)? {
                n @ 1..=MOST => Ok(Self::first(n)),
                n => Err(format!("{n} seeds: from 1 to {MOST} are possible")),
            };
        }
        let mut seeds = Vec::new();
        for item in text.split(',') {
            let (first, last) = match item.split_once("..") {
                Some((first, last)) => (number(first)?, number(last)?),
                None => (number(item)?, number(item)?),
            };
            if last < first {
                return Err(format!("`{}`: a range must not descend", item.trim()));
            }
            if (last - first).saturating_add(seeds.len() as u64) >= MOST {
                return Err(format!("at most {MOST} seeds are possible"));
            }
            seeds.extend(first..=last);
        }
        Self::listed(seeds)
    }

    /// These seeds, in this order.
    ///
    /// # Errors
    /// For a seed that is there twice, for none, and for too many.
    pub fn listed(seeds: Vec<u64>) -> Result<Self, String> {
        if seeds.is_empty() || seeds.len() as u64 > MOST {
            return Err(format!(
                "{} seeds: from 1 to {MOST} are possible",
                seeds.len()
            ));
        }
        let mut sorted = seeds.clone();
        sorted.sort_unstable();
        match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(format!(
                "seed {} is named twice: name each seed once",
                pair[0]
            )),
            None => Ok(Self(seeds.into())),
        }
    }

    /// Number of seeds, at least 1.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.0.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_a_number_a_range_or_a_list() {
        assert_eq!(*Seeds::parse("3").unwrap().0, [1, 2, 3]);
        assert_eq!(*Seeds::parse("7..7").unwrap().0, [7]);
        assert_eq!(*Seeds::parse("0, 5,10..12").unwrap().0, [0, 5, 10, 11, 12]);
        for (text, problem) in [
            ("0", "0 seeds: from 1 to 1000000 are possible"),
            ("1000001", "1000001 seeds: from 1 to 1000000 are possible"),
            ("x", "`x` is not a seed"),
            ("-1", "`-1` is not a seed"),
            ("1,,2", "`` is not a seed"),
            ("5..3", "`5..3`: a range must not descend"),
            (
                "0..18446744073709551615",
                "at most 1000000 seeds are possible",
            ),
            ("1,0..3", "seed 1 is named twice"),
        ] {
            let error = Seeds::parse(text).unwrap_err();
            assert!(error.starts_with(problem), "{text}: {error}");
        }
    }
}
