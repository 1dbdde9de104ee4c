//! RED: random early detection. The longer the queue has been of late, the likelier an arriving
//! packet is dropped, or marked.
//!
//! S. Floyd and V. Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM
//! Trans. on Networking 1(4), 1993, section IV ("FJ"); the second, steeper part of the curve is that
//! of S. Floyd, "Recommendation on using the gentle variant of RED", 2000.
//!
//! The queue that counts is the average over arrivals, as in FJ; a weight of 1 makes it the length
//! at the instant. Departures: a packet that arrives at an empty queue counts as one sample of 0 in
//! addition to FJ's idle time; and a packet that is ECN-capable is marked only where the
//! probability is below 1 (RFC 3168 section 7: above the maximum, routers drop).

use crate::dice::Dice;
use crate::packet::{Packet, Payload};
use crate::queue::{Backlog, Ledger};
use crate::time::{Rate, Span, Time};

/// The packet whose sending time FJ's idle time is counted in, in bytes: a full Ethernet frame's.
const TYPICAL_PACKET: u32 = 1500;

/// The rate for which the curve of draft-khalili is given, in bit/s.
const LIA_OLIA_RATE: f64 = 10e6;

/// A RED queue: its curve, how it averages, its limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// Nothing is dropped up to this average length, in packets.
    min: f64,
    /// From here on the curve is steeper.
    max: f64,
    /// The probability at `max`.
    max_p: f64,
    /// From here on everything is dropped.
    certain: f64,
    weight: f64,
    even_gaps: bool,
    limit: usize,
    ecn: bool,
}

impl Red {
    /// FJ's w_q in Click's RED: 2^-`STABILITY`, with which `RED::configure` in `elements/aqm/red.cc` begins at 4.
    pub const CLICK_WEIGHT: f64 = 1.0 / 16.0;

    /// Packets in Click's queue (`elements/standard/simplequeue.cc`).
    pub const CLICK_LIMIT: u32 = 1000;

    /// The queue of FJ: probability 0 up to `min` packets, linear to `max_p` at `max`, 1 above; gaps
    /// between drops are made even (FJ section VII); weight 0.002, no limit, no ECN.
    ///
    /// # Panics
    /// When `min` is not less than `max`, or `max_p` is no probability.
    #[must_use]
    pub fn new(min: f64, max: f64, max_p: f64) -> Self {
        assert!(0.0 <= min && min < max, "RED needs {min} < {max}");
        assert!((0.0..=1.0).contains(&max_p), "{max_p} is no probability");
        Self {
            min,
            max,
            max_p,
            certain: max,
            // FJ section VI: w_q of 0.001 at least, 0.002 in its simulations.
            weight: 0.002,
            even_gaps: true,
            limit: usize::MAX,
            ecn: false,
        }
    }

    /// The bottlenecks of "Performance issues with MPTCP" (draft-khalili-mptcp-performance-issues-04
    /// section 3): for 10 Mbit/s, probability 0 up to 25 packets, then linear to 0.1 at 50, then
    /// linear to 1 at 100; in proportion for another `rate`.
    ///
    /// The draft gives the probability of loss and says "following the structure in" FJ, so the
    /// average counts, and each packet is drawn by itself: FJ's even gaps would lose about twice the
    /// share. It names no weight, but its routers: Click's, whose RED is gentle, has a weight of 1/16
    /// unless told otherwise, and a queue of 1000 packets (kohler/click, `elements/aqm/red.cc`,
    /// `elements/standard/simplequeue.cc`). FJ's own 0.002 would be Click's `STABILITY 9`.
    #[must_use]
    pub fn lia_olia(rate: Rate) -> Self {
        let scale = rate.bits_per_second() as f64 / LIA_OLIA_RATE;
        Self {
            even_gaps: false,
            ..Self::new(25.0 * scale, 50.0 * scale, 0.1)
                .gentle(100.0 * scale)
                .weight(Self::CLICK_WEIGHT)
                .limit(Self::CLICK_LIMIT as usize)
        }
    }

    /// Above `max` the probability grows linearly to 1 at `certain` (Floyd: twice `max`).
    ///
    /// # Panics
    /// When `certain` is less than `max`.
    #[must_use]
    pub fn gentle(self, certain: f64) -> Self {
        assert!(certain >= self.max, "RED needs {} <= {certain}", self.max);
        Self { certain, ..self }
    }

