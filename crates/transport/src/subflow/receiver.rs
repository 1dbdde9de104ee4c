//! The receiving end of a subflow: arrivals and ACKs.
//!
//! Linux acknowledges each segment at first and while the receive window grows (quick ACKs), then every second segment,
//! or after 40 ms. It acknowledges at once while a segment is missing, when a gap is filled (RFC 5681, 4.2), and when a
//! segment arrives twice (RFC 2883).

mod reassembly;
pub(crate) mod window;

use crate::environment::Env;
use crate::environment::timers::TimerId;
use crate::packet::sack_blocks::SelectiveAcks;
use crate::packet::sequence::{micros, widen};
use crate::packet::{Ack, ByteRange, Segment, SubflowId, Wire, flag};
use crate::profile::{Detection, Profile};
use crate::receive_stream::ReceiveStream;
use crate::spec::ConnectionSpec;
use crate::trace::Observer;
use netsim::{RouteId, Span, Time};
use reassembly::Reassembly;
use std::sync::Arc;
use window::AdvertisedWindow;

/// The receiving end of a subflow.
#[derive(Debug)]
pub(crate) struct Receiver {
    /// The next full segment in sequence is processed by the fast path (tcp_sock.pred_flags): no segment is missing, the window is
    /// at its limit, and the join is complete.
    has_prediction: bool,
    /// Bytes of the subflow that have arrived.
    reassembly: Reassembly,
    /// SACK blocks, the latest first.
    blocks: SelectiveAcks,
    /// Duplicate range for the DSACK block of the next ACK (RFC 2883).
    duplicate: Option<ByteRange>,
    /// Number of segments that are still acknowledged one by one (icsk_ack.quick).
    quick_acks: u32,
    pub(crate) window: AdvertisedWindow,
    /// Number of segments that no ACK covers.
    unacknowledged: u32,
    /// First byte that no ACK covers.
    rcv_wup: u64,
    /// One of these segments carries the push flag (ICSK_ACK_PUSHED).
    pushed: bool,
    /// Flags of the next ACK.
    flags: u8,
    /// Timestamp that the next ACK echoes: that of the first segment that no ACK covers (RFC 7323, 4.3: TS.Recent).
    ts_recent: u32,
    /// Route to the server.
    pub(crate) route: RouteId,
    pub(crate) timer: TimerId,
    pub(crate) id: SubflowId,
    pub(crate) profile: Arc<Profile>,
    /// Size of an ACK without SACK blocks, bytes.
    header: u16,
    /// Number of SACK blocks that fit in an ACK; 0 without SACK.
    sack_room: u8,
    /// The client opens this subflow, or has opened it.
    pub(crate) requested: bool,
    /// Flag B of its SYN (mptcp_subflow_context.request_bkup).
    pub(crate) requests_backup: bool,
    /// When the last SYN was sent.
    pub(crate) last_syn_at: Time,
    /// Number of SYNs sent.
    pub(crate) syns: u32,
    /// The SYN/ACK has arrived.
    pub(crate) established: bool,
    pub(crate) join: Join,
    /// Timestamp of the SYN/ACK, µs, which the third packet echoes.
    pub(crate) syn_ack: u32,
    /// Round-trip time of the SYN.
    pub(crate) handshake: Span,
}

/// State of a join after its third packet (RFC 8684, 3.2; Linux: check_fully_established).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Join {
    /// The server has answered, or need not answer.
    Done,
    /// The client waits for the server's answer.
    Waits,
    /// The first packet of the server was not the next one of the subflow: the client has reset the subflow.
    Reset,
}

impl Receiver {
    pub(crate) fn new(
        spec: &ConnectionSpec,
        profile: Arc<Profile>,
        route: RouteId,
        timer: TimerId,
        id: SubflowId,
        window: AdvertisedWindow,
    ) -> Self {
        let mptcp = spec.mptcp;
        let sack = profile.detection != Detection::DuplicateAcks;
        Self {
            has_prediction: false,
            reassembly: Reassembly::default(),
            blocks: SelectiveAcks::default(),
            duplicate: None,
            quick_acks: profile.quick_acks,
            window,
            unacknowledged: 0,
            rcv_wup: 0,
            pushed: false,
            flags: 0,
            ts_recent: 0,
            route,
            timer,
            id,
            header: profile.header + if mptcp { profile.mptcp_ack_header } else { 0 },
            sack_room: if !sack {
                0
            } else if mptcp {
                profile.sack_blocks.mptcp
            } else {
                profile.sack_blocks.tcp
            },
            requested: false,
            requests_backup: false,
            last_syn_at: Time::ZERO,
            syns: 0,
            established: false,
            join: Join::Done,
            syn_ack: 0,
            handshake: Span::ZERO,
            profile,
        }
    }

