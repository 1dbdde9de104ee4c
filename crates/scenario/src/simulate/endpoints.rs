//! Endpoints in the simulator.

/// Endpoints of a flow, by their number in the simulation.
#[derive(Clone, Copy)]
pub(super) enum Endpoints {
    /// A connection of TCP or MPTCP.
    Connection(usize),
    /// A source of UDP and its sink.
    Udp(usize),
}
