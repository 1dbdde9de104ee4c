//! State of the loaded algorithms: connections, subflows, windows, credits.

use crate::contract::{
    self, lisa_connection, lisa_key, lisa_subflow, lisa_subflow_key, mpcc_phase as phase, mpcc_slot,
};
use crate::holders::{Holders, Socket};
use crate::limits::{Limits, Usage};
use crate::map::{self, Entry};
use crate::namespace::Process;
use crate::registry::Registered;
use crate::totals::{self, Totals};
use crate::{Result, clock};
use libbpf_rs::MapCore;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;

/// Version of the JSON of these types.
pub const SCHEMA: &str = "lisa.kernel.status/3";

/// The line of `lisa kernel status --json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Report {
    /// Version of this JSON: [`SCHEMA`].
    pub schema: &'static str,
    /// The loaded algorithms that match the filter, by name.
    pub algorithms: Vec<Status>,
}

/// One loaded algorithm.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Status {
    /// The name of its registration.
    pub name: String,
    /// The algorithm: the name in the table.
    pub algorithm: String,
    /// Description in a few words.
    pub about: String,
    /// Seconds since it was loaded.
    pub age_s: f64,
    /// Whether it is unloaded, and sockets that have not closed keep it in the kernel.
    pub leaving: bool,
    /// Number of sockets (listeners included) and default settings of network namespaces that use it.
    pub users: u64,
    /// These sockets and namespaces.
    pub holders: Holders,
    /// The process that it was loaded for, if it is to be unloaded when that process has ended.
    pub owner_pid: Option<u32>,
    /// Whether coupling is switched off (`lisa kernel off`).
    pub off: bool,
    /// Bounds.
    pub limits: Limits,
    /// Use of the room within the bounds.
    pub usage: Usage,
    /// Counters since it was loaded.
    pub totals: Totals,
    /// Open MPTCP connections, oldest first.
    pub connections: Vec<Connection>,
}

/// One MPTCP connection.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Connection {
    #[serde(skip)]
    pub(crate) key: lisa_key,
    /// Token at this host, in hexadecimal as `ss` and `ip mptcp monitor` show it (RFC 8684, 3.2).
    pub token: String,
    /// Inode number of the network namespace.
    pub netns: u32,
    /// Name of the network namespace, if it has one.
    pub netns_name: Option<String>,
    /// Seconds since it was established.
    pub age_s: f64,
    /// A process that has a file descriptor of it; `None` if there is none, or if it is not known.
    pub process: Option<Process>,
    /// Subflows, in the order of their slots.
    pub subflows: Vec<Subflow>,
}

/// One subflow.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Subflow {
    /// Slot in the connection.
    pub slot: u32,
    /// Local address; `None` if the map of addresses was full.
    pub local: Option<SocketAddr>,
    /// Remote address; `None` if the map of addresses was full.
    pub remote: Option<SocketAddr>,
    /// `slow start`, `avoidance` or `recovery`; `standby`: a backup with nothing in flight, which is not coupled meanwhile.
    pub phase: &'static str,
    /// Whether it is a backup (RFC 8684, 3.3.8), by a flag of its own endpoint or of the peer's; `None` if its socket was not
    /// listed.
    pub backup: Option<bool>,
    /// Group: subflows of different groups are not coupled.
    pub group: u8,
    /// Requested group; the subflow moves on its next ACK.
    pub group_asked: Option<u8>,
    /// Whether coupling is off for it: it is in a group of its own until coupling is switched on again.
    pub uncoupled: bool,
    #[serde(skip)]
    pub(crate) generation: u16,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow start threshold, segments; `None` before the first loss.
    pub ssthresh: Option<u32>,
    /// Smoothed RTT, microseconds; `None` before the first sample.
    pub srtt_us: Option<f64>,
    /// Segments in flight.
    pub flight: u32,
    /// Number of window reductions.
    pub losses: u32,
    /// Initial window, segments.
    pub initial_cwnd: u32,
    /// Segments of the initial window that it took from another subflow.
    pub credit: u8,
    /// Slot of the subflow that lent the credit.
    pub credit_from: Option<u8>,
    /// Segments taken from this subflow that it has not settled yet.
    pub debit: u32,
    /// Number of credits that it settled.
    pub credits_settled: u16,
    /// Number of credits taken from it that became void, except those whose borrower closed first.
    pub credits_void: u16,
    /// Acknowledged segments that did not increase its window.
    pub segments_ignored: u32,
    /// Bytes sent and acknowledged so far; `None` if its socket was not listed.
    pub bytes_acked: Option<u64>,
    /// Bytes received in order so far; `None` if its socket was not listed.
    pub bytes_received: Option<u64>,
    /// Throughput of sent and acknowledged bytes between the last two listings of sockets, bits/s.
    pub sent_bps: Option<f64>,
    /// Throughput of received bytes between the last two listings of sockets, bits/s.
    pub received_bps: Option<f64>,
}

