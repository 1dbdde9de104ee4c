//! Which segments have arrived: everything before `next`, and a bit for each beyond.

/// Segments that have arrived, in any order.
#[derive(Clone, Debug)]
pub(crate) struct Reassembly {
    /// All before this one have arrived, and this one has not.
    pub(crate) next: u64,
    /// How many beyond have.
    held: u32,
    /// A ring: the bit of segment s is bit s % 64 of word s / 64.
    bits: Box<[u64]>,
}

impl Reassembly {
    /// Nothing has arrived.
    pub(crate) fn new() -> Self {
        Self {
            next: 0,
            held: 0,
            bits: Box::new([]),
        }
    }

    /// Whether some are missing before others that have arrived.
    #[inline]
    pub(crate) fn has_gap(&self) -> bool {
        self.held > 0
    }

    /// How many have arrived beyond one that is missing.
    #[inline]
    pub(crate) fn held(&self) -> u64 {
        self.held.into()
    }

    /// A segment arrives. Returns how many are now in order that were not; `None` for one that was there already.
    #[inline]
    pub(crate) fn insert(&mut self, seq: u64) -> Option<u32> {
        if seq == self.next {
            self.next += 1;
            return Some(if self.held == 0 {
                1
            } else {
                1 + self.advance()
            });
        }
        self.insert_apart(seq)
    }

    fn insert_apart(&mut self, seq: u64) -> Option<u32> {
        if seq < self.next {
            return None;
        }
        self.make_room(seq);
        let (word, bit) = self.place(seq);
        if self.bits[word] & bit != 0 {
            return None;
        }
        self.bits[word] |= bit;
        self.held += 1;
        Some(0)
    }

    #[inline]
    fn place(&self, seq: u64) -> (usize, u64) {
        ((seq / 64) as usize & (self.bits.len() - 1), 1 << (seq % 64))
    }

    /// Takes what follows `next` without a gap.
    fn advance(&mut self) -> u32 {
        let mut count = 0;
        while self.held > 0 {
            let (word, _) = self.place(self.next);
            let shift = self.next % 64;
            let run = (self.bits[word] >> shift).trailing_ones();
            if run == 0 {
                break;
            }
            let mask = if run == 64 { u64::MAX } else { (1 << run) - 1 };
            self.bits[word] &= !(mask << shift);
            self.next += u64::from(run);
            self.held -= run;
            count += run;
        }
        count
    }

    /// The ring holds `next` to `seq`, and a word is never shared by two turns of it.
    #[inline]
    fn make_room(&mut self, seq: u64) {
        let words = (seq / 64 - self.next / 64 + 2) as usize;
        if words > self.bits.len() {
            self.grow(words);
        }
    }

    #[cold]
    fn grow(&mut self, words: usize) {
        let larger = vec![0; words.next_power_of_two().max(4)].into_boxed_slice();
        let old = std::mem::replace(&mut self.bits, larger);
        for i in 0..old.len() as u64 {
            let word = self.next / 64 + i;
            let mask = self.bits.len() - 1;
            self.bits[word as usize & mask] = old[word as usize & (old.len() - 1)];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn agrees_with_a_set(arrivals in proptest::collection::vec(0u64..300, 1..200), stretch in prop_oneof![Just(1u64), Just(7), Just(97)]) {
            let mut ours = Reassembly::new();
            let mut set = BTreeSet::new();
            for seq in arrivals.into_iter().map(|seq| seq * stretch % 1500) {
                let before = ours.next;
                let new = set.insert(seq);
                let got = ours.insert(seq);
                prop_assert_eq!(got.is_some(), new);
                let next = (0..).find(|s| !set.contains(s)).unwrap();
                prop_assert_eq!(ours.next, next);
                prop_assert_eq!(u64::from(got.unwrap_or(0)), next - before);
                prop_assert_eq!(ours.has_gap(), set.range(next..).next().is_some());
            }
        }
    }
}
