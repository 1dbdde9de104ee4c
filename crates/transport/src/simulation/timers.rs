//! Timers, one each for whoever has one: a lazy tournament.
//!
//! A timer that is set later than it was before is looked at again when the old time comes, and nothing else is done.
//! Retransmission timers move with every ACK and hardly ever fire, so that nearly all settings cost two stores. To look
//! at one again costs three comparisons for each level of a tree, without a branch that could be mispredicted.

use netsim::{Span, Time};

/// Number of a timer.
pub(crate) type TimerId = u32;

/// No time at all.
pub(crate) const NEVER: Time = Time::from_nanos(u64::MAX);

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// When it is to fire.
    due: Time,
    /// When it is looked at, which is no later.
    look: Time,
}

impl Slot {
    const NOT_SET: Self = Self {
        due: NEVER,
        look: NEVER,
    };
}

/// Timers, numbered from 0.
#[derive(Debug)]
pub(crate) struct Timers<K> {
    /// Who each timer belongs to.
    owners: Vec<K>,
    /// A power of four of them; the first ones are in use.
    slots: Vec<Slot>,
    /// Level by level: the earliest look of each four, down to a level of four.
    above: Vec<Vec<Time>>,
    /// The earliest of all.
    next: Time,
}

impl<K> Default for Timers<K> {
    fn default() -> Self {
        Self {
            owners: Vec::new(),
            slots: vec![Slot::NOT_SET; 4],
            above: Vec::new(),
            next: NEVER,
        }
    }
}

impl<K: Copy> Timers<K> {
    /// One more timer, not set.
    pub(crate) fn add(&mut self, owner: K) -> TimerId {
        let count = self.owners.len();
        if count == self.slots.len() {
            // What there was becomes the first of four such trees.
            self.slots.resize(4 * count, Slot::NOT_SET);
            self.above.push(vec![self.next]);
            for (up, level) in self.above.iter_mut().rev().enumerate() {
                level.resize(4 << (2 * up), NEVER);
            }
        }
        self.owners.push(owner);
        count as TimerId
    }

    /// Sets a timer, whatever it was set to.
    #[inline]
    pub(crate) fn set(&mut self, timer: TimerId, due: Time) {
        let slot = &mut self.slots[timer as usize];
        slot.due = due;
        if due < slot.look {
            self.look_at(timer as usize, due);
        }
    }

    /// The timer will not fire.
    #[inline]
    pub(crate) fn clear(&mut self, timer: TimerId) {
        self.slots[timer as usize].due = NEVER;
    }

    /// How long it is until it fires; none where it will not.
    pub(crate) fn left(&self, timer: TimerId, now: Time) -> Option<Span> {
        let due = self.slots[timer as usize].due;
        (due < NEVER).then(|| due.since(now))
    }

    /// Whether it will fire.
    pub(crate) fn is_set(&self, timer: TimerId) -> bool {
        self.slots[timer as usize].due < NEVER
    }

    /// No timer fires before this.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Takes a timer that fires at `now`, of those of one instant the one with the least number; none where what was due
    /// by then has been set to later or cleared.
    pub(crate) fn fire(&mut self, now: Time) -> Option<K> {
        while self.next <= now {
            let timer = self.first();
            let due = self.slots[timer].due;
            if due <= now {
                self.slots[timer].due = NEVER;
                self.look_at(timer, NEVER);
                return Some(self.owners[timer]);
            }
            self.look_at(timer, due);
        }
        None
    }

    /// The timer that is looked at next.
    fn first(&self) -> usize {
        let mut node = 0;
        for level in self.above.iter().rev() {
            node = 4 * node + first_of(level[4 * node..][..4].iter(), &self.next);
        }
        4 * node
            + first_of(
                self.slots[4 * node..][..4].iter().map(|slot| &slot.look),
                &self.next,
            )
    }

    fn look_at(&mut self, timer: usize, at: Time) {
        self.slots[timer].look = at;
        let mut node = timer / 4;
        let [a, b, c, d] = self.slots[4 * node..][..4] else {
            unreachable!("fours")
        };
        let mut least = a.look.min(b.look).min(c.look.min(d.look));
        for level in &mut self.above {
            level[node] = least;
            node /= 4;
            let [a, b, c, d] = level[4 * node..][..4] else {
                unreachable!("fours")
            };
            least = a.min(b).min(c.min(d));
        }
        self.next = least;
    }
}

/// Which of four it is.
fn first_of<'a>(mut four: impl Iterator<Item = &'a Time>, time: &Time) -> usize {
    four.position(|other| other == time)
        .expect("the least is one of them")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ns: u64) -> Time {
        Time::from_nanos(ns)
    }

    #[test]
    fn fires_in_order_what_is_still_set() {
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
    fn at_the_same_instant_in_the_order_of_their_numbers() {
        let mut timers = Timers::default();
        let all: Vec<u32> = (0..5).map(|owner| timers.add(owner)).collect();
        all.iter().rev().for_each(|&timer| timers.set(timer, at(7)));
        let fired: Vec<u32> = std::iter::from_fn(|| timers.fire(at(7))).collect();
        assert_eq!(fired, all);
    }

    proptest! {
        /// Against a list that is searched: timers that are added, set, cleared and fire.
        #[test]
        fn agrees_with_a_list(steps in proptest::collection::vec((0u8..10, any::<prop::sample::Index>(), 0u64..50), 1..400)) {
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
