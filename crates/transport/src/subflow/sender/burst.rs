//! Size of bursts, as in Linux 6.12 (net/ipv4/tcp_output.c: tcp_tso_segs, tcp_tso_should_defer).
//!
//! Segments leave the stack in bursts of a millisecond's worth at the pacing rate, at least two segments. If the window
//! has room for less than a burst, the segments are deferred to the next ACK, provided that it is expected within a
//! millisecond or overdue and something was sent in the last millisecond.

use super::Sender;
use mpcc::State;
use netsim::{Span, Time};

/// Minimum number of segments in a burst (net.ipv4.tcp_min_tso_segs).
const MIN_TSO_SEGMENTS: u64 = 2;

/// Duration of a burst at the pacing rate: 2^-10 s (sk_pacing_shift).
const PACING_SHIFT: u32 = 10;

/// Maximum size of a burst, bytes (sk_gso_max_size).
const GSO_MAX_SIZE: u64 = 65_536;

/// A burst may exceed the pacing rate by the maximum size, halved for each 2⁹ µs of the minimum RTT
/// (net.ipv4.tcp_tso_rtt_log).
const TSO_RTT_LOG: u32 = 9;

/// Limit of the expected time until the next ACK, and of the time since the last transmission, for deferring.
const SOON: Span = Span::from_millis(1);

/// Segments are sent without deferring if the window has room for this part of it (net.ipv4.tcp_tso_win_divisor).
const TSO_WIN_DIVISOR: u32 = 3;

impl Sender {
    /// Pacing rate, bytes/s (tcp_update_pacing_rate: 200 % of the window per RTT in the first half of slow start, else
    /// 120 %).
    pub(crate) fn pacing_rate(&self) -> u64 {
        let percent = if self.tcp.cwnd < self.tcp.ssthresh / 2 {
            200
        } else {
            120
        };
        let window = u64::from(self.tcp.cwnd.max(self.packets_out()));
        let srtt8 = u64::from(self.rtt.srtt8.max(1));
        u64::from(self.mss) * window * percent * 80_000 / srtt8
    }

    /// Number of segments in a burst (tcp_tso_autosize).
    pub(crate) fn burst_size(&self) -> u32 {
        let halvings = self.rtt.min_rtt >> TSO_RTT_LOG;
        let short_rtt_bytes = if halvings < u32::BITS {
            GSO_MAX_SIZE >> halvings
        } else {
            0
        };
        let bytes = ((self.pacing_rate() >> PACING_SHIFT) + short_rtt_bytes).min(GSO_MAX_SIZE);
        (bytes / u64::from(self.mss)).max(MIN_TSO_SEGMENTS) as u32
    }

    /// Number of segments to send now of `bytes` unsent bytes; 0: defer. `quota`: segments that the window has room
    /// for. `is_last`: no data is queued behind these bytes.
    #[inline]
    pub(crate) fn burst(&self, now: Time, quota: u32, bytes: u64, is_last: bool) -> u32 {
        if !self.profile.bursts {
            return quota;
        }
        let may_defer = now.since(self.last_sent) <= SOON
            && bytes > self.mss.into()
            && quota < self.tcp.cwnd.div_ceil(TSO_WIN_DIVISOR)
            && self.ca_state < State::Recovery;
        if !may_defer && u64::from(quota) <= MIN_TSO_SEGMENTS {
            return quota;
        }
        self.burst_or_defer(
            now,
            quota,
            may_defer && (is_last || !self.fits_window(quota, bytes)),
        )
    }

    /// Whether the window has room for `bytes`.
    #[inline]
    pub(crate) fn fits_window(&self, quota: u32, bytes: u64) -> bool {
        u64::from(quota) * u64::from(self.mss) >= bytes
    }

    #[inline(never)]
    fn burst_or_defer(&self, now: Time, quota: u32, may_defer: bool) -> u32 {
        let size = self.burst_size();
        if may_defer && quota < size && self.packets_out() > 0 && self.is_ack_soon_or_overdue(now) {
            return 0;
        }
        quota.min(size)
    }

    /// Whether the next ACK is expected soon or is overdue.
    fn is_ack_soon_or_overdue(&self, now: Time) -> bool {
        let srtt = u64::from(self.rtt.srtt8) * 125;
        let sent_at = self.scoreboard.front().map_or(0, |first| first.sent_at);
        let expected = sent_at + srtt;
        expected <= now.as_nanos() + SOON.as_nanos().min(srtt / 2)
    }
}
