//! What a receiver offers to take, as Linux 6.12 decides it (net/ipv4: tcp_grow_window, tcp_rcv_space_adjust,
//! __tcp_select_window; net/mptcp: mptcp_rcv_space_adjust, mptcp_space, mptcp_set_rwin).
//!
//! A share of the buffer is offered: half of it at first, and what a segment is of the memory that it takes, once that has
//! been seen. What waits for others to fill a gap takes room. Each subflow comes to offer it by two segments for each that
//! arrives. MPTCP has one buffer for all subflows: where one has joined and had no data yet, the connection goes on
//! offering half.

use crate::packet::sequence::in_milliseconds;
use crate::profile::Profile;
use crate::timers::NEVER;
use netsim::{Span, Time};

/// Shares of the buffer are counted in so many parts (TCP_RMEM_TO_WIN_SCALE).
const WHOLE: u64 = 256;
const HALF: u64 = WHOLE / 2;

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
pub(crate) struct Buffer {
    /// Bytes (sk_rcvbuf), and the most that it grows to.
    size: u64,
    most: u64,
    mss: u64,
    /// What a segment without MPTCP's option carries (advmss), bytes.
    advertised: u64,
    /// What a byte of a segment takes in it (a short one fits behind another: skb_try_coalesce), 2⁻²⁴ bytes.
    each: u64,
    /// The share that is offered (scaling_ratio), at first and when a segment has been seen.
    ratio: u64,
    found: u64,
    /// Whether all subflows share it.
    pub(crate) mptcp: bool,
    /// What is offered is told without these low bits (RFC 7323, 2.2).
    untold: u64,
    /// What a SYN offers, bytes.
    syn: u64,
    /// The furthest byte of the stream that was offered.
    edge: u64,
    /// Bytes of a packet's headers, and of the largest buffer that there is (net.ipv4.tcp_rmem).
    headers: u64,
    largest: u64,
    /// Autotuning: when the round trip ends, when it began and with how many bytes read; bytes read in the one before.
    pub(crate) tune_at: Time,
    since: Time,
    read: u64,
    space: u64,
}

