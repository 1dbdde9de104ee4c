//! Description of a connection: one `[[connection]]` of a scenario. [`ConnectionSpec::default`] has the defaults.

use netsim::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use topology::Graph;
use transport::{PathManager, Profile};

use crate::size::Size;

/// One connection, or several equal ones.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionSpec {
    /// `name`: name. Default: protocol and algorithm, with a number from the second connection on.
    pub name: String,
    /// `count`: number of equal connections, with a `pattern` from each host. Default: the topology's number of users
    /// (`n1` …), else 1.
    pub count: u32,
    /// `protocol`: transport protocol. Default: `tcp`.
    pub protocol: Protocol,
    /// `algorithm`: congestion control, a name in lisa's table or one of Linux. Default: `cubic` for TCP, `lia` (uncoupled
    /// slow start and LIA) for MPTCP. Empty for UDP.
    pub algorithm: String,
    /// `settings`: settings of the algorithm, by name. A setting that is not listed has its default value.
    pub settings: BTreeMap<String, u32>,
    /// `subflows`: number of subflows. Default: 2 for MPTCP; always 1 for TCP and UDP.
    pub subflows: u32,
    /// `path`, `paths`, `from` and `to`, or `pattern`: paths or hosts. Default: the topology's first paths.
    pub between: Between,
    /// `routing`: paths between hosts. Default: `shortest`.
    pub routing: Routing,
    /// `path_choice`: choice of a path for each subflow. Default: `in-order` on named paths and with a `routing` other than `shortest`,
    /// else `random`.
    pub path_choice: PathChoice,
    /// `bytes`, `requests`, or `rate` with `on` and `off`: data to send. Default: endless.
    pub application: Application,
    /// `start`: time of the first SYN or the first UDP packet, or `{ from, to }` for a random time. Default: 0.
    pub start: Length,
    /// `arrivals`: further equal connections, one after another. Default: none.
    pub arrivals: Option<Arrivals>,
    /// `profile`: behaviour of the endpoints. Default: `linux`.
    #[serde(with = "profile_by_name")]
    pub profile: Profile,
    /// `receive_window`: receive buffer, bytes. Default: the profile's.
    pub receive_window: Option<u64>,
    /// `send_buffer`: size up to which the send buffer of a subflow grows, bytes. Default: the profile's.
    pub send_buffer: Option<u64>,
    /// Constants and rules that replace the profile's. Default: none.
    pub constants: Constants,
    /// `path_manager`: `fullmesh`, where the client joins addresses that the server announces, or `ndiffports`, where it
    /// opens all subflows to the first address. Default: `fullmesh`.
    pub path_manager: PathManager,
    /// `join_delay`: time from the establishment of the connection to the first join. Default: 0.
    pub join_delay: Span,
    /// `ecn`: whether the endpoints use ECN (RFC 3168). Default: no.
    pub ecn: bool,
    /// `mss`: payload of a full segment, bytes. Default: 1448, in IPv4 packets of 1500 bytes with timestamps.
    pub mss: u32,
    /// `packet`: size of a UDP packet with all headers, bytes. Default: 1500.
    pub packet: u32,
    /// `initial_ssthresh`: initial slow start threshold. Default: none.
    pub initial_ssthresh: Option<InitialSsthresh>,
    /// `assistance`: whether the network decides the groups, from its links and their outages. Default: no.
    pub assistance: bool,
    /// `groups`: group of each subflow; subflows are coupled within a group. Default: empty, all in group 0.
    pub groups: Vec<u8>,
    /// `backup`: whether each subflow is a backup; the first never is. Default: empty, none is.
    pub backup: Vec<bool>,
    /// `regroup`: changes of the groups, in order of time. Default: none.
    pub regroup: Vec<Regroup>,
}

impl Default for ConnectionSpec {
    fn default() -> Self {
        Self {
            name: String::new(),
            count: 1,
            protocol: Protocol::Tcp,
            algorithm: String::new(),
            settings: BTreeMap::new(),
            subflows: 1,
            between: Between::Set {
                name: None,
                paths: Vec::new(),
            },
            routing: Routing::Shortest,
            path_choice: PathChoice::InOrder,
            application: Application::Endless,
            start: Length::Fixed(Span::ZERO),
            arrivals: None,
            profile: Profile::linux(),
            receive_window: None,
            send_buffer: None,
            constants: Constants::default(),
            path_manager: PathManager::Announced,
            join_delay: Span::ZERO,
            ecn: false,
            mss: 1448,
            packet: 1500,
            initial_ssthresh: None,
            assistance: false,
            groups: Vec::new(),
            backup: Vec::new(),
            regroup: Vec::new(),
        }
    }
}

