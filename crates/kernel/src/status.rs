//! State of the loaded algorithms: connections, subflows, windows, credits.

use crate::contract::{
    self, lisa_connection, lisa_key, lisa_subflow, lisa_subflow_key, mpcc_phase as phase, mpcc_slot,
};
use crate::{Error, Result, holders::Holders, load, registry::Registered};
use libbpf_rs::libbpf_sys::bpf_map_batch_opts;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use serde::Serialize;
use std::{
    collections::HashMap,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    os::fd::{AsFd, AsRawFd},
    ptr,
};

/// The version of the JSON that these types become.
pub const SCHEMA: &str = "lisa.kernel.status/2";

/// One loaded algorithm.
#[derive(Debug, Serialize)]
pub struct Status {
    /// The name of its registration.
    pub name: String,
    /// The algorithm: the name in the table.
    pub algorithm: String,
    /// What it is, in a few words.
    pub about: String,
    /// Seconds since it was loaded.
    pub age_s: f64,
    /// Unloaded, and kept by sockets that have not closed.
    pub leaving: bool,
    /// How many sockets (listening ones too) and default settings of network namespaces use it.
    pub users: u64,
    /// These sockets and namespaces.
    pub holders: Holders,
    /// The process with whose end it is to be unloaded.
    pub owner_pid: Option<u32>,
    /// Counts since it was loaded.
    pub totals: Totals,
    /// MPTCP connections that are open, oldest first.
    pub connections: Vec<Connection>,
}

/// Counts since the algorithm was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)] // as struct lisa_totals explains them
pub struct Totals {
    pub connections_opened: u64,
    pub connections_closed: u64,
    pub connections_alone: u64,
    pub subflows_opened: u64,
    pub subflows_closed: u64,
    pub subflows_alone: u64,
    pub plain_opened: u64,
    pub plain_closed: u64,
    pub plain_returned: u64,
    pub plain_refused: u64,
    pub credits_taken: u64,
    pub credits_settled: u64,
    pub credits_void: u64,
    pub events_lost: u64,
    /// Map entries that the kernel refused to delete. [`crate::left_over::delete`] deletes them.
    pub deletions_failed: u64,
}

/// One MPTCP connection.
#[derive(Debug, Default, Serialize)]
pub struct Connection {
    #[serde(skip)]
    pub(crate) key: lisa_key,
    /// Its token at this host, in hexadecimal as `ss` and `ip mptcp monitor` show it (RFC 8684, 3.2).
    pub token: String,
    /// The network namespace, by its inode number.
    pub netns: u32,
    /// Seconds since it was established.
    pub age_s: f64,
    /// Its subflows, in the order of their slots.
    pub subflows: Vec<Subflow>,
}

/// One subflow.
#[derive(Debug, Default, Serialize)]
pub struct Subflow {
    /// Its slot in the connection.
    pub slot: u32,
    /// Local address, where there was room to keep it.
    pub local: Option<SocketAddr>,
    /// Remote address, where there was room to keep it.
    pub remote: Option<SocketAddr>,
    /// `slow start`, `avoidance` or `recovery`.
    pub phase: &'static str,
    /// Its group: subflows of different groups are not coupled.
    pub group: u8,
    /// The group that is requested for it; it moves on its next ACK.
    pub group_asked: Option<u8>,
    #[serde(skip)]
    pub(crate) generation: u16,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Slow start threshold, segments; none before the first loss.
    pub ssthresh: Option<u32>,
    /// Smoothed RTT, microseconds; none before the first sample.
    pub srtt_us: Option<f64>,
    /// Segments in flight.
    pub flight: u32,
    /// Window reductions.
    pub losses: u32,
    /// Initial window, segments.
    pub initial_cwnd: u32,
    /// Segments of it that it took from another subflow.
    pub credit: u8,
    /// The slot of that subflow.
    pub credit_from: Option<u8>,
    /// Segments taken from this subflow that it has not yet paid.
    pub debit: u32,
    /// Credits that it paid.
    pub credits_settled: u16,
    /// Credits taken from it that became void, except those whose borrower closed first.
    pub credits_void: u16,
    /// Acknowledged segments that did not grow its window.
    pub segments_ignored: u32,
}

