//! What an endpoint acts on: the time, the network, the timers.

use crate::host::{APART, Host};
use crate::sack::Sacks;
use crate::segment::{Kind, Segment, Wire, flag};
use crate::timers::Timers;
use crate::trace::{Content, Observer, Packet};
use netsim::{Exit, Network, RouteId, Time};

/// Everything outside of the endpoint that runs.
pub(crate) struct Env<O> {
    pub(crate) now: Time,
    pub(crate) network: Network<Wire>,
    pub(crate) timers: Timers,
    pub(crate) sacks: Sacks,
    pub(crate) observer: O,
    /// What leaves now, where hosts are not exact, and whether an ACK made it leave that tells of a gap or of its end.
    pub(crate) late: Vec<(RouteId, u32, Wire)>,
    pub(crate) gap: bool,
    pub(crate) host: Host,
}

impl<O: Observer> Env<O> {
    /// Sends a packet of so many bytes.
    #[inline(always)]
    pub(crate) fn send(&mut self, route: RouteId, bytes: u32, segment: Segment) {
        if O::PACKETS {
            self.show(bytes, segment.into(), true);
        }
        if let Some(Exit::Lost { payload, .. }) =
            self.network.inject(self.now, route, bytes, segment.into())
        {
            self.lost(self.now, payload);
        }
    }

    /// Sends a packet of a host that is not exact: with all others that leave upon the same, when these are known.
    #[inline(always)]
    pub(crate) fn send_late(&mut self, route: RouteId, bytes: u32, segment: Segment) {
        if O::PACKETS {
            self.show(bytes, segment.into(), true);
        }
        self.late.push((route, bytes, segment.into()));
    }

    /// What happened now is over: sends what it made leave ([`Network::inject_late`]).
    #[inline(always)]
    pub(crate) fn flush(&mut self) {
        let gap = std::mem::take(&mut self.gap);
        if self.late.is_empty() {
            return;
        }
        let mut late = self.host.late(self.late.len(), gap);
        for i in 0..self.late.len() {
            let (route, bytes, wire) = self.late[i];
            if let Some(Exit::Lost { at, payload, .. }) =
                (self.network).inject_late(self.now, late, route, bytes, wire)
            {
                self.lost(at, payload);
            }
            late = late + APART;
        }
        self.late.clear();
    }

    /// What the network lost.
    pub(crate) fn lost(&mut self, at: Time, payload: Wire) {
        let segment = Segment::from(payload);
        match segment.kind {
            Kind::Ack => drop(self.sacks.take(segment.sack)),
            Kind::Data if O::ON => self.observer.lost(at, segment.to),
            _ => {}
        }
    }

    /// Shows the observer a packet that now leaves one end, or comes to the other, if that end is the server. (To ask that
    /// here and not where it is called keeps the packet in its three words there: 3 % fewer instructions without an observer.)
    #[cold]
    pub(crate) fn show(&mut self, bytes: u32, segment: Wire, leaves: bool) {
        let segment = Segment::from(segment);
        if segment.kind.goes_to_client() != leaves {
            return;
        }
        let is = |bit| segment.flags & bit != 0;
        let content = match segment.kind {
            Kind::Data => Content::Data {
                seq: segment.seq,
                data: segment.data,
                len: segment.len,
                pushed: is(flag::PUSH),
                ecn_capable: is(flag::ECN_CAPABLE),
                reduced: is(flag::REDUCED),
            },
            Kind::Ack => Content::Ack {
                seq: segment.seq,
                data: segment.data,
                window: segment.window,
                answers: (segment.len, is(flag::AGAIN)),
                echo: is(flag::ECHO),
            },
            Kind::Syn => Content::Syn {
                backup: is(flag::BACKUP),
            },
            Kind::SynAck => Content::SynAck {
                backup: is(flag::BACKUP),
            },
            Kind::Established => Content::Established {
                answers_us: segment.window,
            },
            Kind::AddAddress if segment.seq == 0 => Content::Joined,
            Kind::AddAddress => Content::AddAddress(segment.seq),
            Kind::AddressEcho if segment.seq == 0 => Content::Reset,
            Kind::AddressEcho => Content::AddressEcho(segment.seq),
            Kind::Datagram => Content::Datagram,
        };
        let packet = Packet {
            flow: segment.to,
            bytes,
            content,
        };
        let sack = match segment.kind {
            Kind::Ack => self.sacks.see(segment.sack),
            _ => &[],
        };
        self.observer.packet(self.now, &packet, sack);
    }
}
