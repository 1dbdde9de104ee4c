//! What a receiver offers to take, as Linux 6.12 decides it (net/ipv4: tcp_grow_window, tcp_rcv_space_adjust,
//! __tcp_select_window; net/mptcp: mptcp_rcv_space_adjust, mptcp_space, mptcp_set_rwin).
//!
//! A share of the buffer is offered: half of it at first, and what a segment is of the memory that it takes, once that has
//! been seen. What waits for others to fill a gap takes room. Each subflow comes to offer it by two segments for each that
//! arrives. MPTCP has one buffer for all subflows: where one has joined and had no data yet, the connection goes on
//! offering half.

use crate::profile::Profile;
use crate::simulation::timers::NEVER;
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
    /// Bytes (sk_rcvbuf), and the most that it grows to.
    pub(crate) size: u64,
    pub(crate) most: u64,
    pub(crate) mss: u64,
    /// What a segment without MPTCP's option carries (advmss), bytes.
    pub(crate) advertised: u64,
    /// What a byte of a segment takes in it (a short one fits behind another: skb_try_coalesce), 2⁻²⁴ bytes.
    each: u64,
    /// Share of the buffer that is advertised, of 256 (scaling_ratio).
    pub(crate) ratio: u64,
    /// That share once a segment has been measured.
    pub(crate) measured_ratio: u64,
    /// Whether all subflows share it.
    pub(crate) mptcp: bool,
    /// What is offered is told without these low bits (RFC 7323, 2.2).
    pub(crate) untold: u64,
    /// What a SYN offers, bytes.
    pub(crate) syn: u64,
    /// The furthest byte of the stream that was offered.
    pub(crate) edge: u64,
    /// Bytes of a packet's headers, and of the largest buffer that there is (net.ipv4.tcp_rmem).
    headers: u64,
    largest: u64,
    /// Autotuning: when the round trip ends, when it began and with how many bytes read; bytes read in the one before.
    pub(crate) tune_at: Time,
    since: Time,
    read: u64,
    space: u64,
}

impl ReceiveBuffer {
    /// With so many bytes, or with the profile's, which grow.
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
            untold: match profile.measures_frames {
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

    /// What is offered of so many bytes (tcp_win_from_space).
    pub(crate) fn window(ratio: u64, bytes: u64) -> u64 {
        bytes * ratio / WHOLE
    }

    /// Whether its size or the share that is offered may change.
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

    /// What it offers while so many bytes are in it.
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
