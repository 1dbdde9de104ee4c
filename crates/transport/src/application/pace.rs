//! Sources that send at a rate, always or on and off.

use netsim::{Rate, Span, Time};
use std::fmt;

/// Draws the times of the next on and off period.
pub type Turns = Box<dyn FnMut() -> OnOff + Send>;

/// An on period and the off period after it.
#[derive(Clone, Copy, Debug)]
pub struct OnOff {
    /// Length of the on period.
    pub on: Span,
    /// Length of the off period.
    pub off: Span,
}

/// Rate of a source and its on and off periods.
pub struct Pace {
    rate: Rate,
    turns: Option<Turns>,
    /// End of the current on period; none: no period has begun, or an off period is over.
    on_until: Option<Time>,
    off: Span,
}

impl fmt::Debug for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Pace({:?}, in turns: {})",
            self.rate,
            self.turns.is_some()
        )
    }
}

impl Pace {
    /// A source of this rate that is always on, or on and off by turns, starting with on.
    pub fn new(rate: Rate, turns: Option<Turns>) -> Self {
        Self {
            rate,
            turns,
            on_until: None,
            off: Span::ZERO,
        }
    }

    /// A packet of `bytes` is due: whether it is sent now, and the time until the next call.
    pub fn tick(&mut self, now: Time, bytes: u32) -> (bool, Span) {
        if let Some(turns) = &mut self.turns {
            if self.on_until.is_some_and(|until| now >= until) && self.off > Span::ZERO {
                self.on_until = None;
                return (false, std::mem::take(&mut self.off));
            }
            if self.on_until.is_none_or(|until| now >= until) {
                let OnOff { on, off } = turns();
                self.on_until = Some(now + on);
                self.off = off;
            }
        }
        // At a rate above one packet per nanosecond time would not advance.
        (
            true,
            self.rate.serialisation(bytes).max(Span::from_nanos(1)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of the packets until 50 ms, ms.
    fn sent(mut pace: Pace) -> Vec<u64> {
        let (mut now, mut sent) = (Time::ZERO, vec![]);
        while now.as_nanos() < 50_000_000 {
            let (sends, wait) = pace.tick(now, 1500);
            if sends {
                sent.push(now.as_nanos() / 1_000_000);
            }
            now += wait;
        }
        sent
    }

    #[test]
    fn a_source_sends_at_its_rate_while_it_is_on() {
        let rate = Rate::from_bits_per_second(2_000_000); // one packet every 6 ms
        assert_eq!(
            sent(Pace::new(rate, None)),
            [0, 6, 12, 18, 24, 30, 36, 42, 48]
        );
        let turns = || OnOff {
            on: Span::from_millis(10),
            off: Span::from_millis(13),
        };
        assert_eq!(sent(Pace::new(rate, Some(Box::new(turns)))), [0, 6, 25, 31]);
    }
}
