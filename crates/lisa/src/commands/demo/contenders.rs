//! The contenders and the bottlenecks of the demo.

use std::fmt;

use netsim::{Rate, Span};
use scenario::{Application, ConnectionSpec, Length, Protocol, Scenario, Size};
use topology::{Properties, Queue, SharedBottleneck, Spec};

/// A protocol with an algorithm.
pub struct Contender {
    pub name: &'static str,
    /// A phrase for the report.
    pub about: &'static str,
    protocol: Protocol,
    algorithm: &'static str,
}

/// The contenders, in the order of the tables.
pub const CONTENDERS: [Contender; 4] = [
    Contender {
        name: "TCP CUBIC",
        about: "one path, the default of Linux",
        protocol: Protocol::Tcp,
        algorithm: "cubic",
    },
    Contender {
        name: "MPTCP CUBIC",
        about: "MPTCP as distributions ship it: TCP CUBIC on each subflow, uncoupled",
        protocol: Protocol::Mptcp,
        algorithm: "cubic",
    },
    Contender {
        name: "MPTCP LIA",
        about: "MPTCP of the papers: uncoupled slow start, then LIA (RFC 6356)",
        protocol: Protocol::Mptcp,
        algorithm: "lia",
    },
    Contender {
        name: "LISA",
        about: "linked slow start, then LIA",
        protocol: Protocol::Mptcp,
        algorithm: "lisa",
    },
];

/// Number of the contender with which LISA is compared.
pub const BASELINE: usize = 2;
/// Number of LISA among the contenders.
pub const LISA: usize = 3;

/// Size of the transfer, bytes (ICC 2016, figure 1).
pub const BYTES: u64 = 300_000;

/// Number of paths from the server to the client.
const PATHS: u32 = 2;

/// Share of the RTT within which each seed draws it: at one fixed RTT the mean of runs says little.
const RTT_SPREAD: f64 = 0.1;

/// Receive buffer, bytes. Large enough not to limit the windows: with Linux's default a sender has at most about 45 segments
/// in flight.
pub const RECEIVE_WINDOW: u64 = 4 << 20;

/// A bottleneck of the papers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bottleneck {
    kbits: u64,
    rtt_ms: u64,
    /// Packets.
    queue: u32,
}

/// The two bottlenecks of the paper, each with its three queues (ICC 2016, sections II and V).
pub fn bottlenecks() -> Vec<Bottleneck> {
    let paths = [(2_500, 70), (5_000, 40)];
    let queues = [9, 17, 30];
    paths
        .into_iter()
        .flat_map(|(kbits, rtt_ms)| {
            queues.map(|queue| Bottleneck {
                kbits,
                rtt_ms,
                queue,
            })
        })
        .collect()
}

impl fmt::Display for Bottleneck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = self.kbits as f64 / 1e3;
        write!(f, "{rate} Mbit/s, {} ms, queue {}", self.rtt_ms, self.queue)
    }
}

impl Bottleneck {
    /// The transfer of a contender over this bottleneck.
    pub fn scenario(&self, contender: &Contender) -> Scenario {
        let rtt = Span::from_millis(self.rtt_ms);
        let rate = Rate::from_bits_per_second(self.kbits * 1000);
        let queue = Queue::DropTailPackets(self.queue);
        Scenario {
            title: format!("300 KB, {self}"),
            topology: Spec::SharedBottleneck(SharedBottleneck {
                bottleneck: Properties::shaped(rate, queue, Span::ZERO),
                rtts: vec![rtt; PATHS as usize],
                access: None,
            }),
            stop: Span::from_secs(60),
            warmup: Span::ZERO,
            path_names: Vec::new(),
            rtt_spread: RTT_SPREAD,
            rate_phase: Length::Fixed(Span::ZERO),
            connections: vec![ConnectionSpec {
                name: contender.name.into(),
                protocol: contender.protocol,
                algorithm: contender.algorithm.into(),
                subflows: match contender.protocol {
                    Protocol::Mptcp => PATHS,
                    Protocol::Tcp | Protocol::Udp => 1,
                },
                application: Application::Bytes(Size::Fixed(BYTES)),
                receive_window: Some(RECEIVE_WINDOW),
                ..Default::default()
            }],
        }
    }
}