impl Connection {
    /// Sum over the subflows of one of their throughputs, bits/s; `None` if none is known.
    pub fn sum(&self, throughput: impl Fn(&Subflow) -> Option<f64>) -> Option<f64> {
        let known = self.subflows.iter().filter_map(throughput);
        known.fold(None, |sum, bps| Some(sum.unwrap_or(0.0) + bps))
    }
}

impl Subflow {
    /// Slot and addresses, as text.
    pub fn ends(&self) -> String {
        match (self.local, self.remote) {
            (Some(local), Some(remote)) => format!("{} {local} → {remote}", self.slot),
            _ => format!("{0} slot {0}", self.slot),
        }
    }
}

impl Status {
    /// A line for each holder that is not in the table of connections: namespaces, listeners, unconnected sockets, sockets
    /// without a program.
    pub fn holder_lines(&self) -> Vec<String> {
        let lasting = self.holders.defaults.iter().filter(|default| !default.ends);
        let mut lines: Vec<_> = lasting
            .map(|default| format!("default of {}", default.netns))
            .collect();
        let subflows = self.connections.iter().flat_map(|c| &c.subflows);
        let table: HashSet<_> = subflows.map(|s| (s.local, s.remote)).collect();
        let in_table = |socket: &Socket| table.contains(&(Some(socket.local), Some(socket.remote)));
        for ([what, _], sockets) in self.holders.kinds() {
            let others = sockets.iter().filter(|s| s.orphan || !in_table(s));
            lines.extend(others.map(|socket| match self.leaving && socket.passes_on() {
                true => format!(
                    "{what} {socket}: new connections get this former load until its program starts again"
                ),
                false => format!("{what} {socket}"),
            }));
        }
        lines
    }
}

/// Reads the status of a registered algorithm that has these holders.
pub fn status(registered: &Registered, holders: Holders) -> Result<Status> {
    let now = clock::now();
    let about = mpcc::Algorithm::find(registered.algorithm()).map_or("", |a| a.about());
    let mut connections = connections(registered)?;
    add_sockets(&mut connections, &holders);
    Ok(Status {
        name: registered.name().into(),
        algorithm: registered.algorithm().into(),
        about: about.into(),
        age_s: seconds(now, registered.loaded),
        leaving: registered.is_leaving(),
        users: registered.users(),
        holders,
        owner_pid: registered.owner().map(|owner| owner.pid),
        off: registered.is_off()?,
        limits: registered.limits()?,
        usage: registered.usage()?,
        totals: totals::totals(registered)?,
        connections,
    })
}

/// Adds what the sockets of the subflows have: processes, counters, throughputs.
fn add_sockets(connections: &mut [Connection], holders: &Holders) {
    let sockets = holders.sockets.iter();
    let sockets: HashMap<_, &Socket> = sockets
        .map(|s| ((s.connection, Some(s.local), Some(s.remote)), s))
        .collect();
    for connection in connections {
        for subflow in &mut connection.subflows {
            let end = (connection.key.socket, subflow.local, subflow.remote);
            let Some(socket) = sockets.get(&end) else {
                continue;
            };
            subflow.backup = Some(socket.backup);
            subflow.bytes_acked = Some(socket.bytes_acked);
            subflow.bytes_received = Some(socket.bytes_received);
            subflow.sent_bps = socket.sent_bps;
            subflow.received_bps = socket.received_bps;
            if connection.process.is_none() {
                connection.process.clone_from(&socket.process);
            }
            if connection.netns_name.is_none() {
                connection.netns_name.clone_from(&socket.netns.name);
            }
        }
    }
}

