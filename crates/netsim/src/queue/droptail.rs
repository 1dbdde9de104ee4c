//! DropTail: a first-in-first-out queue of limited length; who finds it full is lost.
//!
//! On a link of known rate the departure of a packet is known when it arrives, so the queue needs
//! no event of its own: it compares departures with the time of the next arrival. It does even that
//! only when the queue would, with the arriving packet, look full or longer than it ever was; until
//! then the count is an upper bound that nobody needs more exactly.

use crate::link::Count;
use crate::packet::{Packet, Payload};
use crate::queue::{Backlog, Ledger};
use crate::time::{Span, Time};

/// How long a DropTail queue may become.
///
/// The limit is on what **waits** while one packet is being sent: a link with a limit of 9 packets
/// holds up to 10. A packet that finds nobody sending is sent whatever the limit. A packet whose
/// last bit leaves at the instant another arrives is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropTail {
    packets: u64,
    bytes: u64,
    /// An arriving packet that finds more waiting is marked.
    mark_above: Option<u64>,
}

impl DropTail {
    /// Up to `limit` packets wait.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            packets: limit as u64,
            bytes: u64::MAX,
            mark_above: None,
        }
    }

    /// Packets of up to `limit` bytes together wait.
    #[must_use]
    pub const fn bytes(limit: u64) -> Self {
        Self {
            packets: u64::MAX,
            bytes: limit,
            mark_above: None,
        }
    }

    /// Marks an arriving packet, if it is ECN-capable, when more than `packets` wait: the queue of
    /// DCTCP (RFC 8257 section 3.1).
    #[must_use]
    pub const fn mark_above(self, packets: usize) -> Self {
        Self {
            mark_above: Some(packets as u64),
            ..self
        }
    }

    /// Whether it only drops, so that departures follow from arrivals alone.
    pub(crate) const fn is_plain(&self) -> bool {
        self.mark_above.is_none()
    }
}

/// A DropTail queue as a count of the packets in it, for a link that knows their departures.
#[derive(Debug)]
pub(crate) struct Occupancy {
    queue: DropTail,
    /// Of all packets that entered, those known to have left the queue. The others are held, the
    /// one being sent included.
    gone: Count,
    /// The most packets that ever waited at once.
    longest: u64,
    /// The time that all packets together wait, known as they enter (ns · packets).
    waited: u64,
}

impl Occupancy {
    pub(crate) const fn new(queue: DropTail) -> Self {
        Self {
            queue,
            gone: Count {
                packets: 0,
                bytes: 0,
            },
            longest: 0,
            waited: 0,
        }
    }

    /// The most packets that ever waited at once.
    pub(crate) const fn longest(&self) -> u64 {
        self.longest
    }

    /// The time that all packets together wait: the integral of the queue's length over time, once
    /// those that still wait are done (Little's law).
    pub(crate) const fn waited(&self) -> u64 {
        self.waited
    }

    /// Whether a packet of `bytes` may enter now, after those that `entered`, of which some `left`
    /// the link. `newest(i)` is the departure and the size of the i-th newest packet.
    #[inline]
    pub(crate) fn admits(
        &mut self,
        now: Time,
        bytes: u32,
        entered: Count,
        left: Count,
        newest: impl Fn(usize) -> Option<(Time, u32)>,
    ) -> bool {
        // Who left the link has left the queue, too.
        if self.gone.packets < left.packets {
            self.gone = left;
        }
        // With this packet, `held` would wait behind the one being sent.
        let held = entered.packets - self.gone.packets;
        let held_bytes = entered.bytes - self.gone.bytes;
        // `longest` was admitted, so it is no more than the limit.
        if held <= self.longest && held_bytes + u64::from(bytes) <= self.queue.bytes {
            return true;
        }
        self.count(now, bytes, entered, newest)
    }

    /// The same, after counting out who departed.
    #[cold]
    #[inline(never)]
    fn count(
        &mut self,
        now: Time,
        bytes: u32,
        entered: Count,
        newest: impl Fn(usize) -> Option<(Time, u32)>,
    ) -> bool {
        let mut held = entered.packets - self.gone.packets;
        let mut being_sent = 0;
        while held > 0 {
            let (departure, size) = newest(held as usize - 1).expect("the link holds it");
            if departure > now {
                being_sent = u64::from(size);
                break;
            }
            self.gone.add(size);
            held -= 1;
        }
        let waiting_bytes = entered.bytes - self.gone.bytes - being_sent;
        let admitted = held == 0
            || held <= self.queue.packets && waiting_bytes + u64::from(bytes) <= self.queue.bytes;
        if admitted {
            self.longest = self.longest.max(held);
        }
        admitted
    }

    /// A packet that was admitted will wait for `wait`.
    #[inline]
    pub(crate) const fn wait(&mut self, wait: Span) {
        self.waited += wait.as_nanos();
    }
}

/// A DropTail queue at work, on a link that does not know departures beforehand.
#[derive(Debug)]
pub(crate) struct DropTailQueue<P> {
    queue: DropTail,
    pub(crate) backlog: Backlog<P>,
}

impl<P: Payload> DropTailQueue<P> {
    pub(crate) const fn new(queue: DropTail) -> Self {
        Self {
            queue,
            backlog: Backlog::new(),
        }
    }

    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        mut packet: Packet<P>,
        must_wait: bool,
        ledger: &mut Ledger<P>,
    ) -> Result<(), Packet<P>> {
        let waiting = self.backlog.len() as u64;
        let bytes = self.backlog.bytes() + u64::from(packet.bytes);
        if must_wait && (waiting >= self.queue.packets || bytes > self.queue.bytes) {
            return Err(packet);
        }
        let long = self.queue.mark_above.is_some_and(|limit| waiting > limit);
        ledger.mark(long, &mut packet);
        self.backlog.push(now, packet);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::segment;

    #[test]
    fn packets_above_the_threshold_are_marked() {
        let mut queue = DropTailQueue::new(DropTail::new(5).mark_above(2));
        let mut ledger = Ledger::new();
        let marked: Vec<bool> = (0..6)
            .map(|number| {
                let mut packet = segment(0, number, 1500);
                // One of those above the threshold is not ECN-capable.
                packet.payload.capable = number != 4;
                queue.enqueue(Time::ZERO, packet, true, &mut ledger).is_ok()
                    && queue.backlog.packets.back().unwrap().1.payload.marked
            })
            .collect();
        assert_eq!(marked, [false, false, false, true, false, false]);
        assert_eq!((queue.backlog.len(), ledger.marks), (5, 1));
    }
}
