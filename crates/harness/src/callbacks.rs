//! Random callbacks in an order that endpoints can produce: for property tests, for fuzzing, and to compare machines that run
//! `cc/`. [`crate::properties`] checks the properties after each callback.

use crate::{Harness, ffi, fresh_tcp};
use core::ops::Range;
use mpcc::Algorithm;
use proptest::prelude::*;

/// The random numbers that determine a callback.
pub type Words = [u32; 24];

/// Any algorithm, sometimes without a connection to couple in, and any callbacks on up to `subflows` subflows.
pub fn runs(
    subflows: u32,
    length: usize,
) -> impl Strategy<Value = (Algorithm, bool, Vec<Callback>)> {
    let algorithms = proptest::sample::select(Algorithm::all().collect::<Vec<_>>());
    let alone = proptest::bool::weighted(0.1);
    (algorithms, alone, callbacks(subflows, length))
}

/// Any sequence of callbacks on up to `subflows` subflows: joins, ACKs of any size, losses, undo, RTOs, idle restarts,
/// closes, requests for a group, in any order.
pub fn callbacks(subflows: u32, length: usize) -> impl Strategy<Value = Vec<Callback>> {
    let words = proptest::array::uniform24(any::<u32>());
    let callback = words.prop_map(move |words| Callback::from_words(words, subflows));
    proptest::collection::vec(callback, 1..length)
}

/// Draws the fields of a callback from random words.
struct Draw<I>(I);

impl<I: Iterator<Item = u32>> Draw<I> {
    /// A number below `end`, from one word.
    fn below(&mut self, end: u64) -> u64 {
        ((u128::from(self.0.next().unwrap_or(0)) * u128::from(end)) >> 32) as u64
    }

    /// A number from one of these ranges, which are chosen by weight, from two words.
    fn among(&mut self, ranges: &[(u64, Range<u64>)]) -> u64 {
        let mut pick = self.below(ranges.iter().map(|range| range.0).sum());
        for (weight, range) in ranges {
            if pick < *weight {
                return range.start + self.below(range.end - range.start);
            }
            pick -= weight;
        }
        0
    }
}

const ANY: Range<u64> = 0..1 << 32;

/// One random callback, with the endpoint's state before it.
#[derive(Clone, Debug)]
pub struct Callback {
    /// Index of the subflow on the harness.
    pub who: u32,
    /// One of `ffi::mpcc_operation`.
    pub operation: u32,
    /// Its argument.
    pub argument: u32,
    /// Group at init, or requested group.
    pub group: u32,
    /// The RTT, in eighths of a microsecond; 0: no sample.
    pub srtt8: u32,
    /// The RTT sample, in microseconds; 0: none.
    pub rtt_us: u32,
    /// Time before the callback, in nanoseconds.
    pub passes: u64,
    /// Time since the last transmission, in milliseconds.
    pub idle_ms: u32,
    /// Segments in flight.
    pub flight: u32,
    /// Whether the window limits the sender.
    pub limited: bool,
    /// Whether the endpoint paces.
    pub paced: bool,
    /// Whether the subflow is a backup.
    pub backup: bool,
    /// Whether coupling is switched off.
    pub uncoupled: bool,
    /// Window to which the endpoint itself changes before the callback, as Linux does in recovery and after idling.
    pub cwnd: Option<u32>,
    /// The largest window that the endpoint allows, from init on (Linux: TCP_WINDOW_CLAMP).
    pub clamp: u32,
}

impl Callback {
    /// The callback of these random numbers, on one of `subflows` subflows.
    pub fn from_words(words: Words, subflows: u32) -> Self {
        use ffi::mpcc_operation::*;
        let mut draw = Draw(words.into_iter());
        let operations = [
            (20, MPCC_DO_ACK),
            (6, MPCC_DO_INIT),
            (3, MPCC_DO_RELEASE),
            (2, MPCC_DO_SSTHRESH),
            (2, MPCC_DO_STATE),
            (2, MPCC_DO_EVENT),
            (2, MPCC_DO_REQUEST),
            (1, MPCC_DO_UNDO),
        ];
        let all: Vec<u32> = operations
            .iter()
            .flat_map(|(weight, operation)| std::iter::repeat_n(*operation, *weight))
            .collect();
        Self {
            who: draw.below(subflows.into()) as u32,
            operation: all[draw.below(all.len() as u64) as usize],
            argument: draw.among(&[(16, 0..12), (2, 0..2000), (1, 0..1 << 21)]) as u32,
            group: draw.among(&[(1, 0..2), (1, 0..3)]) as u32,
            // 10 µs to 60 s
            srtt8: draw.among(&[(4, 80..480_000_000), (1, 0..1), (1, ANY)]) as u32,
            // or close to each other within a round, for HyStart
            rtt_us: draw.among(&[
                (4, 10..60_000_000),
                (2, 1_000..100_000),
                (1, 0..1),
                (1, ANY),
            ]) as u32,
            // ACKs of one train, and longer; up to an hour
            passes: draw.among(&[
                (4, 0..5_000_000),
                (4, 0..2_000_000_000),
                (1, 0..3_600_000_000_000),
            ]),
            idle_ms: draw.among(&[(4, 0..10_000), (1, ANY)]) as u32,
            flight: draw.among(&[(1, 0..1), (5, 0..400)]) as u32,
            limited: draw.below(2) == 1,
            paced: draw.below(4) == 0,
            backup: draw.below(8) == 0,
            uncoupled: draw.below(16) == 0,
            cwnd: match draw.among(&[(16, 0..1), (3, 1..200), (1, 1..1 << 20)]) {
                0 => None,
                cwnd => Some(cwnd as u32),
            },
            clamp: match draw.among(&[(6, 0..1), (1, 10..100)]) {
                0 => u32::MAX,
                clamp => clamp as u32,
            },
        }
    }

