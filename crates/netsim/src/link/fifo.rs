//! The fast link: a FIFO queue, a transmitter of constant rate, a line.
//!
//! A packet's departure is computed when the packet reaches the link, and the link delivers in order. So the packets in the queue
//! and on the line form one ring in order of departure, and only the head of that ring is an event.

use crate::link::LinkCounters;
use crate::link::ring::Ring;
use crate::link::transmitter::Transmitter;
use crate::packet::{Count, Packet};
use crate::queue::droptail::{DropTail, Occupancy};
use crate::time::{Rate, Span, Time};

#[derive(Debug)]
pub(crate) struct Fifo<P> {
    /// Packets in the queue or on the line, by the departure of their last bit.
    ring: Ring<Packet<P>>,
    delay: Span,
    /// Latest departure, for a link without a rate.
    latest: Time,
    shaper: Option<(Transmitter, Occupancy)>,
    /// Accepted bytes; the ring counts the packets.
    bytes_in: u64,
    /// Bytes that left at the far end.
    bytes_out: u64,
    drops: Count,
}

/// When the packets of a burst reach a link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BurstArrival {
    /// Arrival of the first packet.
    pub(crate) at: Time,
    /// Time between two packets.
    pub(crate) gap: Span,
    /// Limit of all arrivals.
    pub(crate) latest: Time,
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

    /// Transmission time of so many bytes; `None` without a rate.
    pub(crate) fn transmission_time(&self, bytes: u32) -> Option<Span> {
        let (transmitter, _) = self.shaper.as_ref()?;
        Some(transmitter.transmission_time(bytes))
    }

    /// A packet reaches the link. Returns the link's next event if the packet has changed it, which a packet behind others does not;
    /// `Err`: the queue drops the packet.
    #[inline(always)]
    pub(crate) fn offer(
        &mut self,
        now: Time,
        bytes: u32,
        next: u32,
        payload: P,
    ) -> Result<Option<Time>, P> {
        let departure = match &mut self.shaper {
            Some((transmitter, queue)) => {
                let ring = &self.ring;
                let newest = |i| {
                    ring.newest(i)
                        .map(|(departure, packet)| (*departure, packet.bytes))
                };
                let count = |packets, bytes| Count { packets, bytes };
                let entered = count(ring.pushed(), self.bytes_in);
                let departed = count(ring.popped(), self.bytes_out);
                if !queue.admits(now, bytes, entered, departed, newest) {
                    self.drops.add(bytes);
                    return Err(payload);
                }
                let (wait, departure) = transmitter.accept(now, bytes);
                queue.wait(wait);
                departure
            }
            None => {
                // A packet does not overtake one that jitter has delayed by some microseconds.
                self.latest = now.max(self.latest);
                self.latest
            }
        };
        debug_assert!(
            self.ring.newest(0).is_none_or(|last| last.0 <= departure),
            "one packet overtakes another"
        );
        self.bytes_in += u64::from(bytes);
        let packet = Packet {
            bytes,
            next,
            payload,
        };
        let is_first = self.ring.push(departure, packet);
        Ok(is_first.then(|| departure + self.delay))
    }

    /// Packets of a burst reach the link one after the other. `gap`: time between two. None is later than `latest`. Returns the link's
    /// next event if the burst has changed it. `lost` receives the packets that the queue drops.
    #[inline(always)]
    pub(crate) fn offer_burst(
        &mut self,
        BurstArrival {
            mut at,
            gap,
            latest,
        }: BurstArrival,
        next: u32,
        packets: impl Iterator<Item = (u32, P)>,
        mut lost: impl FnMut(Time, P),
    ) -> Option<Time> {
        let mut event = None;
        for (bytes, payload) in packets {
            let now = at.min(latest);
            at += gap;
            match self.offer(now, bytes, next, payload) {
                Ok(None) => {}
                Ok(first) => event = first,
                Err(payload) => lost(now, payload),
            }
        }
        event
    }

    /// Removes the packet that arrives at the far end. Also returns the link's next event.
    ///
    /// # Panics
    /// If the link is empty.
    #[inline]
    pub(crate) fn leave(&mut self) -> (Packet<P>, Option<Time>) {
        let head = self.ring.pop().expect("a packet is due");
        self.bytes_out += u64::from(head.bytes);
        (head, self.next_event())
    }

    /// Time at which the next packet arrives at the far end.
    #[inline]
    pub(crate) fn next_event(&self) -> Option<Time> {
        self.ring
            .first_time()
            .map(|departure| departure + self.delay)
    }

    /// Number of packets in the queue or on the line.
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
            // Waiting times after `now`, already added to `waited`: each packet waits for the departure of the one ahead.
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
