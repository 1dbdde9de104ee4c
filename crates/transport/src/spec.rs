//! Specification of a connection.

use crate::application::Application;
use crate::profile::Profile;
use mpcc::{Algorithm, Settings};
use netsim::{RouteId, Span, Time};
use serde::{Deserialize, Serialize};

/// Origin of the addresses of further subflows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum PathManager {
    /// The server announces its addresses, and the client joins them (Linux: `signal` endpoints; `fullmesh`).
    Announced,
    /// The client opens all subflows to the first address when the first data arrives (Linux: `subflow` endpoints;
    /// `ndiffports`).
    Client,
}

/// Routes of a subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowRoutes {
    /// From the server, which sends the data, to the client.
    pub to_client: RouteId,
    /// From the client to the server.
    pub to_server: RouteId,
}

/// A connection: the client opens it, the server sends.
#[derive(Debug)]
pub struct ConnectionSpec {
    /// Behaviour of both endpoints.
    pub profile: Profile,
    /// Congestion control.
    pub algorithm: Algorithm,
    /// Settings of the congestion control.
    pub settings: Settings,
    /// Whether the connection is MPTCP; without MPTCP only the first of the routes is used.
    pub mptcp: bool,
    /// Routes of each subflow.
    pub routes: Vec<SubflowRoutes>,
    /// Time of the first SYN.
    pub start: Time,
    /// Data that the server sends.
    pub application: Application,
    /// Phase of the host's clocks: offset of the application's polls in a poll interval ([`Profile::poll_interval`]),
    /// and of millisecond timestamps.
    pub phase: Span,
    /// Size of a full IP packet, bytes.
    pub packet: u16,
    /// Receive buffer, bytes; none: the profile's, which grows.
    pub receive_window: Option<u32>,
    /// Who opens further subflows.
    pub path_manager: PathManager,
    /// Delay of the client's joins.
    pub join_delay: Span,
    /// Whether the endpoints use ECN (RFC 3168).
    pub ecn: bool,
    /// Initial slow start threshold, segments; none: unlimited.
    pub ssthresh: Option<u32>,
    /// Group of each subflow; subflows beyond the list are in group 0. Coupling acts within a group.
    pub groups: Vec<u8>,
    /// Whether each subflow is a backup (RFC 8684, 3.3.8); subflows beyond the list are not. The end that manages the
    /// paths requests it in the handshake of the join (Linux: MPTCP_PM_ADDR_FLAG_BACKUP).
    pub backup: Vec<bool>,
}
