//! Environment of an endpoint: time, network, timers, observer.

pub(crate) mod jiffies;
pub(crate) mod jitter;
mod timer_owner;
pub(crate) mod timers;

use crate::packet::sack_blocks::SackStore;
use crate::packet::sequence::{micros, since_echo};
use crate::packet::{Burst, Segment, Wire, flag};
use crate::trace::{Content, Flow, Observer, Packet};
use jitter::{APART, Jitter};
use netsim::{BurstTiming, Exit, Network, RouteId, Span, Time};
pub(crate) use timer_owner::TimerOwner;
use timers::Timers;

/// A burst of segments on its way to the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutgoingBurst {
    pub(crate) route: RouteId,
    /// Headers of each packet, bytes.
    pub(crate) header: u32,
    pub(crate) burst: Burst,
}

impl OutgoingBurst {
    /// Bytes and content of each packet.
    #[inline(always)]
    fn packets(&self) -> impl Iterator<Item = (u32, Wire)> {
        let header = self.header;
        let packets = self.burst.packets();
        packets.map(move |(payload, wire)| (header + payload, wire))
    }
}

/// Environment of an endpoint.
pub(crate) struct Env<O> {
    pub(crate) now: Time,
    pub(crate) network: Network<Wire>,
    pub(crate) timers: Timers<TimerOwner>,
    pub(crate) sacks: SackStore,
    pub(crate) observer: O,
    /// Bursts of the current event, which leave after a random delay.
    pub(crate) bursts: Vec<OutgoingBurst>,
    /// Number of segments in `bursts`.
    pub(crate) burst_segments: u32,
    /// No fast path is taken: a test compares both.
    #[cfg(test)]
    pub(crate) only_slow_paths: bool,
    /// The bursts answer an ACK that reports a gap or its end.
    pub(crate) reports_gap: bool,
    /// Jitter of the server of each connection.
    pub(crate) jitter: Vec<Jitter>,
}

impl<O: Observer> Env<O> {
    /// Whether fast paths are taken: always, except in a test that compares them with the slow paths.
    #[inline(always)]
    pub(crate) fn has_fast_paths(&self) -> bool {
        #[cfg(test)]
        return !self.only_slow_paths;
        #[cfg(not(test))]
        true
    }

    /// Sends a packet of `bytes` bytes.
    #[inline(always)]
    pub(crate) fn send(&mut self, route: RouteId, bytes: u32, segment: Segment) {
        if O::PACKETS {
            self.report_packet(bytes, segment.into(), true);
        }
        if let Some(Exit::Lost { payload, .. }) =
            self.network.inject(self.now, route, bytes, segment.into())
        {
            self.lost(self.now, payload);
        }
    }

    /// Sends segments. With `host_jitter` they wait for [`flush`](Self::flush), because the jitter depends on the
    /// number of segments that one event sends.
    #[inline(always)]
    pub(crate) fn send_burst(&mut self, leaving: OutgoingBurst, host_jitter: bool) {
        if O::PACKETS {
            for (bytes, wire) in leaving.packets() {
                self.report_packet(bytes, wire, true);
            }
        }
        if host_jitter {
            self.burst_segments += leaving.burst.count;
            self.bursts.push(leaving);
            return;
        }
        for (bytes, wire) in leaving.packets() {
            if let Some(Exit::Lost { payload, .. }) =
                self.network.inject(self.now, leaving.route, bytes, wire)
            {
                self.lost(self.now, payload);
            }
        }
    }

    /// Ends an event: sends its bursts ([`Network::inject_burst`]).
    #[inline(always)]
    pub(crate) fn flush(&mut self) {
        if !self.bursts.is_empty() {
            self.flush_bursts();
        }
        self.reports_gap = false;
    }

