//! Transmitters: when the last bit of each packet is sent, at a constant rate or after a trace.

use crate::packet::Packet;
use crate::time::{Rate, Span, Time};
use crate::trace::{OPPORTUNITY, Trace};

/// Sends one packet after another. It is exact however long it is busy: what is left of
/// a nanosecond when a packet ends is carried to the next.
#[derive(Debug)]
pub(crate) struct Transmitter {
    rate: Rate,
    /// How long a byte takes, where that is a whole number of nanoseconds; else 0.
    per_byte: u32,
    /// When the last bit of all that was accepted is sent: this instant plus `rest`/rate ns.
    free_at: Time,
    rest: u64,
}

impl Transmitter {
    pub(crate) const fn new(rate: Rate) -> Self {
        Self {
            rate,
            per_byte: rate.nanos_per_byte(),
            free_at: Time::ZERO,
            rest: 0,
        }
    }

    /// The first whole nanosecond at which everything accepted is sent.
    #[inline]
    pub(crate) fn free_at(&self) -> Time {
        self.free_at + Span::from_nanos(u64::from(self.rest > 0))
    }

    /// Forgets the last packet's part of a nanosecond if it is sent by `now`, and says how long
    /// after `now` a packet would have to wait.
    #[inline]
    pub(crate) fn ready(&mut self, now: Time) -> Span {
        let wait = self.free_at().since(now);
        // Without a branch: whether a link is busy is what the processor cannot predict.
        self.free_at = self.free_at.max(now);
        self.rest *= u64::from(wait > Span::ZERO);
        wait
    }

    /// A packet comes: how long it waits, and when its last bit is sent.
    #[inline(always)]
    pub(crate) fn accept(&mut self, now: Time, bytes: u32) -> (Span, Time) {
        if self.per_byte > 0 {
            // Nothing is ever left: a multiplication in place of a division, at 5 Mbit/s, 1 Gbit/s and the like.
            let begin = self.free_at.max(now);
            self.free_at = begin + Span::from_nanos(u64::from(bytes) * u64::from(self.per_byte));
            return (begin.since(now), self.free_at);
        }
        self.accept_exactly(now, bytes)
    }

    #[inline(never)]
    fn accept_exactly(&mut self, now: Time, bytes: u32) -> (Span, Time) {
        (self.ready(now), self.send(bytes))
    }

    /// Sends a packet right after the ones before it: when its last bit is sent.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u32) -> Time {
        let (whole, rest) = self.rate.send(bytes, self.rest);
        self.free_at += Span::from_nanos(whole);
        self.rest = rest;
        self.free_at()
    }

    /// How long it takes to send so many bytes.
    pub(crate) fn takes(&self, bytes: u32) -> Span {
        Span::from_nanos(self.rate.send(bytes, 0).0)
    }

    /// Gives up what it is sending.
    pub(crate) fn stop(&mut self, now: Time) {
        (self.free_at, self.rest) = (now, 0);
    }

    /// The time spent sending up to `now`, of what `accepted` bytes take.
    pub(crate) fn busy_seconds(&self, now: Time, accepted: u64) -> f64 {
        let all = accepted as f64 * 8.0 / self.rate.bits_per_second() as f64;
        all - self.free_at.since(now).as_secs_f64()
    }
}

/// Sends at the opportunities of a trace, as mahimahi's `link_queue.cc` does: what is left of one
/// goes to the next packet, if that waits already. A packet may be larger than an opportunity; it
/// then takes several.
#[derive(Debug)]
pub(crate) struct Opportunities<P> {
    trace: Trace,
    /// The next opportunity, while anything waits for one.
    next: Option<u64>,
    /// Bytes that the present opportunity still has.
    room: u32,
    /// A packet that was begun, and how many of its bytes are not sent.
    begun: Option<(u32, Packet<P>)>,
}

impl<P> Opportunities<P> {
    pub(crate) const fn new(trace: Trace) -> Self {
        Self {
            trace,
            next: None,
            room: 0,
            begun: None,
        }
    }

    /// A packet waits from `now` on.
    pub(crate) fn wanted(&mut self, now: Time) {
        // One that lies behind was not used, because nobody waited.
        if self.next().is_none_or(|next| next <= now) {
            self.next = Some(self.trace.next(now));
        }
    }

    /// When the next opportunity is that a waiting packet can use.
    pub(crate) fn next(&self) -> Option<Time> {
        self.next.map(|next| self.trace.at(next))
    }

    /// Whether a packet is sent in part.
    pub(crate) const fn is_sending(&self) -> bool {
        self.begun.is_some()
    }

    /// Gives up the packet that is sent in part, and waits for nothing until one is
    /// [wanted](Self::wanted) again.
    pub(crate) fn stop(&mut self) -> Option<Packet<P>> {
        (self.next, self.room) = (None, 0);
        self.begun.take().map(|(_, packet)| packet)
    }

    /// The next packet whose last bit is sent by `now`; `dequeue` is where packets come from.
    pub(crate) fn send(
        &mut self,
        now: Time,
        mut dequeue: impl FnMut() -> Option<Packet<P>>,
    ) -> Option<Packet<P>> {
        loop {
            if self.room == 0 {
                let next = self.next.filter(|next| self.trace.at(*next) <= now)?;
                self.next = Some(next + 1);
                self.room = OPPORTUNITY;
            }
            let begun = self.begun.take();
            let Some((missing, packet)) =
                begun.or_else(|| dequeue().map(|packet| (packet.bytes, packet)))
            else {
                // Nobody waits: the rest is lost, and so are opportunities until somebody does.
                (self.next, self.room) = (None, 0);
                return None;
            };
            let sent = missing.min(self.room);
            self.room -= sent;
            if sent == missing {
                return Some(packet);
            }
            self.begun = Some((missing - sent, packet));
        }
    }

    /// The share of all opportunities up to `now` that `sent` bytes used.
    pub(crate) fn used(&self, now: Time, sent: u64) -> f64 {
        let offered = self.trace.next(now) * u64::from(OPPORTUNITY);
        sent as f64 / offered.max(1) as f64
    }
}
