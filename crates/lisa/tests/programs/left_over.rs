//! Entries of connections and subflows whose sockets are gone are deleted; those that have a socket stay.

use crate::support::bpf::map;
use crate::support::stream::{carry, exchange, open, serve};
use crate::support::world::World;
use crate::support::{Loaded, able, content, until};
use kernel::contract::{lisa_connection, lisa_subflow, lisa_subflow_key};
use kernel::{holders, left_over, status};
use libbpf_rs::{MapCore, MapFlags};

/// Writes the time at which the connection was established, ns since the boot.
fn set_since(entry: &mut [u8], since: u64) {
    const SINCE: usize = std::mem::offset_of!(lisa_connection, since);
    entry[SINCE..][..8].copy_from_slice(&since.to_ne_bytes());
}

/// Writes the same time of a subflow.
fn set_subflow_since(entry: &mut [u8], since: u64) {
    const SINCE: usize = std::mem::offset_of!(lisa_subflow, since);
    entry[SINCE..][..8].copy_from_slice(&since.to_ne_bytes());
}

#[test]
fn entries_without_a_socket_are_deleted() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::new(2));
    let listener = serve(&world, loaded.name());
    let (client, server) = open(&world, &listener, loaded.name(), None);
    let bytes = content(100_000, 1);
    carry(&client, &server, &bytes);
    let before = status::entries(&loaded).0;
    assert_eq!(before, 2, "both ends are on this host");

    // Entries as a lost socket leaves them, with a key that no socket has, and of the greatest age.
    let map = map(&loaded, "connections");
    let keys: Vec<_> = map.keys().collect();
    for key in &keys {
        let mut value = map.lookup(key, MapFlags::ANY).unwrap().expect("an entry");
        set_since(&mut value, 0);
        map.update(key, &value, MapFlags::EXIST).expect("an update");
        let mut lost = key.clone();
        lost[0] ^= 1; // of an address that no object has
        map.update(&lost, &value, MapFlags::NO_EXIST)
            .expect("an entry");
    }
    // Entries of subflows of these connections, and (with another first byte) of connections without an entry.
    let subflows = self::map(&loaded, "subflows");
    for key in subflows.keys().collect::<Vec<_>>() {
        let mut value = subflows
            .lookup(&key, MapFlags::ANY)
            .unwrap()
            .expect("an entry");
        set_subflow_since(&mut value, 0);
        for other in 0..3 {
            let mut key = key.clone();
            key[0] ^= other;
            subflows
                .update(&key, &value, MapFlags::ANY)
                .expect("an update");
        }
    }
    assert_eq!(status::entries(&loaded), (4, 6));
    let found = holders::find().expect("the sockets");
    assert_eq!(left_over::delete(&loaded, &found).expect("a sweep"), 2);
    assert_eq!(status::entries(&loaded), (2, 2));
    let left: Vec<_> = map.keys().collect();
    assert_eq!(left.len(), 2, "{left:?}");
    assert!(left.iter().all(|key| keys.contains(key)), "{left:?}");
    assert_eq!(left_over::delete(&loaded, &found).expect("a sweep"), 0);

    // A young entry stays without a socket in the list: its socket may be younger than the list.
    let mut value = map
        .lookup(&keys[0], MapFlags::ANY)
        .unwrap()
        .expect("an entry");
    set_since(&mut value, u64::MAX); // later than any time of its look
    let mut young = keys[0].clone();
    young[0] ^= 1;
    map.update(&young, &value, MapFlags::ANY).expect("an entry");
    assert_eq!(left_over::delete(&loaded, &found).expect("a sweep"), 0);
    map.delete(&young).expect("an entry");

    // The connections stay coupled, and close.
    carry(&client, &server, &bytes);
    assert_eq!(status::entries(&loaded).0, 2);
    drop((client, server));
    // The entries that this test added were closed and not opened.
    until("all are closed", || status::entries(&loaded) == (0, 0));
    let totals = loaded.totals();
    assert_eq!(
        (totals.connections_swept, totals.connections_closed),
        (2, 4)
    );
    assert_eq!((totals.connections_opened, totals.subflows_opened), (2, 2));
}

#[test]
fn a_subflow_without_a_socket_leaves_its_group() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(2));
    let listener = serve(&world, loaded.name());
    let (client, server) = open(&world, &listener, loaded.name(), None);
    exchange(&client, &server, &content(10_000, 2));
    let slots = || {
        let status = loaded.status();
        let mut slots: Vec<_> = status
            .connections
            .iter()
            .map(|c| c.subflows.len())
            .collect();
        slots.sort_unstable();
        slots
    };
    until("joins", || slots() == [2, 2]);
    let found = holders::find().expect("the sockets");
    assert_eq!(left_over::delete(&loaded, &found).expect("a sweep"), 0);
    assert_eq!(slots(), [2, 2], "each has a socket");

    // The second subflow of one connection: with a port that no socket has, and of the greatest age.
    const PORT: usize = std::mem::offset_of!(lisa_subflow, local_port);
    const SLOT: usize = std::mem::offset_of!(lisa_subflow_key, slot);
    let map = map(&loaded, "subflows");
    let key = map.keys().find(|key| key[SLOT] == 1).expect("a second one");
    let mut value = map.lookup(&key, MapFlags::ANY).unwrap().expect("an entry");
    set_subflow_since(&mut value, 0);
    value[PORT] ^= 1;
    map.update(&key, &value, MapFlags::EXIST)
        .expect("an update");
    assert_eq!(left_over::delete(&loaded, &found).expect("a sweep"), 0);
    assert_eq!(slots(), [1, 2]);
    assert_eq!(status::entries(&loaded), (2, 3));

    // Its socket exists here, so that it returns when it receives an ACK.
    until("it returns", || {
        exchange(&client, &server, &content(400_000, 3));
        slots() == [2, 2]
    });
    drop((client, server));
    until("all are closed", || status::entries(&loaded) == (0, 0));
    assert_eq!(loaded.totals().deletions_failed, 0);
}
