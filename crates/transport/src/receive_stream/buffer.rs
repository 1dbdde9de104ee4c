//! The receive buffer of a connection, as Linux 6.12 sizes it (net/ipv4: tcp_grow_window, tcp_rcv_space_adjust,
//! __tcp_select_window; net/mptcp: mptcp_rcv_space_adjust, mptcp_space, mptcp_set_rwin).
//!
//! A share of the buffer is advertised: half of it until the first segment, then the share of a segment's memory that is payload.
//! Segments that wait for a missing one take room. MPTCP has one buffer for all subflows. While a subflow has joined and had no
//! data, the connection advertises half.

use crate::environment::timers::NEVER;
use crate::profile::Profile;
use netsim::{Span, Time};

/// Shares of the buffer are counted in so many parts (TCP_RMEM_TO_WIN_SCALE).
const WHOLE: u64 = 256;
pub(crate) const HALF: u64 = WHOLE / 2;

/// Memory of a segment that is not its packet: 2 304 bytes for 1 500 (a head of kmalloc's 2 048 and a struct sk_buff).
const OVERHEAD: u64 = 804;

/// A packet's head holds so much more (NET_SKB_PAD, struct skb_shared_info), in one of kmalloc's powers of two; and a struct sk_buff.
const HEAD: u64 = 384;
const SKB: u64 = 256;

/// A segment of less has no part in what is offered (tcp_event_data_recv), bytes.
const GROWS: u16 = 128;

/// What has to be read in a round trip before the buffer may grow, segments (TCP_INIT_CWND).
const FIRST_SPACE: u64 = 10;

/// What a buffer has room for at least, segments: one is always offered.
const LEAST: u64 = 4;

/// Bytes of IPv4's header and TCP's.
const HEADERS: u16 = 40;

/// By how many bits a window's field is shifted where the buffer may grow to so many bytes (tcp_select_initial_window).
pub fn window_scale(most: u32) -> u32 {
    most.max(1).ilog2().saturating_sub(15).min(14)
}

/// The receive buffer of a connection.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    /// Size, bytes (sk_rcvbuf).
    pub(crate) size: u64,
    /// Largest size, bytes.
    pub(crate) most: u64,
    /// Payload of a full segment, bytes.
    pub(crate) mss: u64,
    /// Payload of a full segment without MPTCP's option, bytes (advmss).
    pub(crate) advertised: u64,
    /// Memory of a byte of payload, 2⁻²⁴ bytes. A short segment fits behind another one (skb_try_coalesce).
    each: u64,
    /// Share of the buffer that is advertised, of 256 (scaling_ratio).
    pub(crate) ratio: u64,
    /// That share once a segment has been measured.
    pub(crate) measured_ratio: u64,
    /// Whether all subflows share the buffer.
    pub(crate) mptcp: bool,
    /// Low bits that the field of a window does not carry (RFC 7323, 2.2).
    pub(crate) scale_mask: u64,
    /// Window of the SYN, bytes.
    pub(crate) syn: u64,
    /// Byte of the stream after the last one that was advertised.
    pub(crate) edge: u64,
    /// Headers of a packet, bytes.
    headers: u64,
    /// Largest buffer of any connection, bytes (net.ipv4.tcp_rmem).
    largest: u64,
    /// When the round trip ends after which the size is adjusted.
    pub(crate) tune_at: Time,
    /// When it began (rcvq_space.time).
    since: Time,
    /// Bytes that the application had read by then.
    read: u64,
    /// Bytes that it read in the round trip before (rcvq_space.space).
    space: u64,
}

