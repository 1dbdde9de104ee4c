//! How many segments go at once, as Linux 6.12 decides it (net/ipv4/tcp_output.c: tcp_tso_segs, tcp_tso_should_defer).
//!
//! They leave the stack in bursts of a millisecond's, two at least. What the window has room for that is less than a burst
//! waits for the next ACK, if that is expected within a millisecond or overdue and something was sent in the last one.

use super::Sender;
use mpcc::State;
use netsim::{Span, Time};

/// The least segments in a burst (net.ipv4.tcp_min_tso_segs).
const LEAST: u64 = 2;

/// A burst is what goes in this part of a second (sk_pacing_shift).
const PART: u32 = 10;

/// Bytes of the largest burst (sk_gso_max_size), which one may have if the RTT is short: it is halved for each 2⁹ µs of the
/// least RTT (net.ipv4.tcp_tso_rtt_log).
const MOST: u64 = 65_536;
const RTT_LOG: u32 = 9;

/// An ACK that is expected so soon is waited for, and what was sent so long ago is the past.
const SOON: Span = Span::from_millis(1);

/// A share of the window that is sent at once (net.ipv4.tcp_tso_win_divisor).
const SHARE: u32 = 3;

impl Sender {
    /// What it would be paced at, bytes/s (tcp_update_pacing_rate: 200 % in the first half of slow start, else 120 %).
    pub(crate) fn pacing_rate(&self) -> u64 {
        let percent = if self.tcp.cwnd < self.tcp.ssthresh / 2 {
            200
        } else {
            120
        };
        let window = u64::from(self.tcp.cwnd.max(self.out()));
        let srtt8 = u64::from(self.rtt.srtt8.max(1));
        u64::from(self.mss) * window * percent * 80_000 / srtt8
    }

    /// Segments in a burst.
    pub(crate) fn burst_size(&self) -> u32 {
        let halvings = self.rtt.least >> RTT_LOG;
        let short = if halvings < u32::BITS {
            MOST >> halvings
        } else {
            0
        };
        let bytes = ((self.pacing_rate() >> PART) + short).min(MOST);
        (bytes / u64::from(self.mss)).max(LEAST) as u32
    }

    /// How many segments go now of so many bytes, where the window has room for `space` segments; none where it is better to
    /// wait. `last`: nothing waits behind these bytes.
    #[inline]
    pub(crate) fn burst(&self, now: Time, space: u32, bytes: u64, last: bool) -> u32 {
        if !self.profile.bursts {
            return space;
        }
        let may_wait = now.since(self.last_sent) <= SOON
            && bytes > self.mss.into()
            && space < self.tcp.cwnd.div_ceil(SHARE)
            && self.state < State::Recovery;
        if !may_wait && u64::from(space) <= LEAST {
            return space;
        }
        self.burst_of_many(now, space, may_wait && (last || !self.takes(space, bytes)))
    }

    /// Whether the window has room for so many bytes.
    #[inline]
    pub(crate) fn takes(&self, space: u32, bytes: u64) -> bool {
        u64::from(space) * u64::from(self.mss) >= bytes
    }

    #[inline(never)]
    fn burst_of_many(&self, now: Time, space: u32, may_wait: bool) -> u32 {
        let size = self.burst_size();
        if may_wait && space < size && self.out() > 0 && self.is_ack_near(now) {
            return 0;
        }
        space.min(size)
    }

    /// Whether the next ACK comes soon, or should have come.
    fn is_ack_near(&self, now: Time) -> bool {
        let srtt = u64::from(self.rtt.srtt8) * 125;
        let sent_at = self.scoreboard.front().map_or(0, |first| first.sent_at);
        let expected = sent_at + srtt;
        expected <= now.as_nanos() + SOON.as_nanos().min(srtt / 2)
    }
}
