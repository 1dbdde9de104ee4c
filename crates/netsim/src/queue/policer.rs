//! A policer: a token bucket that drops packets beyond a rate instead of delaying them.
//!
//! The bucket gains tokens at the rate, up to `burst` bytes, and is full at the start. A packet takes as many tokens as it has bytes; a
//! packet that finds fewer is dropped. As `tc … police rate … burst … drop` (net/sched/act_police.c) without a peak rate. Packets that
//! pass wait for the link, whose rate should be higher than the policer's: that queue has at most `burst` bytes.

use crate::packet::Packet;
use crate::queue::Backlog;
use crate::time::{Rate, Time};

/// Tokens of a byte. The bucket gains the rate in bit/s each nanosecond, so the number of tokens is exact.
const TOKENS_PER_BYTE: u128 = 8_000_000_000;

/// A policer's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    rate: Rate,
    burst: u64,
}

impl Policer {
    /// Passes packets at `rate`, and up to `burst` bytes at once. A packet that is larger than `burst` never passes.
    #[must_use]
    pub const fn new(rate: Rate, burst: u64) -> Self {
        Self { rate, burst }
    }
}

/// A policer, and the packets that passed and wait for the link.
#[derive(Debug)]
pub(crate) struct PolicerQueue<P> {
    policer: Policer,
    pub(crate) backlog: Backlog<P>,
    /// Tokens at the time `filled_at`.
    tokens: u128,
    filled_at: Time,
}

impl<P> PolicerQueue<P> {
    pub(crate) const fn new(policer: Policer) -> Self {
        Self {
            policer,
            backlog: Backlog::new(),
            tokens: policer.burst as u128 * TOKENS_PER_BYTE,
            filled_at: Time::ZERO,
        }
    }

    pub(crate) fn enqueue(&mut self, now: Time, packet: Packet<P>) -> Result<(), Packet<P>> {
        let Policer { rate, burst } = self.policer;
        let elapsed = now.since(self.filled_at).as_nanos();
        let gained = u128::from(rate.bits_per_second()) * u128::from(elapsed);
        self.tokens = (self.tokens + gained).min(u128::from(burst) * TOKENS_PER_BYTE);
        self.filled_at = now;
        let needed = u128::from(packet.bytes) * TOKENS_PER_BYTE;
        if needed > self.tokens {
            return Err(packet);
        }
        self.tokens -= needed;
        self.backlog.push(now, packet);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::testing::{Segment, segment};
    use crate::time::Span;

    /// Whether packets of these sizes pass at these times, µs.
    fn passed(policer: Policer, packets: &[(u64, u32)]) -> Vec<bool> {
        let mut queue: PolicerQueue<Segment> = PolicerQueue::new(policer);
        let arrival = |(us, bytes): &(u64, u32)| {
            let at = Time::ZERO + Span::from_micros(*us);
            queue.enqueue(at, segment(0, 0, *bytes)).is_ok()
        };
        packets.iter().map(arrival).collect()
    }

    #[test]
    fn a_packet_needs_its_tokens() {
        // 8 Mbit/s: a byte a microsecond. At first 3000 bytes.
        let policer = Policer::new(Rate::from_bits_per_second(8_000_000), 3000);
        let packets = [
            (0, 1500),
            (0, 1500),
            (0, 1),       // the bucket is empty
            (1499, 1500), // one token too few; the packet takes none
            (1500, 1500),
            (1500, 40),
            (1540, 40),
            (9000, 3000), // full again after 3000 µs, and not more than full
            (9000, 1),
            (99_000, 3001), // more than the bucket holds
        ];
        let expected = [1, 1, 0, 0, 1, 0, 1, 1, 0, 0].map(|passed| passed == 1);
        assert_eq!(passed(policer, &packets), expected);
    }

    #[test]
    fn no_fraction_of_a_token_is_lost() {
        // 7 bit/s, a packet of 7 bytes each 8 s, or a nanosecond earlier.
        let policer = Policer::new(Rate::from_bits_per_second(7), 7);
        let mut queue: PolicerQueue<Segment> = PolicerQueue::new(policer);
        let mut pass = |ns| {
            queue
                .enqueue(Time::from_nanos(ns), segment(0, 0, 7))
                .is_ok()
        };
        // Each look at the bucket fills it: a rounded number of tokens would be too small at the end.
        assert!(pass(0));
        for ns in 1..8_000 {
            assert!(!pass(ns * 1_000_000 - 1));
        }
        assert!(!pass(7_999_999_999) && pass(8_000_000_000));
    }
}
