//! The receive buffer of a connection, as in Linux 6.12 (net/ipv4: tcp_grow_window, tcp_rcv_space_adjust,
//! __tcp_select_window; net/mptcp: mptcp_rcv_space_adjust, mptcp_space, mptcp_set_rwin).
//!
//! A share of the buffer is advertised: half of it until the first segment, then the share of payload in the memory of
//! a segment. Out-of-order segments reduce the window. MPTCP has one buffer for all subflows. While a subflow has
//! joined and had no data, the connection advertises half.

use crate::environment::timers::NEVER;
use crate::profile::{BufferSize, Profile};
use netsim::{Span, Time};

/// Unit of shares of the buffer (TCP_RMEM_TO_WIN_SCALE).
const RATIO_UNIT: u64 = 256;
/// Half of the buffer.
pub(crate) const HALF: u64 = RATIO_UNIT / 2;

/// Memory of a segment beyond its packet, bytes: 2 304 bytes for a packet of 1 500 (2 048 of kmalloc for the head, and
/// a struct sk_buff).
const SEGMENT_OVERHEAD: u64 = 804;

/// Memory in the head of an sk_buff beyond the packet, bytes (NET_SKB_PAD, struct skb_shared_info); the sum is rounded
/// up to a power of two by kmalloc.
const HEAD_OVERHEAD: u64 = 384;
/// Size of a struct sk_buff, bytes.
const SKB_STRUCT: u64 = 256;

/// Minimum size of segments that let the window grow, bytes (tcp_event_data_recv).
const MIN_GROWTH_LEN: u16 = 128;

/// Initial value of `space`, segments: the buffer grows if more is read in a round trip (TCP_INIT_CWND).
const INITIAL_SPACE: u64 = 10;

/// Headers of IPv4 and TCP without options, bytes.
const HEADERS: u16 = 40;

/// Maximum of SO_RCVBUF, bytes (net.core.rmem_max).
const RMEM_MAX: u32 = 212_992;

/// Window scale for a receive buffer of at most `max` bytes (tcp_select_initial_window).
pub fn window_scale(max: u32) -> u32 {
    max.max(RMEM_MAX).ilog2().saturating_sub(15).min(14)
}

/// Size of the smallest receive buffer that is simulated, bytes: while the application has not read two segments of `mss`
/// bytes, the third one fits. With a smaller buffer Linux halves the MSS (tcp_bound_to_half_wnd) or closes the window and
/// is probed (tcp_send_probe0).
#[must_use]
pub fn smallest_receive_buffer(profile: &Profile, mss: u32) -> u64 {
    let mss = u64::from(mss);
    let frame = mss + u64::from(profile.header) + SEGMENT_OVERHEAD;
    // The share of payload is rounded down to a 256th.
    let share = match profile.measures_scaling_ratio {
        true => RATIO_UNIT * mss / frame,
        false => HALF,
    };
    2 * frame + (RATIO_UNIT * mss).div_ceil(share)
}

/// The receive buffer of a connection.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    /// Size, bytes (sk_rcvbuf).
    pub(crate) size: u64,
    /// Maximum size, bytes.
    pub(crate) max_size: u64,
    /// Payload of a full segment, bytes.
    pub(crate) mss: u64,
    /// Payload of a full segment without MPTCP's option, bytes (advmss).
    pub(crate) advmss: u64,
    /// Memory of a byte of payload, 2⁻²⁴ bytes. A short segment is coalesced with the one before (skb_try_coalesce).
    memory_per_byte: u64,
    /// Share of the buffer that is advertised, of 256 (scaling_ratio).
    pub(crate) ratio: u64,
    /// That share after the first segment.
    pub(crate) measured_ratio: u64,
    /// Whether all subflows share the buffer.
    pub(crate) mptcp: bool,
    /// Low bits of a window that its field does not carry (RFC 7323, 2.2).
    pub(crate) scale_mask: u64,
    /// Window of the SYN, bytes.
    pub(crate) syn_window: u64,
    /// End of the last advertised window, by offset in the stream.
    pub(crate) window_end: u64,
    /// Headers of a packet, bytes.
    headers: u64,
    /// Maximum of net.ipv4.tcp_rmem, bytes.
    tcp_rmem_max: u64,
    /// End of the round trip, after which the size is adjusted.
    pub(crate) tune_at: Time,
    /// Start of the round trip (rcvq_space.time).
    round_begin: Time,
    /// Number of bytes that the application had read at the start of the round trip.
    read_before: u64,
    /// Number of bytes that the application read in the round trip before (rcvq_space.space).
    space: u64,
}

