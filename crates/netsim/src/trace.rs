//! Recorded rates in the format of mahimahi (Netravali et al., "Mahimahi: accurate record-and-replay for HTTP", USENIX ATC 2015;
//! mm-link(1)).
//!
//! Each line is a time in milliseconds at which 1504 bytes may be delivered; several lines may have the same time. 4 of the 1504 bytes are
//! the header that a TUN device puts before each packet (`struct tun_pi`), so that one line delivers one packet of 1500 bytes. The last
//! line is also the length of the recording, which is repeated endlessly. When the queue is empty, the rest of an opportunity is lost.
//!
//! The crate `netem-trace` reads numbers instead of the file, converts them to rates of 1500 bytes a millisecond, and by its
//! documentation deviates from mahimahi.

use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::time::{Rate, Span, Time};

/// Size of an opportunity, bytes: `PACKET_SIZE` of mahimahi's `link_queue.hh`.
pub(crate) const OPPORTUNITY: u32 = 1504;

/// Bytes that each packet takes of an opportunity besides its own: mahimahi reads packets from a TUN device without `IFF_NO_PI`.
pub(crate) const TUN_HEADER: u32 = 4;

/// The opportunities of a link to deliver. Parsed from the text of a mahimahi file.
///
/// ```
/// // A packet of 1500 bytes after 1 ms, two after 4 ms, and again from the start.
/// let trace: netsim::Trace = "1\n4\n4\n".parse()?;
/// assert_eq!(trace.mean_rate().bits_per_second(), 3 * 1500 * 8 * 1000 / 4);
/// # Ok::<(), netsim::TraceError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// Times in milliseconds, never decreasing; the last is greater than 0. 32 bits are 49 days.
    opportunities: Arc<[u32]>,
    /// Time of the recording at which the network begins, ms, less than its length.
    phase_ms: u32,
}

/// An error in the text of a trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// The text has no line.
    #[error("the file is empty; each line is a time in whole milliseconds")]
    Empty,
    /// A line is empty.
    #[error("line {line} is empty; each line is a time in whole milliseconds")]
    EmptyLine {
        /// Number of the line, from 1.
        line: usize,
    },
    /// A line is not a number.
    #[error("line {line}: `{text}` is no time in whole milliseconds")]
    NoTime {
        /// Number of the line, from 1.
        line: usize,
        /// Text of the line.
        text: String,
    },
    /// A time is earlier than that of the previous line.
    #[error("line {line}: {time} ms is before the line above it; put the times in order")]
    Disorder {
        /// Number of the line, from 1.
        line: usize,
        /// Time of the line, ms.
        time: u32,
    },
    /// The recording has no length.
    #[error("line {line}: the last time must be more than 0 ms")]
    NoLength {
        /// Number of the last line, from 1.
        line: usize,
    },
}

impl FromStr for Trace {
    type Err = TraceError;

    fn from_str(text: &str) -> Result<Self, TraceError> {
        let mut opportunities = Vec::new();
        for (line, text) in (1..).zip(text.lines()) {
            if text.trim().is_empty() {
                return Err(TraceError::EmptyLine { line });
            }
            let time = text.trim().parse().map_err(|_| TraceError::NoTime {
                line,
                text: text.into(),
            })?;
            if opportunities.last().is_some_and(|last| *last > time) {
                return Err(TraceError::Disorder { line, time });
            }
            opportunities.push(time);
        }
        match opportunities.last() {
            None => return Err(TraceError::Empty),
            Some(0) => {
                let line = opportunities.len();
                return Err(TraceError::NoLength { line });
            }
            Some(_) => {}
        }
        Ok(Self {
            opportunities: opportunities.into(),
            phase_ms: 0,
        })
    }
}

impl Trace {
    /// The recording from this time on, in whole milliseconds; times beyond its length are those of its repetitions.
    #[must_use]
    pub fn from_phase(self, phase: Span) -> Self {
        let phase_ms = phase.as_nanos() / 1_000_000 % self.length_ms();
        Self {
            phase_ms: phase_ms as u32,
            ..self
        }
    }

