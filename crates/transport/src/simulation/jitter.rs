//! How late a server is, each from draws of its own: from what it answers until its packets are on the line.
//!
//! Where packets of one size meet on one link, their times agree to the nanosecond once the link has been idle, and a packet
//! comes to a full queue in the very instant in which a place becomes free. Without any chance it is then for ever the same
//! one that is lost (Floyd and Jacobson, "Traffic phase effects in packet-switched gateways", 1991; ns-2 has `overhead_` for
//! that). Hosts are not so exact. A Linux 6.12 guest in virtual time answers an ACK with one segment after 19.0 µs and with two
//! after 22.3, give or take 0.3 (half of 2 400), since what it sends at once is built before any of it is on the line; the
//! second follows the first at 3.1 µs. The ACKs are as exact in one half of all, up to 6 µs late in the other, and those that
//! tell of a gap or of its end another 8. What is the same for all matters to nobody and is left out.

use netsim::{Dice, Span};

/// By so much do answers differ, ns.
const DIFFER: u64 = 600;

/// One of so many is later by up to so much more, ns.
const RARE: u64 = 4;
const MORE: u64 = 6000;

/// An ACK of a gap is late by so much, ns.
const GAP: u64 = 8000;

/// It takes so long to build one more packet that is sent at once, ns, and they follow each other so.
const BUILD: u64 = 3200;
pub(crate) const APART: Span = Span::from_nanos(3100);

/// A server.
#[derive(Debug)]
pub(crate) struct Jitter {
    dice: Dice,
}

impl Jitter {
    /// One that draws from these.
    pub(crate) fn new(dice: Dice) -> Self {
        Self { dice }
    }

    /// How late the first of so many packets is that are sent at once; each next one is [`APART`] later. `gap`: they answer an
    /// ACK that tells of a gap or of its end.
    #[inline]
    pub(crate) fn draw(&mut self, count: u32, gap: bool) -> Span {
        Span::from_nanos(self.differ() + (u64::from(count) - 1) * BUILD + u64::from(gap) * GAP)
    }

    fn differ(&mut self) -> u64 {
        let number = self.dice.number();
        // Each from bits of its own.
        let below = |bits: u64, most: u64| ((bits & 0xffff) * most) >> 16;
        let more = match below(number >> 32, RARE) {
            0 => below(number >> 16, MORE),
            _ => 0,
        };
        below(number >> 48, DIFFER) + more
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Burst, Data, SubflowId};
    use crate::simulation::Simulation;
    use crate::simulation::environment::Leaving;
    use crate::trace::Quiet;
    use netsim::{DropTail, Exit, LinkSpec, Network, PortId, Rate, Time};

    #[test]
    fn answers_differ_and_more_at_once_take_longer() {
        let mut host = Jitter::new(Network::<()>::with_seed(7).dice(0));
        let singles: Vec<u64> = (0..20_000)
            .map(|_| host.draw(1, false).as_nanos())
            .collect();
        assert!(singles.iter().all(|late| *late < DIFFER + MORE));
        let exact = singles.iter().filter(|late| **late < DIFFER).count();
        assert!((15_000..16_000).contains(&exact), "{exact}");
        let mean = singles.iter().sum::<u64>() / 20_000;
        assert!((1000..1100).contains(&mean), "{mean}");
        assert!(host.draw(3, true).as_nanos() >= 2 * BUILD + GAP);
    }

    /// Those that leave at once come to their first queue one after the other.
    #[test]
    fn what_is_built_at_once_leaves_apart() {
        let mut network = Network::with_seed(7);
        let rate = Rate::from_bits_per_second(100_000_000);
        let link = LinkSpec::shaped(rate, DropTail::new(9), Span::ZERO);
        let link = network.add_link(link);
        let route = network.add_route(&[link], PortId(0));
        let mut simulation = Simulation::new(network, Quiet);
        let env = simulation.env();
        env.jitter.push(Jitter::new(env.network.dice(0)));
        let first = Data {
            subflow: SubflowId {
                connection: 0,
                subflow: 0,
            },
            seq: 0,
            dsn: 0,
            len: 10,
            sent_us: 0,
            flags: 0,
        };
        // Two and one, of 20 bytes, which take 1.6 µs.
        for len in [20, 10] {
            let burst = Burst {
                first,
                count: len / 10,
                len,
                pushed: false,
            };
            let header = 10;
            let leaving = Leaving {
                route,
                header,
                burst,
            };
            env.send_burst(leaving, true);
        }
        env.flush();
        let exits = std::iter::from_fn(|| env.network.poll(Time::ZERO + Span::from_millis(1)));
        let times: Vec<Time> = exits
            .map(|exit| match exit {
                Exit::Arrived { at, .. } | Exit::Lost { at, .. } => at,
            })
            .collect();
        let apart: Vec<Span> = times.windows(2).map(|two| two[1].since(two[0])).collect();
        assert_eq!(apart, [APART, APART]);
    }
}
