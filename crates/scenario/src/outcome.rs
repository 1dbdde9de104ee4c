//! Results of a run in numbers, the same from every backend.
//!
//! `docs/outcome.schema.json` describes their JSON form; a test compares it with these types.

use std::fmt;

use netsim::LinkCounters;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::connection::Protocol;
use crate::limited::Limited;
use crate::transfers::Transfers;
use crate::warning::Warning;

/// Version of the JSON form of an outcome.
pub const SCHEMA: &str = "lisa.outcome/7";

/// Type of [`Outcome::schema`]. An alias, because serde borrows the fields of a type that is spelled `&str`.
type Schema = &'static str;

/// Results of a run.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// Version of this form: [`SCHEMA`].
    #[serde(deserialize_with = "read_schema")]
    pub schema: Schema,
    /// Title of the scenario.
    pub scenario: String,
    /// Seed of all random draws.
    pub seed: u64,
    /// Endpoints that ran the scenario.
    pub backend: Backend,
    /// Results of each connection.
    pub connections: Vec<ConnectionOutcome>,
    /// Completion of the transfers, by the name of their connection.
    pub transfers: Vec<Transfers>,
    /// Results of each link.
    pub links: Vec<LinkOutcome>,
    /// Number of events of the simulation, in the network and its endpoints; 0 for real endpoints.
    pub events: u64,
    /// Number of packets that left a link's queue, data and ACKs.
    pub packet_hops: u64,
    /// Duration of the run on the network's clock, seconds.
    pub sim_seconds: f64,
    /// Duration of the run in real time, seconds; none where it is left out, because it differs between equal runs.
    pub wall_seconds: Option<f64>,
    /// Largest delay of a packet in the network beyond the scenario's, seconds: 0 in virtual time.
    pub lateness_s: f64,
    /// Number of packets that the network lost by itself, besides queue drops: a run with any is invalid.
    pub spoiled_packets: u64,
    /// Results that mislead.
    pub warnings: Vec<Warning>,
}

impl Outcome {
    /// The outcome as a line of JSON, without the end of the line. The seed does not decide the wall time: without `timing`
    /// `wall_seconds` is null.
    ///
    /// # Panics
    /// Never: an outcome is plain data.
    #[must_use]
    pub fn json(&self, timing: bool) -> String {
        if timing || self.wall_seconds.is_none() {
            return serde_json::to_string(self).expect("plain data");
        }
        let without = Self {
            wall_seconds: None,
            ..self.clone()
        };
        serde_json::to_string(&without).expect("plain data")
    }
}

/// Endpoints that run a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// Simulated endpoints.
    Sim,
    /// This host's kernel.
    Host,
    /// A kernel in a virtual machine, in virtual time.
    Vm,
}

impl Backend {
    /// Name in files and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sim => "sim",
            Self::Host => "host",
            Self::Vm => "vm",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// For `deserialize_with`: the string is not stored, since only one is valid.
fn read_schema<'de, D: Deserializer<'de>>(from: D) -> Result<&'static str, D::Error> {
    match String::deserialize(from)? {
        schema if schema == SCHEMA => Ok(SCHEMA),
        schema => Err(de::Error::custom(format!(
            "`{schema}` is not `{SCHEMA}`, the schema of an outcome"
        ))),
    }
}

/// Results of a connection.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConnectionOutcome {
    /// Name in the scenario.
    pub name: String,
    /// Number among the connections of this name, from 1.
    pub number: u32,
    /// Transport protocol: `tcp`, `mptcp` or `udp`.
    pub protocol: Protocol,
    /// Congestion control; empty for UDP.
    pub algorithm: String,
    /// Requested receive buffer, bytes; none: the profile's or the kernel's default.
    pub receive_window_bytes: Option<u64>,
    /// Requested limit of the send buffer of a subflow, bytes; none: the profile's or the kernel's default.
    pub send_buffer_bytes: Option<u64>,
    /// Time of the first SYN, seconds since the start of the run.
    pub start_s: f64,
    /// Time from the first SYN until the last byte was acknowledged, seconds; none where the run ended before.
    pub completion_s: Option<f64>,
    /// Of `requests`: time from the write of each reply until its last byte was acknowledged, in order, seconds. Absent of other
    /// connections, and of real endpoints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requests_s: Vec<f64>,
    /// Bytes of data acknowledged, for UDP received; for an endless connection since the warm-up.
    pub bytes: u64,
    /// `bytes` over the completion time, Mbit/s. An endless connection counts from its start or the warm-up to the end of
    /// the run. None for a transfer that did not finish.
    pub goodput_mbps: Option<f64>,
    /// Restriction on the use of the figures: the transfer did not finish, or a subflow never joined.
    pub note: Option<String>,
    /// Number of segments retransmitted.
    pub retransmits: u64,
    /// Number of segments retransmitted before the last subflow left slow start (R_ss).
    pub retransmits_slow_start: u64,
    /// Number of credits that subflows took when they started (linked slow start).
    pub credits_taken: u32,
    /// Number of credits that their lenders paid.
    pub credits_paid: u32,
    /// Number of credits that became void.
    pub credits_void: u32,
    /// Completion time over the shortest possible one on the same paths without other traffic, in which the bytes are sent at the
    /// paths' rate after the handshake ([`ideal_completion`](crate::capacity::ideal_completion)). None without a completion, and for requests.
    pub slowdown: Option<f64>,
    /// Σ cwnd at the start of congestion avoidance, when the last subflow leaves slow start; none where one never did. A
    /// subflow in recovery counts with its ssthresh.
    pub sum_cwnd_at_slow_start_exit_segments: Option<u32>,
    /// Σ cwnd when the last byte was acknowledged.
    pub sum_cwnd_at_end_segments: u32,
    /// What held the connection back.
    #[serde(flatten)]
    pub limited: Limited,
    /// Results of each established subflow, in the order of their numbers.
    pub subflows: Vec<SubflowOutcome>,
}

