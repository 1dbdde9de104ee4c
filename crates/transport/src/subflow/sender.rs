//! The sending end of a subflow: its window, transmission, and the fast path of ACKs.
//!
//! It calls the congestion control where Linux calls it. Sent segments are in `scoreboard.rs`, the slow path of ACKs
//! and loss recovery in `recovery.rs`.

mod burst;
mod counters;
pub(crate) mod limits;
pub(crate) mod recovery_state;
pub(crate) mod rtt;
pub(crate) mod scoreboard;
pub(crate) mod send_queue;
pub(crate) mod stale;
mod timer;
mod transmit;
mod validation;

use crate::environment::timers::TimerId;
use crate::environment::{Env, OutgoingBurst};
use crate::packet::sequence::{micros, widen};
use crate::packet::{Burst, Data, SubflowId, Wire, flag};
use crate::profile::{Detection, Profile};
use crate::spec::ConnectionSpec;
use crate::trace::{Credit, Observer, View};
pub use counters::{Counters, Credits, SlowStartExit};
pub use limits::LimitedTimes;
use limits::Limits;
use mpcc::{Connection as Coupled, Note, State, Tcp};
use netsim::{RouteId, Span, Time};
use recovery_state::Recovery;
use rtt::Rtt;
use scoreboard::{Scoreboard, Skb};
use send_queue::SendQueue;
use stale::Stale;
use std::sync::Arc;
use timer::JiffyTimer;
pub(crate) use timer::{TIMEOUT_MIN, TimerPurpose};
use validation::WindowUse;

/// Initial slow start threshold (TCP_INFINITE_SSTHRESH).
const NO_THRESHOLD: u32 = i32::MAX as u32;

/// State of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SubflowState {
    /// Not requested.
    Idle,
    /// Handshake in progress.
    Opening,
    /// Established.
    Open,
    /// Timed out or stale, without an ACK since: gets no new data.
    Stalled,
    /// Closed.
    Closed,
}

/// Bytes of the connection's stream that are sent at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub(crate) dsn: u64,
    pub(crate) len: u64,
    /// Number of segments.
    pub(crate) count: u32,
    /// Bits of [`scoreboard::flag`].
    pub(crate) flags: u8,
}

impl Piece {
    /// A piece of segments of `mss` bytes; the last one may be shorter.
    #[inline]
    pub(crate) fn new(dsn: u64, len: u64, mss: u16) -> Self {
        let count = (len as u32).div_ceil(mss.into());
        Self {
            dsn,
            len,
            count,
            flags: 0,
        }
    }
}

/// The sending end of a subflow.
pub(crate) struct Sender {
    /// State that the congestion control reads; it owns `cwnd`.
    pub(crate) tcp: Tcp,
    /// Private state of the congestion control.
    pub(crate) cc: mpcc::Subflow,
    /// Requested group.
    group: u8,
    pub(crate) scoreboard: Scoreboard,
    /// State of congestion control (icsk_ca_state).
    pub(crate) ca_state: State,
    pub(crate) subflow_state: SubflowState,
    pub(crate) timer_purpose: TimerPurpose,
    jiffy_timer: JiffyTimer,
    pub(crate) window_use: WindowUse,
    /// No byte from here on was ever retransmitted.
    pub(crate) never_retransmitted_from: u64,
    pub(crate) rtt: Rtt,
    pub(crate) recovery: Recovery,
    /// Route to the receiver.
    pub(crate) route: RouteId,
    pub(crate) timer: TimerId,
    pub(crate) id: SubflowId,
    pub(crate) profile: Arc<Profile>,
    /// Time of the last transmission (lsndtime).
    pub(crate) last_sent: Time,
    /// Time of the last ACK.
    pub(crate) last_ack: Time,
    pub(crate) stale: Stale,
    pub(crate) ecn: bool,
    /// Whether SACKed entries of the scoreboard are joined. MPTCP until 0.9x keeps the mapping of each sk_buff and does
    /// not (tcp_shift_skb_data).
    pub(crate) joins_sacked: bool,
    /// Flag B of its SYN/ACK (subflow_request_sock.request_bkup).
    pub(crate) requests_backup: bool,
    pub(crate) header: u16,
    pub(crate) mss: u16,
    /// Queued data of the stream, and the send buffer.
    pub(crate) queue: SendQueue,
    pub(crate) counters: Counters,
    pub(crate) limits: Limits,
    /// Events that the connection has not handled: bits of [`event`].
    pub(crate) events: u8,
}

