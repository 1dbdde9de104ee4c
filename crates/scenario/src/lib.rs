//! What to run ([`Scenario`]), and what every backend returns of it ([`Outcome`], [`trace`]).

pub mod draw;
pub mod outcome;
pub mod statistics;
mod topology;
pub mod trace;

pub use outcome::Outcome;
pub use topology::{Path, Shaping, Topology};

use netsim::Span;

/// A network and what runs on it.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// What it is, for people.
    pub title: String,
    /// The links.
    pub topology: Topology,
    /// When to give up.
    pub stop: Span,
    /// The endpoints' receive buffers, in bytes; `None` leaves the kernel's own.
    pub receive_window: Option<u32>,
    /// What runs, all at the same time.
    pub connections: Vec<Connection>,
}

impl Scenario {
    /// The scenario with what this seed draws: round-trip times within 10 % of those given.
    #[must_use]
    pub fn drawn(&self, seed: u64) -> Scenario {
        let mut scenario = self.clone();
        let factor = draw::rtt_factor(seed);
        scenario.topology.map_rtts(|rtt| draw::scaled(rtt, factor));
        scenario
    }
}

/// One transfer, from the server to the client.
#[derive(Clone, Debug)]
pub struct Connection {
    /// What to call it.
    pub name: String,
    /// How it is carried.
    pub protocol: Protocol,
    /// The congestion control: a name in `lisa`'s table, or one of the endpoint's own.
    pub algorithm: String,
    /// How much, in bytes.
    pub bytes: u64,
}

/// How data is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// One path.
    Tcp,
    /// A subflow on each path.
    Mptcp,
}
