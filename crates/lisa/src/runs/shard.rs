//! The part of a sweep that one of several processes runs: `--shard 2/3`.

use std::fmt;

use crate::values::Form;

/// Most parts of a sweep.
const MOST: usize = 100_000;

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

    /// Parses the value of an option.
    pub fn parser() -> Form<Self> {
        let form = format!(
            "the part and the number of parts, such as 1/3, 2/3 and 3/3, of at most {MOST}"
        );
        Form::new(form, |text| Self::parse(text).ok_or_else(String::new))
    }

    /// Parses `2/3`.
    pub fn parse(text: &str) -> Option<Self> {
        let number = |text: &str| text.trim().parse::<usize>().ok();
        let parts = text.split_once('/');
        let parts = parts.and_then(|(a, b)| Some((number(a)?, number(b)?)));
        let (number, of) = parts?;
        ((1..=of).contains(&number) && of <= MOST).then_some(Self { number, of })
    }
}

/// Numbers of the runs of a part, from 0.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    pub shard: Shard,
    /// Number of the runs of all parts together.
    pub runs: usize,
}

impl Numbers {
    /// How many there are.
    pub fn len(self) -> usize {
        self.all().len()
    }

    /// The number at this place.
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