pub(crate) mod event {
    /// The subflow left slow start for the first time.
    pub(crate) const LEFT_SLOW_START: u8 = 1;
    /// F-RTO sends new segments after a timeout; if there are none, it retransmits (RFC 5682, 2.1, step 2b).
    pub(crate) const FRTO_SENDS_NEW: u8 = 2;
}

impl Sender {
    pub(crate) fn new(
        spec: &ConnectionSpec,
        profile: Arc<Profile>,
        route: RouteId,
        timer: TimerId,
        id: SubflowId,
        group: u8,
    ) -> Self {
        let header = profile.data_header(spec.mptcp);
        Self {
            tcp: Tcp {
                cwnd: profile.initial_window,
                cwnd_clamp: u32::MAX,
                ssthresh: spec.ssthresh.unwrap_or(NO_THRESHOLD),
                ..Tcp::default()
            },
            cc: mpcc::Subflow::default(),
            group,
            scoreboard: Scoreboard::default(),
            ca_state: State::Open,
            subflow_state: SubflowState::Idle,
            timer_purpose: TimerPurpose::Timeout,
            jiffy_timer: JiffyTimer::default(),
            window_use: WindowUse::default(),
            never_retransmitted_from: 0,
            rtt: Rtt::new(profile.rto_initial, profile.rto_min, profile.rto_max),
            recovery: Recovery::default(),
            route,
            timer,
            id,
            last_sent: Time::ZERO,
            last_ack: Time::ZERO,
            stale: Stale::default(),
            ecn: spec.ecn,
            joins_sacked: !spec.mptcp || profile.write_queues,
            requests_backup: false,
            header,
            mss: spec.packet - header,
            queue: SendQueue::new(profile.send_buffer),
            counters: Counters::default(),
            limits: Limits::default(),
            events: 0,
            profile,
        }
    }

    /// Number of segments sent and not acknowledged cumulatively (packets_out).
    #[inline]
    pub(crate) fn packets_out(&self) -> u32 {
        self.scoreboard.packets_out()
    }

    /// Number of segments in flight (tcp_packets_in_flight).
    #[inline]
    pub(crate) fn flight(&self) -> u32 {
        self.scoreboard.in_flight()
    }

    /// Number of segments that the window has room for (tcp_cwnd_test).
    #[inline]
    pub(crate) fn cwnd_quota(&self) -> u32 {
        self.tcp.cwnd.saturating_sub(self.flight())
    }

    /// The handshake is complete: starts congestion control.
    pub(crate) fn open<O: Observer>(&mut self, coupled: &mut Coupled, env: &mut Env<O>) {
        self.subflow_state = SubflowState::Open;
        self.counters.established = Some(env.now);
        self.limits.open(env.now);
        self.window_use.cwnd_stamp = env.now;
        self.last_sent = env.now;
        self.tcp.srtt8 = self.rtt.srtt8;
        self.tcp.now = env.now.as_nanos();
        let (cc, note) = coupled.open(&mut self.tcp, self.group);
        self.cc = cc;
        if O::ON {
            let lender = || coupled.lender(&self.cc).expect("a credit has a lender");
            let taken = note.credit_taken().map(|segments| Credit {
                lender: lender(),
                segments,
            });
            env.observer.opened(env.now, self.id, &self.cc, taken);
        }
        self.record_note(coupled, env, &note);
    }

    /// Ends congestion control. Credits that are open become void.
    pub(crate) fn close(&mut self, coupled: &mut Coupled, now: Time) {
        self.limits.close(now);
        let note = coupled.close(std::mem::take(&mut self.cc));
        self.counters.credits.count(&note);
    }

    /// Requests a group, from the start or from the next ACK on.
    pub(crate) fn request_group(&mut self, coupled: &mut Coupled, group: u8) {
        self.group = group;
        if self.counters.established.is_some() {
            coupled.request_group(&self.cc, group);
        }
    }