    /// The subflow closes.
    pub fn release(who: u32) -> Self {
        Self {
            who,
            operation: ffi::mpcc_operation::MPCC_DO_RELEASE,
            argument: 0,
            group: 0,
            srtt8: 0,
            rtt_us: 0,
            passes: 0,
            idle_ms: 0,
            flight: 0,
            limited: false,
            paced: false,
            backup: false,
            uncoupled: false,
            cwnd: None,
            clamp: u32::MAX,
        }
    }

    /// Prepares the harness for this callback as an endpoint would call it: only init before init, an undo only of a reduction, and
    /// with the threshold of the last loss. False if an endpoint would not call it.
    pub fn prepare(&self, harness: &mut Harness) -> bool {
        use ffi::mpcc_operation::*;
        let who = self.who as usize;
        let ready = harness.subflow[who].ready() != 0;
        if ready == (self.operation == MPCC_DO_INIT) {
            return false;
        }
        if self.operation == MPCC_DO_UNDO && harness.prior_ssthresh[who] == 0 {
            return false;
        }
        let now = harness.tcp.iter().map(|tcp| tcp.now).max().unwrap_or(0) + self.passes;
        if self.operation == MPCC_DO_INIT {
            harness.tcp[who] = fresh_tcp();
            harness.tcp[who].cwnd_clamp = self.clamp;
            harness.prior_ssthresh[who] = 0;
        } else if let Some(cwnd) = self.cwnd {
            harness.tcp[who].cwnd = cwnd;
        }
        let tcp = &mut harness.tcp[who];
        tcp.srtt8 = self.srtt8;
        tcp.rtt_us = self.rtt_us;
        tcp.idle_ms = self.idle_ms;
        tcp.now = now;
        tcp.flight = self.flight;
        tcp.cwnd_limited = self.limited.into();
        tcp.paced = self.paced.into();
        tcp.backup = self.backup.into();
        tcp.uncoupled = self.uncoupled.into();
        harness.who = self.who;
        harness.operation = self.operation;
        harness.group = self.group;
        harness.argument = match self.operation {
            MPCC_DO_STATE => self.argument % 5,
            MPCC_DO_EVENT => self.argument % 4,
            _ => self.argument,
        };
        true
    }

    /// Applies the result as an endpoint does: sets the threshold; restores window and threshold of an undo
    /// (tcp_undo_cwnd_reduction); frees a connection that the last subflow has left.
    pub fn finish(&self, harness: &mut Harness) {
        use ffi::{mpcc_operation::*, mpcc_state::*};
        let who = self.who as usize;
        let state = u32::from(harness.subflow[who].state);
        let (tcp, prior) = (&mut harness.tcp[who], &mut harness.prior_ssthresh[who]);
        match self.operation {
            MPCC_DO_SSTHRESH => {
                // tcp_current_ssthresh
                let reduces = [MPCC_STATE_CWR, MPCC_STATE_RECOVERY].contains(&state);
                let least = if reduces {
                    0
                } else {
                    tcp.cwnd / 2 + tcp.cwnd / 4
                };
                *prior = tcp.ssthresh.max(least);
                tcp.ssthresh = harness.result;
            }
            MPCC_DO_UNDO => {
                tcp.cwnd = harness.result;
                tcp.ssthresh = tcp.ssthresh.max(std::mem::take(prior));
            }
            MPCC_DO_RELEASE if harness.result != 0 => {
                harness.connection = ffi::mpcc_connection {
                    setting: harness.connection.setting,
                    ..Default::default()
                };
            }
            _ => {}
        }
    }
}
