//! A run: its outcome, trace and packets.

use netsim::Span;
use serde::{Deserialize, Serialize};

use crate::capture::Capture;
use crate::outcome::Outcome;
use crate::sample::Samples;
use crate::trace::{Credit, Loss, Row, Segment};

/// All results of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// Results in numbers.
    pub outcome: Outcome,
    /// States of the senders, in order of time.
    pub rows: Vec<Row>,
    /// Credits between subflows.
    pub credits: Vec<Credit>,
    /// Losses in the network, in order of time; empty on a real kernel, where they are not observed.
    pub losses: Vec<Loss>,
    /// Data segments in the order in which they were sent, if they were recorded.
    #[serde(default)]
    pub segments: Vec<Segment>,
    /// Time series, if the run was sampled.
    pub samples: Samples,
    /// Packets, if they were captured.
    pub capture: Option<Capture>,
}

impl Run {
    /// A run without records besides its outcome.
    #[must_use]
    pub fn of(outcome: Outcome) -> Self {
        Self {
            outcome,
            rows: Vec::new(),
            credits: Vec::new(),
            losses: Vec::new(),
            segments: Vec::new(),
            samples: Samples::default(),
            capture: None,
        }
    }
}

/// Records of a run that are kept besides its outcome. Each makes the run slower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// Whether the run has rows, credits and losses.
    pub trace: bool,
    /// Whether the run has a capture.
    pub capture: bool,
    /// Whether the run has segments. Only in the simulator.
    pub segments: bool,
    /// Interval of the samples; none: the run has none. Only in the simulator.
    pub sample: Option<Span>,
}
