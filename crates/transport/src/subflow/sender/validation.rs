//! Whether the congestion window limits a sender, and its reduction where it does not (Linux: tcp_cwnd_validate,
//! tcp_cwnd_application_limited; RFC 7661).

use super::*;

/// How much of the window is in use.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WindowUse {
    /// The window limits the sender (is_cwnd_limited).
    is_limited: bool,
    /// Largest number of segments in flight in this window's worth of data (max_packets_out).
    max_packets_out: u32,
    /// Byte of the subflow at which that window's worth of data ends (cwnd_usage_seq).
    until: u64,
    /// When the window limited the sender the last time (snd_cwnd_stamp).
    pub(crate) full_at: Time,
    /// Largest number of segments in flight since `since` (snd_cwnd_used).
    most: u32,
    since: Time,
}

impl Sender {
    #[inline]
    pub(super) fn is_limited(&self) -> bool {
        self.usage.is_limited
            || (self.tcp.cwnd < self.tcp.ssthresh && self.tcp.cwnd < 2 * self.usage.max_packets_out)
    }

    /// After sending: whether it was the window that held it back (Linux: tcp_cwnd_validate).
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

    /// It is not the window that holds it back: after a timeout's time of that, the window goes half of the way to what
    /// was used of it (RFC 7661's idea; Linux: tcp_cwnd_application_limited). While more is written and waits for the
    /// receive window, Linux leaves it alone: the socket's buffer is full then.
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
