//! What a connection is to be: one `[[connection]]` of a scenario. [`ConnectionSpec::default`] has the defaults.

use netsim::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One connection, or several that are alike.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConnectionSpec {
    /// `name`: what to call it. Default: its protocol and algorithm, with a number where that is not the only such one.
    pub name: String,
    /// `count`: how many of the same run, of each host with a `pattern`. Default: the users that the topology is made
    /// for (`n1` …), else 1.
    pub count: u32,
    /// `protocol`: how data is carried. Default: `tcp`.
    pub protocol: Protocol,
    /// `algorithm`: the congestion control, a name in lisa's table or one of Linux's. Default: `cubic` for TCP, `lia`
    /// (uncoupled slow start and LIA) for MPTCP. UDP has none; its name here is empty.
    pub algorithm: String,
    /// `settings`: values of settings that the algorithm has, by name. Default, and missing here: each its standard value.
    pub settings: BTreeMap<String, u32>,
    /// `subflows`: how many subflows. Default: 2 for MPTCP, always 1 for TCP and UDP.
    pub subflows: u32,
    /// `path`, `paths`, `from` and `to`, or `pattern`: where it runs. Default: the topology's first paths.
    pub between: Between,
    /// `path_choice`: which of the paths each subflow takes. Default: `in-order` on named paths, `random` between hosts.
    pub path_choice: PathChoice,
    /// `bytes`, `requests`, or `rate` with `on` and `off`: what is sent. Default: data without end.
    pub application: Application,
    /// `start`: when the first SYN, or the first UDP packet, is sent: a time, or `{ from, to }` for one at random.
    /// Default: 0.
    pub start: Length,
    /// `arrivals`: more of the same, one after another. Default: none.
    pub arrivals: Option<Arrivals>,
    /// `profile`: the endpoints' behaviour. Default: `linux`.
    pub profile: Profile,
    /// `receive_window`: the receive buffer, bytes. Default: the profile's.
    pub receive_window: Option<u64>,
    /// Constants of the endpoints in place of the profile's. Default: none.
    pub constants: Constants,
    /// `path_manager`: when subflows join. Default: `fullmesh`.
    pub path_manager: PathManager,
    /// `join_delay`: how long after the connection is established the first join is sent. Default: 0.
    pub join_delay: Span,
    /// `ecn`: whether packets can be marked. Default: no.
    pub ecn: bool,
    /// `mss`: payload of a full segment, bytes. Default: 1448, in IPv4 packets of 1500 bytes with timestamps.
    pub mss: u32,
    /// `packet`: the size of a UDP packet, bytes with all headers. Default: 1500.
    pub packet: u32,
    /// `initial_ssthresh`: where slow start ends if no loss ends it, bytes. Default: nowhere.
    pub initial_ssthresh: Option<u64>,
    /// `groups`: the group of each subflow, within which it is coupled. Default, and empty here: all in group 0.
    pub groups: Vec<u8>,
    /// `backup`: which subflows are backups, never the first. Default, and empty here: none.
    pub backup: Vec<bool>,
    /// `regroup`: when subflows are asked to be in other groups, in order of time. Default: never.
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
            path_choice: PathChoice::InOrder,
            application: Application::Endless,
            start: Length::Fixed(Span::ZERO),
            arrivals: None,
            profile: Profile::Linux,
            receive_window: None,
            constants: Constants::default(),
            path_manager: PathManager::Fullmesh,
            join_delay: Span::ZERO,
            ecn: false,
            mss: 1448,
            packet: 1500,
            initial_ssthresh: None,
            groups: Vec::new(),
            backup: Vec::new(),
            regroup: Vec::new(),
        }
    }
}

impl ConnectionSpec {
    /// The settings that this algorithm has. `lisa compare -a` puts another algorithm in place of the file's, to which the
    /// file's settings may not apply.
    #[must_use]
    pub fn settings_of(&self, algorithm: mpcc::Algorithm) -> mpcc::Settings {
        let mut settings = mpcc::Settings::standard(algorithm);
        for setting in algorithm.settings() {
            if let Some(&value) = self.settings.get(setting.name) {
                settings
                    .set(algorithm, setting.name, value)
                    .expect("the reader of files has checked its range");
            }
        }
        settings
    }
}

