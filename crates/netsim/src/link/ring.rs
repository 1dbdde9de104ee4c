//! The packets of a link in order, each with its departure time.
//!
//! A first-in-first-out ring whose capacity is a power of two. Head and tail are numbers that only increase, so they also count the
//! pushed and popped items. With `VecDeque` a hop over 4 links takes 10 % longer (`benches/forwarding.rs`). A copy of the head is
//! outside the ring: reading it takes one load instead of three dependent loads (`one-connection` of bench/ takes 3 % less,
//! `fat-tree-8` 12 %).

use std::mem::MaybeUninit;

use crate::time::Time;

/// Smallest allocated capacity.
const LEAST: usize = 4;

#[derive(Debug)]
pub(crate) struct Ring<T> {
    /// No place, or a power of two. Item `n` is in place `n` modulo the number of places. The items `head..tail` are initialised.
    places: Box<[MaybeUninit<(Time, T)>]>,
    /// The head, if there is one; it is popped from here. Its place in `places` holds the same bytes, for shared access only.
    first: MaybeUninit<(Time, T)>,
    head: u64,
    tail: u64,
}

impl<T> Ring<T> {
    pub(crate) fn new() -> Self {
        Self {
            places: Box::default(),
            first: MaybeUninit::uninit(),
            head: 0,
            tail: 0,
        }
    }

    #[inline]
    pub(crate) const fn len(&self) -> usize {
        (self.tail - self.head) as usize
    }

    /// Number of items ever pushed.
    #[inline]
    pub(crate) const fn pushed(&self) -> u64 {
        self.tail
    }

    /// Number of items ever popped.
    #[inline]
    pub(crate) const fn popped(&self) -> u64 {
        self.head
    }

    /// The place of item `number`.
    ///
    /// # Safety
    /// The number of places is not zero.
    #[inline]
    unsafe fn place(&mut self, number: u64) -> &mut MaybeUninit<(Time, T)> {
        let place = number as usize & (self.places.len() - 1);
        // SAFETY: the number of places is a power of two; the mask is one less.
        unsafe { self.places.get_unchecked_mut(place) }
    }

    /// The time of the head.
    #[inline]
    pub(crate) fn first_time(&self) -> Option<Time> {
        if self.len() == 0 {
            return None;
        }
        let place = self.head as usize & (self.places.len() - 1);
        // SAFETY: the head is in the ring, so its place exists and is initialised.
        Some(unsafe { self.places.get_unchecked(place).assume_init_ref() }.0)
    }

    /// The `i`-th newest item and its time.
    #[inline]
    pub(crate) fn newest(&self, i: usize) -> Option<&(Time, T)> {
        if i >= self.len() {
            return None;
        }
        let place = (self.tail - 1 - i as u64) as usize & (self.places.len() - 1);
        // SAFETY: this item is in the ring, so its place exists and is initialised.
        Some(unsafe { self.places.get_unchecked(place).assume_init_ref() })
    }

    /// Adds an item. Returns whether it is the head.
    #[inline]
    pub(crate) fn push(&mut self, time: Time, item: T) -> bool {
        if self.len() == self.places.len() {
            self.grow();
        }
        let is_first = self.len() == 0;
        // SAFETY: after `grow` there is an unused place.
        unsafe { self.place(self.tail) }.write((time, item));
        self.tail += 1;
        if is_first {
            // SAFETY: the ring is not empty.
            unsafe { self.copy_head() };
        }
        is_first
    }

    #[inline]
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.len() == 0 {
            return None;
        }
        // SAFETY: there is a head. `head` is increased below, so that no item is read out twice.
        let (_, item) = unsafe { self.first.assume_init_read() };
        self.head += 1;
        if self.len() > 0 {
            // SAFETY: the ring is not empty.
            unsafe { self.copy_head() };
        }
        Some(item)
    }

    /// Copies the head to `first`.
    ///
    /// # Safety
    /// The ring is not empty.
    #[inline]
    unsafe fn copy_head(&mut self) {
        // SAFETY: the ring is not empty, so it has places. A `MaybeUninit` may be copied.
        self.first = unsafe { std::ptr::read(self.place(self.head)) };
    }

    /// The times, newest first.
    pub(crate) fn times(&self) -> impl Iterator<Item = Time> {
        (0..self.len()).filter_map(|i| self.newest(i).map(|(time, _)| *time))
    }

    /// Doubles the number of places.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let mut more: Vec<MaybeUninit<(Time, T)>> = Vec::new();
        more.resize_with((2 * self.len()).max(LEAST), MaybeUninit::uninit);
        let mask = more.len() - 1;
        for number in self.head..self.tail {
            // SAFETY: each item moves from its old place to its new place; no item is left in the old places when they are freed.
            more[number as usize & mask] =
                unsafe { MaybeUninit::new(self.place(number).assume_init_read()) };
        }
        self.places = more.into();
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
            // Reference counts reveal an item that is dropped twice or never.
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
                prop_assert_eq!(ring.pushed() - ring.popped(), model.len() as u64);
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
