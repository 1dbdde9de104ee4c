//! PIE: proportional integral controller, enhanced. The probability that an arriving packet is dropped, or marked, is computed
//! every 15 ms from the wait of the packets and its trend.
//!
//! RFC 8033, section 4 and its names, with ECN (5.1), drops at even distances (5.4) and bounded steps of the probability (5.5).
//! The wait is that of the last packet that left, from timestamps, as in Linux (`pie_process_dequeue` in net/sched/sch_pie.c); the
//! RFC leaves the choice open (4.3). PIE is always active (5.3 is left out).

use crate::packet::{Packet, Payload};
use crate::queue::{Backlog, Ledger};
use crate::random::RandomStream;
use crate::time::{Span, Time};

/// Acceptable wait: `QDELAY_REF` (RFC 8033 section 4.2).
const TARGET: Span = Span::from_millis(15);

/// Time between two computations: `T_UPDATE` (section 4.2).
const UPDATE: Span = Span::from_millis(15);

/// Time without drops after the queue was short: `MAX_BURST` (section 4.4).
const MAX_BURST: Span = Span::from_millis(150);

/// Increase of the probability for each second of the wait above the target: `alpha` (section 4.2).
const ALPHA: f64 = 0.125;

/// The same for each second by which the wait has increased: `beta` (section 4.2).
const BETA: f64 = 1.25;

/// Part of the probability that remains after a computation with an empty queue (section 4.2).
const DECAY: f64 = 0.98;

/// Steps of a probability below the bound are divided: auto-tuning (section 4.2).
const TUNING: [(f64, f64); 6] = [
    (0.000_001, 2048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];

/// Largest step of a probability of a tenth and more (section 5.5).
const LARGEST_STEP: f64 = 0.02;

/// Probability from which ECN-capable packets are dropped, too: `mark_ecnth` (section 5.1).
const MARK_BELOW: f64 = 0.1;

/// Probability below which nothing is dropped at half of the target (section 4.1).
const LOW: f64 = 0.2;

/// Sums of the probability since the last drop, below which no packet is dropped and from which each is (section 5.4).
const EVEN: (f64, f64) = (0.85, 8.5);

/// A queue of no more bytes has no drops: two packets (`2 * MEAN_PKTSIZE` of section 4.1; Linux has the MTU).
const SHORT: u64 = 2 * 1500;

/// Limit of the queue, packets: that of Linux (`pie_params_init`); the RFC has none.
const LIMIT: usize = 1000;

/// A PIE queue's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pie {
    target: Span,
    limit: usize,
    ecn: bool,
}

impl Default for Pie {
    fn default() -> Self {
        Self::new()
    }
}

impl Pie {
    /// Target 15 ms, 1000 packets, no ECN.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            target: TARGET,
            limit: LIMIT,
            ecn: false,
        }
    }

    /// Sets the acceptable wait.
    #[must_use]
    pub const fn target(self, target: Span) -> Self {
        Self { target, ..self }
    }

    /// Sets the limit of the queue, packets.
    #[must_use]
    pub const fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// Marks ECN-capable packets instead of dropping them, while the probability is below a tenth.
    #[must_use]
    pub const fn ecn(self) -> Self {
        Self { ecn: true, ..self }
    }

    /// Whether a wait is less than half of the target.
    fn is_low(&self, wait: Span) -> bool {
        2 * wait.as_nanos() < self.target.as_nanos()
    }
}

/// The drop probability, with the values from which it is computed.
#[derive(Clone, Copy, Debug)]
struct Control {
    /// `drop_prob_`.
    probability: f64,
    /// `current_qdelay`: wait of the last packet that left; 0 if the queue is empty.
    wait: Span,
    /// `qdelay_old_`: the wait at the last computation.
    last_wait: Span,
    /// `burst_allowance_`.
    burst: Span,
    /// `accu_prob_`: sum of the probability over packets since the last drop.
    sum: f64,
    /// Time of the next computation.
    next: Time,
}

impl Control {
    const fn new() -> Self {
        Self {
            probability: 0.0,
            wait: Span::ZERO,
            last_wait: Span::ZERO,
            burst: Span::ZERO,
            sum: 0.0,
            next: Time::from_nanos(UPDATE.as_nanos()),
        }
    }

    /// Makes the computations that are due. Between two packets nothing changes that they depend on.
    fn catch_up(&mut self, pie: &Pie, now: Time) {
        while self.next <= now {
            self.compute(pie);
            self.next += UPDATE;
        }
    }

    /// `calculate_drop_prob`.
    fn compute(&mut self, pie: &Pie) {
        let wait = self.wait.as_secs_f64();
        let above = wait - pie.target.as_secs_f64();
        let mut step = ALPHA * above + BETA * (wait - self.last_wait.as_secs_f64());
        let tuning = TUNING.iter().find(|(bound, _)| self.probability < *bound);
        if let Some((_, divisor)) = tuning {
            step /= divisor;
        } else {
            step = step.min(LARGEST_STEP);
        }
        self.probability += step;
        if self.wait == Span::ZERO && self.last_wait == Span::ZERO {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.last_wait = self.wait;
        let rest = self.burst.as_nanos().saturating_sub(UPDATE.as_nanos());
        self.burst = Span::from_nanos(rest);
    }

    /// Whether an arriving packet is to be dropped or marked. `bytes`: the queue in front of it.
    fn hits(&mut self, pie: &Pie, bytes: u64, random: &mut RandomStream) -> bool {
        if self.probability == 0.0 && pie.is_low(self.wait) && pie.is_low(self.last_wait) {
            self.burst = MAX_BURST;
        }
        let is_idle = pie.is_low(self.last_wait) && self.probability < LOW;
        if self.burst > Span::ZERO || is_idle || bytes <= SHORT {
            return false;
        }
        if self.probability == 0.0 {
            self.sum = 0.0;
        }
        self.sum += self.probability;
        let (none, all) = EVEN;
        let hit = self.sum >= none && (self.sum >= all || random.chance(self.probability));
        if hit {
            self.sum = 0.0;
        }
        hit
    }
}

/// A PIE queue with its packets.
#[derive(Debug)]
pub(crate) struct PieQueue<P> {
    pie: Pie,
    pub(crate) backlog: Backlog<P>,
    control: Control,
    random: RandomStream,
}

impl<P: Payload> PieQueue<P> {
    pub(crate) fn new(pie: Pie, random: RandomStream) -> Self {
        Self {
            pie,
            backlog: Backlog::new(),
            control: Control::new(),
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
        self.control.catch_up(&self.pie, now);
        if must_wait && self.backlog.len() >= self.pie.limit {
            return Err(packet);
        }
        let bytes = self.backlog.bytes();
        if self.control.hits(&self.pie, bytes, &mut self.random) {
            let marks = self.pie.ecn && self.control.probability < MARK_BELOW;
            if !ledger.mark(marks, &mut packet) {
                return Err(packet);
            }
        }
        self.backlog.push(now, packet);
        Ok(())
    }

    pub(crate) fn dequeue(&mut self, now: Time) -> Option<Packet<P>> {
        self.control.catch_up(&self.pie, now);
        let (since, packet) = self.backlog.pop()?;
        self.control.wait = if self.backlog.len() == 0 {
            Span::ZERO
        } else {
            now.since(since)
        };
        Some(packet)
    }
}

#[cfg(test)]
#[path = "pie_tests.rs"]
mod tests;
