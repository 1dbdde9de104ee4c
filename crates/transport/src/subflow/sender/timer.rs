//! Timer of a sender: retransmission timeout (RFC 6298), loss probe (RFC 8985, 7) and RACK's reordering timer (RFC
//! 8985, 6.2, step 5).

use super::*;
use crate::environment::jiffies;

/// Addition to the waits of loss probe and reordering timer (TCP_TIMEOUT_MIN_US).
pub(crate) const TIMEOUT_MIN: Span = Span::from_millis(2);

/// Purpose of the timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimerPurpose {
    /// Retransmission timeout.
    Timeout,
    /// Loss probe (TLP).
    Probe,
    /// RACK's reordering timer.
    Reordering,
}

/// A timer that was rounded up to jiffies.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct JiffyTimer {
    /// Time at which the timer fires.
    fires_at: Time,
    /// Jiffy for which the timer was set (timer_list.expires).
    expires: Time,
}

impl Sender {
    /// Whether a loss probe may be scheduled (RFC 8985, 7.2).
    #[inline]
    pub(super) fn may_probe(&self) -> bool {
        self.profile.detection != Detection::DuplicateAcks
            && matches!(self.ca_state, State::Open | State::Cwr)
            && self.recovery.tlp_high_seq == 0
            && self.rtt.srtt8 != 0
    }

    /// Time at which the due timer fires, rounded up to jiffies.
    pub(crate) fn fires_at(&mut self, due: Time) -> Time {
        if self.profile.jiffy > Span::ZERO && self.jiffy_timer.fires_at != due {
            // The timer is set by an ACK or a transmission.
            let set = self.last_sent.max(self.last_ack);
            let fires = jiffies::fires_at(self.profile.jiffy, set, due.since(set)).max(due);
            let expires = jiffies::expires(self.profile.jiffy, set, due.since(set));
            self.jiffy_timer = JiffyTimer {
                fires_at: fires,
                expires,
            };
            return fires;
        }
        due
    }

    /// Remaining time of the timer; none: not set.
    pub(crate) fn timer_remaining<O>(&self, env: &Env<O>) -> Option<Span> {
        let remaining = env.timers.remaining(self.timer, env.now)?;
        if self.profile.jiffy == Span::ZERO {
            return Some(remaining);
        }
        let due = env.now + remaining;
        let expires = if due == self.jiffy_timer.fires_at {
            self.jiffy_timer.expires
        } else {
            let set = self.last_sent.max(self.last_ack);
            jiffies::expires(self.profile.jiffy, set, due.since(set))
        };
        Some(jiffies::remaining(self.profile.jiffy, expires, env.now))
    }

    /// Sets the timer after an ACK that advanced snd_una.
    #[inline]
    pub(crate) fn set_timer<O: Observer>(&mut self, env: &mut Env<O>) {
        if self.packets_out() == 0 {
            env.timers.clear(self.timer);
        } else if self.may_probe() {
            self.schedule_loss_probe(env);
        } else {
            self.set_rto_timer(env);
        }
    }

    #[inline]
    pub(crate) fn set_rto_timer<O: Observer>(&mut self, env: &mut Env<O>) {
        self.timer_purpose = TimerPurpose::Timeout;
        env.timers.set(self.timer, env.now + self.rtt.rto());
    }

    /// Schedules a loss probe after two round trips, with the time of a delayed ACK if only one segment is out, and not
    /// after the timeout of the first segment (Linux: tcp_schedule_loss_probe).
    #[inline(always)]
    pub(super) fn schedule_loss_probe<O: Observer>(&mut self, env: &mut Env<O>) {
        self.timer_purpose = TimerPurpose::Probe;
        let more = if self.packets_out() == 1 {
            self.profile.rto_min
        } else {
            TIMEOUT_MIN
        };
        let probe = env.now + Span::from_micros(u64::from(self.rtt.srtt8 >> 2)) + more;
        let sent_at = self.scoreboard.front().map_or(0, |first| first.sent_at);
        let timeout = Time::from_nanos(sent_at) + self.rtt.rto();
        env.timers.set(self.timer, probe.min(timeout.max(env.now)));
    }
}