impl ReceiveBuffer {
    /// A buffer of `fixed` bytes, or one of the profile's size, which grows.
    pub(crate) fn new(
        profile: &Profile,
        packet: u16,
        mss: u16,
        mptcp: bool,
        fixed: Option<u32>,
    ) -> Self {
        let BufferSize { initial: size, max } =
            fixed.map_or(profile.receive_buffer, BufferSize::fixed);
        let (mss, frame) = (u64::from(mss), u64::from(packet) + SEGMENT_OVERHEAD);
        let advmss = u64::from(packet - profile.header);
        Self {
            size: size.into(),
            max_size: max.into(),
            mss,
            advmss,
            memory_per_byte: (frame << 24).div_ceil(mss),
            ratio: HALF,
            measured_ratio: if profile.measures_scaling_ratio {
                RATIO_UNIT * mss / frame
            } else {
                HALF
            },
            mptcp,
            scale_mask: match profile.measures_scaling_ratio {
                true => (1 << window_scale(max)) - 1,
                false => 0,
            },
            // Full segments, without the options that are not negotiated yet, and at most the range of the field
            // (tcp_select_initial_window).
            syn_window: match profile.measures_scaling_ratio {
                true => {
                    let half = Self::window(HALF, size.into()).min(u16::MAX.into());
                    half - half % u64::from(packet - HEADERS)
                }
                false => 0,
            },
            window_end: 0,
            headers: u64::from(packet) - mss,
            tcp_rmem_max: max.into(),
            tune_at: if mptcp || size < max {
                Time::ZERO
            } else {
                NEVER
            },
            round_begin: Time::ZERO,
            read_before: 0,
            space: INITIAL_SPACE * advmss,
        }
    }

    /// Window for `bytes` of memory (tcp_win_from_space).
    pub(crate) fn window(ratio: u64, bytes: u64) -> u64 {
        bytes * ratio / RATIO_UNIT
    }

    /// Whether the size or the advertised share may change.
    #[inline]
    pub(crate) fn is_tuned(&self) -> bool {
        self.tune_at < NEVER
    }

    /// Growth of the window `threshold` for a segment of `len` bytes of payload, bytes: two segments if a segment of
    /// this memory fits, now or in a smaller window above `threshold`; else 0 (tcp_grow_window, __tcp_grow_window).
    pub(crate) fn growth(&self, len: u16, threshold: u64) -> u64 {
        if len < MIN_GROWTH_LEN {
            return 0;
        }
        let (len, full) = (u64::from(len), u64::from(len) == self.mss);
        let memory = (len + self.headers + HEAD_OVERHEAD).next_power_of_two() + SKB_STRUCT;
        let mut segment_window = Self::window(self.measured_ratio, memory);
        if full || segment_window <= len {
            return 2 * self.advmss.max(len);
        }
        let mut window = Self::window(self.measured_ratio, self.tcp_rmem_max) / 2;
        while threshold <= window {
            segment_window /= 2;
            if segment_window <= len {
                return 2 * self.mss.max(len);
            }
            window /= 2;
        }
        0
    }

    /// Window while `held` bytes are in the buffer.
    pub(crate) fn available(&self, ratio: u64, held: u64) -> u64 {
        let held = (held * self.memory_per_byte) >> 24;
        Self::window(ratio, self.size.saturating_sub(held))
    }

    /// Adjusts the size once a round trip, after a read: room for twice the bytes read in it, and for their growth
    /// (tcp_rcv_space_adjust). `next`: first missing byte of the stream. `all_have_data`: each subflow has had data.
    /// Returns the new limit of the windows of the subflows if the buffer grows.
    pub(crate) fn tune(
        &mut self,
        now: Time,
        round_trip: Span,
        next: u64,
        all_have_data: bool,
    ) -> Option<u64> {
        if self.mptcp {
            self.ratio = if all_have_data {
                self.measured_ratio
            } else {
                HALF
            };
        }
        if now < self.round_begin + round_trip {
            self.tune_at = self.round_begin + round_trip;
            return None;
        }
        let read = next - self.read_before;
        (self.round_begin, self.read_before) = (now, next);
        let grows = self.size < self.max_size;
        self.tune_at = if self.mptcp || grows {
            now + round_trip
        } else {
            NEVER
        };
        if read <= self.space || !grows {
            return None;
        }
        let window = 2 * read + 16 * self.advmss;
        let window = window + 2 * (window * (read - self.space) / self.space);
        self.space = read;
        let size = (window * RATIO_UNIT / self.ratio).min(self.max_size);
        if size <= self.size {
            return None;
        }
        self.size = size;
        Some(Self::window(self.ratio, size))
    }
}
