//! What is to be simulated.

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

/// A connection to be simulated: the client opens it, the server sends.
#[derive(Debug)]
pub struct ConnectionSpec {
    /// The endpoints' behaviour.
    pub profile: Profile,
    /// Congestion control.
    pub algorithm: Algorithm,
    /// Its settings.
    pub settings: Settings,
    /// Whether it speaks MPTCP; without, there is one subflow.
    pub mptcp: bool,
    /// Each subflow's routes: data's, and that of what the client sends.
    pub routes: Vec<(RouteId, RouteId)>,
    /// When the first SYN is sent.
    pub start: Time,
    /// What is sent.
    pub application: Application,
    /// Where the application looks whether it can write, in the time between two looks ([`Profile::looks`]).
    pub phase: Span,
    /// Bytes of a full IP packet.
    pub packet: u16,
    /// The receive buffer, bytes; none: the profile's, which grows.
    pub receive_window: Option<u32>,
    /// Who opens further subflows.
    pub path_manager: PathManager,
    /// How long the client waits with a join that it could make.
    pub join_delay: Span,
    /// Whether the endpoints use ECN (RFC 3168).
    pub ecn: bool,
    /// The initial slow start threshold, segments; none: no bound.
    pub ssthresh: Option<u32>,
    /// Each subflow's group, within which it is coupled; those beyond the list are in group 0.
    pub groups: Vec<u8>,
    /// Which subflows are backups (RFC 8684, 3.3.8); those beyond the list are not. The path manager's end asks for it in the
    /// handshake of the join, as the flag of its endpoint says (Linux: MPTCP_PM_ADDR_FLAG_BACKUP).
    pub backup: Vec<bool>,
}
