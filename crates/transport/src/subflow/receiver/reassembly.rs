//! Reassembly of a subflow's bytes (Linux: rcv_nxt and out_of_order_queue).

use crate::packet::ByteRange;
use std::collections::VecDeque;

/// Bytes that have arrived, in any order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    /// First missing byte (rcv_nxt).
    next: u64,
    /// Out-of-order ranges, sorted and disjoint.
    out_of_order: VecDeque<ByteRange>,
    /// Number of bytes in `out_of_order`.
    held: u64,
}

impl Reassembly {
    /// First missing byte (rcv_nxt).
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Whether bytes have arrived out of order.
    #[inline]
    pub(crate) fn has_gap(&self) -> bool {
        self.held > 0
    }

    /// Number of bytes that have arrived out of order.
    #[inline]
    pub(crate) fn held(&self) -> u64 {
        self.held
    }

    /// The next `len` bytes arrive while no byte is missing.
    #[inline(always)]
    pub(crate) fn advance(&mut self, len: u64) {
        debug_assert!(!self.has_gap());
        self.next += len;
    }

    /// A segment arrives. Returns the number of bytes by which the first missing byte advances; `None`: all of the
    /// segment had arrived before.
    pub(crate) fn insert(&mut self, start: u64, end: u64) -> Option<u64> {
        if start == self.next && self.held == 0 {
            self.next = end;
            return Some(end - start);
        }
        self.insert_beside(start, end)
    }

    #[cold]
    fn insert_beside(&mut self, start: u64, end: u64) -> Option<u64> {
        let before = self.next;
        let start = start.max(before);
        // Overlapping and adjacent ranges are merged.
        let first = self.out_of_order.partition_point(|range| range.end < start);
        let last = self
            .out_of_order
            .partition_point(|range| range.start <= end);
        let mut merged = ByteRange { start, end };
        if first < last {
            let first_met = self.out_of_order[first];
            if start >= end || first_met.start <= start && end <= first_met.end {
                return None;
            }
            merged.start = start.min(first_met.start);
            merged.end = end.max(self.out_of_order[last - 1].end);
        } else if start >= end {
            return None;
        }
        let met = self.out_of_order.drain(first..last);
        self.held -= met.map(ByteRange::len).sum::<u64>();
        if merged.start == before {
            self.next = merged.end;
        } else {
            self.out_of_order.insert(first, merged);
            self.held += merged.len();
        }
        Some(self.next - before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn agrees_with_a_set(arrivals in proptest::collection::vec((0u64..300, 1u64..9), 1..200), stretch in prop_oneof![Just(1u64), Just(7), Just(97)]) {
            let mut ours = Reassembly::default();
            let mut set = BTreeSet::new();
            for (start, len) in arrivals {
                let start = start * stretch % 1500;
                let before = ours.next;
                let new = (start..start + len).filter(|byte| set.insert(*byte)).count();
                let got = ours.insert(start, start + len);
                prop_assert_eq!(got.is_some(), new > 0);
                let next = (0..).find(|s| !set.contains(s)).unwrap();
                prop_assert_eq!(ours.next, next);
                prop_assert_eq!(got.unwrap_or(0), next - before);
                prop_assert_eq!(ours.held(), set.range(next..).count() as u64);
                prop_assert_eq!(ours.has_gap(), ours.held() > 0);
            }
        }
    }
}
