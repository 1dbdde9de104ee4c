//! The fast link: a FIFO queue, a transmitter of known rate, a line.
//!
//! It computes a packet's departure when the packet arrives, and it delivers in order. So the
//! packets in its queue and on its line form one ring in order of departure, and only the head of
//! that ring is an event.

use crate::link::ring::Ring;
use crate::link::transmitter::Transmitter;
use crate::link::{Count, LinkCounters};
use crate::queue::droptail::{DropTail, Occupancy};
use crate::time::{Rate, Span, Time};

/// A packet in the queue or on the line.
#[derive(Debug)]
struct Passing<P> {
    bytes: u32,
    next: u32,
    payload: P,
}

#[derive(Debug)]
pub(crate) struct Fifo<P> {
    /// By the departure of their last bit.
    ring: Ring<Passing<P>>,
    delay: Span,
    /// When the last packet entered that had not to wait for others.
    latest: Time,
    shaper: Option<(Transmitter, Occupancy)>,
    /// Of what was accepted, and of what left at the far end; the ring counts the packets.
    bytes_in: u64,
    bytes_out: u64,
    drops: Count,
}

impl<P> Fifo<P> {
    pub(crate) fn new(shaper: Option<(Rate, DropTail)>, delay: Span) -> Self {
        Self {
            ring: Ring::new(),
            delay,
            latest: Time::ZERO,
            shaper: shaper.map(|(rate, queue)| (Transmitter::new(rate), Occupancy::new(queue))),
            bytes_in: 0,
            bytes_out: 0,
            drops: Count::default(),
        }
    }

    /// How long it takes to send so many bytes, where it has a rate.
    pub(crate) fn takes(&self, bytes: u32) -> Option<Span> {
        let (transmitter, _) = self.shaper.as_ref()?;
        Some(transmitter.takes(bytes))
    }

    /// A packet comes to the link: whether the queue has room for it.
    #[inline(always)]
    pub(crate) fn admits(&mut self, now: Time, bytes: u32) -> bool {
        let Some((_, queue)) = &mut self.shaper else {
            return true;
        };
        let ring = &self.ring;
        let newest = |i| {
            ring.newest(i)
                .map(|(departure, packet)| (*departure, packet.bytes))
        };
        let count = |packets, bytes| Count { packets, bytes };
        let entered = count(ring.pushed(), self.bytes_in);
        let left = count(ring.popped(), self.bytes_out);
        let admitted = queue.admits(now, bytes, entered, left, newest);
        if !admitted {
            self.drops.add(bytes);
        }
        admitted
    }

    /// An admitted packet enters. `Some` is the link's next event, if the packet changed it: behind
    /// a head, the order of the line keeps.
    #[inline(always)]
    pub(crate) fn enter(&mut self, now: Time, bytes: u32, next: u32, payload: P) -> Option<Time> {
        // None overtakes another that is some microseconds late.
        let mut departure = now.max(self.latest);
        if let Some((transmitter, queue)) = &mut self.shaper {
            let wait;
            (wait, departure) = transmitter.accept(now, bytes);
            queue.wait(wait);
        } else {
            self.latest = departure;
        }
        debug_assert!(
            self.ring.newest(0).is_none_or(|last| last.0 <= departure),
            "one packet overtakes another"
        );
        self.bytes_in += u64::from(bytes);
        let first = self.ring.len() == 0;
        self.ring.push(
            departure,
            Passing {
                bytes,
                next,
                payload,
            },
        );
        first.then(|| departure + self.delay)
    }

    /// Takes the head of the line out at the far end, and says when the next one gets there.
    ///
    /// # Panics
    /// When the link is empty.
    #[inline]
    pub(crate) fn leave(&mut self) -> (u32, u32, P, Option<Time>) {
        let head = self.ring.pop().expect("a packet is due");
        self.bytes_out += u64::from(head.bytes);
        (head.bytes, head.next, head.payload, self.next_event())
    }

    /// When the head of the line arrives at the far end.
    #[inline]
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.ring
            .first_time()
            .map(|departure| departure + self.delay)
    }

    /// Packets in the queue or on the line.
    pub(crate) fn inside(&self) -> u64 {
        self.ring.len() as u64
    }

    pub(crate) fn counters(&self, now: Time) -> LinkCounters {
        let mut counters = LinkCounters {
            packets_in: self.ring.pushed() + self.drops.packets,
            bytes_in: self.bytes_in + self.drops.bytes,
            packets_out: self.ring.popped(),
            bytes_out: self.bytes_out,
            drops: self.drops.packets,
            inside: self.inside(),
            ..LinkCounters::default()
        };
        if let Some((transmitter, queue)) = &self.shaper {
            // Time already booked that lies after now: each packet waits for the one ahead.
            let still_waiting: u128 = (self.ring.times().skip(1))
                .map(|ahead| u128::from(ahead.since(now).as_nanos()))
                .take_while(|wait| *wait > 0)
                .sum();
            let elapsed = now.since(Time::ZERO).as_nanos().max(1) as f64;
            let busy = transmitter.busy_seconds(now, self.bytes_in);
            counters.queue_max = queue.longest();
            counters.queue_mean = (queue.waited() - still_waiting) as f64 / elapsed;
            counters.utilisation = Some(busy * 1e9 / elapsed);
        }
        counters
    }
}

#[cfg(test)]
#[path = "fifo_tests.rs"]
mod tests;
