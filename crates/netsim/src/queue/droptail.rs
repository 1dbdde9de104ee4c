//! DropTail: a first-in-first-out queue limited in packets; who finds it full is lost.
//!
//! On a link of known rate the departure of a packet is known when it arrives, so the queue needs
//! no event of its own: it compares departures with the time of the next arrival. It does even that
//! only when the queue would, with the arriving packet, look longer than it ever was; until then
//! the count is an upper bound that nobody needs more exactly.

use crate::time::{Span, Time};

/// A packet-limited FIFO.
///
/// `limit` is the number of packets that may **wait** while one is being sent: a link with a limit
/// of 9 holds up to 10. A packet whose last bit leaves at the instant another arrives is gone.
#[derive(Clone, Debug)]
pub struct DropTail {
    limit: usize,
    /// Packets that entered and are not known to have left, the one being sent included.
    held: usize,
    /// The most packets that ever waited at once.
    longest: usize,
    /// The time that all packets together wait, known as they enter (ns · packets).
    waited: u64,
}

impl DropTail {
    /// An empty queue in which up to `limit` packets wait.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            held: 0,
            longest: 0,
            waited: 0,
        }
    }

    /// How many packets may wait.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The most packets that ever waited at once.
    pub(crate) const fn longest(&self) -> usize {
        self.longest
    }

    /// The time that all packets together wait: the integral of the queue's length over time, once
    /// those that still wait are done (Little's law).
    pub(crate) const fn waited(&self) -> u64 {
        self.waited
    }

    /// Whether a packet may enter now. `newest(i)` is the departure of the i-th newest packet held.
    pub(crate) fn admits(&mut self, now: Time, newest: impl Fn(usize) -> Time) -> bool {
        // With this packet, `held` would wait behind the one being sent.
        if self.held > self.longest {
            while self.held > 0 && newest(self.held - 1) <= now {
                self.held -= 1;
            }
        }
        self.held <= self.limit
    }

    /// A packet that was admitted enters and will wait for `wait`.
    pub(crate) fn enter(&mut self, wait: Span) {
        if self.held > self.longest {
            self.longest = self.held;
        }
        self.held += 1;
        self.waited += wait.as_nanos();
    }

    /// The link now holds only `inside` packets, so the queue does not hold more.
    pub(crate) fn at_most(&mut self, inside: usize) {
        self.held = self.held.min(inside);
    }
}
