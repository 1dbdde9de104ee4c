//! DropTail: a first-in-first-out queue of limited length. A packet that finds the queue full is lost.
//!
//! On a link of constant rate a packet's departure is computed at its arrival, so the queue needs neither an event nor a count of
//! the waiting packets. An arrival increases the length of the queue by at most one. The length exceeds its maximum so far, n, if
//! and only if the (n + 1)-th newest packet has not departed: one comparison.

use crate::packet::{Count, Packet, Payload};
use crate::queue::{Backlog, Ledger};
use crate::time::{Span, Time};

/// Limit of a DropTail queue.
///
/// The limit applies to packets that **wait** while another is in transmission: a link with a limit of 9 packets holds up to 10. A
/// packet that finds the transmitter idle is sent at any limit. A packet whose last bit leaves at the instant of an arrival has
/// departed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DropTail {
    packets: u64,
    bytes: u64,
    /// An arriving packet is marked if more packets wait.
    mark_above: Option<u64>,
}

impl DropTail {
    /// A limit in packets.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            packets: limit as u64,
            bytes: u64::MAX,
            mark_above: None,
        }
    }

    /// A limit in bytes.
    #[must_use]
    pub const fn bytes(limit: u64) -> Self {
        Self {
            packets: u64::MAX,
            bytes: limit,
            mark_above: None,
        }
    }

    /// Marks an ECN-capable packet that arrives while more than `packets` packets wait: the queue of DCTCP (RFC 8257 section 3.1).
    #[must_use]
    pub const fn mark_above(self, packets: usize) -> Self {
        Self {
            mark_above: Some(packets as u64),
            ..self
        }
    }

    /// Whether it marks no packets, so that departures follow from arrivals alone.
    pub(crate) const fn is_plain(&self) -> bool {
        self.mark_above.is_none()
    }
}

/// The computed DropTail queue of a link whose departures are known.
#[derive(Debug)]
pub(crate) struct Occupancy {
    /// Limit, packets. 32 bits, here and below, exceed the packets that fit into memory.
    packets: u32,
    /// Largest number of waiting packets so far.
    longest: u32,
    /// Sum of the waiting times of all packets that have entered, ns: the low 64 bits.
    waited: u64,
    /// The high 64 bits of that sum: a thousand packets exceed 64 bits in 214 days.
    overflows: u64,
    /// The limit in bytes, if there is one. Boxed, because most queues have none.
    bytes: Option<Box<Bytes>>,
}

/// A queue's limit in bytes.
#[derive(Debug)]
struct Bytes {
    limit: u64,
    /// Packets that are known to have departed.
    departed: Count,
}

impl Occupancy {
    pub(crate) fn new(queue: DropTail) -> Self {
        let bytes = |limit| {
            let departed = Count::default();
            Box::new(Bytes { limit, departed })
        };
        Self {
            packets: u32::try_from(queue.packets).unwrap_or(u32::MAX),
            longest: 0,
            waited: 0,
            overflows: 0,
            bytes: (queue.bytes < u64::MAX).then(|| bytes(queue.bytes)),
        }
    }

    /// Largest number of waiting packets so far.
    pub(crate) fn longest(&self) -> u64 {
        self.longest.into()
    }

    /// Sum of the waiting times of all packets, ns: once the queue is empty, the integral of its length over time (Little's law).
    pub(crate) const fn waited(&self) -> u128 {
        (self.overflows as u128) << 64 | self.waited as u128
    }

    /// Whether a packet of `bytes` may enter now. `entered` and `departed` are the packets so far that entered the link and that left
    /// it at the far end; `newest(i)` is the departure and the size of the i-th newest packet.
    #[inline(always)]
    pub(crate) fn admits(
        &mut self,
        now: Time,
        bytes: u32,
        entered: Count,
        departed: Count,
        newest: impl Fn(usize) -> Option<(Time, u32)> + Copy,
    ) -> bool {
        let limit = self.bytes.as_mut();
        if limit.is_some_and(|limit| !limit.have_room(now, bytes, entered, departed, newest)) {
            return false;
        }
        // If the packet at the maximum length so far has departed, this packet does not exceed the maximum.
        if newest(self.longest as usize).is_none_or(|(departure, _)| departure <= now) {
            return true;
        }
        let admitted = self.longest < self.packets;
        self.longest += u32::from(admitted);
        admitted
    }

    /// Adds the waiting time of an admitted packet.
    #[inline]
    pub(crate) const fn wait(&mut self, wait: Span) {
        let (waited, carry) = self.waited.overflowing_add(wait.as_nanos());
        self.waited = waited;
        self.overflows += carry as u64;
    }
}

impl Bytes {
    #[inline(never)]
    fn have_room(
        &mut self,
        now: Time,
        bytes: u32,
        entered: Count,
        departed: Count,
        newest: impl Fn(usize) -> Option<(Time, u32)>,
    ) -> bool {
        // A packet that left at the far end has departed from the queue.
        if self.departed.packets < departed.packets {
            self.departed = departed;
        }
        while self.departed.packets < entered.packets {
            let held = entered.packets - self.departed.packets;
            let (departure, size) = newest(held as usize - 1).expect("the link holds it");
            if departure > now {
                // This packet is in transmission, the packets behind it wait.
                let waiting = entered.bytes - self.departed.bytes - u64::from(size);
                return waiting + u64::from(bytes) <= self.limit;
            }
            self.departed.add(size);
        }
        true
    }
}

/// A DropTail queue with its packets, on a general link.
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
                // One packet above the threshold is not ECN-capable.
                packet.payload.capable = number != 4;
                queue.enqueue(Time::ZERO, packet, true, &mut ledger).is_ok()
                    && queue.backlog.packets.back().unwrap().1.payload.marked
            })
            .collect();
        assert_eq!(marked, [false, false, false, true, false, false]);
        assert_eq!((queue.backlog.len(), ledger.marks), (5, 1));
    }
}
