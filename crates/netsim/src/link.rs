//! A link: a queue, a transmitter of some rate, a line of some delay.
//!
//! A FIFO link of known rate computes a packet's departure when the packet arrives, and it delivers
//! in order. So the packets in its queue and on its line form one ring in order of departure, and
//! only the head of that ring is an event.

use std::collections::VecDeque;

use crate::queue::droptail::DropTail;
use crate::time::{Rate, Span, Time};

/// What a link is like.
#[derive(Clone, Debug)]
pub struct LinkSpec {
    delay: Span,
    shaper: Option<(Rate, DropTail)>,
}

impl LinkSpec {
    /// A line that delays each packet by `delay` and is otherwise without limit.
    #[must_use]
    pub const fn delay(delay: Span) -> Self {
        Self {
            delay,
            shaper: None,
        }
    }

    /// A queue in front of a transmitter of `rate`, then a line of `delay`.
    #[must_use]
    pub const fn shaped(rate: Rate, queue: DropTail, delay: Span) -> Self {
        Self {
            delay,
            shaper: Some((rate, queue)),
        }
    }
}

/// What a link did from the start of the run to an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LinkCounters {
    /// Packets that came to the link, lost ones included.
    pub packets_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Packets that left it at the far end.
    pub packets_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Packets lost because the queue was full.
    pub drops: u64,
    /// Packets in the queue or on the line.
    pub inside: u64,
    /// The most packets that waited at once.
    pub queue_max: u64,
    /// How many packets waited on average over time.
    pub queue_mean: f64,
    /// The share of time spent sending; `None` for a link without a rate.
    pub utilisation: Option<f64>,
}

/// A packet in the queue or on the line.
#[derive(Debug)]
struct Passing<P> {
    departure: Time,
    bytes: u32,
    packet: P,
}

/// The transmitter and the queue before it.
#[derive(Debug)]
struct Shaper {
    rate: Rate,
    queue: DropTail,
    /// When the last bit of all that was accepted is sent: this instant plus `rest`/rate ns.
    free_at: Time,
    rest: u64,
    /// The time that sending all that was accepted takes.
    busy: Span,
}

#[derive(Debug)]
pub(crate) struct Link<P> {
    delay: Span,
    shaper: Option<Shaper>,
    passing: VecDeque<Passing<P>>,
    counters: LinkCounters,
}

impl<P> Link<P> {
    pub(crate) fn new(spec: LinkSpec) -> Self {
        let shaper = spec.shaper.map(|(rate, queue)| Shaper {
            rate,
            queue,
            free_at: Time::ZERO,
            rest: 0,
            busy: Span::ZERO,
        });
        Self {
            delay: spec.delay,
            shaper,
            passing: VecDeque::new(),
            counters: LinkCounters::default(),
        }
    }

    /// A packet comes to the link; it is handed back when the queue is full.
    pub(crate) fn enter(&mut self, now: Time, bytes: u32, packet: P) -> Result<(), P> {
        self.counters.packets_in += 1;
        self.counters.bytes_in += u64::from(bytes);
        let departure = match &mut self.shaper {
            None => now,
            Some(shaper) => {
                let last = self.passing.len().wrapping_sub(1);
                let passing = &self.passing;
                if !shaper
                    .queue
                    .admits(now, |newest| passing[last - newest].departure)
                {
                    self.counters.drops += 1;
                    self.assert_conserved();
                    return Err(packet);
                }
                shaper.send(now, bytes)
            }
        };
        debug_assert!(
            self.passing
                .back()
                .is_none_or(|last| last.departure <= departure)
        );
        self.passing.push_back(Passing {
            departure,
            bytes,
            packet,
        });
        self.assert_conserved();
        Ok(())
    }

    /// When the head of the line arrives at the far end.
    pub(crate) fn next_arrival(&self) -> Option<Time> {
        self.passing.front().map(|head| head.departure + self.delay)
    }

    /// Takes the head of the line out at the far end.
    pub(crate) fn leave(&mut self) -> Option<(u32, P)> {
        let head = self.passing.pop_front()?;
        if let Some(shaper) = &mut self.shaper {
            shaper.queue.at_most(self.passing.len());
        }
        self.counters.packets_out += 1;
        self.counters.bytes_out += u64::from(head.bytes);
        self.assert_conserved();
        Some((head.bytes, head.packet))
    }

    pub(crate) fn counters(&self, now: Time) -> LinkCounters {
        let mut counters = self.counters;
        counters.inside = self.passing.len() as u64;
        if let Some(shaper) = &self.shaper {
            // Time already booked that lies after now.
            let still_waiting: u64 = (self.passing.iter().rev())
                .zip(self.passing.iter().rev().skip(1))
                .map(|(_, ahead)| ahead.departure.since(now).as_nanos())
                .take_while(|wait| *wait > 0)
                .sum();
            let elapsed = now.since(Time::ZERO).as_nanos().max(1) as f64;
            let busy = shaper.busy - shaper.free_at.since(now);
            counters.queue_max = shaper.queue.longest() as u64;
            counters.queue_mean = (shaper.queue.waited() - still_waiting) as f64 / elapsed;
            counters.utilisation = Some(busy.as_nanos() as f64 / elapsed);
        }
        counters
    }

    /// What came in went out, was lost or is still inside.
    fn assert_conserved(&self) {
        debug_assert_eq!(
            self.counters.packets_in,
            self.counters.packets_out + self.counters.drops + self.passing.len() as u64
        );
    }
}

impl Shaper {
    /// Appends a packet that arrives at `now` to all that is to be sent: when its last bit leaves.
    fn send(&mut self, now: Time, bytes: u32) -> Time {
        let free_at = self.departure();
        if free_at <= now {
            (self.free_at, self.rest) = (now, 0);
        }
        self.queue.enter(free_at.since(now));
        let (whole, rest) = self.rate.send(bytes, self.rest);
        self.free_at += Span::from_nanos(whole);
        self.rest = rest;
        self.busy = self.busy + Span::from_nanos(whole);
        self.departure()
    }

    /// The first whole nanosecond at which everything accepted is sent.
    fn departure(&self) -> Time {
        self.free_at + Span::from_nanos(u64::from(self.rest > 0))
    }
}

#[cfg(test)]
#[path = "link_tests.rs"]
mod tests;