impl ReceiveBuffer {
    /// A buffer of `asked` bytes, or one of the profile's size, which grows.
    pub(crate) fn new(
        profile: &Profile,
        packet: u16,
        mss: u16,
        mptcp: bool,
        asked: Option<u32>,
    ) -> Self {
        let (size, most) = asked.map_or(profile.receive_buffer, |size| (size, size));
        let (mss, frame) = (u64::from(mss), u64::from(packet) + OVERHEAD);
        let advertised = u64::from(packet - profile.header);
        Self {
            size: u64::from(size).max(LEAST * frame),
            most: u64::from(most).max(LEAST * frame),
            mss,
            advertised,
            each: (frame << 24).div_ceil(mss),
            ratio: HALF,
            measured_ratio: if profile.measures_frames {
                WHOLE * mss / frame
            } else {
                HALF
            },
            mptcp,
            scale_mask: match profile.measures_frames {
                true => (1 << window_scale(most)) - 1,
                false => 0,
            },
            // Full segments, whose options are not known yet, and no more than fit into its field (tcp_select_initial_window).
            syn: match profile.measures_frames {
                true => {
                    let half = Self::window(HALF, size.into()).min(u16::MAX.into());
                    half - half % u64::from(packet - HEADERS)
                }
                false => 0,
            },
            edge: 0,
            headers: u64::from(packet) - mss,
            largest: profile.receive_buffer.1.into(),
            tune_at: if mptcp || size < most {
                Time::ZERO
            } else {
                NEVER
            },
            since: Time::ZERO,
            read: 0,
            space: FIRST_SPACE * advertised,
        }
    }

    /// Window that so many bytes of memory allow (tcp_win_from_space).
    pub(crate) fn window(ratio: u64, bytes: u64) -> u64 {
        bytes * ratio / WHOLE
    }

    /// Whether the size or the advertised share may change.
    #[inline]
    pub(crate) fn is_tuned(&self) -> bool {
        self.tune_at < NEVER
    }

    /// By how many bytes a segment of so many lets the window grow that is `threshold`: by two segments, where a segment that
    /// takes so much memory fits, now or in a window of some smaller size that is not reached yet (tcp_grow_window,
    /// __tcp_grow_window).
    pub(crate) fn step(&self, len: u16, threshold: u64) -> u64 {
        if len < GROWS {
            return 0;
        }
        let (len, full) = (u64::from(len), u64::from(len) == self.mss);
        let memory = (len + self.headers + HEAD).next_power_of_two() + SKB;
        let mut takes = Self::window(self.measured_ratio, memory);
        if full || takes <= len {
            return 2 * self.advertised.max(len);
        }
        let mut window = Self::window(self.measured_ratio, self.largest) / 2;
        while threshold <= window {
            takes /= 2;
            if takes <= len {
                return 2 * self.mss.max(len);
            }
            window /= 2;
        }
        0
    }

    /// Window while `held` bytes are in the buffer.
    pub(crate) fn free(&self, ratio: u64, held: u64) -> u64 {
        let held = (held * self.each) >> 24;
        Self::window(ratio, self.size.saturating_sub(held))
    }

    /// Once a round trip, where a segment arrives and is read: room for twice what was read in it, and for its growth.
    /// `next`: the byte of the stream that is waited for. `found`: whether each subflow that there is has had data. Where
    /// the buffer grows: what its subflows may come to offer.
    pub(crate) fn tune(
        &mut self,
        now: Time,
        round_trip: Span,
        next: u64,
        found: bool,
    ) -> Option<u64> {
        if self.mptcp {
            self.ratio = if found { self.measured_ratio } else { HALF };
        }
        if now < self.since + round_trip {
            self.tune_at = self.since + round_trip;
            return None;
        }
        let read = next - self.read;
        (self.since, self.read) = (now, next);
        let grows = self.size < self.most;
        self.tune_at = if self.mptcp || grows {
            now + round_trip
        } else {
            NEVER
        };
        if read <= self.space || !grows {
            return None;
        }
        let window = 2 * read + 16 * self.advertised;
        let window = window + 2 * (window * (read - self.space) / self.space);
        self.space = read;
        let size = (window * WHOLE / self.ratio).min(self.most);
        if size <= self.size {
            return None;
        }
        self.size = size;
        Some(Self::window(self.ratio, size))
    }
}