impl Buffer {
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
            found: if profile.measures_frames {
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
    fn window(ratio: u64, bytes: u64) -> u64 {
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
    fn step(&self, len: u16, threshold: u64) -> u64 {
        if len < GROWS {
            return 0;
        }
        let (len, full) = (u64::from(len), u64::from(len) == self.mss);
        let memory = (len + self.headers + HEAD).next_power_of_two() + SKB;
        let mut takes = Self::window(self.found, memory);
        if full || takes <= len {
            return 2 * self.advertised.max(len);
        }
        let mut window = Self::window(self.found, self.largest) / 2;
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
    fn free(&self, ratio: u64, held: u64) -> u64 {
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
            self.ratio = if found { self.found } else { HALF };
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

/// What a subflow offers.
#[derive(Debug)]
pub(crate) struct Offer {
    /// What it has come to offer, and may come to, bytes (rcv_ssthresh, window_clamp).
    threshold: u64,
    clamp: u64,
    /// Whether a segment has been seen.
    pub(crate) found: bool,
    /// The furthest byte of the subflow that was offered.
    edge: u64,
    /// The smoothed round trip, eighths of a microsecond; how long an ACK is under way, µs; when the millisecond began in
    /// which the ACK left that it was last measured with, µs.
    round_trip8: u32,
    way: u32,
    stamp: u32,
    /// What was offered last, bytes.
    pub(crate) bytes: u64,
}

impl Offer {
    pub(crate) fn new(profile: &Profile, buffer: &Buffer) -> Self {
        let segment = buffer.advertised;
        // A segment is reserved (tcp_init_buffer_space).
        let clamp = Buffer::window(HALF, buffer.size)
            .saturating_sub(segment)
            .max(2 * segment);
        let threshold = clamp.min(u64::from(profile.first_window).saturating_mul(segment));
        Self {
            threshold,
            clamp,
            found: false,
            edge: buffer.syn,
            round_trip8: 0,
            way: 0,
            stamp: 0,
            bytes: (threshold.max(buffer.syn) + buffer.untold) & !buffer.untold,
        }
    }

    /// As after many segments, one at a time: it lacks so many of what it may come to.
    #[cfg(test)]
    pub(crate) fn lacks(&mut self, buffer: &mut Buffer, segments: u64) {
        self.threshold = 0;
        while self.grow(buffer, buffer.mss as u16, buffer.mss) {}
        self.threshold -= segments * buffer.mss;
    }

    /// So many segments it lacks of what it may come to.
    #[cfg(test)]
    pub(crate) fn lacking(&self) -> u64 {
        (self.clamp - self.threshold).div_ceil(1448)
    }

    /// What it has come to offer.
    #[cfg(test)]
    pub(crate) fn threshold(&self) -> u64 {
        self.threshold
    }

    /// The SYN was under way for so long, µs.
    pub(crate) fn opened(&mut self, way: u32) {
        self.way = way;
    }

    /// Whether a segment that was sent then, µs, tells of no other ACK than the one that it was last measured with. Timestamps
    /// tell how long ago the ACK left that a segment was sent upon, in milliseconds (tcp_rcv_rtt_measure_ts).
    #[inline]
    pub(crate) fn is_measured(&self, sent: u32) -> bool {
        sent.wrapping_sub(self.way).wrapping_sub(self.stamp) < 1000 && self.round_trip8 > 0
    }

    /// A full segment arrives that was sent then and is not [measured](Self::is_measured), µs. `phase`: how much of a
    /// millisecond was over when time began, µs.
    #[inline(never)]
    pub(crate) fn measure(&mut self, now: u32, sent: u32, phase: u32) {
        let now = now.wrapping_add(phase);
        let left = sent.wrapping_add(phase).wrapping_sub(self.way);
        self.stamp = (left / 1000 * 1000).wrapping_sub(phase);
        let ago = now.wrapping_sub(left);
        // 2^28 µs: more than any path, and eight times that fits.
        let sample = in_milliseconds(now, ago).min(1 << 28);
        if sample == 0 {
            return;
        }
        if self.round_trip8 == 0 || 8 * sample < self.round_trip8 {
            self.round_trip8 = 8 * sample;
        } else {
            self.round_trip8 = self.round_trip8 - self.round_trip8 / 8 + sample;
        }
    }

    /// Smoothed; 0 before the first segment.
    pub(crate) fn round_trip(&self) -> Span {
        Span::from_micros((self.round_trip8 / 8).into())
    }

    /// The buffer has grown.
    pub(crate) fn set_clamp(&mut self, clamp: u64) {
        self.clamp = clamp;
    }

    /// Whether it is as large as it may be while so many bytes are in the buffer.
    #[inline]
    pub(crate) fn is_grown(&self, buffer: &Buffer, held: u64) -> bool {
        self.found && self.threshold + held.min(buffer.mss) >= self.clamp
    }

    /// A segment arrives; with it so many bytes are in this subflow's buffer. Returns whether the window grows.
    #[cold]
    pub(crate) fn grow(&mut self, buffer: &mut Buffer, len: u16, held: u64) -> bool {
        if !self.found {
            self.found = true;
            self.clamp = Buffer::window(buffer.found, buffer.size);
            if !buffer.mptcp {
                buffer.ratio = buffer.found;
            }
        }
        let most = self.clamp.min(buffer.free(buffer.found, held));
        if most <= self.threshold {
            return false;
        }
        let step = buffer.step(len, self.threshold);
        self.threshold = most.min(self.threshold + step);
        step > 0
    }

    /// Whether an ACK would offer fewer bytes than the last one did, which covered all before this byte of the subflow.
    #[inline]
    pub(crate) fn offers_less(&self, buffer: &Buffer, held: u64, covered: u64) -> bool {
        let free = buffer.free(buffer.ratio, held).min(self.threshold);
        (free + buffer.untold) & !buffer.untold < self.edge.saturating_sub(covered)
    }

    /// What an ACK tells: how many bytes from the `stream`'s next on are taken, and whether there is room for half of what may
    /// be offered. `next`: the subflow's next byte. `held`: bytes in the buffer, and once it was read.
    #[inline]
    pub(crate) fn tell(
        &mut self,
        buffer: &mut Buffer,
        next: u64,
        stream: u64,
        (held, left): (u64, u64),
    ) -> (u32, bool) {
        let mut free = buffer.free(buffer.ratio, held);
        // What is read at once may open so much that another ACK would tell of it (tcp_cleanup_rbuf): it is this one here.
        if 2 * free <= self.clamp {
            free = buffer.free(buffer.ratio, left);
        }
        let all = Buffer::window(buffer.ratio, buffer.size);
        let roomy = free >= self.clamp.min(all) / 2;
        if !roomy {
            free &= !buffer.untold;
            // Better none than little (RFC 1122, 4.2.3.3).
            if free < all / 16 || free < buffer.mss {
                free = 0;
            }
        }
        // What was offered is not taken back, nor stretched to a unit.
        let window = (free.min(self.threshold) + buffer.untold) & !buffer.untold;
        let mut window = window.max(self.edge.saturating_sub(next));
        if stream + window > buffer.edge {
            buffer.edge = stream + window;
        } else {
            // Whichever subflow has offered it.
            window = buffer.edge - stream;
        }
        self.edge = next + window;
        self.bytes = window & !buffer.untold;
        (u32::try_from(self.bytes).unwrap_or(u32::MAX), roomy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u16 = 1424; // MPTCP's

    fn ends(mptcp: bool, mss: u16) -> (Buffer, Offer) {
        let profile = Profile::linux();
        let buffer = Buffer::new(&profile, 1500, mss, mptcp, None);
        let offer = Offer::new(&profile, &buffer);
        (buffer, offer)
    }

    /// A full segment arrives and is read.
    fn grow(offer: &mut Offer, buffer: &mut Buffer) -> bool {
        offer.grow(buffer, buffer.mss as u16, 0)
    }

    /// Short segments do not count, once the window is larger than half of the largest that there is.
    #[test]
    fn short_segments_let_a_window_grow_that_is_small() {
        let profile = Profile::linux();
        for (size, len, step) in [
            (None, 1376, 2 * 1424),
            (None, 300, 2 * 1424),
            (None, 127, 0),
            (Some(4 << 20), 1424, 2 * 1448),
            (Some(4 << 20), 1376, 0),
        ] {
            let buffer = Buffer::new(&profile, 1500, MSS, true, size);
            let threshold = Buffer::window(HALF, buffer.size);
            assert_eq!(buffer.step(len, threshold), step, "{size:?} {len}");
        }
    }

    fn in_units(bytes: u64) -> u64 {
        bytes.next_multiple_of(128)
    }

    /// Bytes that the ACK of segment `next - 1` offers.
    fn told(buffer: &mut Buffer, offer: &mut Offer, next: u64) -> u64 {
        let next = next * buffer.mss;
        offer.tell(buffer, next, next, (buffer.mss, 0));
        offer.bytes
    }

    /// As Linux 6.12 told of 131 072 bytes: 64 240 in the SYN, 80 512 in the end (in units of 128).
    #[test]
    fn tcp_comes_to_offer_what_a_segment_is_of_its_memory() {
        let (mut buffer, mut offer) = ends(false, 1448);
        assert_eq!((buffer.syn, offer.bytes), (64_240, 64_256));
        assert!(grow(&mut offer, &mut buffer));
        assert_eq!(
            told(&mut buffer, &mut offer, 1),
            in_units(64_088 + 2 * 1448)
        );
        while grow(&mut offer, &mut buffer) {}
        assert_eq!(told(&mut buffer, &mut offer, 40), 80_512);
        assert!(offer.is_grown(&buffer, 0));
    }

    /// As Linux 6.12 told: 64 384 from the join on, and what the buffer has grown to, by two segments an ACK, when the second
    /// subflow has had data.
    #[test]
    fn a_subflow_without_data_keeps_the_connection_at_half() {
        let (mut buffer, mut offer) = ends(true, MSS);
        while grow(&mut offer, &mut buffer) {}
        assert_eq!(told(&mut buffer, &mut offer, 1), 64_384);
        let at = |ms| Time::ZERO + Span::from_millis(ms);
        let round_trip = Span::from_millis(80);
        assert_eq!(buffer.tune(at(100), round_trip, MSS.into(), false), None);
        assert_eq!(
            buffer.tune(at(150), round_trip, 6 * u64::from(MSS), false),
            None,
            "too early"
        );
        assert_eq!(
            buffer.tune(at(180), round_trip, 11 * u64::from(MSS), false),
            None,
            "10 segments"
        );
        assert_eq!(told(&mut buffer, &mut offer, 11), 64_384);
        let clamp = buffer
            .tune(at(260), round_trip, 31 * u64::from(MSS), true)
            .unwrap();
        // 2 × 20 + 16 segments, and nearly twice as many again for a rate that has nearly doubled.
        assert_eq!(clamp, Buffer::window(buffer.found, buffer.size));
        assert_eq!(clamp / u64::from(MSS), 165);
        offer.set_clamp(clamp);
        let before = offer.threshold;
        assert!(grow(&mut offer, &mut buffer));
        assert_eq!(
            told(&mut buffer, &mut offer, 31),
            in_units(before + 2 * 1448)
        );
    }

    #[test]
    fn what_waits_takes_room_and_what_was_offered_is_not_taken_back() {
        let (mut buffer, mut offer) = ends(true, MSS);
        while grow(&mut offer, &mut buffer) {}
        let edge = told(&mut buffer, &mut offer, 1) + u64::from(MSS);
        let mss = u64::from(MSS);
        // Twenty segments beyond a gap.
        offer.tell(&mut buffer, mss, mss, (20 * mss, 20 * mss));
        assert_eq!(offer.bytes + u64::from(MSS), edge);
        // Another subflow tells of the same edge, whatever it has room for itself.
        let mut other = Offer::new(&Profile::linux(), &buffer);
        other.tell(&mut buffer, 0, mss, (40 * mss, 40 * mss));
        assert_eq!(other.bytes + u64::from(MSS), edge);
        let (_, roomy) = other.tell(&mut buffer, 0, mss, (50 * mss, 50 * mss));
        assert!(!roomy);
        // Most of it is read at once.
        let (_, roomy) = other.tell(&mut buffer, 0, mss, (50 * mss, mss));
        assert!(roomy);
    }
}
