//! RED: random early detection. The probability that an arriving packet is dropped, or marked, increases with the recent length of
//! the queue.
//!
//! S. Floyd and V. Jacobson, "Random early detection gateways for congestion avoidance", IEEE/ACM
//! Trans. on Networking 1(4), 1993, section IV ("FJ"); the second, steeper part of the curve is from
//! S. Floyd, "Recommendation on using the gentle variant of RED", 2000.
//!
//! The length is the average over arrivals, as in FJ; with a weight of 1 it is the length at the instant. Departures: a packet that
//! arrives at an empty queue is one sample of 0 in addition to FJ's idle time; and an ECN-capable packet is marked only if the
//! probability is below 1 (RFC 3168 section 7: above the maximum, routers drop).

use crate::packet::{Packet, Payload};
use crate::queue::{Backlog, Ledger};
use crate::random::RandomStream;
use crate::time::{Rate, Span, Time};

/// Packet whose transmission time is the unit of FJ's idle time, bytes: that of a full Ethernet frame.
const TYPICAL_PACKET: u32 = 1500;

/// Rate of the curve of draft-khalili, bit/s.
const LIA_OLIA_RATE: f64 = 10e6;

/// A RED queue's parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// Average length up to which the probability is 0, packets.
    min: f64,
    /// Average length from which the curve is steeper, packets.
    max: f64,
    /// Probability at `max`.
    max_p: f64,
    /// Average length from which the probability is 1, packets.
    certain: f64,
    weight: f64,
    even_gaps: bool,
    limit: usize,
    ecn: bool,
}

impl Red {
    /// FJ's w_q in Click's RED: 2^-`STABILITY`, by default 4 (`RED::configure` in `elements/aqm/red.cc`).
    pub const CLICK_WEIGHT: f64 = 1.0 / 16.0;

    /// Limit of Click's queue, packets (`elements/standard/simplequeue.cc`).
    pub const CLICK_LIMIT: u32 = 1000;

    /// The queue of FJ: probability 0 up to `min` packets, linear to `max_p` at `max`, 1 above; gaps
    /// between drops are made even (FJ section VII); weight 0.002, no limit, no ECN.
    ///
    /// # Panics
    /// If `min` is not less than `max`, or `max_p` is no probability.
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
    /// The draft has the probability of loss and "following the structure in" FJ, so the length is the average, and the draws of
    /// packets are independent: FJ's even gaps would lose about twice the share. The draft has no weight, but its routers are Click,
    /// whose RED is gentle, with a default weight of 1/16 and a queue of 1000 packets (kohler/click, `elements/aqm/red.cc`,
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
    /// If `certain` is less than `max`.
    #[must_use]
    pub fn gentle(self, certain: f64) -> Self {
        assert!(certain >= self.max, "RED needs {} <= {certain}", self.max);
        Self { certain, ..self }
    }

    /// Sets the weight of a sample in the average (FJ's w_q); with 1 the average is the length at the instant.
    ///
    /// # Panics
    /// If it is not in (0, 1].
    #[must_use]
    pub fn weight(self, weight: f64) -> Self {
        assert!(
            0.0 < weight && weight <= 1.0,
            "a weight is in (0, 1], not {weight}"
        );
        Self { weight, ..self }
    }

    /// Sets the limit of the queue, packets, independent of the average.
    #[must_use]
    pub const fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Marks ECN-capable packets instead of dropping them, while the probability is below 1.
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

/// A RED queue with its packets.
#[derive(Debug)]
pub(crate) struct RedQueue<P> {
    red: Red,
    pub(crate) backlog: Backlog<P>,
    /// Average length, packets.
    average: f64,
    /// Number of packets since the last drop or mark; `None` while the probability is 0.
    since: Option<u32>,
    /// Time at which the queue became empty.
    empty_at: Time,
    /// FJ's s: transmission time of a typical packet.
    typical: Span,
    random: RandomStream,
}

impl<P: Payload> RedQueue<P> {
    pub(crate) fn new(red: Red, rate: Rate, random: RandomStream) -> Self {
        Self {
            red,
            backlog: Backlog::new(),
            average: 0.0,
            since: None,
            empty_at: Time::ZERO,
            typical: rate.serialisation(TYPICAL_PACKET),
            random,
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

    /// Updates the average with the length of the queue at an arrival.
    fn sample(&mut self, now: Time) {
        let length = self.backlog.len();
        let mut samples = 1;
        if length == 0 {
            let idle = now.since(self.empty_at).as_nanos() / self.typical.as_nanos().max(1);
            samples += idle;
            self.empty_at = now;
        }
        // By multiplication alone: the results of a library's power function may differ between machines.
        let keep = power(1.0 - self.red.weight, samples);
        self.average = keep * self.average + (1.0 - keep) * length as f64;
    }

    /// Whether the packet is to be dropped or marked, at probability `p` of the curve.
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
        let hit = self.random.chance(p);
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
