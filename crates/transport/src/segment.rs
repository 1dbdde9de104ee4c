//! What travels: one packet of TCP, MPTCP or UDP, in 24 bytes.
//!
//! A subflow's sequence numbers count segments, as congestion windows do, from 0; those of the connection's stream ("data")
//! count bytes. They are 32 bits wide on the wire and 64 at the endpoints.

use netsim::Time;

/// A packet's fields. What `seq`, `data`, `window` and `len` hold depends on its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// The subflow or UDP flow; the kind tells which end of it.
    pub(crate) to: u32,
    /// Data: its number in the subflow. ACK: the next number expected.
    pub(crate) seq: u32,
    /// Data: its first byte of the connection's stream. ACK: the next byte expected there (DATA_ACK, RFC 8684 3.3.2).
    pub(crate) data: u32,
    /// ACK: how many bytes from `data` on the receiver takes. Data: the number of its connection, which is needed first.
    /// SYN/ACK: when it was sent, µs, which the answer repeats (RFC 7323's timestamp).
    pub(crate) window: u32,
    /// ACK: its SACK blocks, by their place in [`crate::sack::Sacks`]; 0: none. Data: when it was sent, µs.
    pub(crate) sack: u32,
    /// What it is.
    pub(crate) kind: Kind,
    /// Bits of `flag`.
    pub(crate) flags: u8,
    /// Data: bytes of payload. ACK: the low bits of the number of the segment that it answers, by which the sender knows
    /// when that one was sent (what the timestamp option tells, RFC 7323).
    pub(crate) len: u16,
}

impl Segment {
    /// One that tells of nothing but its kind and a number.
    pub(crate) fn bare(to: u32, kind: Kind, seq: u32) -> Self {
        Self {
            to,
            seq,
            data: 0,
            window: 0,
            sack: 0,
            kind,
            flags: 0,
            len: 0,
        }
    }
}

/// A segment as the network carries it: three words, which stay in registers. (Fields of several sizes are copied
/// through memory in pieces that do not match, and the processor waits: a fifth of all time.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wire(u64, u64, u64);

impl From<Segment> for Wire {
    #[inline(always)]
    fn from(segment: Segment) -> Self {
        let two = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let rest = u32::from(segment.len)
            | u32::from(segment.flags) << 16
            | u32::from(segment.kind as u8) << 24;
        Self(
            two(segment.to, segment.seq),
            two(segment.data, segment.window),
            two(segment.sack, rest),
        )
    }
}

impl From<Wire> for Segment {
    #[inline(always)]
    fn from(Wire(a, b, c): Wire) -> Self {
        Self {
            to: a as u32,
            seq: (a >> 32) as u32,
            data: b as u32,
            window: (b >> 32) as u32,
            sack: c as u32,
            len: (c >> 32) as u16,
            flags: (c >> 48) as u8,
            kind: Kind::of((c >> 56) as u8),
        }
    }
}

impl netsim::Payload for Wire {
    fn flow(&self) -> u64 {
        let segment = Segment::from(*self);
        u64::from(segment.to) << 1 | u64::from(segment.kind.goes_to_client())
    }

    fn mark(&mut self) -> bool {
        let mut segment = Segment::from(*self);
        let capable = segment.flags & flag::ECN_CAPABLE != 0;
        segment.flags |= u8::from(capable) * flag::CONGESTION;
        *self = segment.into();
        capable
    }
}

/// What a segment is. Data, SYN/ACK and ADD_ADDR go to the client, the rest to the server, which sends the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Payload.
    Data,
    /// An acknowledgement without payload.
    Ack,
    /// Opens a subflow.
    Syn,
    /// Answers it.
    SynAck,
    /// The third packet of the handshake.
    Established,
    /// Tells the client of the server's other addresses (RFC 8684, 3.4.1): `seq` is the subflow that they allow. Of the first,
    /// which needs none: the server's answer to the last packet of a join (3.2), with the number of its next segment in `data`.
    AddAddress,
    /// Answers it: the same with the echo flag. Of the first: the client has reset this subflow.
    AddressEcho,
    /// A UDP datagram.
    Datagram,
}

