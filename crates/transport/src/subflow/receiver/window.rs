//! The receive window of a subflow, as in Linux 6.12 (net/ipv4: tcp_grow_window, __tcp_select_window,
//! tcp_rcv_rtt_measure_ts; net/mptcp: mptcp_set_rwin). It grows by two segments for each segment that arrives, up to
//! the advertised share of the receive buffer.

use crate::packet::sequence::in_milliseconds;
use crate::profile::Profile;
use crate::receive_stream::Held;
use crate::receive_stream::buffer::{HALF, ReceiveBuffer};
use netsim::Span;

/// Receive window of an ACK.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Advertised {
    /// Window, bytes from the next byte of the stream on.
    pub(crate) window: u32,
    /// Whether half of the largest window is free.
    pub(crate) is_roomy: bool,
}

/// Receive window of a subflow.
#[derive(Debug)]
pub(crate) struct AdvertisedWindow {
    /// Maximum window at present, bytes (rcv_ssthresh).
    threshold: u64,
    /// Maximum of `threshold`, bytes (window_clamp).
    clamp: u64,
    /// Whether a segment has arrived.
    pub(crate) has_data: bool,
    /// End of the last advertised window, by sequence number of the subflow (rcv_wup + rcv_wnd).
    window_end: u64,
    /// Smoothed round-trip time, eighths of a microsecond (rcv_rtt_est).
    round_trip8: u32,
    /// One-way delay of the SYN, µs.
    syn_delay: u32,
    /// Start of the millisecond of the timestamp with which the last RTT sample was taken, µs.
    sampled_ms: u32,
    /// Window in the last ACK, bytes.
    pub(crate) bytes: u64,
}

impl AdvertisedWindow {
    pub(crate) fn new(profile: &Profile, buffer: &ReceiveBuffer) -> Self {
        let segment = buffer.advmss;
        // tcp_init_buffer_space reserves a segment.
        let clamp = ReceiveBuffer::window(HALF, buffer.size)
            .saturating_sub(segment)
            .max(2 * segment);
        let threshold =
            clamp.min(u64::from(profile.initial_receive_window).saturating_mul(segment));
        Self {
            threshold,
            clamp,
            has_data: false,
            window_end: buffer.syn_window,
            round_trip8: 0,
            syn_delay: 0,
            sampled_ms: 0,
            bytes: (threshold.max(buffer.syn_window) + buffer.scale_mask) & !buffer.scale_mask,
        }
    }

    /// Sets the window to its limit less this number of segments, as after many segments that were read one at a time.
    #[cfg(test)]
    pub(crate) fn set_below_limit(&mut self, buffer: &mut ReceiveBuffer, segments: u64) {
        self.threshold = 0;
        while self.grow(buffer, buffer.mss as u16, buffer.mss) {}
        self.threshold -= segments * buffer.mss;
    }

    /// Number of segments by which the window is below its limit.
    #[cfg(test)]
    pub(crate) fn segments_below_limit(&self) -> u64 {
        (self.clamp - self.threshold).div_ceil(1448)
    }

    /// Maximum window at present, bytes.
    #[cfg(test)]
    pub(crate) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// Sets the one-way delay of the SYN, µs.
    pub(crate) fn set_syn_delay(&mut self, syn_delay: u32) {
        self.syn_delay = syn_delay;
    }

    /// Whether the timestamp `sent`, µs, is in a millisecond that was sampled already (tcp_rcv_rtt_measure_ts).
    /// Timestamps have millisecond resolution there.
    #[inline]
    pub(crate) fn is_measured(&self, sent: u32) -> bool {
        sent.wrapping_sub(self.syn_delay)
            .wrapping_sub(self.sampled_ms)
            < 1000
            && self.round_trip8 > 0
    }

