//! Bursts: data segments that are sent at once.

use super::{EXTRA_BITS, LEN_SHIFT, Wire};
use crate::packet::{Data, Segment, flag};

/// Consecutive segments with payload that are sent at once, in the form of their packets: a packet follows from the one before
/// by two additions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Burst {
    /// First packet, of full length even if it is also the last one.
    first: Wire,
    /// Third word of the last packet, which has the push flag and may be shorter.
    last: u64,
    /// Number of packets.
    pub(crate) count: u32,
}

/// Mask of the length in the third word of a packet.
const LEN: u64 = (u16::MAX as u64) << LEN_SHIFT;

/// A flag in the third word of a packet.
const fn bit(flag: u8) -> u64 {
    (flag as u64) << EXTRA_BITS
}

impl Burst {
    /// A burst of `count` segments with `len` bytes of payload in all. `first`: the first segment, with the length of a full one.
    /// Only the last segment may be shorter. `pushed`: the last segment carries the push flag.
    #[inline(always)]
    pub(crate) fn new(first: Data, count: u32, len: u32, pushed: bool) -> Self {
        let last_len = len - (count - 1) * u32::from(first.len);
        let first = Wire::from(Segment::Data(first));
        let mut last = (first.2 & !LEN) | u64::from(last_len) << LEN_SHIFT;
        if count > 1 {
            last &= !bit(flag::CWR);
        }
        if pushed {
            last |= bit(flag::PSH);
        }
        Self { first, last, count }
    }

    /// Number of the connection.
    #[inline(always)]
    pub(crate) fn connection(&self) -> u32 {
        self.first.subflow().connection
    }

    /// Each packet, and its bytes of payload. Only the first new segment after a reduction carries CWR (RFC 3168, 6.1.2).
    #[inline(always)]
    pub(crate) fn packets(self) -> impl Iterator<Item = (u32, Wire)> {
        let full = self.first.2 & LEN;
        let (mut next, mut left) = (self.first, self.count);
        std::iter::from_fn(move || {
            left = left.checked_sub(1)?;
            let mut packet = next;
            next.0 = next.0.wrapping_add(full);
            next.1 = u64::from((next.1 as u32).wrapping_add((full >> LEN_SHIFT) as u32));
            next.2 &= !bit(flag::CWR);
            if left == 0 {
                packet.2 = self.last;
            }
            Some(((packet.2 >> LEN_SHIFT) as u16 as u32, packet))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::SubflowId;
    use proptest::prelude::*;

    proptest! {
        /// Packets of a burst are those of its segments, one by one.
        #[test]
        fn packets_are_those_of_the_segments(
            (seq, dsn, sent_us) in any::<(u32, u32, u32)>(),
            (len, last_len) in (1..=u16::MAX).prop_flat_map(|len| (Just(len), 1..=len)),
            count in 1u32..40,
            pushed: bool,
            flags in prop::sample::select(vec![0, flag::ECT, flag::ECT | flag::CWR]),
        ) {
            let subflow = SubflowId { connection: (1 << 24) - 1, subflow: 9 };
            let first = Data { subflow, seq, dsn, len, sent_us, flags };
            let bytes = (count - 1) * u32::from(len) + u32::from(last_len);
            let burst = Burst::new(first, count, bytes, pushed);
            prop_assert_eq!(burst.connection(), subflow.connection);
            let packets: Vec<(u32, Wire)> = burst.packets().collect();
            prop_assert_eq!(packets.len() as u32, count);
            for (number, (payload, wire)) in packets.into_iter().enumerate() {
                let is_last = number as u32 + 1 == count;
                let offset = number as u32 * u32::from(len);
                let cwr = if number == 0 { 0 } else { flag::CWR };
                let push = if pushed && is_last { flag::PSH } else { 0 };
                let data = Data {
                    seq: seq.wrapping_add(offset),
                    dsn: dsn.wrapping_add(offset),
                    len: if is_last { last_len } else { len },
                    flags: flags & !cwr | push,
                    ..first
                };
                prop_assert_eq!(wire.data(), Some(data));
                prop_assert_eq!(payload, u32::from(data.len));
            }
        }
    }
}
