//! Sending end of a connection: its subflows and their shared state.
//!
//! Offsets in the stream count bytes from 0. The stream is cut into segments when a subflow sends.

pub(crate) mod buffer;
pub(crate) mod discipline;
mod lowest_rtt;
pub(crate) mod retransmission;
pub(crate) mod scheduler;
mod tcp;
mod transmit;

use crate::environment::Env;
use crate::environment::timers::TimerId;
use crate::packet::sequence::widen;
use crate::packet::{Ack, Wire};
use crate::profile::Profile;
use crate::spec::ConnectionSpec;
use crate::subflow::sender::limits::Limit;
use crate::subflow::sender::{Sender, SubflowState, TimerPurpose, event};
use crate::trace::Observer;
use discipline::{Discipline, Distribute};
use lowest_rtt::{LowestRtt, Reinjection};
use mpcc::Connection as Coupled;
use netsim::{Span, Time};
use retransmission::RetransmissionTimer;
use scheduler::{Mptcp, Scheduler};
use std::sync::Arc;
use tcp::Tcp;

/// Length of an endless stream, more than any run sends.
const ENDLESS: u64 = u64::MAX / 2;

/// Sums over the subflows of a connection when the last one leaves slow start.
#[derive(Clone, Copy, Debug)]
pub struct SlowStartTotals {
    /// Windows with which congestion avoidance begins, segments.
    pub cwnd: u32,
    /// Number of segments retransmitted until then.
    pub retransmits: u64,
}

/// Timers of the sending end; none where a discipline has no use for one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendTimers {
    pub(crate) retransmission: Option<TimerId>,
    pub(crate) wakeup: Option<TimerId>,
}

/// Sending end of a connection.
pub(crate) struct SendSide {
    pub(crate) subflows: Box<[Sender]>,
    pub(crate) stream: SendStream,
}

/// Shared state of the subflows: the stream, its send buffer, the coupled congestion control.
pub(crate) struct SendStream {
    /// First unacknowledged byte (snd_una).
    pub(crate) una: u64,
    /// First byte that is neither sent nor queued at a subflow (snd_nxt).
    pub(crate) nxt: u64,
    /// End of the application's data.
    pub(crate) end: u64,
    /// End of the receive window (wnd_end).
    pub(crate) window_end: u64,
    /// Largest receive window so far, bytes (max_window).
    max_window: u64,
    /// End of the data that the application has written to the send buffer (write_seq).
    pub(crate) written: u64,
    /// Stream offset whose acknowledgement lets the application write again; `u64::MAX`: it does not wait for that.
    pub(crate) writable_at: u64,
    /// Sum of the send buffers of all subflows, bytes (sk_sndbuf).
    pub(crate) send_buffer: u64,
    /// The application found the send buffer full, and less than a third of it has become free since (SOCK_NOSPACE).
    pub(crate) no_space: bool,
    /// Payload of a full segment, bytes.
    pub(crate) mss: u16,
    pub(crate) discipline: Discipline,
    pub(crate) scheduler: Scheduler,
    pub(crate) reinjection: Reinjection,
    pub(crate) retransmission: RetransmissionTimer,
    /// Timer of the application's write after its wake-up; none: it writes in the same instant.
    pub(crate) wakeup_timer: Option<TimerId>,
    /// See [`ConnectionSpec::phase`].
    pub(crate) phase: Span,
    pub(crate) profile: Arc<Profile>,
    /// Sums over the subflows when one left slow start the last time.
    pub(crate) slow_start_exit: Option<SlowStartTotals>,
    pub(crate) coupled: Coupled,
}

impl SendSide {
    /// Sending end of a connection that has not started. `window`: receive window of the SYN, bytes.
    pub(crate) fn new(
        spec: &ConnectionSpec,
        mss: u16,
        window: u64,
        discipline: Discipline,
        subflows: Box<[Sender]>,
        timers: SendTimers,
    ) -> Self {
        let profile = subflows[0].profile.clone();
        let stream = SendStream {
            una: 0,
            nxt: 0,
            end: 0,
            window_end: window,
            max_window: window,
            written: 0,
            writable_at: u64::MAX,
            send_buffer: 0,
            no_space: false,
            mss,
            discipline,
            scheduler: Scheduler::default(),
            reinjection: Reinjection::default(),
            retransmission: RetransmissionTimer::new(timers.retransmission),
            wakeup_timer: timers.wakeup,
            phase: spec.phase,
            profile,
            slow_start_exit: None,
            coupled: Coupled::with_settings(spec.algorithm, spec.settings),
        };
        Self { subflows, stream }
    }

    /// An ACK arrives.
    #[inline(always)]
    pub(crate) fn on_ack<O: Observer>(&mut self, env: &mut Env<O>, wire: Wire) {
        match self.stream.discipline {
            Discipline::Mptcp => self.process_ack::<Mptcp, O>(env, wire),
            _ => self.process_other_ack(env, wire),
        }
    }

