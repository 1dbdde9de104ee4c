//! Events of a run, row by row.

use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// State of a subflow after a change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Seconds since the start of the run.
    pub time: f64,
    /// Title of the connection; many rows share one.
    pub connection: Arc<str>,
    /// Number of the subflow in the connection, from 0.
    pub subflow: usize,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow start threshold, segments; none before the first loss.
    pub ssthresh: Option<u32>,
    /// Smoothed RTT, seconds.
    pub srtt: f64,
    /// RTT sample of the latest ACK, seconds; none if the ACK had no sample, and of real endpoints.
    pub rtt: Option<f64>,
    /// Words that the congestion avoidance publishes for the other subflows; none of real endpoints.
    pub published: Option<[u32; 2]>,
    /// Segments in flight.
    pub flight: u32,
    /// Phase of congestion control.
    pub phase: Phase,
}

/// Phase of congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    /// The subflow has no slot in the connection's shared state. In the kernel alone.
    #[serde(rename = "absent")]
    Absent,
    /// Backup subflow with nothing in flight. In the kernel alone.
    #[serde(rename = "standby")]
    Standby,
    /// cwnd is below ssthresh.
    #[serde(rename = "slow start")]
    SlowStart,
    /// cwnd has reached ssthresh.
    #[serde(rename = "avoidance")]
    Avoidance,
    /// cwnd is reduced after a loss.
    #[serde(rename = "recovery")]
    Recovery,
}

impl Phase {
    /// Name in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Standby => "standby",
            Self::SlowStart => "slow start",
            Self::Avoidance => "avoidance",
            Self::Recovery => "recovery",
        }
    }
}

/// A data segment that a queue dropped or a link lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loss {
    /// Seconds since the start of the run.
    pub time: f64,
    /// Title of the connection.
    pub connection: Arc<str>,
    /// Number of the subflow in the connection, from 0.
    pub subflow: usize,
}

/// A data segment from the sender to its end. Only in the simulator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Time at which the sender sent it, seconds since the start of the run. A host's jitter delays it by some microseconds more.
    pub sent: f64,
    /// Title of the connection.
    pub connection: Arc<str>,
    /// Number of the subflow in the connection, from 0.
    pub subflow: usize,
    /// Sequence number in the subflow, bytes from 0, the low 32 bits.
    pub seq: u32,
    /// Sequence number in the connection's stream, bytes from 0, the low 32 bits.
    pub data: u32,
    /// Payload, bytes.
    pub len: u16,
    /// Size of the IP packet, bytes.
    pub bytes: u32,
    /// End of its way.
    pub fate: Fate,
}

/// End of a segment's way, with the time in seconds since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Fate {
    /// It arrived at the client.
    Arrived(f64),
    /// A queue dropped it, or a link lost it.
    Lost(f64),
    /// The run ended before.
    OnTheWay,
}

/// A credit: the initial window of one subflow, taken from another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Credit {
    /// Time at which the credit was taken, seconds since the start of the run.
    pub taken: f64,
    /// Title of the connection.
    pub connection: String,
    /// Number of the subflow that joined with the credit.
    pub to: usize,
    /// Number of the subflow that the credit was taken from.
    pub from: usize,
    /// Size, segments: the initial window.
    pub segments: u32,
    /// Settlement; none for a credit that became void.
    pub settled: Option<Settled>,
}

/// Settlement of a credit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// Seconds since the start of the run.
    pub time: f64,
    /// Acknowledged segments of the lender that did not grow its window.
    pub ignored: u32,
    /// Σ cwnd before, segments.
    pub sum_before: u32,
    /// Σ cwnd after, segments.
    pub sum_after: u32,
}
