//! UDP sources: datagrams of one size at a pace, unacknowledged.

use super::pace::Pace;
use crate::environment::Env;
use crate::environment::timers::TimerId;
use crate::packet::Segment;
use crate::trace::Observer;
use netsim::{RouteId, Time};

/// A UDP source.
#[derive(Debug)]
pub struct UdpSpec {
    /// Route of the datagrams.
    pub route: RouteId,
    /// Pace, with packets counted with their headers.
    pub pace: Pace,
    /// Size of an IP packet, bytes.
    pub packet: u16,
    /// Time of the first datagram.
    pub start: Time,
}

/// A UDP source with its counters.
#[derive(Debug)]
pub(crate) struct Udp {
    pub(crate) spec: UdpSpec,
    pub(crate) timer: TimerId,
    pub(crate) number: u32,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Udp {
    pub(crate) fn new(spec: UdpSpec, timer: TimerId, number: u32) -> Self {
        Self {
            spec,
            timer,
            number,
            sent: 0,
            received: 0,
        }
    }

    pub(crate) fn on_timer<O: Observer>(&mut self, env: &mut Env<O>) {
        let bytes = u32::from(self.spec.packet);
        let (sends, wait) = self.spec.pace.tick(env.now, bytes);
        env.timers.set(self.timer, env.now + wait);
        if sends {
            let segment = Segment::Datagram {
                source: self.number,
                number: self.sent as u32,
                len: self.spec.packet,
            };
            self.sent += 1;
            env.send(self.spec.route, bytes, segment);
        }
    }
}
