//! UDP: datagrams of one size at a pace, which nobody acknowledges.

use super::pace::Pace;
use crate::environment::Env;
use crate::environment::timers::TimerId;
use crate::packet::Segment;
use crate::trace::Observer;
use netsim::{RouteId, Time};

/// A source of datagrams.
#[derive(Debug)]
pub struct UdpSpec {
    /// The way.
    pub route: RouteId,
    /// How fast, in whole IP packets.
    pub pace: Pace,
    /// Bytes of an IP packet.
    pub packet: u16,
    /// When it begins.
    pub start: Time,
}

/// A source, and how much came through.
#[derive(Debug)]
pub(crate) struct Udp {
    pub(crate) spec: UdpSpec,
    pub(crate) timer: TimerId,
    pub(crate) me: u32,
    pub(crate) sent: u64,
    pub(crate) received: u64,
}

impl Udp {
    pub(crate) fn new(spec: UdpSpec, timer: TimerId, me: u32) -> Self {
        Self {
            spec,
            timer,
            me,
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
                source: self.me,
                number: self.sent as u32,
                len: self.spec.packet,
            };
            self.sent += 1;
            env.send(self.spec.route, bytes, segment);
        }
    }
}
