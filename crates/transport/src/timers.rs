//! Timers, one each for whoever has one: a lazy heap.
//!
//! A timer that is set later than it was before leaves the heap alone; it is looked at again when the old time comes.
//! Retransmission timers move with every ACK and hardly ever fire, so that nearly all settings cost two stores.

use netsim::Time;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No time at all.
const NEVER: Time = Time::from_nanos(u64::MAX);

#[derive(Clone, Copy, Debug)]
struct Slot {
    /// When it is to fire.
    due: Time,
    /// The earliest entry in the heap.
    queued: Time,
}

/// Timers, numbered from 0.
#[derive(Debug)]
pub(crate) struct Timers {
    slots: Vec<Slot>,
    /// The earliest of the heap's.
    next: Time,
    heap: BinaryHeap<Reverse<(Time, u32)>>,
}

impl Default for Timers {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            next: NEVER,
            heap: BinaryHeap::new(),
        }
    }
}

impl Timers {
    /// One more timer, not set.
    pub(crate) fn add(&mut self) -> u32 {
        self.slots.push(Slot {
            due: NEVER,
            queued: NEVER,
        });
        self.slots.len() as u32 - 1
    }

    /// Sets a timer, whatever it was set to.
    #[inline]
    pub(crate) fn set(&mut self, timer: u32, due: Time) {
        let slot = &mut self.slots[timer as usize];
        slot.due = due;
        if due < slot.queued {
            slot.queued = due;
            self.next = self.next.min(due);
            self.heap.push(Reverse((due, timer)));
        }
    }

    /// The timer will not fire.
    #[inline]
    pub(crate) fn clear(&mut self, timer: u32) {
        self.slots[timer as usize].due = NEVER;
    }

    /// Whether it will fire.
    #[cfg(debug_assertions)]
    pub(crate) fn is_set(&self, timer: u32) -> bool {
        self.slots[timer as usize].due < NEVER
    }

    /// No timer fires before this.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// Takes a timer that fires at `now`; none where what was due by then has been set to later or cleared.
    pub(crate) fn fire(&mut self, now: Time) -> Option<u32> {
        let timer = self.take(now);
        self.next = (self.heap.peek()).map_or(NEVER, |Reverse((at, _))| *at);
        timer
    }

    fn take(&mut self, now: Time) -> Option<u32> {
        while let Some(Reverse((at, timer))) = self.heap.peek().copied() {
            if at > now {
                break;
            }
            self.heap.pop();
            let slot = &mut self.slots[timer as usize];
            if at != slot.queued {
                continue; // an earlier entry took its place
            }
            slot.queued = NEVER;
            if slot.due <= now {
                slot.due = NEVER;
                return Some(timer);
            }
            if slot.due < NEVER {
                slot.queued = slot.due;
                self.heap.push(Reverse((slot.due, timer)));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ns: u64) -> Time {
        Time::from_nanos(ns)
    }

    #[test]
    fn fires_in_order_what_is_still_set() {
        let mut timers = Timers::default();
        let [a, b, c] = [(); 3].map(|()| timers.add());
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
        let all: Vec<u32> = (0..5).map(|_| timers.add()).collect();
        all.iter().rev().for_each(|&timer| timers.set(timer, at(7)));
        let fired: Vec<u32> = std::iter::from_fn(|| timers.fire(at(7))).collect();
        assert_eq!(fired, all);
    }
}
