//! Many connections at once, and many opened and closed: no entry is left in any map, and no storage with any socket, the
//! counts agree, the kernel's log stays clean. With `lisa`, and with `lisa_cubic`, whose state is beside the socket.
//!
//! `SOAK_OPENS` is how many are opened and closed with each: 20 000 unless set.

mod support;

use kernel::load::Options;
use kernel::status::Totals;
use std::net::{IpAddr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant};
use support::bpf::with_storage;
use support::opens::Clients;
use support::stream::{PORT, exchange, open, serve};
use support::world::{SERVER, World, ip};
use support::{KernelLog, Loaded, able, content, until};

/// The client's addresses on its first link: a closed connection keeps its port for a minute, and an address has
/// 28 000.
const ADDRESSES: u8 = 200;

/// Allows this process the descriptors that thousands of connections need.
fn many_descriptors() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    assert!(
        most >= 4096,
        "needs 4 096 descriptors: `ulimit -Hn` says {most}"
    );
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("its own limit");
}

/// Waits until all has closed, and for what each socket had: the kernel frees it as it closes the subflow, or with the socket.
fn settled(loaded: &Loaded) -> Totals {
    let totals = loaded.settled();
    until("no storage", || with_storage(loaded) == 0);
    totals
}

#[test]
fn a_thousand_connections_at_once() {
    at_once("lisa", 0);
}

#[test]
fn a_thousand_connections_at_once_over_cubic() {
    at_once("lisa_cubic", 1);
}

/// A thousand connections, whose sockets have so much storage each.
fn at_once(algorithm: &str, storage: usize) {
    if !able() {
        return;
    }
    many_descriptors();
    const CONNECTIONS: usize = 1000;
    let mut log = KernelLog::begin();
    let (loaded, world) = (
        Loaded::with(algorithm, Options::default()),
        World::joined(2),
    );
    let name = loaded.name();
    let listener = serve(&world, name);
    let pairs: Vec<_> = (0..CONNECTIONS)
        .map(|_| open(&world, &listener, name, None))
        .inspect(|(client, server)| exchange(client, server, b"established"))
        .collect();
    // Both ends are here: two entries a connection, of two subflows each.
    let entries = || kernel::status::entries(&loaded);
    until("two subflows of each", || {
        entries() == (2 * CONNECTIONS, 4 * CONNECTIONS)
    });
    assert_eq!(with_storage(&loaded), storage * 4 * CONNECTIONS);
    let connections = loaded.status().connections;
    assert_eq!(connections.len(), 2 * CONNECTIONS);
    assert!(
        connections
            .iter()
            .all(|connection| connection.subflows.len() == 2)
    );

    // All send and receive at the same time.
    let bytes = content(200_000, 1);
    thread::scope(|scope| {
        for some in pairs.chunks(CONNECTIONS / 8) {
            let bytes = &bytes;
            scope.spawn(move || {
                for (client, server) in some {
                    exchange(client, server, bytes);
                }
            });
        }
    });
    drop(pairs);
    let totals = settled(&loaded);
    let opened = (totals.connections_opened, totals.subflows_opened);
    assert_eq!(
        opened,
        (2 * CONNECTIONS as u64, 4 * CONNECTIONS as u64),
        "{totals:?}"
    );
    assert_eq!(
        (totals.connections_alone, totals.subflows_alone),
        (0, 0),
        "{totals:?}"
    );
    let faults = log.faults();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn opens_and_closes() {
    open_and_close_with("lisa");
}

#[test]
fn opens_and_closes_over_cubic() {
    open_and_close_with("lisa_cubic");
}

fn open_and_close_with(algorithm: &str) {
    if !able() {
        return;
    }
    many_descriptors();
    let opens: u64 = std::env::var("SOAK_OPENS").map_or(20_000, |n| n.parse().expect("a number"));
    let mut log = KernelLog::begin();
    let (loaded, world) = (
        Loaded::with(algorithm, Options::default()),
        World::joined(2),
    );
    for address in 1..=ADDRESSES {
        ip(
            &world.client,
            &format!("addr add 10.7.0.{}/24 dev c0", u32::from(address) + 10),
        );
    }
    let name = loaded.name();
    let listener = serve(&world, name);
    let begun = Instant::now();
    let clients = Clients {
        algorithm: name,
        host: &world.client,
        from: (1..=ADDRESSES)
            .map(|address| IpAddr::from([10, 7, 0, address + 10]))
            .collect(),
        to: SocketAddr::from((SERVER, PORT)),
    };
    let mut next = begun;
    clients.open_and_close(opens, &listener, |done| {
        if Instant::now() >= next {
            next += Duration::from_secs(10);
            progress(&loaded, done, opens, begun);
        }
    });
    let rate = opens as f64 / begun.elapsed().as_secs_f64();
    let totals = settled(&loaded);
    eprintln!("{algorithm}: {opens} opened and closed, {rate:.0} a second; {totals:?}");
    let opened = totals.connections_opened + totals.plain_opened;
    assert!(opened >= 2 * opens, "both ends of each: {totals:?}");
    assert!(
        totals.subflows_opened > totals.connections_opened,
        "some were joined: {totals:?}"
    );
    assert_eq!(
        (totals.connections_alone, totals.subflows_alone),
        (0, 0),
        "{totals:?}"
    );
    let faults = log.faults();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

fn progress(loaded: &Loaded, done: u64, opens: u64, begun: Instant) {
    let (connections, subflows) = kernel::status::entries(loaded);
    let seconds = begun.elapsed().as_secs();
    eprintln!("{seconds:4} s: {done} of {opens}; {connections} connections, {subflows} subflows");
}