impl Subflow {
    /// Its slot and its addresses.
    pub fn ends(&self) -> String {
        match (self.local, self.remote) {
            (Some(local), Some(remote)) => format!("{} {local} → {remote}", self.slot),
            _ => format!("{0} slot {0}", self.slot),
        }
    }
}

/// Looks at a registered algorithm, which these hold.
pub fn status(registered: &Registered, holders: Holders) -> Result<Status> {
    let now = load::now();
    let about = mpcc::Algorithm::find(registered.algorithm()).map_or("", |a| a.about());
    Ok(Status {
        name: registered.name().into(),
        algorithm: registered.algorithm().into(),
        about: about.into(),
        age_s: seconds(now, registered.loaded),
        leaving: registered.is_leaving(),
        users: registered.users(),
        holders,
        owner_pid: registered.owner().map(|owner| owner.pid),
        totals: totals(registered)?,
        connections: connections(registered)?,
    })
}

fn seconds(now: u64, then: u64) -> f64 {
    now.saturating_sub(then) as f64 / 1e9
}

/// Counts since the algorithm was loaded.
pub fn totals(registered: &Registered) -> Result<Totals> {
    let value = registered
        .totals
        .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
        .map_err(Error::bpf(format!("`{}`: totals", registered.name())))?
        .unwrap_or_default();
    let t: contract::lisa_totals = contract::read(&value);
    Ok(Totals {
        connections_opened: t.connections_opened,
        connections_closed: t.connections_closed,
        connections_alone: t.connections_alone,
        subflows_opened: t.subflows_opened,
        subflows_closed: t.subflows_closed,
        subflows_alone: t.subflows_alone,
        plain_opened: t.plain_opened,
        plain_closed: t.plain_closed,
        plain_returned: t.plain_returned,
        plain_refused: t.plain_refused,
        credits_taken: t.credits_taken,
        credits_settled: t.credits_settled,
        credits_void: t.credits_void,
        events_lost: t.events_lost,
        deletions_failed: t.deletions_failed,
    })
}

/// The entries in the maps of connections and of subflows: zero of each when nothing is open.
pub fn entries(registered: &Registered) -> (usize, usize) {
    (
        registered.connections.keys().count(),
        registered.subflows.keys().count(),
    )
}

