//! Reassembly of a connection's stream, whose bytes arrive on several subflows.
//!
//! A subflow carries the stream in pieces (`scheduler.rs`), each in order, and pieces of several subflows are in the
//! network at the same time: the stream hardly ever arrives in order, each subflow's share of it does. Therefore each
//! subflow has a run that it extends, which costs three comparisons. Only the start and the end of a run examine the
//! others.

use crate::packet::ByteRange;

/// Consecutive bytes that arrived in order on one subflow.
#[derive(Clone, Copy, Debug)]
struct Run {
    start: u64,
    /// Byte after the last one, or `CLOSED`.
    end: u64,
    /// Limit of `end`: this byte has arrived on another subflow, or earlier on this one.
    bound: u64,
}

/// Offset of no byte.
const CLOSED: u64 = u64::MAX;

impl Run {
    const NONE: Self = Self {
        start: CLOSED,
        end: CLOSED,
        bound: CLOSED,
    };

    fn is_open(&self) -> bool {
        self.end != CLOSED
    }

    fn range(&self) -> ByteRange {
        ByteRange::new(self.start, self.end)
    }
}

/// The receiving end of a stream.
#[derive(Clone, Debug)]
pub(crate) struct StreamReassembly {
    /// First missing byte.
    next: u64,
    /// Closed ranges: bytes beyond `next` that are in no run, sorted, neither overlapping nor adjacent.
    closed: Vec<ByteRange>,
    /// Run of each subflow.
    runs: Box<[Run]>,
}

impl StreamReassembly {
    /// A stream of which no byte has arrived.
    pub(crate) fn new(subflows: usize) -> Self {
        Self {
            next: 0,
            closed: Vec::new(),
            runs: vec![Run::NONE; subflows].into(),
        }
    }

    /// First missing byte.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes arrive on a subflow. Returns the number of those that are new.
    #[inline(always)]
    pub(crate) fn insert(&mut self, subflow: usize, start: u64, len: u16) -> u64 {
        let (run, len) = (&mut self.runs[subflow], u64::from(len));
        let end = start + len;
        if start != run.end || end > run.bound {
            return self.begin(subflow, ByteRange { start, end });
        }
        run.end = end;
        // Without a branch: the processor cannot predict which run is the first.
        self.next += if start == self.next { len } else { 0 };
        if end == run.bound {
            self.close(subflow);
        }
        len
    }

    /// Begins a new run of a subflow.
    #[inline(never)]
    fn begin(&mut self, subflow: usize, new: ByteRange) -> u64 {
        let ByteRange { start, end } = new;
        let runs = self.runs.iter().filter(|run| run.is_open());
        let runs = runs.map(Run::range);
        let at = self.closed.partition_point(|range| range.end <= start);
        if start < self.next
            || self.closed.get(at).is_some_and(|range| range.overlaps(new))
            || runs.clone().any(|run| run.overlaps(new))
        {
            return self.insert_over(new);
        }
        let later = runs
            .map(|run| run.start)
            .filter(|first| *first >= end)
            .min();
        let closed = self.closed.get(at).map(|range| range.start);
        let bound = later.unwrap_or(CLOSED).min(closed.unwrap_or(CLOSED));
        self.close(subflow);
        for other in 0..self.runs.len() {
            let run = &mut self.runs[other];
            if run.end == start {
                self.close(other);
            } else if run.end < start {
                run.bound = run.bound.min(start);
            }
        }
        if start == self.next {
            self.next = end;
        }
        self.runs[subflow] = Run { start, end, bound };
        if end == bound {
            self.close(subflow);
        }
        new.len()
    }

    /// Inserts bytes of which some may have arrived. Closes all runs.
    #[cold]
    fn insert_over(&mut self, range: ByteRange) -> u64 {
        (0..self.runs.len()).for_each(|subflow| self.close(subflow));
        let ByteRange { start, end } = range;
        let start = start.max(self.next);
        let (mut new, mut at) = (0, start);
        let first = self.closed.partition_point(|range| range.end <= start);
        for range in &self.closed[first..] {
            if range.start >= end {
                break;
            }
            new += range.start.saturating_sub(at);
            at = range.end;
        }
        new += end.saturating_sub(at);
        self.add_closed(ByteRange { start, end });
        new
    }

    /// Closes a run: its bytes go to the closed ranges.
    #[cold]
    fn close(&mut self, subflow: usize) {
        let run = std::mem::replace(&mut self.runs[subflow], Run::NONE);
        if run.is_open() {
            self.add_closed(run.range());
        }
    }

    /// Adds a range to the closed ranges, and advances the first missing byte.
    fn add_closed(&mut self, ByteRange { start, end }: ByteRange) {
        if end > self.next {
            // Overlapping and adjacent ranges are merged.
            let first = self.closed.partition_point(|range| range.end < start);
            let last = self.closed.partition_point(|range| range.start <= end);
            let met = &self.closed[first..last];
            let merged = ByteRange {
                start: met.first().map_or(start, |range| range.start.min(start)),
                end: met.last().map_or(end, |range| range.end.max(end)),
            };
            self.closed.splice(first..last, [merged]);
        }
        loop {
            let next = self.next;
            let runs = self.runs.iter().filter(|run| run.is_open());
            let mut all = runs.map(Run::range).chain(self.closed.first().copied());
            let Some(ByteRange { end, .. }) = all.find(|range| range.contains(next)) else {
                break;
            };
            self.next = end;
            let passed = self.closed.partition_point(|range| range.end <= end);
            self.closed.drain(..passed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(512))]

        /// Pieces on several subflows at once, in segments of any sizes, that are delayed, missing, duplicated or
        /// overlapping.
        #[test]
        fn agrees_with_a_set(
            pieces in proptest::collection::vec((0u64..400, 1u64..60, 0usize..4), 1..40),
            order in proptest::collection::vec((any::<prop::sample::Index>(), 1u64..9, 1u64..7, 0u64..12), 1..300),
            stretch in prop_oneof![Just(1u64), Just(97)],
        ) {
            let mut ours = StreamReassembly::new(4);
            let mut set = BTreeSet::new();
            let mut pieces: Vec<_> = pieces.into_iter().map(|(at, len, on)| (at * stretch, len, on)).collect();
            for (which, count, size, jump) in order {
                let piece = which.index(pieces.len());
                let (at, left, on) = &mut pieces[piece];
                *at += u64::from(jump == 0);
                for _ in 0..count {
                    let len = size.min(*left);
                    if len == 0 {
                        break;
                    }
                    let new = (*at..*at + len).filter(|byte| set.insert(*byte)).count();
                    prop_assert_eq!(ours.insert(*on, *at, len as u16), new as u64);
                    let next = (0..).find(|byte| !set.contains(byte)).unwrap();
                    prop_assert_eq!(ours.next(), next);
                    *at += len;
                    *left -= len;
                }
            }
        }
    }
}
