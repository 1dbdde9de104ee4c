//! The receiving end of a subflow: what has arrived, and when to acknowledge it.
//!
//! ACKs are Linux's: one for each segment at first and while the window that is offered grows (quick ACKs), then one for
//! each second or after 40 ms, at once while something is missing, when a gap is filled (RFC 5681, 4.2), and for what
//! arrives twice (RFC 2883).

use crate::connection::Connection;
use crate::endpoint::Env;
use crate::profile::{Detection, Profile};
use crate::reassembly::Reassembly;
use crate::receive_window::Offer;
use crate::sack::Beyond;
use crate::segment::{Kind, Segment, flag, micros, widen};
use crate::simulation::ConnectionSpec;
use crate::trace::Observer;
use netsim::{RouteId, Time};
use std::sync::Arc;

/// The receiving end of a subflow.
#[derive(Debug)]
pub(crate) struct Receiver {
    got: Reassembly,
    beyond: Beyond,
    /// A segment that arrived twice, to be told.
    twice: Option<u64>,
    /// ACKs that are still to be sent for each segment.
    quick: u32,
    pub(crate) offer: Offer,
    /// Segments that no ACK covers yet.
    waiting: u32,
    /// Flags of the next ACK, and the segment that it answers.
    flags: u8,
    answers: u16,
    pub(crate) route: RouteId,
    pub(crate) timer: u32,
    pub(crate) me: u32,
    pub(crate) parent: u32,
    pub(crate) profile: Arc<Profile>,
    header: u16,
    /// How many SACK blocks fit; 0: the endpoints do without.
    room: u8,
    /// The handshake: whether there is to be one, when the SYN was sent first, how often, whether it was answered.
    pub(crate) asked: bool,
    pub(crate) syn_first: Option<Time>,
    pub(crate) syns: u32,
    pub(crate) established: bool,
}

impl Receiver {
    pub(crate) fn new(
        spec: &ConnectionSpec,
        profile: Arc<Profile>,
        route: RouteId,
        timer: u32,
        me: u32,
        parent: u32,
        offer: Offer,
    ) -> Self {
        let mptcp = spec.mptcp;
        let (tcp, both) = profile.sack_blocks;
        let sack = profile.detection != Detection::DuplicateAcks;
        Self {
            got: Reassembly::new(),
            beyond: Beyond::default(),
            twice: None,
            quick: profile.quick_acks,
            offer,
            waiting: 0,
            flags: 0,
            answers: 0,
            route,
            timer,
            me,
            parent,
            header: profile.header + if mptcp { profile.mptcp_ack_header } else { 0 },
            room: if !sack {
                0
            } else if mptcp {
                both as u8
            } else {
                tcp as u8
            },
            asked: false,
            syn_first: None,
            syns: 0,
            established: false,
            profile,
        }
    }

    /// A data segment arrives.
    #[inline]
    pub(crate) fn on_data<O: Observer>(
        &mut self,
        connection: &mut Connection,
        env: &mut Env<O>,
        segment: Segment,
    ) {
        let seq = widen(self.got.next, segment.seq);
        self.flags = (self.flags & flag::ECHO) | (segment.flags & flag::AGAIN);
        self.answers = segment.seq as u16;
        if segment.flags & (flag::CONGESTION | flag::REDUCED) != 0 {
            self.ecn(segment.flags, self.profile.quick_acks);
        }
        let had_gap = self.got.has_gap();
        let Some(in_order) = self.got.insert(seq) else {
            self.twice = Some(seq);
            self.quick = self.profile.quick_acks;
            self.acknowledge(connection, env);
            return;
        };
        connection.arrived(segment.to, segment.data, segment.len);
        if connection.buffer.is_tuned() {
            self.offer.measure(micros(env.now), segment.sack);
        }
        if !self.offer.is_grown(&connection.buffer) {
            let grows = self.offer.grow(&mut connection.buffer, self.got.held());
            self.quick |= u32::from(grows);
        }
        self.waiting += 1;
        if had_gap || in_order == 0 {
            if in_order == 0 {
                self.beyond.insert(seq);
            } else {
                self.beyond.advance(self.got.next);
            }
            self.acknowledge(connection, env);
        } else if self.quick > 0
            || self.waiting >= 2
            || self.profile.reads_push && connection.ends_a_write(segment.data, segment.len)
        {
            self.acknowledge(connection, env);
        } else {
            env.timers
                .set(self.timer, env.now + self.profile.delayed_ack);
        }
    }

    /// RFC 3168, 6.1.3: marks are echoed until the sender says that it has reduced. The sender's window may be a single
    /// segment then: what tells of a reduction, and two with the first mark, are acknowledged at once (Linux).
    #[cold]
    fn ecn(&mut self, flags: u8, most_quick: u32) {
        if flags & flag::REDUCED != 0 {
            self.flags &= !flag::ECHO;
            self.quick = self.quick.max(1).min(most_quick);
        }
        if flags & flag::CONGESTION != 0 {
            if self.flags & flag::ECHO == 0 {
                self.quick = self.quick.max(2).min(most_quick);
            }
            self.flags |= flag::ECHO;
        }
    }

    /// Sends an ACK.
    #[inline(always)]
    pub(crate) fn acknowledge<O: Observer>(
        &mut self,
        connection: &mut Connection,
        env: &mut Env<O>,
    ) {
        let (mut sack, mut bytes) = (0, u32::from(self.header));
        if self.got.has_gap() || self.twice.is_some() {
            if let Some(blocks) = self.beyond.blocks(self.twice.take(), self.room.into()) {
                bytes += 4 + 8 * u32::from(blocks.count);
                sack = env.sacks.put(blocks);
            }
        }
        let (stream, held) = (connection.received(), connection.held());
        let buffer = &mut connection.buffer;
        let (window, roomy) = self.offer.tell(buffer, self.got.next, stream, held);
        self.quick = if roomy {
            self.quick.saturating_sub(self.waiting)
        } else {
            0
        };
        if self.waiting > 0 {
            self.waiting = 0;
            env.timers.clear(self.timer);
        }
        let segment = Segment {
            to: self.me,
            seq: self.got.next as u32,
            data: stream as u32,
            window,
            sack,
            kind: Kind::Ack,
            flags: self.flags,
            len: self.answers,
        };
        env.send(self.route, bytes, segment);
    }
}
