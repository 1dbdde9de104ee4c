//! The loop that connects a network to a clock and to the ports through which packets enter and leave it.

use std::ops::ControlFlow;

use crate::clock::Clock;
use crate::network::{Exit, Network, RouteId};
use crate::packet::Payload;
use crate::time::Time;

/// A packet that entered at a port.
#[derive(Debug)]
pub struct Arrival<P> {
    /// Route of the packet.
    pub route: RouteId,
    /// Size of the packet.
    pub bytes: u32,
    /// The packet.
    pub payload: P,
}

/// The world outside the network: source and sink of packets, with its own clock.
pub trait Ports<P>: Clock {
    /// The next packet that has entered, if any. Does not block.
    fn receive(&mut self) -> Option<Arrival<P>>;

    /// Takes a packet that has reached its destination or is lost.
    fn exit(&mut self, exit: Exit<P>);

    /// Waits until `next` (for ever if `None`), or until a packet enters. `Break` ends [`drive`].
    fn wait(&mut self, next: Option<Time>) -> ControlFlow<()>;
}

/// Runs `network` between `ports` until [`Ports::wait`] returns `Break`.
///
/// A packet's arrival time is read after the packet was received, so it is never early. Departures follow from arrivals alone: a
/// late turn of this loop delays the packets that it delivers, and no later packets.
pub fn drive<P: Payload>(network: &mut Network<P>, ports: &mut impl Ports<P>) {
    loop {
        let arrival = ports.receive();
        let now = ports.now();
        while let Some(exit) = network.poll(now) {
            ports.exit(exit);
        }
        if let Some(Arrival {
            route,
            bytes,
            payload,
        }) = arrival
        {
            if let Some(exit) = network.inject(now, route, bytes, payload) {
                ports.exit(exit);
            }
        } else if ports.wait(network.next_event()).is_break() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::LinkSpec;
    use crate::network::PortId;
    use crate::queue::droptail::DropTail;
    use crate::time::{Rate, Span};

    /// Ports whose clock jumps to the next event instead of waiting.
    struct Script {
        now: Time,
        route: RouteId,
        /// Times at which packets enter, latest first.
        arrivals: Vec<Time>,
        /// Delay after each wait.
        oversleep: Span,
        /// Due and actual time of each packet that arrived, and of each that was lost.
        arrived: Vec<(Time, Time)>,
        lost: Vec<Time>,
    }

    impl Clock for Script {
        fn now(&self) -> Time {
            self.now
        }
    }

    impl Ports<()> for Script {
        fn receive(&mut self) -> Option<Arrival<()>> {
            self.arrivals.last().filter(|at| **at <= self.now)?;
            self.arrivals.pop();
            Some(Arrival {
                route: self.route,
                bytes: 1500,
                payload: (),
            })
        }

        fn exit(&mut self, exit: Exit<()>) {
            match exit {
                Exit::Arrived { at, .. } => self.arrived.push((at, self.now)),
                Exit::Lost { at, .. } => self.lost.push(at),
            }
        }

        fn wait(&mut self, next: Option<Time>) -> ControlFlow<()> {
            let coming = self.arrivals.last().copied();
            match next.into_iter().chain(coming).min() {
                Some(at) => self.now = self.now.max(at) + self.oversleep,
                None => return ControlFlow::Break(()),
            }
            ControlFlow::Continue(())
        }
    }

    fn run(arrivals_ms: &[u64], oversleep: Span) -> Script {
        let mut network = Network::new();
        let link = network.add_link(LinkSpec::shaped(
            Rate::from_bits_per_second(2_500_000),
            DropTail::new(1),
            Span::from_millis(35),
        ));
        let route = network.add_route(&[link], PortId(0));
        let at = |ms: &u64| Time::ZERO + Span::from_millis(*ms);
        let mut script = Script {
            now: Time::ZERO,
            route,
            arrivals: arrivals_ms.iter().rev().map(at).collect(),
            oversleep,
            arrived: Vec::new(),
            lost: Vec::new(),
        };
        drive(&mut network, &mut script);
        script
    }

    #[test]
    fn packets_arrive_and_are_lost_on_time() {
        let script = run(&[0, 0, 0, 100], Span::ZERO);
        // 4.8 ms for each packet, then 35 ms. The third finds one packet in transmission and one in the queue.
        let us = [39_800, 44_600, 139_800];
        let due = us.map(|us| Time::ZERO + Span::from_micros(us));
        assert_eq!(script.arrived, due.map(|at| (at, at)));
        assert_eq!(script.lost, [Time::ZERO]);
    }

    #[test]
    fn lateness_does_not_add_up() {
        let late = Span::from_micros(700);
        let script = run(&(0..100).map(|i| 5 * i).collect::<Vec<_>>(), late);
        assert_eq!(script.arrived.len(), 100);
        for (i, (due, actual)) in script.arrived.iter().enumerate() {
            assert!(actual >= due && *actual <= *due + late + late, "packet {i}");
            let sent = Time::ZERO + Span::from_millis(5 * i as u64);
            let never_early = sent + Span::from_micros(39_800);
            assert!(
                *due >= never_early && *due <= never_early + late + late,
                "packet {i}"
            );
        }
    }
}
