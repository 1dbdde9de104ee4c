//! Timers of the endpoints.
//!
//! Setting a timer to a later time leaves it where it is in the order of timers; it is moved when its old time comes.
//! Retransmission timers move with every ACK and hardly ever fire, so that nearly all settings cost one store and one
//! comparison.

use netsim::{Span, Time, Tournament};

/// Number of a timer.
pub(crate) type TimerId = u32;

/// Later than any event.
pub(crate) const NEVER: Time = Time::from_nanos(u64::MAX);

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Time at which the timer fires.
    due: Time,
    /// Time at which the timer stands in the order, no later than `due`.
    queued: Time,
}

/// Timers, numbered from 0.
#[derive(Debug)]
pub(crate) struct Timers<K> {
    /// Owner of each timer.
    owners: Vec<K>,
    slots: Vec<Slot>,
    /// Timers by `queued`.
    order: Tournament,
    /// `queued` of the first timer, or `limit` if that is earlier.
    next: Time,
    limit: Time,
}

impl<K> Default for Timers<K> {
    fn default() -> Self {
        Self {
            owners: Vec::new(),
            slots: Vec::new(),
            order: Tournament::new(),
            next: NEVER,
            limit: NEVER,
        }
    }
}

impl<K: Copy> Timers<K> {
    /// Adds a timer that is not set.
    pub(crate) fn add(&mut self, owner: K) -> TimerId {
        self.owners.push(owner);
        self.slots.push(Slot {
            due: NEVER,
            queued: NEVER,
        });
        self.order.add();
        self.owners.len() as TimerId - 1
    }

    /// Sets a limit of [`next`](Self::next): the end of a run.
    pub(crate) fn limit(&mut self, limit: Time) {
        self.limit = limit;
        self.update_next();
    }

    fn update_next(&mut self) {
        self.next = (self.order.first()).map_or(self.limit, |(at, _)| at.min(self.limit));
    }

    /// Sets a timer, set or not.
    #[inline]
    pub(crate) fn set(&mut self, timer: TimerId, due: Time) {
        let slot = &mut self.slots[timer as usize];
        slot.due = due;
        if due < slot.queued {
            self.queue(timer as usize, due);
        }
    }

    /// Clears a timer.
    #[inline]
    pub(crate) fn clear(&mut self, timer: TimerId) {
        self.slots[timer as usize].due = NEVER;
    }

    /// Time until a timer fires; none if it is not set.
    pub(crate) fn remaining(&self, timer: TimerId, now: Time) -> Option<Span> {
        let due = self.slots[timer as usize].due;
        (due < NEVER).then(|| due.since(now))
    }

    /// Whether a timer is set.
    pub(crate) fn is_set(&self, timer: TimerId) -> bool {
        self.slots[timer as usize].due < NEVER
    }

    /// Lower bound of the time at which the next timer fires, at most the [limit](Self::limit).
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Clears a timer that is due at `now` and returns its owner. Of several the one with the lowest number comes
    /// first. None: every timer that was due by then has been set to a later time or cleared.
    ///
    /// # Panics
    /// If `now` is beyond the times that the order can hold ([`Tournament::horizon`]).
    pub(crate) fn fire(&mut self, now: Time) -> Option<K> {
        assert!(
            now < self.order.horizon(),
            "{now} is beyond the horizon of this number of timers"
        );
        while let Some((_, timer)) = self.order.first().filter(|(at, _)| *at <= now) {
            let slot = &mut self.slots[timer];
            let fires = slot.due <= now;
            if fires {
                slot.due = NEVER;
            }
            slot.queued = slot.due;
            let next = (slot.queued < self.order.horizon()).then_some(slot.queued);
            self.order.set_first(timer, next);
            self.update_next();
            if fires {
                return Some(self.owners[timer]);
            }
        }
        None
    }

    fn queue(&mut self, timer: usize, at: Time) {
        self.slots[timer].queued = at;
        // `fire` panics before a run reaches the horizon.
        self.order
            .set(timer, (at < self.order.horizon()).then_some(at));
        self.update_next();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ns: u64) -> Time {
        Time::from_nanos(ns)
    }

    #[test]
    fn timers_that_are_still_set_fire_in_order() {
        let mut timers = Timers::default();
        let [a, b, c] = [0, 1, 2].map(|owner| timers.add(owner));
        timers.set(a, at(10));
        timers.set(b, at(20));
        timers.set(c, at(5));
        timers.set(a, at(30)); // later
        timers.set(b, at(15)); // earlier
        timers.clear(c);
        assert_eq!(timers.fire(at(5)), None);
        assert_eq!(timers.fire(at(14)), None);
        assert_eq!(timers.fire(at(20)), Some(b));
        assert_eq!(timers.fire(at(20)), None);
        assert_eq!(timers.next(), at(30));
        assert_eq!(timers.fire(at(30)), Some(a));
        assert_eq!(timers.next(), NEVER);
        timers.set(a, at(40));
        assert_eq!(timers.fire(at(40)), Some(a));
    }

    #[test]
    fn timers_of_one_instant_fire_in_the_order_of_their_numbers() {
        let mut timers = Timers::default();
        let all: Vec<u32> = (0..5).map(|owner| timers.add(owner)).collect();
        all.iter().rev().for_each(|&timer| timers.set(timer, at(7)));
        let fired: Vec<u32> = std::iter::from_fn(|| timers.fire(at(7))).collect();
        assert_eq!(fired, all);
    }

    proptest! {
        /// Comparison with a list that is searched, while timers are added, set, cleared and fire.
        #[test]
        fn agrees_with_a_searched_list(steps in proptest::collection::vec((0u8..10, any::<prop::sample::Index>(), 0u64..50), 1..400)) {
            let mut timers = Timers::default();
            let mut list: Vec<Option<Time>> = Vec::new();
            let mut now = 0;
            for (what, which, ahead) in steps {
                if what < 3 || list.is_empty() {
                    prop_assert_eq!(timers.add(list.len() as u32) as usize, list.len());
                    list.push(None);
                    continue;
                }
                let timer = which.index(list.len());
                match what {
                    3..7 => {
                        timers.set(timer as u32, at(now + ahead));
                        list[timer] = Some(at(now + ahead));
                    }
                    7 => {
                        timers.clear(timer as u32);
                        list[timer] = None;
                    }
                    _ => {
                        now += ahead;
                        let due = |timer: &usize| list[*timer].filter(|due| *due <= at(now));
                        let all: Vec<usize> = (0..list.len()).filter(|timer| due(timer).is_some()).collect();
                        let mut fired: Vec<usize> = std::iter::from_fn(|| timers.fire(at(now)))
                            .map(|timer| timer as usize)
                            .collect();
                        fired.sort_unstable();
                        prop_assert_eq!(&fired, &all);
                        all.into_iter().for_each(|timer| list[timer] = None);
                    }
                }
                let first = list.iter().flatten().min();
                prop_assert!(first.is_none_or(|first| timers.next() <= *first));
            }
        }
    }
}