    /// A data segment arrives. The fast path is here: header prediction (tcp_rcv_established).
    #[inline(always)]
    pub(crate) fn on_data<O: Observer>(
        &mut self,
        stream: &mut ReceiveStream,
        env: &mut Env<O>,
        wire: Wire,
    ) {
        let segment = wire.to_data();
        let next = self.reassembly.next();
        let is_predicted = self.has_prediction
            && segment.seq == next as u32
            && segment.len == stream.mss
            && segment.flags & (flag::CE | flag::CWR) == 0
            && env.has_fast_paths();
        if !is_predicted {
            return self.on_any_data(stream, env, wire.0, wire.1, wire.2);
        }
        debug_assert!(self.may_predict(stream));
        self.update_timestamp(next, segment.sent_us);
        self.reassembly.advance(segment.len.into());
        stream.insert(segment.subflow.index(), segment.dsn, segment.len);
        self.measure(stream, env.now, segment.sent_us);
        self.unacknowledged += 1;
        if self.has_to_acknowledge_now(stream) {
            self.send_ack(stream, env);
        } else {
            self.wait(stream, env, segment.flags & flag::PSH != 0);
        }
    }

    /// Whether the next full segment changes neither queue nor window (tcp_fast_path_check).
    fn may_predict(&self, stream: &ReceiveStream) -> bool {
        !self.reassembly.has_gap()
            && self.join == Join::Done
            && self.window.is_at_limit(&stream.buffer, stream.mss.into())
    }

    /// Sets the limit of the window after the buffer has grown.
    pub(crate) fn set_clamp(&mut self, clamp: u64) {
        self.window.set_clamp(clamp);
        self.has_prediction = false;
    }

    /// Sets the window to its limit less this number of segments.
    #[cfg(test)]
    pub(crate) fn set_window_below_limit(
        &mut self,
        buffer: &mut crate::receive_stream::ReceiveBuffer,
        segments: u64,
    ) {
        self.window.set_below_limit(buffer, segments);
        self.has_prediction = false;
    }

    /// A data segment arrives that is not predicted (tcp_data_queue). Its words are three arguments, which stay in registers.
    #[inline(never)]
    fn on_any_data<O: Observer>(
        &mut self,
        stream: &mut ReceiveStream,
        env: &mut Env<O>,
        first: u64,
        second: u64,
        third: u64,
    ) {
        self.queue_data(stream, env, Wire(first, second, third));
        self.has_prediction = self.may_predict(stream);
    }

    fn queue_data<O: Observer>(
        &mut self,
        stream: &mut ReceiveStream,
        env: &mut Env<O>,
        wire: Wire,
    ) {
        let segment = wire.to_data();
        let (next, mss) = (self.reassembly.next(), u64::from(stream.mss));
        let seq = widen(next, segment.seq);
        let len = u64::from(segment.len);
        if self.join != Join::Done && !self.on_first_packet(env, seq == next) {
            return;
        }
        self.update_timestamp(seq, segment.sent_us);
        if segment.flags & (flag::CE | flag::CWR) != 0 {
            self.ecn(segment.flags, self.profile.quick_acks);
        }
        let had_gap = self.reassembly.has_gap();
        let Some(in_order) = self.reassembly.insert(seq, seq + len) else {
            self.duplicate = Some(ByteRange::new(seq, seq + len));
            self.quick_acks = self.profile.quick_acks;
            self.acknowledge(stream, env);
            return;
        };
        stream.insert(segment.subflow.index(), segment.dsn, segment.len);
        let is_full = segment.len == stream.mss;
        if is_full {
            self.measure(stream, env.now, segment.sent_us);
        }
        // Bytes of this subflow in the receive buffer. A segment that fills a gap counts together with the out-of-order segments that
        // follow it. An out-of-order segment does not count yet (tcp_data_queue, tcp_data_queue_ofo).
        let held = match in_order {
            0 => self.reassembly.held() - len,
            in_order => self.reassembly.held() + in_order,
        };
        let held = held.div_ceil(mss) * mss;
        if !self.window.is_at_limit(&stream.buffer, held) {
            let grows = (self.window).grow(&mut stream.buffer, segment.len, held);
            self.quick_acks |= u32::from(grows);
        }
        self.unacknowledged += 1;
        if had_gap || in_order == 0 {
            if in_order == 0 {
                self.blocks.insert(ByteRange::new(seq, seq + len));
                stream.out_of_order += len;
            } else {
                self.blocks.advance(self.reassembly.next());
                stream.out_of_order -= in_order - len;
            }
            self.acknowledge(stream, env);
        } else {
            if self.has_to_acknowledge_now(stream) {
                self.acknowledge(stream, env);
            } else {
                self.wait(stream, env, segment.flags & flag::PSH != 0 || !is_full);
            }
        }
    }

    /// Updates the timestamp that the next ACK echoes. A duplicate with an older timestamp does not change it
    /// (tcp_replace_ts_recent).
    #[inline(always)]
    fn update_timestamp(&mut self, seq: u64, sent_us: u32) {
        if seq <= self.rcv_wup && sent_us.wrapping_sub(self.ts_recent) as i32 >= 0 {
            self.ts_recent = sent_us;
        }
    }

