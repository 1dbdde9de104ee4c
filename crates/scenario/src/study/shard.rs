//! The part of a sweep that one of several processes runs.

use std::fmt;

/// Most parts of a sweep.
pub const MOST: usize = 100_000;

/// A part of a sweep: of its runs in order the `number`th of each `of`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Number of the part, from 1.
    number: usize,
    /// Number of parts.
    of: usize,
}

impl Shard {
    /// All runs.
    pub const ALL: Self = Self { number: 1, of: 1 };

    /// A part, whose number is from 1 to the number of parts.
    #[must_use]
    pub fn new(number: usize, of: usize) -> Option<Self> {
        ((1..=of).contains(&number) && of <= MOST).then_some(Self { number, of })
    }

    /// Parses `2/3`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let parts = text.split_once('/');
        let parts = parts.and_then(|(a, b)| Some((number(a)?, number(b)?)));
        let (number, of) = parts?;
        Self::new(number, of)
    }
}

/// Numbers of the runs of a part, from 0.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// The part.
    pub shard: Shard,
    /// Number of the runs of all parts together.
    pub runs: usize,
}

impl Numbers {
    /// How many there are.
    #[must_use]
    pub fn len(self) -> usize {
        self.all().len()
    }

    /// Whether there are none: of a part beyond the number of runs.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The number at this place.
    #[must_use]
    pub fn get(self, place: usize) -> Option<usize> {
        let number = self.shard.number - 1 + place * self.shard.of;
        (number < self.runs).then_some(number)
    }

    /// All numbers, ascending.
    pub fn all(self) -> impl ExactSizeIterator<Item = usize> {
        (self.shard.number - 1..self.runs).step_by(self.shard.of)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_the_whole() {
        let shards: Vec<_> = ["1/3", "2/3", "3/3"]
            .map(|text| Shard::parse(text).unwrap())
            .into();
        let numbers = |shard: &Shard| Numbers {
            shard: *shard,
            runs: 20,
        };
        let mut all: Vec<usize> = Vec::new();
        for numbers in shards.iter().map(numbers) {
            let listed: Vec<usize> = (0..).map_while(|place| numbers.get(place)).collect();
            assert_eq!(listed, numbers.all().collect::<Vec<_>>());
            assert_eq!(listed.len(), numbers.len());
            all.extend(listed);
        }
        all.sort_unstable();
        assert_eq!(all, (0..20).collect::<Vec<_>>());
        for text in [
            "", "3", "0/3", "4/3", "-1/3", "1/0", "1/100001", "a/b", "1/3/5",
        ] {
            assert!(Shard::parse(text).is_none(), "{text}");
        }
    }
}