/// MPTCP connections that are open, oldest first.
pub(crate) fn connections(registered: &Registered) -> Result<Vec<Connection>> {
    let (now, name) = (load::now(), registered.name());
    let mut addresses: HashMap<([u8; 16], u32), lisa_subflow> = HashMap::new();
    for (key, value) in all_entries(&registered.subflows, name)? {
        let key: lisa_subflow_key = contract::read(&key);
        addresses.insert(
            (identity(&key.connection), key.slot),
            contract::read(&value),
        );
    }
    let mut connections: Vec<(u64, Connection)> = Vec::new();
    for (key, value) in all_entries(&registered.connections, name)? {
        let (key, value): (lisa_key, lisa_connection) =
            (contract::read(&key), contract::read(&value));
        let mut netns = 0;
        let subflows = (0u32..)
            .zip(&value.coupled.slot)
            .filter(|(_, slot)| u32::from(slot.phase) != phase::MPCC_ABSENT)
            .map(|(i, slot)| {
                let known = addresses.get(&(identity(&key), i));
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

fn identity(key: &lisa_key) -> [u8; 16] {
    contract::bytes(key).try_into().expect("16 bytes")
}

/// The entries of a hash map that others change meanwhile, up to a thousand at a call.
///
/// (The iterator of libbpf-rs 0.27 takes a batch that is not full for the last one, and an error for the end. But the kernel
/// hands out whole buckets, and ends a batch before one that does not fit.)
pub(crate) fn all_entries(map: &MapHandle, name: &str) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    const AT_A_TIME: usize = 1024;
    let (key, value) = (map.key_size() as usize, map.value_size() as usize);
    let mut keys = vec![0u8; key * AT_A_TIME];
    let mut values = vec![0u8; value * AT_A_TIME];
    let (mut from, mut to): (Option<u32>, u32) = (None, 0); // buckets
    let options = bpf_map_batch_opts {
        sz: size_of::<bpf_map_batch_opts>() as _,
        ..Default::default()
    };
    let mut entries = Vec::new();
    loop {
        let mut count = AT_A_TIME as u32;
        let start = from.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
        // SAFETY: there is room for as many keys and values as `count` says, and a hash map's position is a u32.
        let result = unsafe {
            libbpf_rs::libbpf_sys::bpf_map_lookup_batch(
                map.as_fd().as_raw_fd(),
                start.cast(),
                (&raw mut to).cast(),
                keys.as_mut_ptr().cast(),
                values.as_mut_ptr().cast(),
                &mut count,
                &options,
            )
        };
        let last = result == -libc::ENOENT;
        if result == -libc::EINTR {
            continue;
        }
        if result < 0 && !last {
            let error = std::io::Error::from_raw_os_error(-result);
            return Err(Error::io(format!("`{name}`: entries"))(error));
        }
        let found = keys.chunks(key).zip(values.chunks(value));
        entries.extend(
            found
                .take(count as usize)
                .map(|(k, v)| (k.to_vec(), v.to_vec())),
        );
        if last {
            return Ok(entries);
        }
        from = Some(to);
    }
}

fn subflow(i: u32, slot: &mpcc_slot, known: Option<&lisa_subflow>) -> Subflow {
    // SAFETY: both views of the union are plain integers.
    let account = unsafe { slot.account.__bindgen_anon_1 };
    // SAFETY: as above.
    let request = unsafe { slot.request.__bindgen_anon_1 };
    // In the middle of a move it is in no group.
    let group = if slot.group <= mpcc::GROUP_MAX {
        slot.group
    } else {
        request.group
    };
    let taken = slot.credit > 0;
    Subflow {
        slot: i,
        local: known.map(|k| address(k.family, &k.local, k.local_port)),
        remote: known.map(|k| address(k.family, &k.remote, k.remote_port)),
        phase: phase_name(slot.phase),
        group,
        group_asked: (request.group != group).then_some(request.group),
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
    }
}

/// A phase in words.
pub fn phase_name(phase: u8) -> &'static str {
    match phase.into() {
        phase::MPCC_STANDBY => "standby",
        phase::MPCC_SLOW_START => "slow start",
        phase::MPCC_AVOIDANCE => "avoidance",
        phase::MPCC_RECOVERY => "recovery",
        _ => "absent",
    }
}

pub(crate) fn address(family: u16, bytes: &[u8; 16], port: u16) -> SocketAddr {
    let ip = if i32::from(family) == libc::AF_INET6 {
        IpAddr::V6(Ipv6Addr::from(*bytes)).to_canonical()
    } else {
        IpAddr::V4(Ipv4Addr::new(bytes[0], bytes[1], bytes[2], bytes[3]))
    };
    SocketAddr::new(ip, port)
}

#[cfg(test)]
mod tests {
    use super::*;
    use libbpf_rs::MapType;

    /// Nearly as many entries as buckets: many have several, and batches end short of them.
    #[test]
    fn all_entries_of_a_large_map() {
        if !nix::unistd::geteuid().is_root() {
            return eprintln!("skipped: making BPF maps needs root");
        }
        const ENTRIES: u32 = 4096;
        let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as _,
            ..Default::default()
        };
        let map = MapHandle::create(MapType::Hash, Some("t_entries"), 4, 4, ENTRIES, &options);
        let map = map.unwrap();
        for size in [0, 1, 1023, 1024, 1025, ENTRIES] {
            for i in 0..size {
                let (key, value) = (i.to_ne_bytes(), (!i).to_ne_bytes());
                map.update(&key, &value, MapFlags::ANY).unwrap();
            }
            let mut found: Vec<u32> = all_entries(&map, "t")
                .unwrap()
                .iter()
                .map(|(key, value)| {
                    let [key, value]: [u32; 2] =
                        [key, value].map(|bytes| u32::from_ne_bytes(bytes[..].try_into().unwrap()));
                    assert_eq!(value, !key);
                    key
                })
                .collect();
            found.sort_unstable();
            assert_eq!(found, Vec::from_iter(0..size));
        }
    }
}
