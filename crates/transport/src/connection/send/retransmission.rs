//! MPTCP's retransmissions at the level of the connection (net/mptcp/protocol.c: __mptcp_retrans,
//! mptcp_subflow_get_retrans; pm.c: mptcp_pm_subflow_chk_stale).
//!
//! The connection has a timer that runs while data is unacknowledged. Its interval is the longest remaining time of a
//! subflow's timer when data was last queued, and it restarts when more of the stream is acknowledged. When it fires,
//! the first unacknowledged piece is sent on an idle subflow, if there is one. A subflow that receives no ACK for five
//! intervals while another does is stale: the scheduler does not choose it any more. An idle backup subflow carries the
//! piece if no subflow has received an ACK for two intervals.

use super::scheduler::PIECE;
use super::{SendSide, SendStream};
use crate::environment::Env;
use crate::environment::jiffies;
use crate::environment::timers::TimerId;
use crate::subflow::sender::stale::STALE_LOSS_COUNT;
use crate::subflow::sender::{Sender, SubflowState};
use crate::trace::Observer;
use netsim::{Span, Time};

/// Retransmission timer of a connection.
#[derive(Debug)]
pub(crate) struct RetransmissionTimer {
    /// None: the connection does not retransmit.
    timer: Option<TimerId>,
    /// Interval until the next retransmission (mptcp timeout).
    pub(crate) interval: Span,
    /// When the timer was set last.
    set_at: Time,
    /// Interval for which the timer was set last.
    set_for: Span,
}

impl RetransmissionTimer {
    pub(crate) fn new(timer: Option<TimerId>) -> Self {
        Self {
            timer,
            interval: Span::ZERO,
            set_at: Time::ZERO,
            set_for: Span::ZERO,
        }
    }

    pub(crate) fn is_used(&self) -> bool {
        self.timer.is_some()
    }

    /// Time at which the timer is due.
    #[cfg(test)]
    pub(crate) fn due<O>(&self, env: &Env<O>) -> Time {
        let timer = self.timer.expect("the connection has a timer");
        env.now
            + env
                .timers
                .remaining(timer, env.now)
                .expect("the timer is set")
    }

    /// Sets the interval, when data is queued (mptcp_set_timeout).
    pub(crate) fn update_interval<O>(&mut self, subflows: &[Sender], env: &Env<O>) {
        if self.timer.is_none() {
            return;
        }
        let waits = |sender: &&Sender| {
            sender.subflow_state == SubflowState::Open && sender.stale.intervals == 0
        };
        let remaining = |sender: &Sender| sender.timer_remaining(env);
        let longest = subflows.iter().filter(waits).filter_map(remaining).max();
        let longest = longest.filter(|wait| *wait > Span::ZERO);
        self.interval = longest.unwrap_or(subflows[0].profile.rto_min);
    }

    pub(crate) fn clear<O>(&self, env: &mut Env<O>) {
        if let Some(timer) = self.timer {
            env.timers.clear(timer);
        }
    }

    #[inline]
    fn set<O>(&mut self, timer: TimerId, env: &mut Env<O>) {
        (self.set_at, self.set_for) = (env.now, self.interval);
        env.timers.set(timer, env.now + self.interval);
    }

    /// Time at which the due timer fires, rounded up to jiffies.
    fn fires_at(&self, jiffy: Span, now: Time) -> Time {
        if jiffy == Span::ZERO {
            return now;
        }
        jiffies::fires_at(jiffy, self.set_at, self.set_for)
    }
}

impl SendStream {
    /// Starts the timer if data is in flight and it does not run.
    pub(super) fn start_retransmission_timer<O>(&mut self, env: &mut Env<O>) {
        if let Some(timer) = self.retransmission.timer {
            if self.una < self.nxt && !env.timers.is_set(timer) {
                self.retransmission.set(timer, env);
            }
        }
    }

    /// Restarts the timer when more of the stream is acknowledged, or clears it when all is.
    #[inline]
    pub(crate) fn restart_retransmission_timer<O>(&mut self, env: &mut Env<O>) {
        if let Some(timer) = self.retransmission.timer {
            if self.una == self.end {
                env.timers.clear(timer);
            } else {
                self.retransmission.set(timer, env);
            }
        }
    }
}

impl SendSide {
    /// The retransmission timer is due.
    #[cold]
    pub(crate) fn on_retransmission_timer<O: Observer>(&mut self, env: &mut Env<O>) {
        let Self { subflows, stream } = self;
        let fires = stream
            .retransmission
            .fires_at(stream.profile.jiffy, env.now);
        if let Some(timer) = stream.retransmission.timer.filter(|_| fires > env.now) {
            return env.timers.set(timer, fires);
        }
        let (mut idle, mut idle_backup, mut stale) = (None, None, None);
        let mut min_intervals = u32::MAX;
        for (index, sender) in subflows.iter_mut().enumerate() {
            if !matches!(
                sender.subflow_state,
                SubflowState::Open | SubflowState::Stalled
            ) {
                continue;
            }
            if sender.is_idle() {
                let idle = match sender.is_backup() {
                    true => &mut idle_backup,
                    false => &mut idle,
                };
                *idle = idle.or(Some(index));
                continue;
            }
            if sender.count_interval() {
                stale = stale.or(Some(index));
            }
            min_intervals = min_intervals.min(sender.stale.intervals);
        }
        if let Some(index) = stale {
            let is_active = |(other, sender): (usize, &Sender)| {
                other != index
                    && sender.subflow_state == SubflowState::Open
                    && sender.stale.intervals < STALE_LOSS_COUNT - 1
            };
            if subflows.iter().enumerate().any(is_active) {
                subflows[index].subflow_state = SubflowState::Stalled;
                stream.schedule_again();
                self.push_all(env);
            }
        }
        let Self { subflows, stream } = self;
        // A backup after the stale subflow in the list is examined after data of the stale one was queued at it.
        idle_backup = idle_backup.filter(|&backup| {
            let comes_before = stale.is_some_and(|stale| backup < stale);
            min_intervals > 1 && (comes_before || subflows[backup].is_idle())
        });
        if let Some(index) = idle.or(idle_backup) {
            let until = (stream.una + 1).next_multiple_of(PIECE).min(stream.nxt);
            let most = stream.skb_size();
            subflows[index].queue.put(stream.una, until, most);
        }
        stream.start_retransmission_timer(env);
        self.push_all(env);
    }
}
