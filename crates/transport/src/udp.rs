//! UDP sources: datagrams of one size at a constant rate, all the time or on and off.

use crate::endpoint::Env;
use crate::segment::{Kind, Segment};
use crate::trace::Observer;
use netsim::{Rate, RouteId, Span, Time};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// How long a source is on, and then off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bursts {
    /// Always on.
    Constant,
    /// These spans in turn.
    Fixed {
        /// On.
        on: Span,
        /// Off.
        off: Span,
    },
    /// Spans drawn from exponential distributions of these means.
    Exponential {
        /// On.
        on: Span,
        /// Off.
        off: Span,
    },
}

/// What a source sends.
#[derive(Clone, Debug)]
pub struct UdpSpec {
    /// The way.
    pub route: RouteId,
    /// The rate while it is on, of whole IP packets.
    pub rate: Rate,
    /// Bytes of an IP packet.
    pub packet: u32,
    /// When it is on.
    pub bursts: Bursts,
    /// When it begins.
    pub start: Time,
    /// What the spans are drawn from.
    pub seed: u64,
}

/// A source, and how much came through.
#[derive(Debug)]
pub(crate) struct Udp {
    pub(crate) spec: UdpSpec,
    pub(crate) timer: u32,
    pub(crate) me: u32,
    random: Pcg64Mcg,
    /// It is on until then; none before the first time.
    until: Option<Time>,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Udp {
    pub(crate) fn new(spec: UdpSpec, timer: u32, me: u32) -> Self {
        let random = Pcg64Mcg::seed_from_u64(spec.seed);
        Self {
            spec,
            timer,
            me,
            random,
            until: None,
            sent: 0,
            received: 0,
        }
    }

    /// Its timer fires: one datagram, and the next is due when this one would be sent at its rate.
    pub(crate) fn on_timer<O: Observer>(&mut self, env: &mut Env<'_, O>) {
        let on = match self.until {
            Some(until) if env.now < until => until,
            _ => {
                let (on, off) = self.spans();
                if self.until.is_some() && off > Span::ZERO {
                    self.until = None;
                    env.timers.set(self.timer, env.now + off);
                    return;
                }
                env.now + on
            }
        };
        self.until = Some(on);
        let segment = Segment {
            to: self.me,
            seq: self.sent as u32,
            data: 0,
            window: 0,
            sack: 0,
            kind: Kind::Datagram,
            flags: 0,
            len: self.spec.packet as u16,
        };
        self.sent += 1;
        env.send(self.spec.route, self.spec.packet, segment);
        let gap = self.spec.rate.serialisation(self.spec.packet);
        env.timers
            .set(self.timer, env.now + gap.max(Span::from_nanos(1)));
    }

    fn spans(&mut self) -> (Span, Span) {
        const FOR_EVER: Span = Span::from_secs(1 << 32);
        match self.spec.bursts {
            Bursts::Constant => (FOR_EVER, Span::ZERO),
            Bursts::Fixed { on, off } => (on, off),
            Bursts::Exponential { on, off } => (self.draw(on), self.draw(off)),
        }
    }

    /// From the exponential distribution of this mean.
    fn draw(&mut self, mean: Span) -> Span {
        let unit = ((self.random.next_u64() >> 11) + 1) as f64 / (1u64 << 53) as f64;
        Span::from_nanos((mean.as_nanos() as f64 * -ln(unit)).round() as u64)
    }
}

/// Natural logarithm of a number in (0, 1], the same on every machine: made of arithmetic that IEEE 754 defines to the bit,
/// where the system's `ln` may differ in the last. ln x = 2·atanh((x−1)/(x+1)) of
/// the fraction, and the exponent's multiple of ln 2.
fn ln(x: f64) -> f64 {
    let bits = x.to_bits();
    let exponent = ((bits >> 52) as i64 - 1023) as f64;
    let fraction = f64::from_bits((bits & ((1 << 52) - 1)) | (1023 << 52));
    let y = (fraction - 1.0) / (fraction + 1.0);
    let (square, mut term, mut sum) = (y * y, y, 0.0);
    for k in 0..24 {
        sum += term / f64::from(2 * k + 1);
        term *= square;
    }
    2.0 * sum + exponent * std::f64::consts::LN_2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_one() {
        for x in [1.0, 0.5, 0.3, 0.999, 1e-3, 1e-15, 0.75] {
            assert!((ln(x) - x.ln()).abs() < 1e-13 * (1.0 + x.ln().abs()), "{x}");
        }
    }
}