    /// What a sample counts in the average; 1 makes it the length at the instant.
    ///
    /// # Panics
    /// When it is not in (0, 1].
    #[must_use]
    pub fn weight(self, weight: f64) -> Self {
        assert!(
            0.0 < weight && weight <= 1.0,
            "a weight is in (0, 1], not {weight}"
        );
        Self { weight, ..self }
    }

    /// No more than `limit` packets wait, whatever the average.
    #[must_use]
    pub const fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Marks packets that are ECN-capable, where it would drop them with a probability below 1.
    #[must_use]
    pub const fn ecn(self) -> Self {
        Self { ecn: true, ..self }
    }

    /// The probability at an average length of `packets`.
    fn probability(&self, packets: f64) -> f64 {
        if packets <= self.min {
            0.0
        } else if packets <= self.max {
            self.max_p * (packets - self.min) / (self.max - self.min)
        } else if packets < self.certain {
            let above = (packets - self.max) / (self.certain - self.max);
            self.max_p + (1.0 - self.max_p) * above
        } else {
            1.0
        }
    }
}

/// A RED queue at work.
#[derive(Debug)]
pub(crate) struct RedQueue<P> {
    red: Red,
    pub(crate) backlog: Backlog<P>,
    /// Packets.
    average: f64,
    /// Packets since the last that was dropped or marked; `None` while the probability is 0.
    since: Option<u32>,
    /// When the queue became empty.
    empty_at: Time,
    /// FJ's s: how long a typical packet takes to send.
    typical: Span,
    dice: Dice,
}

impl<P: Payload> RedQueue<P> {
    pub(crate) fn new(red: Red, rate: Rate, dice: Dice) -> Self {
        Self {
            red,
            backlog: Backlog::new(),
            average: 0.0,
            since: None,
            empty_at: Time::ZERO,
            typical: rate.serialisation(TYPICAL_PACKET),
            dice,
        }
    }

    pub(crate) fn enqueue(
        &mut self,
        now: Time,
        mut packet: Packet<P>,
        must_wait: bool,
        ledger: &mut Ledger<P>,
    ) -> Result<(), Packet<P>> {
        self.sample(now);
        let p = self.red.probability(self.average);
        let hit = self.draw(p);
        let full = must_wait && self.backlog.len() >= self.red.limit;
        if full || hit && (p >= 1.0 || !ledger.mark(self.red.ecn, &mut packet)) {
            return Err(packet);
        }
        self.backlog.push(now, packet);
        Ok(())
    }

    pub(crate) fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        let (_, packet) = self.backlog.pop()?;
        if self.backlog.len() == 0 {
            self.empty_at = now;
        }
        Some(packet)
    }

    /// Updates the average with the length that an arriving packet finds.
    fn sample(&mut self, now: Time) {
        let length = self.backlog.len();
        let mut samples = 1;
        if length == 0 {
            let idle = now.since(self.empty_at).as_nanos() / self.typical.as_nanos().max(1);
            samples += idle;
            self.empty_at = now;
        }
        // By multiplication alone: a library's power may differ from machine to machine.
        let keep = power(1.0 - self.red.weight, samples);
        self.average = keep * self.average + (1.0 - keep) * length as f64;
    }

    /// Whether the packet is hit, at probability `p` of the curve.
    fn draw(&mut self, p: f64) -> bool {
        if p <= 0.0 {
            self.since = None;
            return false;
        }
        let since = self.since.map_or(0, |since| since + 1);
        let p = if self.red.even_gaps {
            // FJ: p_a = p_b / (1 - count · p_b).
            let rest = 1.0 - f64::from(since) * p;
            if rest > p { p / rest } else { 1.0 }
        } else {
            p
        };
        let hit = self.dice.chance(p);
        self.since = Some(if hit { 0 } else { since });
        hit
    }
}

/// `base` to the power of `exponent`, by squaring.
fn power(mut base: f64, mut exponent: u64) -> f64 {
    let mut product = 1.0;
    while exponent > 0 {
        if exponent & 1 == 1 {
            product *= base;
        }
        base *= base;
        exponent >>= 1;
    }
    product
}

#[cfg(test)]
#[path = "red_tests.rs"]
mod tests;