    /// An ACK arrives. The fast path is here: no segment is lost, SACKed or retransmitted. Returns whether the timer
    /// has to be set.
    #[inline(always)]
    pub(crate) fn on_ack<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        wire: Wire,
    ) -> bool {
        let segment = wire.to_ack();
        let una = self.scoreboard.una();
        let ack = widen(una, segment.seq);
        let plain = segment.sack == 0
            && self.ca_state == State::Open
            && self.scoreboard.is_clean()
            && una >= self.never_retransmitted_from
            && segment.flags & flag::ECE == 0
            && self.recovery.tlp_high_seq == 0
            && ack > una
            && env.has_fast_paths();
        if !plain {
            return self.on_ack_slow(coupled, env, ack, wire);
        }
        debug_assert!(ack <= self.scoreboard.nxt(), "an ACK beyond snd_nxt");
        let (mut acked, mut first, mut last) = (0, 0, 0);
        while self.scoreboard.una() < ack {
            let Some(piece) = self.scoreboard.acknowledge(ack) else {
                break;
            };
            if acked == 0 {
                first = piece.sent_at;
            }
            last = piece.sent_at;
            acked += piece.count;
        }
        let now = env.now.as_nanos();
        let age = (((now - last) / 1000) as u32).max(1);
        self.rtt
            .sample(((now - first) / 1000) as u32, ack, self.scoreboard.nxt());
        self.rtt.min_rtt = self.rtt.min_rtt.min(age);
        self.tcp.rtt_us = age;
        self.recovery.rack_advance(last, ack, now - last);
        self.cong_avoid(coupled, env, acked);
        true
    }

    /// Reports newly acknowledged segments to the congestion control (tcp_cong_avoid).
    #[inline]
    pub(crate) fn cong_avoid<O: Observer>(
        &mut self,
        coupled: &mut Coupled,
        env: &mut Env<O>,
        acked: u32,
    ) {
        self.refresh(env.now);
        let acked = if self.profile.counts_acks && !coupled.counts_bytes(&self.tcp) {
            1
        } else {
            acked
        };
        let note = coupled.on_ack(&mut self.cc, &mut self.tcp, acked);
        self.record_note(coupled, env, &note);
    }

    /// Updates the state that the congestion control reads.
    #[inline]
    pub(crate) fn refresh(&mut self, now: Time) {
        self.tcp.now = now.as_nanos();
        self.tcp.flight = self.flight();
        self.tcp.srtt8 = self.rtt.srtt8;
        // tcp_is_cwnd_limited: in slow start the window may grow to twice the number of packets out.
        self.tcp.cwnd_limited = self.is_limited().into();
    }

    /// Records what a callback of the congestion control reports.
    #[inline]
    pub(crate) fn record_note<O: Observer>(
        &mut self,
        coupled: &Coupled,
        env: &mut Env<O>,
        note: &Note,
    ) {
        if !note.is_empty() {
            if note.exits_slow_start() && self.counters.slow_start_exit.is_none() {
                self.counters.slow_start_exit = Some(SlowStartExit {
                    at: env.now,
                    cwnd: self.tcp.cwnd,
                    retransmits: self.counters.retransmits,
                });
                self.events |= event::LEFT_SLOW_START;
            }
            if note.ends_credits() || note.credit_taken().is_some() {
                self.counters.credits.count(note);
            }
            if O::ON && note.ends_credits() {
                env.observer.credit(env.now, self.id, &self.cc, note);
            }
        }
        if O::ON {
            env.observer.window(env.now, self.id, &self.view(coupled));
        }
    }

    /// Window in congestion avoidance: during a reduction, its target.
    pub(crate) fn effective_cwnd(&self) -> u32 {
        if self.ca_state >= State::Cwr {
            self.tcp.ssthresh
        } else {
            self.tcp.cwnd
        }
    }

    /// State for traces.
    pub(crate) fn view(&self, coupled: &Coupled) -> View {
        View {
            cwnd: self.tcp.cwnd,
            ssthresh: (self.tcp.ssthresh < NO_THRESHOLD).then_some(self.tcp.ssthresh),
            srtt8: self.rtt.srtt8,
            rtt_us: (self.tcp.rtt_us > 0).then_some(self.tcp.rtt_us),
            published: coupled.published(&self.cc),
            flight: self.flight(),
            reducing: self.ca_state >= State::Cwr,
        }
    }

    /// Whether data goes to this subflow only while no other can send (mptcp_subflow_context.backup || request_bkup).
    #[inline]
    pub(crate) fn is_backup(&self) -> bool {
        self.tcp.backup != 0
    }

    /// Slow start threshold before a reduction (tcp_current_ssthresh).
    pub(crate) fn current_ssthresh(&self) -> u32 {
        if self.ca_state == State::Cwr || self.ca_state == State::Recovery {
            return self.tcp.ssthresh;
        }
        self.tcp.ssthresh.max(self.tcp.cwnd - self.tcp.cwnd / 4)
    }
}
