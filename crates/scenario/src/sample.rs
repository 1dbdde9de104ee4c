//! Time series of a run: links and subflows at a fixed interval.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// States of links and subflows, in order of time. Rates and counts are those of the interval that ends at the time of the sample; the
/// last interval of a run may be shorter. Of real endpoints there are subflows alone, and a sample is up to a millisecond late.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Samples {
    /// Samples of links.
    pub links: Vec<LinkSample>,
    /// Samples of subflows, from the interval in which a subflow is established to the one in which its connection completes.
    pub subflows: Vec<SubflowSample>,
}

/// A link in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSample {
    /// End of the interval, seconds since the start of the run.
    pub time_s: f64,
    /// Name of the link.
    pub link: Arc<str>,
    /// Time-averaged number of packets in the queue.
    pub queue_mean_packets: f64,
    /// Packets in the queue and on the line at the end of the interval.
    pub in_flight_packets: u64,
    /// Rate of whole packets that left the link, Mbit/s.
    pub throughput_mbps: f64,
    /// Share of the interval in transmission; none for a link without a rate.
    pub utilisation: Option<f64>,
    /// Packets that the queue dropped.
    pub drops: u64,
    /// Packets that the line lost.
    pub losses: u64,
    /// Packets that the queue marked.
    pub marks: u64,
}

/// A subflow in one interval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SubflowSample {
    /// End of the interval, seconds since the start of the run.
    pub time_s: f64,
    /// Name of the connection in the scenario.
    pub connection: Arc<str>,
    /// Number among the connections of this name, from 1.
    pub number: u32,
    /// Number of the subflow in its connection, from 1.
    pub subflow: u32,
    /// Congestion window, segments.
    pub cwnd_segments: u32,
    /// Slow start threshold, segments; none before the first loss.
    pub ssthresh_segments: Option<u32>,
    /// Smoothed RTT, seconds.
    pub srtt_s: f64,
    /// Segments in flight.
    pub in_flight_segments: u32,
    /// Rate of acknowledged payload, Mbit/s.
    pub goodput_mbps: f64,
    /// Retransmitted segments.
    pub retransmits: u64,
}
