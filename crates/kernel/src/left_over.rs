//! Entries of connections whose sockets are gone.
//!
//! A connection's entry is deleted when the last of its subflows closes. Linux rarely frees a subflow without calling `release`
//! (docs/notes/kernel.md, Sockets), and it may refuse a deletion: a hash map returns -EBUSY before Linux 6.15 if the deletion
//! interrupts another operation on the same bucket, later kernels -ETIMEDOUT. [`delete`] deletes these entries, so that they do not
//! fill the maps of a server that runs for months.

use crate::contract::{self, lisa_connection, lisa_key, lisa_subflow, lisa_subflow_key};
use crate::holders::{self, Found};
use crate::map::{self, Entry};
use crate::requests::Requests;
use crate::{Result, clock, registry::Registered, totals};
use libbpf_rs::MapCore;
use std::collections::HashSet;

/// Least age of a deleted entry, ns. The socket of a younger entry may be newer than the list of sockets.
const AGE: u64 = 10_000_000_000;

/// Number of listings of the sockets. A listing takes no lock and may lack a socket whose neighbour in the hash table changes at
/// that moment. A connection whose entry is deleted by mistake continues uncoupled.
const LISTINGS: u32 = 3;

/// Makes room in the maps: deletes the entries of connections without a socket, in `found` and in further listings, the entries of subflows without
/// a connection, and surplus entries of network namespaces. Returns the number of connections. Needs root.
///
/// # Errors
/// The kernel's, if entries or sockets cannot be listed.
pub fn delete(registered: &Registered, found: &Found) -> Result<usize> {
    totals::make_room(registered)?;
    let mut candidates = without_socket(registered, found)?;
    for _ in 1..LISTINGS {
        if candidates.is_empty() {
            break;
        }
        let again = without_socket(registered, &holders::find()?)?;
        candidates.retain(|key| again.contains(key));
    }
    // A subflow's entry is created after its connection's entry and deleted before it. Subflows are listed first, so that the
    // connection of every listed subflow is listed, too, unless it has closed.
    let subflows = map::entries(&registered.subflows, registered.name())?;
    let entries = map::entries(&registered.connections, registered.name())?;
    let alive: HashSet<Vec<u8>> = entries
        .into_iter()
        .map(|entry| entry.key)
        .filter(|key| !candidates.contains(key))
        .collect();
    for Entry { key, value } in subflows {
        let (subflow, since) = (
            contract::read::<lisa_subflow_key>(&key),
            contract::read::<lisa_subflow>(&value).since,
        );
        if is_old(since) && !alive.contains(contract::bytes(&subflow.connection)) {
            let _ = registered.subflows.delete(&key); // the subflow may have closed just now
        }
    }
    if candidates.is_empty() {
        return Ok(0);
    }
    let requests = Requests::load(registered, None)?;
    let mut deleted = 0;
    for key in candidates {
        let key = contract::read::<lisa_key>(&key);
        deleted += requests.run(&requests.delete_connection, key)? as usize;
    }
    Ok(deleted)
}

fn is_old(since: u64) -> bool {
    clock::now().saturating_sub(since) > AGE
}

/// Keys of the connections without a socket in `found`; none if `found` is incomplete.
fn without_socket(registered: &Registered, found: &Found) -> Result<HashSet<Vec<u8>>> {
    if !found.is_complete() {
        return Ok(HashSet::new());
    }
    let sockets: HashSet<u64> = found.connections(registered).collect();
    let entries = map::entries(&registered.connections, registered.name())?;
    let old = entries.into_iter().filter(|entry| {
        let key: lisa_key = contract::read(&entry.key);
        let value: lisa_connection = contract::read(&entry.value);
        is_old(value.since) && !sockets.contains(&key.socket)
    });
    Ok(old.map(|entry| entry.key).collect())
}
