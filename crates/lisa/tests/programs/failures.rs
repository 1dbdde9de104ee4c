//! Paths that fail: a backup takes over, a subflow times out at both ends, a join is never answered, all paths fail and the
//! hosts are deleted. All state of the subflows is freed.

use crate::support::stream::{carry, exchange, open, serve};
use crate::support::world::{World, client_address, ip, mptcp};
use crate::support::{Loaded, able, content, until};
use kernel::load::Options;
use std::fs;
use std::io::Write;

/// An algorithm with state in the socket, and one with state in socket storage (BPF_MAP_TYPE_SK_STORAGE).
const ALGORITHMS: [&str; 2] = ["lisa", "hystartpp_cubic"];

/// The subflows of each connection, the least number first.
fn subflows(loaded: &Loaded) -> Vec<usize> {
    let connections = loaded.status().connections.into_iter();
    let mut subflows: Vec<_> = connections.map(|c| c.subflows.len()).collect();
    subflows.sort_unstable();
    subflows
}

/// Bytes that the client has sent over a link (the tenth column of `/proc/net/dev`).
fn sent(world: &World, link: u32) -> u64 {
    let table = world
        .client
        .run(|| fs::read_to_string("/proc/thread-self/net/dev"))
        .expect("devices");
    let device = format!("c{link}:");
    let line = table.lines().find(|line| line.contains(&device));
    let mut columns = line.expect("a device").split_whitespace();
    columns.nth(9).expect("a column").parse().expect("a number")
}

#[test]
fn a_backup_takes_over_from_a_path_that_fails() {
    if !able() {
        return;
    }
    const BYTES: usize = 3_000_000;
    for algorithm in ALGORITHMS {
        let loaded = Loaded::with(algorithm, Options::default());
        let world = World::impatient(2);
        let listener = serve(&world, loaded.name());
        let (client, server) = open(&world, &listener, loaded.name(), None);
        exchange(&client, &server, b"established");
        let backup = format!("endpoint add {} dev c1 subflow backup", client_address(1));
        mptcp(&world.client, &backup);
        until("two subflows", || subflows(&loaded) == [2, 2]);

        let before = sent(&world, 1);
        let bytes = content(BYTES, 40);
        carry(&client, &server, &bytes);
        // The backup is not counted in its group, and has taken no segments from the other subflow.
        let connections = loaded.status().connections.into_iter();
        let phases = connections.map(|c| c.subflows.iter().map(|s| s.phase).collect::<Vec<_>>());
        for phases in phases {
            let of = |phase| phases.iter().filter(|other| **other == phase).count();
            assert_eq!(of("standby"), 1, "{algorithm}: {phases:?}");
        }
        assert_eq!(loaded.totals().credits_taken, 0, "{algorithm}");
        let idle = sent(&world, 1) - before;
        assert!(
            idle < BYTES as u64 / 10,
            "{algorithm}: a backup that is not needed sent {idle} bytes"
        );

        ip(&world.server, "link set s0 down");
        let bytes = content(BYTES, 41);
        carry(&client, &server, &bytes);
        let moved = sent(&world, 1) - before - idle;
        assert!(moved > BYTES as u64, "{algorithm}: it sent {moved} bytes");
        ip(&world.server, "link set s0 up");
        drop((client, server));
        loaded.settled();
    }
}

#[test]
fn a_subflow_that_times_out_leaves_its_place_to_another() {
    if !able() {
        return;
    }
    for algorithm in ALGORITHMS {
        let loaded = Loaded::with(algorithm, Options::default());
        let world = World::impatient(3);
        let listener = serve(&world, loaded.name());
        let (client, server) = open(&world, &listener, loaded.name(), None);
        exchange(&client, &server, b"established");
        world.join(1..2);
        until("two subflows", || subflows(&loaded) == [2, 2]);

        // Both ends have bytes in flight on this path, so that both time out.
        ip(&world.server, "link set s1 down");
        until("a timeout at both ends", || {
            exchange(&client, &server, &content(100_000, 42));
            subflows(&loaded) == [1, 1]
        });
        world.join(2..3);
        until("two subflows again", || subflows(&loaded) == [2, 2]);
        exchange(&client, &server, &content(1_000_000, 43));
        drop((client, server));
        let totals = loaded.settled();
        assert_eq!(totals.subflows_opened, 6, "{algorithm}: {totals:?}");
    }
}

#[test]
fn a_join_without_an_answer_takes_no_slot() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::impatient(3));
    let listener = serve(&world, loaded.name());
    let (client, server) = open(&world, &listener, loaded.name(), None);
    exchange(&client, &server, b"established");
    // The answer cannot return.
    ip(&world.server, "route del 10.7.1.0/24");
    ip(&world.server, "route add blackhole 10.7.1.0/24");
    world.join(1..3);
    until("a join over the other path", || {
        exchange(&client, &server, &content(100_000, 44));
        subflows(&loaded) == [2, 2]
    });
    drop((client, server));
    let totals = loaded.settled();
    assert_eq!(totals.subflows_opened, 4, "{totals:?}");
}

#[test]
fn hosts_that_go_away_with_open_connections_leave_nothing() {
    if !able() {
        return;
    }
    const CONNECTIONS: usize = 20;
    for algorithm in ALGORITHMS {
        let loaded = Loaded::with(algorithm, Options::default());
        let world = World::impatient(2);
        let listener = serve(&world, loaded.name());
        world.join(1..2);
        let open = || open(&world, &listener, loaded.name(), None);
        let pairs: Vec<_> = (0..CONNECTIONS).map(|_| open()).collect();
        for (client, server) in &pairs {
            exchange(client, server, b"established");
        }
        until("two subflows each", || {
            subflows(&loaded) == [2; 2 * CONNECTIONS]
        });
        ip(&world.server, "link set s0 down");
        ip(&world.server, "link set s1 down");
        for (client, server) in &pairs {
            for mut end in [client, server] {
                end.set_nonblocking(true).expect("a socket");
                end.write_all(&[1; 10_000]).expect("room for it");
            }
        }
        drop((pairs, listener, world));
        let totals = loaded.settled();
        assert_eq!(totals.deletions_failed, 0, "{algorithm}: {totals:?}");
    }
}