    /// Samples the round trip with a full segment that was sent at `sent`, µs, and is not
    /// [measured](Self::is_measured): the time since the ACK left that released it. `phase`: offset of the millisecond
    /// clock, µs.
    #[inline(always)]
    pub(crate) fn measure(&mut self, now: u32, sent: u32, phase: u32) {
        let now = now.wrapping_add(phase);
        let left = sent.wrapping_add(phase).wrapping_sub(self.syn_delay);
        let left_ms = left / 1000 * 1000;
        self.sampled_ms = left_ms.wrapping_sub(phase);
        // The difference of two timestamps in milliseconds, except where they wrap.
        let sample = if left <= now {
            now / 1000 * 1000 - left_ms
        } else {
            in_milliseconds(now, now.wrapping_sub(left))
        };
        // 2^28 µs is more than any path has, and eight times it fits into 32 bits.
        let sample = sample.min(1 << 28);
        if sample == 0 {
            return;
        }
        if self.round_trip8 == 0 || 8 * sample < self.round_trip8 {
            self.round_trip8 = 8 * sample;
        } else {
            self.round_trip8 = self.round_trip8 - self.round_trip8 / 8 + sample;
        }
    }

    /// Smoothed round-trip time; 0 before the first sample.
    pub(crate) fn round_trip(&self) -> Span {
        Span::from_micros((self.round_trip8 / 8).into())
    }

    /// Sets the limit of the window after the buffer has grown.
    pub(crate) fn set_clamp(&mut self, clamp: u64) {
        self.clamp = clamp;
    }

    /// Whether the window is at its limit while `held` bytes are in the buffer.
    #[inline]
    pub(crate) fn is_at_limit(&self, buffer: &ReceiveBuffer, held: u64) -> bool {
        self.has_data && self.threshold + held.min(buffer.mss) >= self.clamp
    }

    /// A segment arrives, with which `held` bytes are in the buffer of this subflow. Returns whether the window grows
    /// (tcp_grow_window).
    #[cold]
    pub(crate) fn grow(&mut self, buffer: &mut ReceiveBuffer, len: u16, held: u64) -> bool {
        if !self.has_data {
            self.has_data = true;
            self.clamp = ReceiveBuffer::window(buffer.measured_ratio, buffer.size);
            if !buffer.mptcp {
                buffer.ratio = buffer.measured_ratio;
            }
        }
        let most = self
            .clamp
            .min(buffer.available(buffer.measured_ratio, held));
        if most <= self.threshold {
            return false;
        }
        let step = buffer.growth(len, self.threshold);
        self.threshold = most.min(self.threshold + step);
        step > 0
    }

    /// Whether an ACK would advertise fewer bytes than the last one, which acknowledged the bytes before
    /// `acknowledged`.
    #[inline]
    pub(crate) fn would_shrink(
        &self,
        buffer: &ReceiveBuffer,
        held: u64,
        acknowledged: u64,
    ) -> bool {
        let free = buffer.available(buffer.ratio, held).min(self.threshold);
        (free + buffer.scale_mask) & !buffer.scale_mask
            < self.window_end.saturating_sub(acknowledged)
    }

    /// The receive window of an ACK. `next`: next byte of the subflow. `stream`: next byte of the connection's stream.
    #[inline]
    pub(crate) fn advertise(
        &mut self,
        buffer: &mut ReceiveBuffer,
        next: u64,
        stream: u64,
        held: Held,
    ) -> Advertised {
        let mut free = buffer.available(buffer.ratio, held.now);
        // The application reads at once, and tcp_cleanup_rbuf sends another ACK if that doubles the window. Here the
        // two ACKs are one.
        if 2 * free <= self.clamp {
            free = buffer.available(buffer.ratio, held.after_read);
        }
        let all = ReceiveBuffer::window(buffer.ratio, buffer.size);
        let roomy = free >= self.clamp.min(all) / 2;
        if !roomy {
            free &= !buffer.scale_mask;
            // A small window is not advertised (silly window syndrome, RFC 1122, 4.2.3.3).
            if free < all / 16 || free < buffer.mss {
                free = 0;
            }
        }
        // The end of the window does not move back, and is not rounded up again.
        let window = (free.min(self.threshold) + buffer.scale_mask) & !buffer.scale_mask;
        let mut window = window.max(self.window_end.saturating_sub(next));
        if stream + window > buffer.window_end {
            buffer.window_end = stream + window;
        } else {
            // Another subflow may have advertised this end.
            window = buffer.window_end - stream;
        }
        self.window_end = next + window;
        self.bytes = window & !buffer.scale_mask;
        Advertised {
            window: u32::try_from(self.bytes).unwrap_or(u32::MAX),
            is_roomy: roomy,
        }
    }
}

#[cfg(test)]
mod tests;
