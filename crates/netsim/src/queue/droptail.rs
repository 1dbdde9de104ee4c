//! DropTail: a first-in-first-out queue of limited length; who finds it full is lost.
//!
//! On a link of known rate the departure of a packet is known when it arrives, so the queue needs
//! no event of its own and no count of who waits. Each arrival adds one packet at most to those
//! that wait, so there are more than ever before exactly if the packet that is as many places from
//! the end as ever waited has not departed: one comparison tells.

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

/// A DropTail queue of a link that knows its packets' departures.
#[derive(Debug)]
pub(crate) struct Occupancy {
    /// How many packets may wait. 32 bits, here and below, are more packets than a memory holds.
    packets: u32,
    /// The most packets that ever waited at once.
    longest: u32,
    /// The time that all packets together wait, known as they enter (ns · packets), and how often
    /// that has gone beyond 64 bits: a thousand packets do in 214 days.
    waited: u64,
    beyond: u64,
    /// The limit in bytes, if there is one; away from the rest, because most queues have none.
    bytes: Option<Box<Bytes>>,
}

/// A queue's limit in bytes.
#[derive(Debug)]
struct Bytes {
    limit: u64,
    /// Of all packets that entered, those known to have departed.
    gone: Count,
}

impl Occupancy {
    pub(crate) fn new(queue: DropTail) -> Self {
        let bytes = |limit| {
            let gone = Count::default();
            Box::new(Bytes { limit, gone })
        };
        Self {
            packets: u32::try_from(queue.packets).unwrap_or(u32::MAX),
            longest: 0,
            waited: 0,
            beyond: 0,
            bytes: (queue.bytes < u64::MAX).then(|| bytes(queue.bytes)),
        }
    }

    /// The most packets that ever waited at once.
    pub(crate) fn longest(&self) -> u64 {
        self.longest.into()
    }

    /// The time that all packets together wait: the integral of the queue's length over time, once
    /// those that still wait are done (Little's law).
    pub(crate) const fn waited(&self) -> u128 {
        (self.beyond as u128) << 64 | self.waited as u128
    }

    /// Whether a packet of `bytes` may enter now, after those that `entered`, of which some `left`
    /// the link. `newest(i)` is the departure and the size of the i-th newest packet.
    #[inline(always)]
    pub(crate) fn admits(
        &mut self,
        now: Time,
        bytes: u32,
        entered: Count,
        left: Count,
        newest: impl Fn(usize) -> Option<(Time, u32)> + Copy,
    ) -> bool {
        let limit = self.bytes.as_mut();
        if limit.is_some_and(|limit| !limit.have_room(now, bytes, entered, left, newest)) {
            return false;
        }
        // With this packet, as many wait behind the one being sent as have not departed.
        if newest(self.longest as usize).is_none_or(|(departure, _)| departure <= now) {
            return true;
        }
        let admitted = self.longest < self.packets;
        self.longest += u32::from(admitted);
        admitted
    }

    /// A packet that was admitted will wait for `wait`.
    #[inline]
    pub(crate) const fn wait(&mut self, wait: Span) {
        let (waited, carry) = self.waited.overflowing_add(wait.as_nanos());
        self.waited = waited;
        self.beyond += carry as u64;
    }
}

impl Bytes {
    #[inline(never)]
    fn have_room(
        &mut self,
        now: Time,
        bytes: u32,
        entered: Count,
        left: Count,
        newest: impl Fn(usize) -> Option<(Time, u32)>,
    ) -> bool {
        // Who left the link has departed, too.
        if self.gone.packets < left.packets {
            self.gone = left;
        }
        while self.gone.packets < entered.packets {
            let held = entered.packets - self.gone.packets;
            let (departure, size) = newest(held as usize - 1).expect("the link holds it");
            if departure > now {
                // This one is being sent, those behind it wait.
                let waiting = entered.bytes - self.gone.bytes - u64::from(size);
                return waiting + u64::from(bytes) <= self.limit;
            }
            self.gone.add(size);
        }
        true
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
