//! Which segments of a connection's stream have arrived, on whatever subflow.
//!
//! A subflow carries the stream in pieces (`scheduler.rs`), each in order, and the pieces of several subflows are on their
//! way at the same time: the stream hardly ever arrives in order, each subflow's share of it does. So each subflow has a
//! run that it extends, which costs three comparisons, and only a run's begin and end look at the others.

use crate::reassembly::Reassembly;

/// Segments that came one after the other on one subflow.
#[derive(Clone, Copy, Debug)]
struct Run {
    from: u64,
    /// The next one of it, or `CLOSED`.
    until: u64,
    /// It ends here at the latest: this one has come on another subflow, or earlier on this one.
    bound: u64,
}

/// No segment has this number.
const CLOSED: u64 = u64::MAX;

impl Run {
    const NONE: Self = Self {
        from: CLOSED,
        until: CLOSED,
        bound: CLOSED,
    };

    fn has(&self, seq: u64) -> bool {
        self.until != CLOSED && (self.from..self.until).contains(&seq)
    }
}

/// The receiving end of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Stream {
    /// What is in no run, and the first segment that is missing.
    rest: Reassembly,
    /// Of each subflow.
    runs: Box<[Run]>,
}

impl Stream {
    /// Nothing has arrived.
    pub(crate) fn new(subflows: u32) -> Self {
        Self {
            rest: Reassembly::new(),
            runs: vec![Run::NONE; subflows as usize].into(),
        }
    }

    /// All before this one have arrived, and this one has not.
    #[inline]
    pub(crate) fn next(&self) -> u64 {
        self.rest.next
    }

    /// A segment arrives on a subflow. Returns whether it is a new one.
    #[inline(always)]
    pub(crate) fn insert(&mut self, subflow: usize, seq: u64) -> bool {
        let run = &mut self.runs[subflow];
        if seq != run.until {
            return self.begin(subflow, seq);
        }
        run.until += 1;
        // Without a branch: whose run is the first is what the processor cannot predict.
        self.rest.next += u64::from(seq == self.rest.next);
        if run.until == run.bound {
            self.close(subflow);
        }
        true
    }

    /// A subflow goes on elsewhere in the stream.
    #[inline(never)]
    fn begin(&mut self, subflow: usize, seq: u64) -> bool {
        if self.rest.has(seq) || self.runs.iter().any(|run| run.has(seq)) {
            return false;
        }
        self.close(subflow);
        for other in 0..self.runs.len() {
            let run = &mut self.runs[other];
            if run.until == seq {
                self.close(other);
            } else if run.until < seq {
                run.bound = run.bound.min(seq);
            }
        }
        let later = |run: &&Run| run.until != CLOSED && run.from > seq;
        let from = self.runs.iter().filter(later).map(|run| run.from).min();
        let bound = from
            .unwrap_or(CLOSED)
            .min(self.rest.after(seq).unwrap_or(CLOSED));
        self.rest.next += u64::from(seq == self.rest.next);
        self.runs[subflow] = Run {
            from: seq,
            until: seq + 1,
            bound,
        };
        if seq + 1 == bound {
            self.close(subflow);
        }
        true
    }

    /// A run goes to the rest.
    #[cold]
    fn close(&mut self, subflow: usize) {
        let run = std::mem::replace(&mut self.runs[subflow], Run::NONE);
        if run.until == CLOSED {
            return;
        }
        self.rest
            .insert_all(run.from.max(self.rest.next), run.until);
        // What follows the first run without a gap.
        loop {
            let next = self.rest.next;
            if let Some(run) = self.runs.iter().find(|run| run.has(next)) {
                self.rest.next = run.until;
            }
            self.rest.advance();
            if self.rest.next == next {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Pieces on several subflows at once, with segments that are late, missing, or come twice.
        #[test]
        fn agrees_with_a_set(
            pieces in proptest::collection::vec((0u64..400, 1u64..40, 0usize..4), 1..40),
            order in proptest::collection::vec((any::<prop::sample::Index>(), 1u64..9, 0u64..12), 1..300),
            stretch in prop_oneof![Just(1u64), Just(97)],
        ) {
            let mut ours = Stream::new(4);
            let mut set = BTreeSet::new();
            let mut pieces: Vec<_> = pieces.into_iter().map(|(at, len, on)| (at * stretch, len, on)).collect();
            for (which, count, jump) in order {
                let piece = which.index(pieces.len());
                let (at, len, on) = &mut pieces[piece];
                *at += u64::from(jump == 0);
                for _ in 0..count.min(*len) {
                    let new = set.insert(*at);
                    prop_assert_eq!(ours.insert(*on, *at), new);
                    let next = (0..).find(|seq| !set.contains(seq)).unwrap();
                    prop_assert_eq!(ours.next(), next);
                    *at += 1;
                    *len -= 1;
                }
            }
        }
    }
}
