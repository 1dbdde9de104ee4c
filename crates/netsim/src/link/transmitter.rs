//! Transmitters: departure times of packets, at a constant rate or by a trace.

use crate::packet::{Count, Packet};
use crate::time::{Rate, Span, Time};
use crate::trace::{OPPORTUNITY, TUN_HEADER, Trace};

/// A transmitter of constant rate. It is exact however long it is busy: the fraction of a nanosecond at the end of a packet is
/// carried over to the next packet.
#[derive(Debug)]
pub(crate) struct Transmitter {
    rate: Rate,
    /// Transmission time of a byte if it is a whole number of nanoseconds, else 0.
    per_byte: u32,
    /// Departure of the last accepted packet, without the fraction of a nanosecond.
    free_at: Time,
    /// That fraction, in 1/rate ns.
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

    /// First whole nanosecond at which all accepted packets are sent.
    #[inline]
    pub(crate) fn free_at(&self) -> Time {
        self.free_at + Span::from_nanos(u64::from(self.rest > 0))
    }

    /// Waiting time of a packet that arrives `now`. Clears the fraction of a nanosecond if the last packet is sent by `now`.
    #[inline]
    pub(crate) fn ready(&mut self, now: Time) -> Span {
        let wait = self.free_at().since(now);
        // Without a branch: the processor cannot predict whether a link is busy.
        self.free_at = self.free_at.max(now);
        self.rest *= u64::from(wait > Span::ZERO);
        wait
    }

    /// Accepts a packet: its waiting time and its departure.
    #[inline(always)]
    pub(crate) fn accept(&mut self, now: Time, bytes: u32) -> (Span, Time) {
        if self.per_byte > 0 {
            // No fraction of a nanosecond: a multiplication instead of a division, at rates as 5 Mbit/s and 1 Gbit/s.
            let begin = self.free_at.max(now);
            self.free_at = begin + Span::from_nanos(u64::from(bytes) * u64::from(self.per_byte));
            // `begin` is not before `now`.
            let wait = Span::from_nanos(begin.as_nanos() - now.as_nanos());
            return (wait, self.free_at);
        }
        self.accept_exactly(now, bytes)
    }

    #[inline(never)]
    fn accept_exactly(&mut self, now: Time, bytes: u32) -> (Span, Time) {
        (self.ready(now), self.send(bytes))
    }

    /// Sends a packet directly after the previous one. Returns its departure.
    #[inline]
    pub(crate) fn send(&mut self, bytes: u32) -> Time {
        let sent = self.rate.send(bytes, self.rest);
        self.free_at += Span::from_nanos(sent.nanos);
        self.rest = sent.rest;
        self.free_at()
    }

    /// Transmission time of so many bytes.
    pub(crate) fn transmission_time(&self, bytes: u32) -> Span {
        Span::from_nanos(self.rate.send(bytes, 0).nanos)
    }

    /// Aborts the transmission.
    pub(crate) fn stop(&mut self, now: Time) {
        (self.free_at, self.rest) = (now, 0);
    }

    /// Time in transmission up to `now`, seconds, if `accepted` bytes were accepted.
    pub(crate) fn busy_seconds(&self, now: Time, accepted: u64) -> f64 {
        let all = accepted as f64 * 8.0 / self.rate.bits_per_second() as f64;
        all - self.free_at.since(now).as_secs_f64()
    }
}

/// A transmitter at the opportunities of a trace, as mahimahi's `link_queue.cc`: the rest of an opportunity is used by the next
/// packet, if that waits already. A packet larger than an opportunity takes several.
#[derive(Debug)]
pub(crate) struct Opportunities<P> {
    trace: Trace,
    /// Number of the next opportunity, while a packet waits.
    next: Option<u64>,
    /// Remaining bytes of the present opportunity.
    room: u32,
    /// A packet that is sent in part, and its number of remaining bytes.
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

    /// Requests an opportunity after `now`, for a packet that waits from now on.
    pub(crate) fn request(&mut self, now: Time) {
        // A past opportunity was not used, because no packet waited.
        if self.next().is_none_or(|next| next <= now) {
            self.next = Some(self.trace.next(now));
        }
    }

    /// Time of the next opportunity for a waiting packet.
    pub(crate) fn next(&self) -> Option<Time> {
        self.next.map(|next| self.trace.at(next))
    }

    /// Whether a packet is sent in part.
    pub(crate) const fn is_sending(&self) -> bool {
        self.begun.is_some()
    }

    /// Aborts the packet that is sent in part. The next opportunity is used after another [request](Self::request) only.
    pub(crate) fn stop(&mut self) -> Option<Packet<P>> {
        (self.next, self.room) = (None, 0);
        self.begun.take().map(|(_, packet)| packet)
    }

    /// The next packet whose last bit is sent by `now`. `dequeue` removes packets from the queue.
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
                begun.or_else(|| dequeue().map(|packet| (packet.bytes + TUN_HEADER, packet)))
            else {
                // No packet waits: the rest of the opportunity and the following ones are unused.
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

    /// Fraction of all opportunities up to `now` that the packets `sent` used.
    pub(crate) fn utilisation(&self, now: Time, sent: &Count) -> f64 {
        let offered = self.trace.next(now) * u64::from(OPPORTUNITY);
        let used = sent.bytes + sent.packets * u64::from(TUN_HEADER);
        used as f64 / offered.max(1) as f64
    }
}