    /// An ACK of another discipline than MPTCP's, whose ACKs are inlined in the loop of the simulation.
    #[inline(never)]
    fn process_other_ack<O: Observer>(&mut self, env: &mut Env<O>, wire: Wire) {
        match self.stream.discipline {
            Discipline::Tcp => self.process_ack::<Tcp, O>(env, wire),
            _ => self.process_ack::<LowestRtt, O>(env, wire),
        }
    }

    #[inline(always)]
    fn process_ack<D: Distribute, O: Observer>(&mut self, env: &mut Env<O>, wire: Wire) {
        let Self { subflows, stream } = self;
        // A slice, whose length is loaded once.
        let subflows = &mut **subflows;
        let ack = wire.to_ack();
        let index = ack.subflow.index();
        let sender = &mut subflows[index];
        if !matches!(
            sender.subflow_state,
            SubflowState::Open | SubflowState::Stalled
        ) {
            env.sacks.take(ack.sack);
            return;
        }
        sender.last_ack = env.now;
        // An ACK ends staleness (mptcp_subflow_active).
        if D::IS_MPTCP && sender.subflow_state == SubflowState::Stalled {
            sender.subflow_state = SubflowState::Open;
        }
        if stream.on_ack::<D>(ack) && D::IS_MPTCP {
            stream.restart_retransmission_timer(env);
        }
        let before = sender.scoreboard.una();
        let needs_timer = sender.on_ack(&mut stream.coupled, env, wire);
        let more_than_two = sender.scoreboard.una() - before > 2 * u64::from(sender.mss);
        env.reports_gap = ack.sack != 0 || more_than_two;
        let mut has_timer = if D::may_affect_others(stream, subflows, index) {
            // The interval of the connection's timer depends on that of this subflow, which tcp_ack sets before any
            // segment is sent.
            if needs_timer {
                subflows[index].set_timer(env);
            }
            D::push_all(stream, subflows, env, Some(index))
        } else {
            stream.push_one::<D, O>(&mut subflows[index], env)
        };
        if D::is_writable(stream, &subflows[index]) {
            has_timer |= stream.wake::<D, O>(subflows, env, index);
        }
        stream.record_limit::<D>(subflows, env.now, index);
        let sender = &mut subflows[index];
        if needs_timer && !has_timer {
            sender.set_timer(env);
        }
        if sender.events != 0 {
            self.handle_events(env, index);
        }
    }

    /// Handles the events that a subflow has reported.
    #[cold]
    fn handle_events<O: Observer>(&mut self, env: &mut Env<O>, index: usize) {
        let events = std::mem::take(&mut self.subflows[index].events);
        if events & event::FRTO_SENDS_NEW != 0 {
            self.subflows[index].retransmit_after_frto(&mut self.stream.coupled, env);
        }
        if events & event::LEFT_SLOW_START != 0 {
            self.record_slow_start_exit(index);
        }
    }

    /// A subflow left slow start for the first time. Retransmissions of the loss that ended it do not count.
    fn record_slow_start_exit(&mut self, index: usize) {
        let (mut cwnd, mut retransmits) = (0, 0);
        for (i, sender) in self.subflows.iter().enumerate() {
            let counters = &sender.counters;
            if counters.established.is_some() {
                let exit = counters.slow_start_exit.filter(|_| i == index);
                cwnd += sender.effective_cwnd();
                retransmits +=
                    u64::from(exit.map_or(counters.retransmits, |exit| exit.retransmits));
            }
        }
        self.stream.slow_start_exit = Some(SlowStartTotals { cwnd, retransmits });
    }

    /// The window of a subflow has opened: it sends, and others if they have become able to.
    pub(crate) fn push<O: Observer>(&mut self, env: &mut Env<O>, index: usize) {
        match self.stream.discipline {
            Discipline::Mptcp => self.push_by::<Mptcp, O>(env, index),
            Discipline::LowestRtt => self.push_by::<LowestRtt, O>(env, index),
            Discipline::Tcp => self.push_by::<Tcp, O>(env, index),
        }
    }

    fn push_by<D: Distribute, O: Observer>(&mut self, env: &mut Env<O>, index: usize) {
        let Self { subflows, stream } = self;
        if D::may_affect_others(stream, subflows, index) {
            D::push_all(stream, subflows, env, Some(index));
        } else {
            stream.push_one::<D, O>(&mut subflows[index], env);
        }
        stream.record_limit::<D>(subflows, env.now, index);
    }

    /// All subflows send as far as their windows allow. Not triggered by an ACK of any subflow.
    pub(crate) fn push_all<O: Observer>(&mut self, env: &mut Env<O>) {
        match self.stream.discipline {
            Discipline::Mptcp => self.push_all_by::<Mptcp, O>(env),
            Discipline::LowestRtt => self.push_all_by::<LowestRtt, O>(env),
            Discipline::Tcp => self.push_all_by::<Tcp, O>(env),
        };
    }

