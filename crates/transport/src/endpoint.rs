//! What an endpoint acts on: the time, the network, the timers.

use crate::sack::Sacks;
use crate::segment::{Kind, Segment, Wire};
use crate::timers::Timers;
use crate::trace::Observer;
use netsim::{Exit, Network, RouteId, Time};

/// Everything outside of the endpoint that runs.
pub(crate) struct Env<O> {
    pub(crate) now: Time,
    pub(crate) network: Network<Wire>,
    pub(crate) timers: Timers,
    pub(crate) sacks: Sacks,
    pub(crate) observer: O,
}

impl<O: Observer> Env<O> {
    /// Sends a packet of so many bytes.
    #[inline(always)]
    pub(crate) fn send(&mut self, route: RouteId, bytes: u32, segment: Segment) {
        if let Some(Exit::Lost { payload, .. }) =
            self.network.inject(self.now, route, bytes, segment.into())
        {
            self.lost(self.now, payload);
        }
    }

    /// What the network lost.
    pub(crate) fn lost(&mut self, at: Time, payload: Wire) {
        let segment = Segment::from(payload);
        if O::ON && segment.kind == Kind::Data {
            self.observer.lost(at, segment.to);
        }
        self.sacks.take(segment.sack);
    }
}
