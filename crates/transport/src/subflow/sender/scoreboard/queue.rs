//! The entries of a scoreboard, in order: a ring whose number of places is a power of two. Each new burst and each ACK uses the
//! ends; SACK blocks insert and remove entries between them. (With `VecDeque` a hop takes 1 % more instructions.)

use super::Skb;
use std::ops::{Index, IndexMut};

/// Smallest number of places.
const LEAST: usize = 4;

/// A queue of entries.
#[derive(Clone, Debug, Default)]
pub(super) struct Queue {
    /// No place, or a power of two. Entry `n` is in place `n` modulo the number of places.
    places: Box<[Skb]>,
    /// Number of the first entry. Entries are numbered in the order in which they were added.
    head: usize,
    /// Number of the entry after the last one.
    tail: usize,
}

impl Queue {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    /// Place of the entry with this number.
    #[inline]
    fn place(&self, number: usize) -> usize {
        number & self.places.len().wrapping_sub(1)
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> Option<&Skb> {
        (index < self.len()).then(|| &self.places[self.place(self.head.wrapping_add(index))])
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: usize) -> Option<&mut Skb> {
        let place = self.place(self.head.wrapping_add(index));
        (index < self.len()).then(|| &mut self.places[place])
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &Skb> + ExactSizeIterator {
        (0..self.len()).map(|index| &self[index])
    }

    #[inline]
    pub(super) fn push_back(&mut self, skb: Skb) {
        if self.len() == self.places.len() {
            self.grow();
        }
        let place = self.place(self.tail);
        self.places[place] = skb;
        self.tail = self.tail.wrapping_add(1);
    }

    /// Removes the first entry, which exists.
    #[inline]
    pub(super) fn pop_front(&mut self) {
        debug_assert!(self.len() > 0);
        self.head = self.head.wrapping_add(1);
    }

    /// Inserts an entry before the one with this index.
    pub(super) fn insert(&mut self, index: usize, skb: Skb) {
        self.push_back(skb);
        for index in (index..self.len() - 1).rev() {
            self[index + 1] = self[index];
        }
        self[index] = skb;
    }

    /// Removes the entry with this index.
    pub(super) fn remove(&mut self, index: usize) -> Option<Skb> {
        let removed = *self.get(index)?;
        for index in index..self.len() - 1 {
            self[index] = self[index + 1];
        }
        self.tail = self.tail.wrapping_sub(1);
        Some(removed)
    }

    /// Index of the first entry that does not satisfy `before`; entries that do come first.
    pub(super) fn partition_point(&self, before: impl Fn(&Skb) -> bool) -> usize {
        let (mut from, mut until) = (0, self.len());
        while from < until {
            let middle = (from + until) / 2;
            if before(&self[middle]) {
                from = middle + 1;
            } else {
                until = middle;
            }
        }
        from
    }

    /// Doubles the number of places.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut places: Vec<Skb> = self.iter().copied().collect();
        (self.head, self.tail) = (0, places.len());
        places.resize((2 * places.len()).max(LEAST), Skb::default());
        self.places = places.into();
    }
}

impl Index<usize> for Queue {
    type Output = Skb;

    #[inline]
    fn index(&self, index: usize) -> &Skb {
        debug_assert!(index < self.len());
        &self.places[self.place(self.head.wrapping_add(index))]
    }
}

impl IndexMut<usize> for Queue {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut Skb {
        debug_assert!(index < self.len());
        let place = self.place(self.head.wrapping_add(index));
        &mut self.places[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn it_is_a_vec_deque(
            steps in proptest::collection::vec((0u8..8, any::<prop::sample::Index>(), 0u64..99), 0..200),
        ) {
            let mut queue = Queue::default();
            let mut model = VecDeque::new();
            for (what, index, seq) in steps {
                let skb = Skb { seq, ..Skb::default() };
                let index = index.index(model.len() + 1);
                match what {
                    0..4 => {
                        queue.push_back(skb);
                        model.push_back(skb);
                    }
                    4 => {
                        queue.insert(index, skb);
                        model.insert(index, skb);
                    }
                    5 => prop_assert_eq!(queue.remove(index), model.remove(index)),
                    6 => if model.pop_front().is_some() {
                        queue.pop_front();
                    },
                    _ => if let Some(skb) = model.get_mut(index) {
                        skb.seq = seq;
                        queue.get_mut(index).unwrap().seq = seq;
                    },
                }
                prop_assert!(queue.iter().eq(model.iter()));
                prop_assert_eq!((queue.len(), queue.get(index)), (model.len(), model.get(index)));
                let sorted: Queue = {
                    let mut all: Vec<Skb> = model.iter().copied().collect();
                    all.sort_by_key(|skb| skb.seq);
                    let mut sorted = Queue::default();
                    all.into_iter().for_each(|skb| sorted.push_back(skb));
                    sorted
                };
                let count = model.iter().filter(|skb| skb.seq < 50).count();
                prop_assert_eq!(sorted.partition_point(|skb| skb.seq < 50), count);
            }
        }
    }
}
