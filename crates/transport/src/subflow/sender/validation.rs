//! Congestion window validation: whether the window limits the sender, and its reduction if not (Linux:
//! tcp_cwnd_validate, tcp_cwnd_application_limited; RFC 7661).

use super::*;

/// Use of the congestion window.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUse {
    /// Whether the window limits the sender (is_cwnd_limited).
    is_limited: bool,
    /// Maximum number of packets out in this window's worth of data (max_packets_out).
    max_packets_out: u32,
    /// End of this window's worth of data (cwnd_usage_seq).
    usage_end: u64,
    /// Time at which the window limited the sender last (snd_cwnd_stamp).
    pub(crate) cwnd_stamp: Time,
    /// Maximum number of packets out since `used_since` (snd_cwnd_used).
    max_used: u32,
    /// Start of the time without limit.
    used_since: Time,
}

impl Sender {
    /// Whether the window limits the sender (tcp_is_cwnd_limited).
    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        self.window_use.is_limited
            || (self.tcp.cwnd < self.tcp.ssthresh
                && self.tcp.cwnd < 2 * self.window_use.max_packets_out)
    }

    /// Called after sending: records whether the window limited the sender (tcp_cwnd_validate). `all`: no unsent data
    /// is left. `deferred`: segments were deferred although the window has room.
    #[inline]
    pub(crate) fn cwnd_validate<O: Observer>(&mut self, env: &Env<O>, all: bool, deferred: bool) {
        let limited = deferred || self.flight() >= self.tcp.cwnd;
        let over = self.scoreboard.una() >= self.window_use.usage_end;
        if over
            || limited
            || (!self.window_use.is_limited && self.packets_out() > self.window_use.max_packets_out)
        {
            self.window_use.is_limited = limited;
            self.window_use.max_packets_out = self.packets_out();
            self.window_use.usage_end = self.scoreboard.nxt();
        }
        if limited || self.is_limited() {
            self.window_use.cwnd_stamp = env.now;
        } else {
            self.application_limited(env, all);
        }
    }

    /// The window does not limit the sender: after a timeout without limit the window is reduced half-way to its used
    /// part (RFC 7661; tcp_cwnd_application_limited). Linux does not do so while data waits for the receive window: the
    /// send buffer is full then (SOCK_NOSPACE).
    #[cold]
    fn application_limited<O: Observer>(&mut self, env: &Env<O>, all: bool) {
        if self.window_use.used_since < self.window_use.cwnd_stamp {
            (self.window_use.used_since, self.window_use.max_used) =
                (self.window_use.cwnd_stamp, 0);
        }
        self.window_use.max_used = self.window_use.max_used.max(self.packets_out());
        if !self.profile.idle_restart || env.now.since(self.window_use.cwnd_stamp) < self.rtt.rto()
        {
            return;
        }
        if all && self.ca_state == State::Open {
            let used = self.window_use.max_used.max(self.profile.initial_window);
            if used < self.tcp.cwnd {
                self.tcp.ssthresh = self.current_ssthresh();
                self.tcp.cwnd = used + (self.tcp.cwnd - used) / 2;
            }
            self.window_use.max_used = 0;
        }
        self.window_use.cwnd_stamp = env.now;
        self.window_use.used_since = env.now;
    }
}
