//! What a run came to, the same from every backend.

use serde::Serialize;

/// The version of the JSON that an outcome becomes.
pub const SCHEMA: &str = "lisa.outcome/1";

/// What a run came to.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The scenario's title.
    pub scenario: String,
    /// What was drawn from.
    pub seed: u64,
    /// Where it ran: `host`.
    pub backend: &'static str,
    /// The endpoints' receive buffers, bytes; none: the kernel's own.
    pub receive_window: Option<u32>,
    /// Each connection.
    pub connections: Vec<ConnectionOutcome>,
    /// Each link.
    pub links: Vec<LinkOutcome>,
    /// Packets that left a link's queue, data and ACKs.
    pub packet_hops: u64,
    /// How long the run was on the network's clock, seconds.
    pub sim_seconds: f64,
    /// How long it took, seconds.
    pub wall_seconds: f64,
    /// How late the network handed packets over at worst, seconds: 0 in virtual time.
    pub lateness_s: f64,
    /// Packets that the network itself lost, beside those that its queues dropped: anything but 0 spoils the run.
    pub spoiled_packets: u64,
}

/// What a connection came to.
#[derive(Clone, Debug, Serialize)]
pub struct ConnectionOutcome {
    /// Its name.
    pub name: String,
    /// The congestion control.
    pub algorithm: String,
    /// First SYN sent until the last byte was acknowledged, seconds; none where the run ended before.
    pub completion_s: Option<f64>,
    /// Bytes acknowledged over that time, Mbit/s.
    pub goodput_mbps: Option<f64>,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Segments retransmitted before the last subflow left slow start (R_ss).
    pub retransmits_slow_start: u64,
    /// Σ of the windows with which congestion avoidance begins, when the last subflow leaves slow start; none where
    /// one never did. A subflow in recovery counts with the threshold that it reduces to.
    pub sum_cwnd_at_slow_start_exit: Option<u32>,
    /// Σ cwnd when the last byte was acknowledged.
    pub sum_cwnd_at_end: u32,
    /// Each subflow, in the order of the paths.
    pub subflows: Vec<SubflowOutcome>,
}

/// What a subflow came to.
#[derive(Clone, Debug, Default, Serialize)]
pub struct SubflowOutcome {
    /// The path, from 0.
    pub path: usize,
    /// Seconds from the first SYN until it was established.
    pub established_s: f64,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Segments retransmitted before it left slow start.
    pub retransmits_slow_start: u64,
    /// When it left slow start, seconds since the first SYN.
    pub slow_start_exit_s: Option<f64>,
    /// Its window then, segments.
    pub cwnd_at_slow_start_exit: Option<u32>,
    /// Its window at the end, segments.
    pub cwnd_at_end: u32,
    /// Its smoothed RTT at the end, seconds.
    pub srtt: f64,
    /// Window reductions.
    pub losses: u32,
    /// When the first was, seconds since the first SYN.
    pub first_loss_s: Option<f64>,
}

/// What a link did.
#[derive(Clone, Debug, Serialize)]
pub struct LinkOutcome {
    /// Which.
    pub name: String,
    /// Packets that its queue dropped.
    pub drops: u64,
    /// The part of the time that it was sending; none for a link without a rate.
    pub utilisation: Option<f64>,
    /// The most packets that waited.
    pub queue_max: u64,
    /// How many waited on average over time.
    pub queue_mean: f64,
}
