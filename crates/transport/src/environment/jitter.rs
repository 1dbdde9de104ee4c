//! Jitter of a server: the time from an ACK until the packets that answer it reach the first link. Each server draws its own.
//!
//! Packets of one size on one link keep equal times to the nanosecond once the link has been idle. A packet then reaches a full queue in the
//! very instant in which a place becomes free, and without jitter it is always the same flow that loses (Floyd and Jacobson, "Traffic phase
//! effects in packet-switched gateways", 1991; ns-2 has `overhead_`). A Linux 6.12 guest in virtual time answers an ACK with one segment
//! after 19.0 µs and with two after 22.3 µs, ± 0.3 µs (half of 2 400 answers): it builds all segments before it sends the first. The
//! second segment follows after 3.1 µs. One half of the ACKs are as exact, the other half up to 6 µs late. ACKs that report a gap
//! or its end take another 8 µs. The constant part is left out: it shifts every server equally.

use netsim::{RandomStream, Span};

/// Range of the jitter, ns.
const RANGE: u64 = 600;

/// One answer of this number has an additional delay.
const LATE_ONE_IN: u64 = 4;
/// Largest additional delay of such an answer, ns.
const LATE_RANGE: u64 = 6000;

/// Additional delay of the answer to an ACK that reports a gap, ns.
const GAP_DELAY: u64 = 8000;

/// Time to build another packet of the same burst, ns.
const BUILD_TIME: u64 = 3200;
/// Time between the packets of a burst.
pub(crate) const APART: Span = Span::from_nanos(3100);

/// Jitter of a server.
#[derive(Debug)]
pub(crate) struct Jitter {
    random: RandomStream,
}

impl Jitter {
    pub(crate) fn new(random: RandomStream) -> Self {
        Self { random }
    }

    /// Delay of the first of `count` packets that are sent at once; each next one is [`APART`] later. `gap`: the
    /// packets answer an ACK that reports a gap or its end.
    #[inline]
    pub(crate) fn draw(&mut self, count: u32, gap: bool) -> Span {
        Span::from_nanos(
            self.draw_one() + (u64::from(count) - 1) * BUILD_TIME + u64::from(gap) * GAP_DELAY,
        )
    }

    fn draw_one(&mut self) -> u64 {
        let number = self.random.number();
        // Each draw uses its own bits.
        let below = |bits: u64, limit: u64| ((bits & 0xffff) * limit) >> 16;
        let more = match below(number >> 32, LATE_ONE_IN) {
            0 => below(number >> 16, LATE_RANGE),
            _ => 0,
        };
        below(number >> 48, RANGE) + more
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::OutgoingBurst;
    use crate::packet::{Burst, Data, SubflowId};
    use crate::simulation::Simulation;
    use crate::trace::Quiet;
    use netsim::{DropTail, Exit, LinkSpec, Network, PortId, Rate, Time};

    #[test]
    fn jitter_is_within_its_range_and_grows_with_the_burst() {
        let mut host = Jitter::new(Network::<()>::with_seed(7).random_stream(0));
        let singles: Vec<u64> = (0..20_000)
            .map(|_| host.draw(1, false).as_nanos())
            .collect();
        assert!(singles.iter().all(|late| *late < RANGE + LATE_RANGE));
        let exact = singles.iter().filter(|late| **late < RANGE).count();
        assert!((15_000..16_000).contains(&exact), "{exact}");
        let mean = singles.iter().sum::<u64>() / 20_000;
        assert!((1000..1100).contains(&mean), "{mean}");
        assert!(host.draw(3, true).as_nanos() >= 2 * BUILD_TIME + GAP_DELAY);
    }

    /// Packets of one event reach their first queue one after the other.
    #[test]
    fn packets_of_one_event_leave_apart() {
        let mut network = Network::with_seed(7);
        let rate = Rate::from_bits_per_second(100_000_000);
        let link = LinkSpec::shaped(rate, DropTail::new(9), Span::ZERO);
        let link = network.add_link(link);
        let route = network.add_route(&[link], PortId(0));
        let mut simulation = Simulation::new(network, Quiet);
        let env = simulation.env();
        env.jitter.push(Jitter::new(env.network.random_stream(0)));
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
        // Bursts of two segments and of one. A packet of 20 bytes takes 1.6 µs.
        for len in [20, 10] {
            let burst = Burst::new(first, len / 10, len, false);
            let header = 10;
            let leaving = OutgoingBurst {
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
