//! What happened during a run, row by row.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

use crate::word::{self, Word};

/// A subflow's state after something changed it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Seconds since the run began.
    pub time: f64,
    /// The connection's name, which is the same for many rows.
    pub connection: Arc<str>,
    /// Which subflow of the connection, from 0.
    pub subflow: usize,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow start threshold, segments; none before the first loss.
    pub ssthresh: Option<u32>,
    /// Smoothed RTT, seconds.
    pub srtt: f64,
    /// Segments in flight.
    pub flight: u32,
    /// `slow start`, `avoidance` or `recovery`.
    #[serde(deserialize_with = "word::read")]
    pub phase: Word,
}

/// A segment of data that the network lost: a queue dropped it, or a link lost it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Seconds since the run began.
    pub time: f64,
    /// The connection's name.
    pub connection: Arc<str>,
    /// Which subflow of the connection, from 0.
    pub subflow: usize,
}

/// What became of a credit: one subflow's initial window, taken from another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    /// Seconds since the run began, when it was taken.
    pub taken: f64,
    /// The connection's name.
    pub connection: String,
    /// The subflow that joined with it.
    pub to: usize,
    /// The subflow that it was taken from.
    pub from: usize,
    /// Segments: the initial window.
    pub segments: u32,
    /// When it was paid, and what that did; none where it became void.
    pub settled: Option<Settled>,
}

/// A credit that was paid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// Seconds since the run began.
    pub time: f64,
    /// Acknowledged segments of the lender that did not grow its window.
    pub ignored: u32,
    /// Σ cwnd before, segments.
    pub sum_before: u32,
    /// Σ cwnd after, segments.
    pub sum_after: u32,
}
