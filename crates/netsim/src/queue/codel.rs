//! CoDel: controlled delay. The measure is the waiting time of packets, not their number: once the shortest wait of an interval is
//! above the target, packets are dropped at the head of the queue, at an increasing rate, until the wait is below the target.
//!
//! RFC 8289; the code follows its pseudocode (section 5) and its names. Departure: an ECN-capable packet is marked instead of
//! dropped, sent, and ends the loop, as in Linux (`codel_dequeue` in include/net/codel_impl.h); the RFC leaves that open.

use crate::packet::{Packet, Payload};
use crate::queue::{Backlog, Ledger};
use crate::time::{Span, Time};

/// Acceptable wait (RFC 8289 section 4.4).
const TARGET: Span = Span::from_millis(5);

/// Time over which the shortest wait is taken: a worst-case round trip (RFC 8289 section 4.3).
const INTERVAL: Span = Span::from_millis(100);

/// Largest packet, bytes: a queue of no more bytes is not controlled (`maxpacket` of RFC 8289 section 5.2: "should use interface
/// MTU").
const MTU: u64 = 1500;

/// Limit of the queue, packets: that of Linux (`DEFAULT_CODEL_LIMIT`); the RFC has none.
const LIMIT: usize = 1000;

/// Number of intervals after the last drop during which dropping resumes at the last rate (section 5.5).
const RECENT: u64 = 16;

/// A CoDel queue's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDel {
    target: Span,
    interval: Span,
    limit: usize,
    ecn: bool,
}

impl Default for CoDel {
    fn default() -> Self {
        Self::new()
    }
}

impl CoDel {
    /// Target 5 ms, interval 100 ms, 1000 packets, no ECN.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            target: TARGET,
            interval: INTERVAL,
            limit: LIMIT,
            ecn: false,
        }
    }

    /// Sets the acceptable wait, and the time within which the wait of one packet must not exceed it.
    #[must_use]
    pub const fn times(self, target: Span, interval: Span) -> Self {
        Self {
            target,
            interval,
            ..self
        }
    }

    /// Sets the limit of the queue, packets.
    #[must_use]
    pub const fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Marks ECN-capable packets instead of dropping them.
    #[must_use]
    pub const fn ecn(self) -> Self {
        Self { ecn: true, ..self }
    }

    /// Time of the next drop: `interval` / √`count` after the `count`-th drop at `time`.
    fn control_law(&self, time: Time, count: u32) -> Time {
        let interval = u128::from(self.interval.as_nanos());
        let step = (interval * interval / u128::from(count.max(1))).isqrt();
        // The square root is at most the interval, which fits into 64 bits.
        time + Span::from_nanos(step as u64)
    }
}

/// CoDel's state of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    /// Time at which the wait will have been above the target for an interval.
    first_above: Option<Time>,
    drop_next: Time,
    /// Number of drops since dropping began.
    count: u32,
    /// `count` when dropping last began.
    last_count: u32,
    dropping: bool,
}

impl Control {
    /// Removes the next packet to send from `backlog`, and drops or marks packets as the control law requires.
    pub(crate) fn dequeue<P: Payload>(
        &mut self,
        codel: &CoDel,
        now: Time,
        backlog: &mut Backlog<P>,
        ledger: &mut Ledger<P>,
    ) -> Option<Packet<P>> {
        let (mut packet, mut ok_to_drop) = self.dodequeue(codel, now, backlog)?;
        if self.dropping {
            self.dropping = ok_to_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                if ledger.mark(codel.ecn, &mut packet) {
                    self.drop_next = codel.control_law(self.drop_next, self.count);
                    break;
                }
                ledger.drop(packet);
                let Some(next) = self.dodequeue(codel, now, backlog) else {
                    self.dropping = false;
                    return None;
                };
                (packet, ok_to_drop) = next;
                self.dropping = ok_to_drop;
                if ok_to_drop {
                    self.drop_next = codel.control_law(self.drop_next, self.count);
                }
            }
        } else if ok_to_drop {
            self.begin(codel, now);
            if !ledger.mark(codel.ecn, &mut packet) {
                ledger.drop(packet);
                let next = self.dodequeue(codel, now, backlog);
                return next.map(|(packet, _)| packet);
            }
        }
        Some(packet)
    }

    /// Enters the dropping state, at the last rate if that was recent.
    fn begin(&mut self, codel: &CoDel, now: Time) {
        self.dropping = true;
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next).as_nanos() < RECENT * codel.interval.as_nanos();
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.drop_next = codel.control_law(now, self.count);
        self.last_count = self.count;
    }

    /// Removes the head, and returns whether the wait has been above the target for an interval.
    fn dodequeue<P>(
        &mut self,
        codel: &CoDel,
        now: Time,
        backlog: &mut Backlog<P>,
    ) -> Option<(Packet<P>, bool)> {
        let Some((since, packet)) = backlog.pop() else {
            self.first_above = None;
            return None;
        };
        let mut ok_to_drop = false;
        if now.since(since) < codel.target || backlog.bytes() <= MTU {
            self.first_above = None;
        } else {
            match self.first_above {
                None => self.first_above = Some(now + codel.interval),
                Some(first_above) => ok_to_drop = now >= first_above,
            }
        }
        Some((packet, ok_to_drop))
    }
}

/// A CoDel queue with its packets.
#[derive(Debug)]
pub(crate) struct CoDelQueue<P> {
    codel: CoDel,
    pub(crate) backlog: Backlog<P>,
    control: Control,
}

impl<P: Payload> CoDelQueue<P> {
    pub(crate) fn new(codel: CoDel) -> Self {
        Self {
            codel,
            backlog: Backlog::new(),
            control: Control::default(),
        }
    }

    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        packet: Packet<P>,
        must_wait: bool,
    ) -> Result<(), Packet<P>> {
        if must_wait && self.backlog.len() >= self.codel.limit {
            return Err(packet);
        }
        self.backlog.push(now, packet);
        Ok(())
    }

    pub(crate) fn dequeue(&mut self, now: Time, ledger: &mut Ledger<P>) -> Option<Packet<P>> {
        (self.control).dequeue(&self.codel, now, &mut self.backlog, ledger)
    }
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