    /// The average rate of packets of 1500 bytes.
    #[must_use]
    pub fn mean_rate(&self) -> Rate {
        let bits = self.opportunities.len() as u64 * u64::from(OPPORTUNITY - TUN_HEADER) * 8;
        Rate::from_bits_per_second((bits * 1000 / self.length_ms()).max(1))
    }

    /// Length of the recording, after which it is repeated.
    #[must_use]
    pub fn length(&self) -> Span {
        Span::from_millis(self.length_ms())
    }

    fn length_ms(&self) -> u64 {
        u64::from(self.opportunities[self.opportunities.len() - 1])
    }

    /// Time of opportunity `i`, counted over all repetitions from the phase on.
    pub(crate) fn at(&self, i: u64) -> Time {
        let each = self.opportunities.len() as u64;
        let i = i + self.before_phase();
        let ms = i / each * self.length_ms() + u64::from(self.opportunities[(i % each) as usize]);
        Time::ZERO + Span::from_millis(ms - u64::from(self.phase_ms))
    }

    /// Number of the first opportunity after `now`, which is also the number of opportunities up to `now`.
    pub(crate) fn next(&self, now: Time) -> u64 {
        let length = self.length().as_nanos();
        let now = now.as_nanos() + Span::from_millis(self.phase_ms.into()).as_nanos();
        let (repetition, within) = (now / length, now % length);
        let passed = (self.opportunities)
            .partition_point(|ms| Span::from_millis((*ms).into()).as_nanos() <= within);
        repetition * self.opportunities.len() as u64 + passed as u64 - self.before_phase()
    }

    /// Number of opportunities of the recording before its phase.
    fn before_phase(&self) -> u64 {
        self.opportunities.partition_point(|ms| *ms < self.phase_ms) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn it_is_repeated_endlessly() {
        let trace: Trace = "0\n1\n4\n4".parse().unwrap();
        let times: Vec<Time> = (0..9).map(|i| trace.at(i)).collect();
        assert_eq!(times, [0, 1, 4, 4, 4, 5, 8, 8, 8].map(ms));
        // By exhaustive search: the first opportunity that is later.
        for us in 0..20_000 {
            let now = Time::ZERO + Span::from_micros(us);
            let next = (0..).find(|i| trace.at(*i) > now).unwrap();
            assert_eq!(trace.next(now), next, "{now}");
        }
        assert_eq!(trace.mean_rate().bits_per_second(), 12_000_000);
    }

    /// The recording of the test above from its second millisecond on: 4, 4, then 0, 1, 4, 4 of the repetition.
    #[test]
    fn a_phase_is_the_time_of_the_recording_at_the_begin() {
        let trace: Trace = "0\n1\n4\n4".parse().unwrap();
        let of = |phase: u64| trace.clone().from_phase(Span::from_micros(phase));
        let later = of(2_900);
        let times: Vec<Time> = (0..6).map(|i| later.at(i)).collect();
        assert_eq!(times, [2, 2, 2, 3, 6, 6].map(ms));
        for us in 0..20_000 {
            let now = Time::ZERO + Span::from_micros(us);
            let next = (0..).find(|i| later.at(*i) > now).unwrap();
            assert_eq!(later.next(now), next, "{now}");
        }
        assert_eq!(of(4_000), trace);
        assert_eq!(of(7_000), of(3_000));
        // An opportunity at the phase itself is the first.
        assert_eq!(of(1_000).at(0), ms(0));
    }

    #[test]
    fn errors_name_the_line() {
        let error = |text: &str| text.parse::<Trace>().unwrap_err().to_string();
        assert_eq!(
            error("1\n2x\n"),
            "line 2: `2x` is no time in whole milliseconds"
        );
        assert_eq!(
            error("1\n\n3\n"),
            "line 2 is empty; each line is a time in whole milliseconds"
        );
        assert_eq!(
            error("-1\n"),
            "line 1: `-1` is no time in whole milliseconds"
        );
        assert_eq!(
            error("1\n7\n6\n"),
            "line 3: 6 ms is before the line above it; put the times in order"
        );
        assert_eq!(
            error("0\n0\n"),
            "line 2: the last time must be more than 0 ms"
        );
        assert_eq!(
            error(""),
            "the file is empty; each line is a time in whole milliseconds"
        );
    }
}
