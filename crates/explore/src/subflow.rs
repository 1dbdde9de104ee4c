//! Records of a subflow in columns.

use serde::Serialize;

/// A subflow with the states of its sender.
#[derive(Serialize)]
pub(crate) struct Subflow {
    /// Title of the connection.
    pub(crate) connection: String,
    /// Number of the subflow in the connection, from 1.
    pub(crate) number: usize,
    /// Name of the path, if it has one.
    pub(crate) path_name: Option<String>,
    pub(crate) algorithm: String,
    /// Index of its bottleneck; none if no link has a rate.
    pub(crate) bottleneck: Option<usize>,
    pub(crate) time: Vec<f64>,
    pub(crate) cwnd: Vec<u32>,
    pub(crate) ssthresh: Vec<Option<u32>>,
    pub(crate) srtt: Vec<f64>,
    pub(crate) flight: Vec<u32>,
    pub(crate) phase: Vec<&'static str>,
    /// Times at which the network lost a segment.
    pub(crate) losses: Vec<f64>,
    /// Delay from the sender to the queue of the bottleneck, seconds.
    #[serde(skip)]
    pub(crate) before: f64,
    /// Delay from the transmitter of the bottleneck to the client, seconds.
    pub(crate) after: f64,
}
