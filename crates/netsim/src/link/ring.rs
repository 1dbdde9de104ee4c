//! The packets of a link in order, each with the time at which it departs.
//!
//! A first-in-first-out ring whose capacity is a power of two. A ring that becomes empty starts
//! again at its first places, which are still in the cache. With `VecDeque` in its place a hop over
//! 4 links takes a tenth longer (`benches/forwarding.rs`).

use std::mem::MaybeUninit;

use crate::time::Time;

/// The least capacity that is ever allocated.
const LEAST: usize = 4;

#[derive(Debug)]
pub(crate) struct Ring<T> {
    /// None or a power of two of places. Those from `head` on, `len` of them and round the end, are
    /// in use; the others hold nothing.
    places: Box<[MaybeUninit<(Time, T)>]>,
    head: usize,
    len: usize,
}

impl<T> Ring<T> {
    pub(crate) fn new() -> Self {
        Self {
            places: Box::default(),
            head: 0,
            len: 0,
        }
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        self.len
    }

    /// The place of the `i`-th item from the head.
    #[inline]
    fn place(&self, i: usize) -> usize {
        (self.head + i) & (self.places.len() - 1)
    }

    #[inline]
    fn get(&self, i: usize) -> Option<&(Time, T)> {
        if i >= self.len {
            return None;
        }
        // SAFETY: `i` is less than `len`, so the place is in use.
        Some(unsafe { self.places[self.place(i)].assume_init_ref() })
    }

    /// The time of the head.
    #[inline]
    pub(crate) fn first_time(&self) -> Option<Time> {
        self.get(0).map(|(time, _)| *time)
    }

    /// The `i`-th newest item and its time.
    #[inline]
    pub(crate) fn newest(&self, i: usize) -> Option<&(Time, T)> {
        self.get(self.len.checked_sub(i + 1)?)
    }

    #[inline]
    pub(crate) fn push(&mut self, time: Time, item: T) {
        if self.len == self.places.len() {
            self.grow();
        }
        let place = self.place(self.len);
        self.places[place].write((time, item));
        self.len += 1;
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.len == 0 {
            return None;
        }
        // SAFETY: the place of the head is in use; after this it is not, so nothing is read twice.
        let (_, item) = unsafe { self.places[self.head].assume_init_read() };
        self.len -= 1;
        self.head = if self.len == 0 { 0 } else { self.place(1) };
        Some(item)
    }

    /// The times, newest first.
    pub(crate) fn times(&self) -> impl Iterator<Item = Time> {
        (0..self.len).filter_map(|i| self.newest(i).map(|(time, _)| *time))
    }

    /// Doubles the number of places and moves the head to the first.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let len = self.len;
        let mut places: Vec<MaybeUninit<(Time, T)>> = Vec::new();
        places.resize_with((2 * len).max(LEAST), MaybeUninit::uninit);
        for place in &mut places[..len] {
            let time = self.first_time().expect("len items");
            place.write((time, self.pop().expect("len items")));
        }
        *self = Self {
            places: places.into(),
            head: 0,
            len,
        };
    }
}

impl<T> Drop for Ring<T> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;
    use std::rc::Rc;

    proptest! {
        #[test]
        fn it_is_a_vec_deque(steps in prop::collection::vec(prop::option::weighted(0.6, 0..99u64), 0..300)) {
            // Reference counts show an item that is dropped twice or never.
            let mut model = VecDeque::new();
            let mut ring = Ring::new();
            for step in steps {
                if let Some(number) = step {
                    let item = Rc::new(number);
                    model.push_back(Rc::clone(&item));
                    ring.push(Time::from_nanos(number), item);
                } else {
                    prop_assert_eq!(ring.first_time(), model.front().map(|item| Time::from_nanos(**item)));
                    prop_assert_eq!(ring.pop(), model.pop_front());
                }
                prop_assert_eq!(ring.len(), model.len());
                prop_assert!(ring.times().eq(model.iter().rev().map(|item| Time::from_nanos(**item))));
                for i in 0..=model.len() {
                    prop_assert_eq!(ring.newest(i).map(|(_, item)| item), model.iter().rev().nth(i));
                }
            }
            drop(ring);
            prop_assert!(model.iter().all(|item| Rc::strong_count(item) == 1));
        }
    }
}
