//! What a run came to, the same from every backend.
//!
//! As JSON it is described by `docs/outcome.schema.json`, which a test compares with these types.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use netsim::LinkCounters;

use crate::Protocol;
use crate::word::{self, Word};

/// The version of the JSON that an outcome becomes.
pub const SCHEMA: &str = "lisa.outcome/4";

/// What a run came to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// [`SCHEMA`].
    #[serde(deserialize_with = "word::read")]
    pub schema: Word,
    /// The scenario's title.
    pub scenario: String,
    /// What was drawn from.
    pub seed: u64,
    /// Where it ran: `sim`, `host` or `vm`.
    #[serde(deserialize_with = "word::read")]
    pub backend: Word,
    /// Each connection.
    pub connections: Vec<ConnectionOutcome>,
    /// Each link.
    pub links: Vec<LinkOutcome>,
    /// Things that happened one after another in the network and its endpoints: what a simulation's speed is counted
    /// in; 0 where nobody counts.
    pub events: u64,
    /// Packets that left a link's queue, data and ACKs.
    pub packet_hops: u64,
    /// How long the run was on the network's clock, seconds.
    pub sim_seconds: f64,
    /// How long it took, seconds; none where nobody asked, for it is not the same twice.
    pub wall_seconds: Option<f64>,
    /// How late the network handed packets over at worst, seconds: 0 in virtual time.
    pub lateness_s: f64,
    /// Packets that the network itself lost, beside those that its queues dropped: anything but 0 spoils the run.
    pub spoiled_packets: u64,
}

/// What a connection came to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionOutcome {
    /// Its name in the scenario.
    pub name: String,
    /// Which of those of this name, from 1.
    pub number: u32,
    /// How it was carried: `tcp`, `mptcp` or `udp`.
    pub protocol: Protocol,
    /// The congestion control; empty for UDP.
    pub algorithm: String,
    /// The receive buffer that was asked for, bytes; none: the profile's or the kernel's own.
    pub receive_window: Option<u64>,
    /// When its first SYN was sent, seconds since the start of the run.
    pub start_s: f64,
    /// First SYN sent until the last byte was acknowledged, seconds; none where the run ended before.
    pub completion_s: Option<f64>,
    /// Bytes of data acknowledged, or received of UDP; of an endless connection since the warm-up.
    pub bytes: u64,
    /// These over the time until they all were, Mbit/s; of a connection without end over the time from its start or the
    /// warm-up to the end of the run; none for a transfer that did not finish.
    pub goodput_mbps: Option<f64>,
    /// What a reader of the figures must know: that it did not finish, that a subflow never joined.
    pub note: Option<String>,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Segments retransmitted before the last subflow left slow start (R_ss).
    pub retransmits_slow_start: u64,
    /// Σ of the windows with which congestion avoidance begins, when the last subflow leaves slow start; none where
    /// one never did. A subflow in recovery counts with the threshold that it reduces to.
    pub sum_cwnd_at_slow_start_exit: Option<u32>,
    /// Σ cwnd when the last byte was acknowledged.
    pub sum_cwnd_at_end: u32,
    /// Each subflow that was established, in their order.
    pub subflows: Vec<SubflowOutcome>,
}

impl ConnectionOutcome {
    /// Its name, with its number if that is not the first: as in a trace.
    #[must_use]
    pub fn title(&self) -> String {
        title(&self.name, self.number)
    }
}

/// What tells connections of one name apart.
pub(crate) fn title(name: &str, number: u32) -> String {
    match number {
        1 => name.into(),
        number => format!("{name} {number}"),
    }
}

/// What a subflow came to.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SubflowOutcome {
    /// Which of the connection's, from 0: as in a trace.
    pub subflow: usize,
    /// Its path, from 0: which of the topology's, of those of that name, or of the shortest between two hosts.
    pub path: u64,
    /// Whether it is a backup (RFC 8684, 3.3.8); absent where it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub backup: bool,
    /// Seconds from the first SYN until it was established.
    pub established_s: f64,
    /// Bytes of data acknowledged on it, of an endless connection since the warm-up. Bytes that were sent again on another subflow count on both.
    pub bytes: Option<u64>,
    /// These over the time that the connection's are counted over, Mbit/s.
    pub goodput_mbps: Option<f64>,
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

/// What a link did: since the warm-up, where there are endless connections and one was asked for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LinkOutcome {
    /// Which.
    pub name: String,
    /// Packets that came to it.
    pub packets: u64,
    /// Packets that its queue dropped.
    pub drops: u64,
    /// Packets that its line lost, or that were lost because it was down.
    pub losses: u64,
    /// The part of the packets that it dropped or lost; none without packets.
    pub loss_rate: Option<f64>,
    /// Packets that its queue marked.
    pub marks: u64,
    /// The part of the time that it was sending; none for a link without a rate.
    pub utilisation: Option<f64>,
    /// The most packets that waited, in the whole run.
    pub queue_max: u64,
    /// How many waited on average over time.
    pub queue_mean: f64,
}

impl LinkOutcome {
    /// Of a link with these counts.
    #[must_use]
    pub fn new(name: String, counters: &LinkCounters) -> Self {
        let gone = counters.drops + counters.losses;
        Self {
            name,
            packets: counters.packets_in,
            drops: counters.drops,
            losses: counters.losses,
            loss_rate: (counters.packets_in > 0).then(|| gone as f64 / counters.packets_in as f64),
            marks: counters.marks,
            utilisation: counters.utilisation,
            queue_max: counters.queue_max,
            queue_mean: counters.queue_mean,
        }
    }
}