    /// Measures the round trip with a full segment (tcp_rcv_rtt_measure_ts).
    #[inline(always)]
    fn measure(&mut self, stream: &ReceiveStream, now: Time, sent_us: u32) {
        if stream.buffer.is_tuned() && !self.window.is_measured(sent_us) {
            self.window.measure(micros(now), sent_us, stream.phase_us);
        }
    }

    /// A segment has arrived in order: whether an ACK is sent now (__tcp_ack_snd_check).
    #[inline(always)]
    fn has_to_acknowledge_now(&self, stream: &ReceiveStream) -> bool {
        self.quick_acks > 0
            || self.has_two_segments(stream.mss.into()) && !self.would_shrink_window(stream)
    }

    /// A segment has arrived in order: its ACK waits for another segment, a read of the application or the timer
    /// (tcp_send_delayed_ack).
    #[inline(always)]
    fn wait<O: Observer>(&mut self, stream: &mut ReceiveStream, env: &mut Env<O>, pushed: bool) {
        self.pushed |= pushed;
        stream.ack_waits_for_read |= self.pushed || self.has_two_segments(stream.mss.into());
        if self.unacknowledged == 1 {
            let due = env.now + self.profile.delayed_ack;
            env.timers.set(self.timer, due);
        }
    }

    /// Whether more than one full segment is unacknowledged.
    #[inline(always)]
    fn has_two_segments(&self, mss: u64) -> bool {
        self.reassembly.next() - self.rcv_wup > mss
    }

    /// Whether an ACK would advertise less than the last one: it is delayed until the application has read
    /// (__tcp_ack_snd_check). Data of MPTCP leaves the subflow's buffer at once.
    #[inline]
    fn would_shrink_window(&self, stream: &ReceiveStream) -> bool {
        let (buffer, held) = (&stream.buffer, stream.held().now);
        !buffer.mptcp && self.window.would_shrink(buffer, held, self.rcv_wup)
    }

    /// The application has read all data in order: sends an ACK for two or more segments, or for a segment with the
    /// push flag if the receive buffer is empty (tcp_cleanup_rbuf, mptcp_cleanup_rbuf). At least one segment is
    /// unacknowledged.
    #[cold]
    pub(crate) fn on_read<O: Observer>(&mut self, stream: &mut ReceiveStream, env: &mut Env<O>) {
        let pushed = self.pushed && self.profile.acknowledges_push && stream.held().now == 0;
        if pushed || self.has_two_segments(stream.mss.into()) {
            self.acknowledge(stream, env);
        }
    }

    /// Processes CE and CWR: marks are echoed until the sender reports its reduction (RFC 3168, 6.1.3). The sender's
    /// window may be a single segment then, so that a segment with CWR is acknowledged at once, as are two segments
    /// from the first mark on (Linux: tcp_ecn_accept_cwr, __tcp_ecn_check_ce).
    #[cold]
    fn ecn(&mut self, flags: u8, most_quick: u32) {
        if flags & flag::CWR != 0 {
            self.flags &= !flag::ECE;
            self.quick_acks = self.quick_acks.max(1).min(most_quick);
        }
        if flags & flag::CE != 0 {
            if self.flags & flag::ECE == 0 {
                self.quick_acks = self.quick_acks.max(2).min(most_quick);
            }
            self.flags |= flag::ECE;
        }
    }

    /// Whether a segment is unacknowledged.
    #[inline]
    pub(crate) fn has_to_acknowledge(&self) -> bool {
        self.unacknowledged > 0
    }

    /// Sends an ACK.
    #[inline(never)]
    pub(crate) fn acknowledge<O: Observer>(
        &mut self,
        stream: &mut ReceiveStream,
        env: &mut Env<O>,
    ) {
        self.send_ack(stream, env);
    }

    /// Sends an ACK (tcp_send_ack). Inlined in the fast path.
    #[inline(always)]
    fn send_ack<O: Observer>(&mut self, stream: &mut ReceiveStream, env: &mut Env<O>) {
        let (mut sack, mut bytes) = (0, u32::from(self.header));
        if self.reassembly.has_gap() || self.duplicate.is_some() {
            if let Some(blocks) = self
                .blocks
                .blocks(self.duplicate.take(), self.sack_room.into())
            {
                bytes += 4 + 8 * u32::from(blocks.count);
                sack = env.sacks.insert(blocks);
            }
        }
        let (data_ack, held) = (stream.next(), stream.held());
        let next = self.reassembly.next();
        let advertised = (self.window).advertise(&mut stream.buffer, next, data_ack, held);
        self.rcv_wup = next;
        self.quick_acks = if advertised.is_roomy {
            self.quick_acks.saturating_sub(self.unacknowledged)
        } else {
            0
        };
        self.pushed = false;
        if self.unacknowledged > 0 {
            self.unacknowledged = 0;
            env.timers.clear(self.timer);
        }
        let segment = Segment::Ack(Ack {
            subflow: self.id,
            seq: next as u32,
            data_ack: data_ack as u32,
            window: advertised.window,
            sack,
            echo_us: self.ts_recent,
            flags: self.flags,
        });
        env.send(self.route, bytes, segment);
    }
}
