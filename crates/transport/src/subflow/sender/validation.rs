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
    until: u64,
    /// Time at which the window limited the sender last (snd_cwnd_stamp).
    pub(crate) full_at: Time,
    /// Maximum number of packets out since `used_since` (snd_cwnd_used).
    most: u32,
    since: Time,
}

impl Sender {
    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        self.usage.is_limited
            || (self.tcp.cwnd < self.tcp.ssthresh && self.tcp.cwnd < 2 * self.usage.max_packets_out)
    }

    /// Called after sending: records whether the window limited the sender (tcp_cwnd_validate). `all`: no unsent data
    /// is left. `deferred`: segments were deferred although the window has room.
    #[inline]
    pub(crate) fn validate<O: Observer>(&mut self, env: &Env<O>, all: bool, waits: bool) {
        let limited = waits || self.flight() >= self.tcp.cwnd;
        let over = self.scoreboard.una() >= self.usage.until;
        if over || limited || (!self.usage.is_limited && self.out() > self.usage.max_packets_out) {
            self.usage.is_limited = limited;
            self.usage.max_packets_out = self.out();
            self.usage.until = self.scoreboard.nxt();
        }
        if limited || self.is_limited() {
            self.usage.full_at = env.now;
        } else {
            self.starve(env, all);
        }
    }

    /// The window does not limit the sender: after a timeout without limit the window is reduced half-way to its used
    /// part (RFC 7661; tcp_cwnd_application_limited). Linux does not do so while data waits for the receive window: the
    /// send buffer is full then (SOCK_NOSPACE).
    #[cold]
    fn starve<O: Observer>(&mut self, env: &Env<O>, all: bool) {
        if self.usage.since < self.usage.full_at {
            (self.usage.since, self.usage.most) = (self.usage.full_at, 0);
        }
        self.usage.most = self.usage.most.max(self.out());
        if !self.profile.idle_restart || env.now.since(self.usage.full_at) < self.rtt.timeout() {
            return;
        }
        if all && self.state == State::Open {
            let used = self.usage.most.max(self.profile.initial_window);
            if used < self.tcp.cwnd {
                self.tcp.ssthresh = self.current_ssthresh();
                self.tcp.cwnd = used + (self.tcp.cwnd - used) / 2;
            }
            self.usage.most = 0;
        }
        self.usage.full_at = env.now;
        self.usage.since = env.now;
    }
}