impl ConnectionSpec {
    /// The settings that apply to this algorithm. `lisa compare -a` replaces the file's algorithm; the new one may lack some
    /// of the file's settings.
    #[must_use]
    pub fn settings_of(&self, algorithm: mpcc::Algorithm) -> mpcc::Settings {
        let mut settings = mpcc::Settings::standard(algorithm);
        for setting in algorithm.settings() {
            if let Some(&value) = self.settings.get(setting.name) {
                settings
                    .set(algorithm, setting.name, value)
                    .expect("the range is checked when the file is read");
            }
        }
        settings
    }

    /// Number of connections on this network: those of all hosts and their arrivals. Fewer run if some would start after the
    /// end of the run, or if too few hosts are free.
    #[must_use]
    pub fn flows(&self, graph: &Graph) -> u64 {
        let hosts = match self.between {
            Between::Permutation | Between::Random => graph.hosts().len() as u64,
            _ => 1,
        };
        let each = self.arrivals.as_ref().map_or(1, |arrivals| arrivals.count);
        // At most 10 000 hosts with 100 000 connections each and 100 000 arrivals of each: no overflow.
        hosts * u64::from(self.count) * u64::from(each)
    }

    /// Size up to which the send buffer of a subflow grows, bytes.
    #[must_use]
    pub fn send_buffer_bytes(&self) -> u32 {
        let bytes = self.send_buffer.unwrap_or(self.profile.send_buffer.into());
        u32::try_from(bytes).unwrap_or(u32::MAX)
    }

    /// The profile with the connection's constants and rules.
    pub(crate) fn profile_with_constants(&self) -> Profile {
        let (constants, profile) = (&self.constants, self.profile.clone());
        Profile {
            initial_window: constants.initial_window.unwrap_or(profile.initial_window),
            rto_initial: constants.rto_initial.unwrap_or(profile.rto_initial),
            rto_min: constants.rto_min.unwrap_or(profile.rto_min),
            delayed_ack: constants.delayed_ack.unwrap_or(profile.delayed_ack),
            quick_acks: constants.quick_acks.unwrap_or(profile.quick_acks),
            acknowledges_push: constants.push_acks.unwrap_or(profile.acknowledges_push),
            bursts: constants.bursts.unwrap_or(profile.bursts),
            send_buffer: self.send_buffer_bytes(),
            ..profile
        }
    }
}

/// Initial slow start threshold of each subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InitialSsthresh {
    /// A size, bytes.
    Bytes(u64),
    /// `"bdp"`: the bandwidth-delay product of the connection's paths
    /// ([`bandwidth_delay_product`](crate::capacity::bandwidth_delay_product), without sharing).
    Bdp,
}

/// Serialises a profile as its name.
mod profile_by_name {
    use serde::{Deserialize, Deserializer, Serializer, de};
    use transport::Profile;

    pub(super) fn serialize<S: Serializer>(profile: &Profile, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(profile.name)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Profile, D::Error> {
        let name = String::deserialize(from)?;
        Profile::find(&name).ok_or_else(|| de::Error::custom(format!("no profile `{name}`")))
    }
}

/// Constants and rules of a connection's endpoints; none: the profile's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constants {
    /// `initial_window`: initial congestion window of each subflow, segments.
    pub initial_window: Option<u32>,
    /// `rto_initial`: retransmission timeout before the first RTT sample (RFC 6298, 2.1).
    pub rto_initial: Option<Span>,
    /// `rto_min`: minimum retransmission timeout above the smoothed RTT.
    pub rto_min: Option<Span>,
    /// `delayed_ack`: longest time for which an ACK is delayed for a second segment. 0: every segment is acknowledged.
    pub delayed_ack: Option<Span>,
    /// `quick_acks`: number of segments that are acknowledged one by one at the start and after a loss (Linux: quick ACKs).
    pub quick_acks: Option<u32>,
    /// `push_acks`: whether the ACK of a segment with the push flag is sent when the application has read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_acks: Option<bool>,
    /// `bursts`: whether segments leave in TSO bursts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bursts: Option<bool>,
}

impl Constants {
    /// Keys in a scenario file.
    pub(crate) const KEYS: [&str; 7] = [
        "initial_window",
        "rto_initial",
        "rto_min",
        "delayed_ack",
        "quick_acks",
        "push_acks",
        "bursts",
    ];
}