impl Kind {
    /// The kind of this number, of three bits. (Compilers see that this is the number itself, with an array they do not.)
    #[inline(always)]
    const fn of(number: u8) -> Self {
        match number & 7 {
            0 => Self::Data,
            1 => Self::Ack,
            2 => Self::Syn,
            3 => Self::SynAck,
            4 => Self::Established,
            5 => Self::AddAddress,
            6 => Self::AddressEcho,
            _ => Self::Datagram,
        }
    }

    pub(crate) fn goes_to_client(self) -> bool {
        matches!(
            self,
            Self::Data | Self::SynAck | Self::AddAddress | Self::Datagram
        )
    }
}

pub(crate) mod flag {
    /// Data: sent before. ACK: answers such a segment.
    pub(crate) const AGAIN: u8 = 1;
    /// The network may mark it (RFC 3168: ECT).
    pub(crate) const ECN_CAPABLE: u8 = 2;
    /// The network marked it (CE).
    pub(crate) const CONGESTION: u8 = 4;
    /// ACK: a mark was seen (ECE).
    pub(crate) const ECHO: u8 = 8;
    /// Data: the window was reduced since (CWR).
    pub(crate) const REDUCED: u8 = 16;
    /// Data: the push flag (PSH).
    pub(crate) const PUSH: u8 = 32;
    /// SYN and SYN/ACK of a join: the subflow is to be a backup (RFC 8684, 3.2: B).
    pub(crate) const BACKUP: u8 = 64;
}

/// The time as packets carry it, µs, which goes round in 71 minutes.
#[inline]
pub(crate) fn micros(now: Time) -> u32 {
    (now.as_nanos() / 1000) as u32
}

/// How long ago something was by timestamps in milliseconds, µs, that was so many µs before `now` (tcp_rtt_tsopt_us).
#[inline]
pub(crate) fn in_milliseconds(now: u32, ago: u32) -> u32 {
    (ago.saturating_add(999 - now % 1000)) / 1000 * 1000
}

/// The number at the endpoint that ends in `wire` and is next to `near`.
#[inline]
pub(crate) fn widen(near: u64, wire: u32) -> u64 {
    near.wrapping_add(wire.wrapping_sub(near as u32) as i32 as i64 as u64)
}

/// The same for 16 bits.
pub(crate) fn widen16(near: u64, wire: u16) -> u64 {
    near.wrapping_add(wire.wrapping_sub(near as u16) as i16 as i64 as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_is_small() {
        assert_eq!(size_of::<Wire>(), 24);
    }

    #[test]
    fn a_segment_arrives_as_it_was_sent() {
        for kind in (0..8).map(Kind::of) {
            let segment = Segment {
                to: 1,
                seq: u32::MAX,
                data: 3,
                window: u32::MAX - 4,
                sack: 5,
                kind,
                flags: 0x86,
                len: 0xfff7,
            };
            assert_eq!(Segment::from(Wire::from(segment)), segment);
        }
    }

    #[test]
    fn milliseconds_begin_with_the_clocks() {
        for (now, ago, told) in [
            (5000, 0, 0),
            (5000, 1, 1000),
            (5999, 999, 0),
            (5999, 1000, 1000),
            (5300, 75_600, 76_000),
        ] {
            assert_eq!(in_milliseconds(now, ago), told, "{now} {ago}");
        }
    }

    #[test]
    fn numbers_go_round() {
        for near in [0, 5, u64::from(u32::MAX), 1 << 32, (1 << 40) + 3] {
            for step in [0u64, 1, 77, 1 << 30] {
                assert_eq!(widen(near, (near + step) as u32), near + step);
                assert_eq!(widen(near + step, near as u32), near);
                let small = step % 0x8000;
                assert_eq!(widen16(near, (near + small) as u16), near + small);
            }
        }
    }
}
