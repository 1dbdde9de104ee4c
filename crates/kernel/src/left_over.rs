//! Entries of connections and subflows whose sockets are gone.
//!
//! A connection's entry is deleted when the last of its subflows closes. Linux rarely frees a subflow without calling `release`
//! (docs/notes/kernel.md, Sockets), and it may refuse a deletion: a hash map returns -EBUSY before Linux 6.15 if the deletion
//! interrupts another operation on the same bucket, later kernels -ETIMEDOUT. [`delete`] deletes these entries, so that they do not
//! fill the maps of a server that runs for months, and removes such a subflow from the sums of its connection.

use crate::contract::{self, lisa_connection, lisa_key, lisa_subflow, lisa_subflow_key};
use crate::holders::{self, Found};
use crate::map::{self, Entry};
use crate::requests::Requests;
use crate::{Result, clock, registry::Registered, totals};
use libbpf_rs::MapCore;
use std::collections::HashSet;
use std::net::SocketAddr;

/// Least age of a deleted entry, ns. The socket of a younger entry may be newer than the list of sockets.
const AGE: u64 = 10_000_000_000;

/// Number of listings of the sockets. A listing takes no lock and may lack a socket whose neighbour in the hash table changes at
/// that moment. A connection whose entry is deleted by mistake continues uncoupled; a subflow that is removed by mistake returns with
/// its next ACK.
const LISTINGS: u32 = 3;

/// Entries without a socket.
#[derive(Default)]
struct LeftOver {
    /// Keys of connections none of whose subflows has a socket.
    connections: HashSet<Vec<u8>>,
    /// Keys of subflows without a socket, of connections that have one, and of subflows without a connection.
    subflows: HashSet<Vec<u8>>,
}

impl LeftOver {
    fn is_empty(&self) -> bool {
        self.connections.is_empty() && self.subflows.is_empty()
    }

    fn retain_those_in(&mut self, other: &Self) {
        self.connections
            .retain(|key| other.connections.contains(key));
        self.subflows.retain(|key| other.subflows.contains(key));
    }
}

/// Makes room in the maps: deletes the entries of connections and subflows without a socket, in `found` and in further listings, and
/// surplus entries of network namespaces. Returns the number of connections. Needs root.
///
/// # Errors
/// The kernel's, if entries or sockets cannot be listed.
pub fn delete(registered: &Registered, found: &Found) -> Result<usize> {
    totals::make_room(registered)?;
    let mut left = without_socket(registered, found)?;
    for _ in 1..LISTINGS {
        if left.is_empty() {
            return Ok(0);
        }
        left.retain_those_in(&without_socket(registered, &holders::find()?)?);
    }
    let requests = Requests::load(registered, None)?;
    for key in left.subflows {
        requests.run(
            &requests.remove_subflow,
            contract::read::<lisa_subflow_key>(&key),
        )?;
        let _ = registered.subflows.delete(&key); // the subflow may have closed just now
    }
    let mut deleted = 0;
    for key in left.connections {
        let key = contract::read::<lisa_key>(&key);
        deleted += requests.run(&requests.delete_connection, key)? as usize;
    }
    Ok(deleted)
}

/// Whether there is no entry that [`delete`] could delete.
pub(crate) fn is_empty(registered: &Registered) -> bool {
    let mut keys = registered
        .connections
        .keys()
        .chain(registered.subflows.keys());
    keys.next().is_none()
}

fn is_old(since: u64) -> bool {
    clock::now().saturating_sub(since) > AGE
}

/// `socket` of its connection's key, and a subflow's addresses.
type End = (u32, SocketAddr, SocketAddr);

/// Entries without a socket in `found`; none if `found` is incomplete.
fn without_socket(registered: &Registered, found: &Found) -> Result<LeftOver> {
    if !found.is_complete() {
        return Ok(LeftOver::default());
    }
    let ends: HashSet<End> = found
        .sockets(registered)
        .map(|socket| (socket.connection, socket.local, socket.remote))
        .collect();
    let open: HashSet<u32> = ends.iter().map(|(connection, ..)| *connection).collect();
    // A subflow's entry is created after its connection's entry and deleted before it. Subflows are listed first, so that the
    // connection of every listed subflow is listed, too, unless it has closed.
    let subflows = map::entries(&registered.subflows, registered.name())?;
    let connections = map::entries(&registered.connections, registered.name())?;
    let mut left = LeftOver::default();
    for Entry { key, value } in &connections {
        let since = contract::read::<lisa_connection>(value).since;
        if is_old(since) && !open.contains(&contract::read::<lisa_key>(key).socket) {
            left.connections.insert(key.clone());
        }
    }
    for Entry { key, value } in subflows {
        let subflow: lisa_subflow = contract::read(&value);
        let socket = contract::read::<lisa_subflow_key>(&key).connection.socket;
        let end = (
            socket,
            contract::address(subflow.family, &subflow.local, subflow.local_port),
            contract::address(subflow.family, &subflow.remote, subflow.remote_port),
        );
        if is_old(subflow.since) && !ends.contains(&end) {
            left.subflows.insert(key);
        }
    }
    Ok(left)
}