/// Constants of the endpoints of a connection; none: the profile's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Constants {
    /// `initial_window`: congestion window at the start of each subflow, segments.
    pub initial_window: Option<u32>,
    /// `rto_initial`: retransmission timeout before the first RTT sample (RFC 6298, 2.1).
    pub rto_initial: Option<Span>,
    /// `rto_min`: least retransmission timeout above the smoothed RTT.
    pub rto_min: Option<Span>,
    /// `delayed_ack`: longest time that an ACK waits for a second segment. 0: every segment is acknowledged.
    pub delayed_ack: Option<Span>,
    /// `quick_acks`: segments that are acknowledged one by one at the start and after a loss (Linux: quick ACKs).
    pub quick_acks: Option<u32>,
}

impl Constants {
    /// Their keys in a file.
    pub(crate) const KEYS: [&str; 5] = [
        "initial_window",
        "rto_initial",
        "rto_min",
        "delayed_ack",
        "quick_acks",
    ];
}

/// That the subflows of a connection be in other groups: `{ at, groups }`. Each moves on its next ACK.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Regroup {
    /// From the start of the run.
    pub at: Span,
    /// The group of each subflow.
    pub groups: Vec<u8>,
}

/// How data is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// `tcp`: one path.
    Tcp,
    /// `mptcp`: several subflows.
    Mptcp,
    /// `udp`: packets at a rate, without congestion control.
    Udp,
}

impl Protocol {
    /// As a file calls it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Tcp => "tcp",
            Self::Mptcp => "mptcp",
            Self::Udp => "udp",
        }
    }
}

/// Where a connection runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Between {
    /// On paths that the topology knows by name.
    Set {
        /// `paths = "type1"`: which; `None`: the topology's first.
        name: Option<String>,
        /// `path = 2` or `paths = [2, 1]`: which of them, from 0 here and from 1 in a file; empty: all in their order.
        paths: Vec<u32>,
    },
    /// `from` and `to`: on the shortest paths between two hosts; `from` sends the data.
    Hosts {
        /// The sender of data.
        from: String,
        /// Its receiver.
        to: String,
    },
    /// `pattern = "permutation"`: each host sends to one other and each receives from one, drawn at random.
    Permutation,
    /// `pattern = "random"`: each host sends to one other, drawn at random; no pair of hosts twice.
    Random,
}

/// Which of several paths a subflow takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathChoice {
    /// `in-order`: the first subflow the first path, and so on; after the last the first again.
    InOrder,
    /// `random`: each subflow any path, as by a hash of its ports.
    Random,
}

/// What is sent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Application {
    /// Data without end.
    Endless,
    /// `bytes`: this many bytes, at once.
    Bytes(u64),
    /// `requests = { count, bytes, gap }`: one answer after another on the same connection.
    Requests {
        /// How many.
        count: u32,
        /// The size of each, bytes.
        bytes: u64,
        /// From the end of one to the start of the next.
        gap: Length,
    },
    /// `rate`, and `on` and `off`: data comes at a rate, all the time or in turns.
    Rate {
        /// For TCP bytes of data, for UDP whole packets; while it is on.
        rate: Rate,
        /// When it is on.
        on_off: Option<OnOff>,
    },
}

/// Times of sending and of silence, in turns, beginning with sending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OnOff {
    /// How long it sends.
    pub on: Length,
    /// How long it is silent.
    pub off: Length,
}

/// More connections of the same kind, one after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Arrivals {
    /// How many, the first included.
    pub count: u32,
    /// From the start of one to the start of the next; exponential: a Poisson process.
    pub gap: Length,
}

/// A length of time, given or drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Length {
    /// `"1.2s"`.
    Fixed(Span),
    /// `{ from = "2s", to = "5s" }`: each in between as likely.
    Uniform {
        /// The least.
        from: Span,
        /// The most.
        to: Span,
    },
    /// `{ mean = "1s" }`: exponential.
    Exponential {
        /// The mean.
        mean: Span,
    },
}

/// How an endpoint behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Profile {
    /// `linux`: today's Linux.
    Linux,
    /// `linux-3.14`: Linux 3.14 with MPTCP 0.89, the endpoints of the LISA papers.
    Linux314,
    /// `ns3-newreno`: ns-3's NewReno with delayed acknowledgements, the endpoints of the CSS paper.
    Ns3NewReno,
}

/// When the subflows of a connection join.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathManager {
    /// `fullmesh`: each when its address is known, as Linux's in-kernel path manager does it.
    Fullmesh,
    /// `ndiffports`: all at once when the connection is established, between the same addresses.
    NDiffPorts,
}