impl ConnectionOutcome {
    /// Name and completion time of each connection, for [`Transfers::of`].
    pub fn completions(connections: &[Self]) -> impl Iterator<Item = (&str, Option<f64>)> {
        (connections.iter()).map(|connection| (&*connection.name, connection.completion_s))
    }

    /// Name, followed by the number unless it is 1, as in a trace.
    #[must_use]
    pub fn title(&self) -> String {
        title(&self.name, self.number)
    }
}

/// Unique title of a connection among those of one name.
#[must_use]
pub fn title(name: &str, number: u32) -> String {
    match number {
        1 => name.into(),
        number => format!("{name} {number}"),
    }
}

/// Results of a subflow.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct SubflowOutcome {
    /// Number in the connection, from 1, as in a trace.
    pub subflow: usize,
    /// Number of the path, from 1: in the topology, in the named set, or among the shortest between two hosts.
    pub path: u64,
    /// Name of the path; absent where it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_name: Option<String>,
    /// Whether the subflow is a backup (RFC 8684, 3.3.8); absent where it is not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub backup: bool,
    /// Time from the connection's first SYN until the subflow was established, seconds.
    pub established_s: f64,
    /// Bytes of data acknowledged on the subflow, for an endless connection since the warm-up. Bytes that were sent again
    /// on another subflow count on both.
    pub bytes: Option<u64>,
    /// `bytes` over the time that the connection's goodput is measured over, Mbit/s.
    pub goodput_mbps: Option<f64>,
    /// Number of segments retransmitted.
    pub retransmits: u64,
    /// Number of segments retransmitted before the subflow left slow start.
    pub retransmits_slow_start: u64,
    /// Number of credits that the subflow took when it started.
    pub credits_taken: u32,
    /// Number of credits that the subflow paid as the lender.
    pub credits_paid: u32,
    /// Number of credits that became void: taken from the subflow, or returned by it before their payment.
    pub credits_void: u32,
    /// End of slow start, seconds since the connection's first SYN.
    pub slow_start_exit_s: Option<f64>,
    /// cwnd at the end of slow start, segments.
    pub cwnd_at_slow_start_exit_segments: Option<u32>,
    /// cwnd at the end, segments.
    pub cwnd_at_end_segments: u32,
    /// Smoothed RTT at the end, seconds.
    pub srtt_s: f64,
    /// Number of window reductions.
    pub losses: u32,
    /// Time of the first window reduction, seconds since the connection's first SYN.
    pub first_loss_s: Option<f64>,
    /// What held the subflow back.
    #[serde(flatten)]
    pub limited: Limited,
}

/// Results of a link; since the warm-up if there is one and a connection is endless.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LinkOutcome {
    /// Name in the topology.
    pub name: String,
    /// Number of packets that arrived at the link.
    pub packets: u64,
    /// Number of packets that the queue dropped.
    pub drops: u64,
    /// Number of packets that the line lost, also during an outage.
    pub losses: u64,
    /// Share of packets dropped or lost; none without packets.
    pub loss_rate: Option<f64>,
    /// Number of packets that the queue marked.
    pub marks: u64,
    /// Share of time in transmission; none for a link without a rate.
    pub utilisation: Option<f64>,
    /// Largest queue of the whole run, packets.
    pub queue_max_packets: u64,
    /// Time-averaged queue, packets.
    pub queue_mean_packets: f64,
}

impl LinkOutcome {
    /// Results of a link from its counters.
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
            queue_max_packets: counters.queue_max,
            queue_mean_packets: counters.queue_mean,
        }
    }
}