fn seconds(now: u64, then: u64) -> f64 {
    now.saturating_sub(then) as f64 / 1e9
}

/// Number of entries in the map of connections and in the map of subflows: zero of each if no connection is open.
pub fn entries(registered: &Registered) -> (usize, usize) {
    (
        registered.connections.keys().count(),
        registered.subflows.keys().count(),
    )
}

/// Open MPTCP connections, oldest first.
pub(crate) fn connections(registered: &Registered) -> Result<Vec<Connection>> {
    let (now, name) = (clock::now(), registered.name());
    let mut addresses: HashMap<(u32, u32, u32), lisa_subflow> = HashMap::new();
    for Entry { key, value } in map::entries(&registered.subflows, name)? {
        let key: lisa_subflow_key = contract::read(&key);
        let lisa_key { socket, token } = key.connection;
        addresses.insert((socket, token, key.slot), contract::read(&value));
    }
    let mut connections: Vec<(u64, Connection)> = Vec::new();
    for Entry { key, value } in map::entries(&registered.connections, name)? {
        let (key, value): (lisa_key, lisa_connection) =
            (contract::read(&key), contract::read(&value));
        let mut netns = 0;
        let subflows = (0u32..)
            .zip(&value.coupled.slot)
            .filter(|(_, slot)| u32::from(slot.phase) != phase::MPCC_ABSENT)
            .map(|(i, slot)| {
                let known = addresses.get(&(key.socket, key.token, i));
                netns = known.map_or(netns, |known| known.netns);
                subflow(i, slot, known)
            })
            .collect();
        let token = format!("{:08x}", key.token);
        let age_s = seconds(now, value.since);
        connections.push((
            value.since,
            Connection {
                key,
                token,
                netns,
                age_s,
                netns_name: None,
                process: None,
                subflows,
            },
        ));
    }
    connections.sort_by(|a, b| (a.0, &a.1.token).cmp(&(b.0, &b.1.token)));
    Ok(connections
        .into_iter()
        .map(|(_, connection)| connection)
        .collect())
}

fn subflow(i: u32, slot: &mpcc_slot, known: Option<&lisa_subflow>) -> Subflow {
    // SAFETY: both views of the union are plain integers.
    let account = unsafe { slot.account.__bindgen_anon_1 };
    // SAFETY: as above.
    let request = unsafe { slot.request.__bindgen_anon_1 };
    // During a move the subflow is in no group; while coupling is off, it is in one of its own.
    let group = if slot.group <= mpcc::GROUP_MAX {
        slot.group
    } else {
        request.group
    };
    let taken = slot.credit > 0;
    Subflow {
        slot: i,
        local: known.map(|k| contract::address(k.family, &k.local, k.local_port)),
        remote: known.map(|k| contract::address(k.family, &k.remote, k.remote_port)),
        phase: phase_name(slot.phase),
        group,
        group_asked: (request.group != group).then_some(request.group),
        uncoupled: slot.group > mpcc::GROUP_MAX && u32::from(slot.group) != contract::MPCC_NO_GROUP,
        generation: request.generation,
        cwnd: account.cwnd,
        ssthresh: (slot.ssthresh < i32::MAX as u32).then_some(slot.ssthresh),
        srtt_us: (slot.srtt8 > 0).then_some(f64::from(slot.srtt8) / 8.0),
        flight: slot.flight,
        losses: slot.losses,
        initial_cwnd: slot.initial_cwnd,
        credit: slot.credit,
        credit_from: taken.then_some(slot.lender),
        debit: account.debit.into(),
        credits_settled: slot.credits_settled,
        credits_void: slot.credits_void,
        segments_ignored: slot.segments_ignored,
        ..Subflow::default()
    }
}

/// Name of a phase.
pub fn phase_name(phase: u8) -> &'static str {
    match phase.into() {
        phase::MPCC_STANDBY => "standby",
        phase::MPCC_SLOW_START => "slow start",
        phase::MPCC_AVOIDANCE => "avoidance",
        phase::MPCC_RECOVERY => "recovery",
        _ => "absent",
    }
}