    fn push_all_by<D: Distribute, O: Observer>(&mut self, env: &mut Env<O>) {
        let Self { subflows, stream } = self;
        D::push_all(stream, subflows, env, None);
        for index in 0..subflows.len() {
            stream.record_limit::<D>(subflows, env.now, index);
        }
    }

    /// All data is acknowledged, and the application has no more for now.
    pub(crate) fn wait_for_application(&mut self, now: Time) {
        for sender in &mut self.subflows {
            sender.limits.set(now, Limit::Application);
        }
    }

    /// The timer of a sender is due.
    #[cold]
    pub(crate) fn on_timer<O: Observer>(&mut self, env: &mut Env<O>, index: usize) {
        let Self { subflows, stream } = self;
        let sender = &mut subflows[index];
        if !matches!(
            sender.subflow_state,
            SubflowState::Open | SubflowState::Stalled
        ) {
            return;
        }
        let fires = sender.fires_at(env.now);
        if fires > env.now {
            return env.timers.set(sender.timer, fires);
        }
        match sender.timer_purpose {
            TimerPurpose::Probe => {
                if let Some(piece) = stream.take_for_probe(sender) {
                    let starts = sender.starts_sending();
                    sender.send_new(&mut stream.coupled, env, piece, starts);
                    sender.on_probe_sent(env, false);
                } else {
                    sender.probe_with_last_segment(env);
                }
                return;
            }
            TimerPurpose::Reordering => sender.on_reordering_timer(&mut stream.coupled, env),
            TimerPurpose::Timeout => {
                sender.on_timeout(&mut stream.coupled, env);
                if !stream.retransmission.is_used() {
                    sender.subflow_state = SubflowState::Stalled;
                    if stream.discipline == Discipline::LowestRtt {
                        stream.reinject(sender, index);
                    }
                }
            }
        }
        self.push(env, index);
        if self.subflows[index].events != 0 {
            self.handle_events(env, index);
        }
    }

    /// The client has reset a subflow: its data is queued at the others (Linux: __mptcp_close_ssk,
    /// __mptcp_retransmit_pending_data).
    pub(crate) fn on_reset<O: Observer>(&mut self, env: &mut Env<O>, index: usize) {
        let sender = &mut self.subflows[index];
        if matches!(
            sender.subflow_state,
            SubflowState::Open | SubflowState::Stalled
        ) {
            sender.close(&mut self.stream.coupled, env.now);
            sender.subflow_state = SubflowState::Closed;
            env.timers.clear(sender.timer);
            self.stream.close_buffer(sender);
            self.stream.schedule_again();
            self.push_all(env);
        }
    }

    /// The connection ends: all subflows close.
    pub(crate) fn close<O: Observer>(&mut self, env: &mut Env<O>) {
        for sender in &mut self.subflows {
            if matches!(
                sender.subflow_state,
                SubflowState::Open | SubflowState::Stalled
            ) {
                sender.close(&mut self.stream.coupled, env.now);
            }
            sender.subflow_state = SubflowState::Closed;
            env.timers.clear(sender.timer);
        }
        self.stream.retransmission.clear(env);
        if let Some(timer) = self.stream.wakeup_timer {
            env.timers.clear(timer);
        }
    }
}

impl SendStream {
    /// The application appends `bytes` to its data; `None`: endless data.
    pub(crate) fn extend(&mut self, bytes: Option<u64>) {
        self.end = bytes.map_or(ENDLESS, |bytes| self.end + bytes);
    }

    /// All data of the application is acknowledged.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        self.una == self.end
    }

    /// Records what holds a subflow back, which has sent as far as it can.
    #[inline(always)]
    fn record_limit<D: Distribute>(&self, subflows: &mut [Sender], now: Time, index: usize) {
        let limit = match subflows[index].cwnd_quota() {
            0 => Limit::CongestionWindow,
            _ => D::limit(self, subflows, index),
        };
        subflows[index].limits.set(now, limit);
    }

    /// Processes DATA_ACK and receive window of an ACK. Returns whether more of the stream is acknowledged.
    #[inline]
    fn on_ack<D: Distribute>(&mut self, segment: Ack) -> bool {
        let ack = widen(self.una, segment.data_ack);
        self.window_end = self.window_end.max(ack + u64::from(segment.window));
        self.max_window = self.max_window.max(segment.window.into());
        if ack <= self.una {
            return false;
        }
        self.una = ack;
        if self.no_space && !D::IS_TCP {
            self.no_space = !self.has_third_free();
        }
        true
    }

    /// Checks the [invariants](crate::simulation::invariants) of the stream. `received`: bytes that have arrived in
    /// order.
    #[cfg(any(debug_assertions, test))]
    pub(crate) fn check(&self, received: u64) {
        assert!(
            self.una <= received,
            "bytes are acknowledged that have not arrived"
        );
        assert!(self.una <= self.nxt && self.nxt <= self.end);
        assert!(
            self.nxt <= self.window_end,
            "bytes are sent beyond the receive window"
        );
        assert!(received <= self.nxt, "unsent bytes have arrived");
    }
}