    /// Sends the bursts of an event, delayed by the jitter of the server.
    #[inline(never)]
    fn flush_bursts(&mut self) {
        let Self {
            now,
            network,
            observer,
            bursts,
            jitter,
            ..
        } = self;
        // All bursts are of one connection: an event concerns one connection.
        let connection = bursts[0].burst.connection();
        let segments = std::mem::take(&mut self.burst_segments);
        let mut delay = jitter[connection as usize].draw(segments, self.reports_gap);
        for leaving in &*bursts {
            let lost = |exit| {
                if let (true, Exit::Lost { at, payload, .. }) = (O::ON, exit) {
                    if let Some(data) = Wire::data(payload) {
                        observer.lost(at, data.subflow, data.seq);
                    }
                }
            };
            let timing = BurstTiming { delay, gap: APART };
            network.inject_burst(*now, timing, leaving.route, leaving.packets(), lost);
            delay = delay + Span::from_nanos(APART.as_nanos() * u64::from(leaving.burst.count));
        }
        bursts.clear();
    }

    /// The network has lost a packet.
    pub(crate) fn lost(&mut self, at: Time, payload: Wire) {
        if let Some(ack) = payload.ack() {
            self.sacks.take(ack.sack);
        } else if let Some(data) = payload.data().filter(|_| O::ON) {
            self.observer.lost(at, data.subflow, data.seq);
        }
    }

    /// Reports the arrival of a data segment at the client to the observer.
    #[cold]
    pub(crate) fn report_arrival(&mut self, wire: Wire) {
        if let Some(data) = wire.data() {
            self.observer.arrived(self.now, data.subflow, data.seq);
        }
    }

    /// Reports a packet to the observer that leaves (`leaves`) or arrives at the server. (Checking the server's end
    /// here and not at the call keeps the packet in its three words there: 3 % fewer instructions without an observer.)
    #[cold]
    pub(crate) fn report_packet(&mut self, bytes: u32, wire: Wire, leaves: bool) {
        if wire.goes_to_client() != leaves {
            return;
        }
        let (mut sack, segment) = (0, Segment::from(wire));
        let (subflow, content) = match segment {
            Segment::Data(data) => {
                let is = |bit| data.flags & bit != 0;
                let content = Content::Data {
                    seq: data.seq,
                    data: data.dsn,
                    len: data.len,
                    pushed: is(flag::PSH),
                    ecn_capable: is(flag::ECT),
                    reduced: is(flag::CWR),
                };
                (data.subflow, content)
            }
            Segment::Ack(ack) => {
                let is = |bit| ack.flags & bit != 0;
                sack = ack.sack;
                let content = Content::Ack {
                    seq: ack.seq,
                    data: ack.data_ack,
                    window: ack.window,
                    echo_age_us: since_echo(micros(self.now), ack.echo_us),
                    echo: is(flag::ECE),
                };
                (ack.subflow, content)
            }
            Segment::Syn { subflow, backup } => (subflow, Content::Syn { backup }),
            Segment::SynAck {
                subflow, backup, ..
            } => (subflow, Content::SynAck { backup }),
            Segment::HandshakeAck { subflow, echo_us } => (
                subflow,
                Content::Established {
                    answers_us: echo_us,
                },
            ),
            Segment::JoinAck { subflow, .. } => (subflow, Content::Joined),
            Segment::AddAddr { subflow, address } => (subflow, Content::AddAddress(address)),
            Segment::AddAddrEcho { subflow, address } => (subflow, Content::AddressEcho(address)),
            Segment::Reset { subflow } => (subflow, Content::Reset),
            Segment::Datagram { source, .. } => {
                return self.observe(bytes, Flow::Udp(source), Content::Datagram, 0);
            }
        };
        self.observe(bytes, Flow::Subflow(subflow), content, sack);
    }

    fn observe(&mut self, bytes: u32, flow: Flow, content: Content, sack: u32) {
        let packet = Packet {
            flow,
            bytes,
            content,
        };
        self.observer
            .packet(self.now, &packet, self.sacks.get(sack));
    }
}