/// Change of the groups of a connection: `{ at, groups }`. Each subflow changes its group on its next ACK.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regroup {
    /// Time since the start of the run.
    pub at: Span,
    /// Group of each subflow.
    pub groups: Vec<u8>,
}

/// Transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// `tcp`: one path.
    Tcp,
    /// `mptcp`: several subflows.
    Mptcp,
    /// `udp`: packets at a fixed rate, without congestion control.
    Udp,
}

impl Protocol {
    /// Name in a scenario file.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::Udp => "udp",
        }
    }
}

/// Paths or hosts of a connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Between {
    /// Paths of a named set.
    Set {
        /// `paths = "type1"`: name of the set; none: the topology's first set.
        name: Option<String>,
        /// `path = 2` or `paths = [2, 1]`: numbers in the set, from 0 here and from 1 in a file; empty: all in order.
        paths: Vec<u32>,
    },
    /// `from` and `to`: the shortest paths between two hosts.
    Hosts {
        /// Sender of data.
        from: String,
        /// Receiver of data.
        to: String,
    },
    /// `pattern = "permutation"`: each host sends to one random host and receives from one.
    Permutation,
    /// `pattern = "random"`: each host sends to one random host; no pair of hosts occurs twice.
    Random,
}

/// Paths between hosts, by number of links.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Routing {
    /// `shortest`: all shortest paths.
    #[default]
    Shortest,
    /// `k-shortest`: as many shortest paths without a loop as there are subflows ([`Graph::loopless_paths`]).
    KShortest,
    /// `link-disjoint`: paths without a common link, one for each subflow, with the least total length ([`Graph::disjoint_paths`]).
    LinkDisjoint,
    /// `node-disjoint`: the same without a common node.
    NodeDisjoint,
}

/// Choice of a path for each subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathChoice {
    /// `in-order`: subflow n takes path n; after the last path the first follows.
    InOrder,
    /// `random`: each subflow takes a random path, as with a hash of its ports (ECMP).
    Random,
}

/// Data to send.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Application {
    /// Endless data.
    Endless,
    /// `bytes`: a transfer of this size, available from the start.
    Bytes(Size),
    /// `requests = { count, bytes, gap }`: one reply after another on the same connection.
    Requests {
        /// Number of replies.
        count: u32,
        /// Size of each reply.
        bytes: Size,
        /// Time from the end of a reply to the start of the next.
        gap: Length,
    },
    /// `rate`, with `on` and `off`: data at a rate, continuously or in alternating periods.
    Rate {
        /// Rate while on: of payload for TCP, of whole packets for UDP.
        rate: Rate,
        /// Periods; none: always on.
        on_off: Option<OnOff>,
    },
}

impl Application {
    /// Whether the application ends by itself: a transfer, or requests.
    #[must_use]
    pub const fn is_finite(&self) -> bool {
        matches!(self, Self::Bytes(_) | Self::Requests { .. })
    }
}

/// Alternating periods of sending and silence; the first is sending.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnOff {
    /// Length of a period of sending.
    pub on: Length,
    /// Length of a period of silence.
    pub off: Length,
}

/// Equal connections, one after another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Arrivals {
    /// Number of connections, including the first.
    pub count: u32,
    /// Time from one start to the next.
    pub spacing: Spacing,
}

/// Times between the starts of equal connections.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Spacing {
    /// `gap`: a length for each gap; exponential gaps make a Poisson process.
    Gap(Length),
    /// `load`: a Poisson process whose transfers take this share of the rate of the connection's paths, on average. 0.6 is a
    /// load of 60 %; a load may exceed 1.
    Load(f64),
}

/// Length of time, fixed or random.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Length {
    /// `"1.2s"`.
    Fixed(Span),
    /// `{ from = "2s", to = "5s" }`: uniformly distributed.
    Uniform {
        /// Shortest length.
        from: Span,
        /// Longest length.
        to: Span,
    },
    /// `{ mean = "1s" }`: exponentially distributed.
    Exponential {
        /// Mean length.
        mean: Span,
    },
    /// `{ mean = "1s", shape = 1.5 }`: Pareto distributed. On and off periods with a shape between 1 and 2 make self-similar
    /// traffic (Willinger, Taqqu, Sherman and Wilson, "Self-similarity through high-variability", SIGCOMM 1995).
    Pareto {
        /// Mean length.
        mean: Span,
        /// Shape α, more than 1. The smaller, the heavier the tail; the variance is infinite up to 2.
        shape: f64,
    },
}
