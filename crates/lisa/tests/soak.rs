//! Many connections at once, and many opened and closed, a tenth of them in namespaces that are deleted with connections open.
//! No entry is left in any map and no storage with any socket, the counts agree, the kernel's log stays clean. With `lisa`, and with
//! `lisa_cubic`, whose state is in socket storage; with `SOAK_ALGORITHMS`, names with commas, opens and closes with those.
//!
//! `SOAK_CONNECTIONS` at once (2 000 unless set; both ends of a pair are on this host and count), `SOAK_OPENS` opened and closed (20 000 unless set), with each.

mod support;

use kernel::load::Options;
use kernel::totals::Totals;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;
use socket2::SockRef;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use support::bpf::{map, with_storage};
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
    let needed = most.max(connections() as u64 + 1000);
    setrlimit(Resource::RLIMIT_NOFILE, needed, needed)
        .unwrap_or_else(|error| panic!("{needed} descriptors: {error}; `ulimit -Hn` is {most}"));
}

/// A number from the environment.
fn number(variable: &str, standard: usize) -> usize {
    std::env::var(variable).map_or(standard, |n| n.parse().expect("a number"))
}

/// Number of connections of this host at a time: both ends of each pair.
fn connections() -> usize {
    number("SOAK_CONNECTIONS", 2000)
}

/// Holds the other tests of this file back while it lives.
fn alone() -> MutexGuard<'static, ()> {
    static RUNNING: Mutex<()> = Mutex::new(());
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Memory of a map with its entries, bytes, as the kernel reports it.
fn memory(loaded: &Loaded, name: &str) -> u64 {
    let map = map(loaded, name);
    let file = format!("/proc/self/fdinfo/{}", map.as_fd().as_raw_fd());
    let text = std::fs::read_to_string(file).expect("fdinfo");
    let line = text.lines().find_map(|line| line.strip_prefix("memlock:"));
    line.expect("memlock").trim().parse().expect("a number")
}

/// Memory that is available to programs, bytes.
fn available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").expect("meminfo");
    let line = text.lines().find_map(|l| l.strip_prefix("MemAvailable:"));
    let kilobytes = line.expect("MemAvailable").trim().trim_end_matches(" kB");
    1024 * kilobytes.parse::<u64>().expect("a number")
}

/// Largest number of connections of a million, both ends counted, that the sweep may delete: six soaks of 6.18.44 had at most 12.
const RARE: usize = 16;
const MILLION: usize = 1_000_000;

/// Limit for closed connections to be freed: more than `net.mptcp.close_timeout`, 60 s.
const CLOSE: Duration = Duration::from_secs(120);

/// Waits until all connections have closed and no socket has storage. Returns the counts and the number of connections that the
/// sweep deleted: Linux destroys about one subflow in a million without calling `release` (docs/notes/kernel.md, Sockets).
fn settled(loaded: &Loaded) -> (Totals, usize) {
    let deadline = Instant::now() + CLOSE;
    while !loaded.is_settled() && Instant::now() < deadline {
        thread::sleep(Duration::from_millis(5));
    }
    let found = kernel::holders::find().expect("the sockets");
    let swept = kernel::left_over::delete(loaded, &found).expect("a sweep");
    assert_eq!(
        kernel::status::entries(loaded),
        (0, 0),
        "entries with a socket"
    );
    until("no storage", || with_storage(loaded) == 0);
    (loaded.totals(), swept)
}

#[test]
#[ignore = "is run by `make soak`"]
fn thousands_at_once() {
    at_once("lisa", 0);
}

#[test]
#[ignore = "is run by `make soak`"]
fn thousands_at_once_over_cubic() {
    at_once("lisa_cubic", 1);
}

/// Connections whose sockets have this much storage each. Linux may leave out `release` while a namespace is deleted, so that this
/// does not run beside [`opens_and_closes`].
fn at_once(algorithm: &str, storage: usize) {
    if !able() {
        return;
    }
    let _alone = alone();
    many_descriptors();
    let pairs = connections() / 2;
    let count = 2 * pairs;
    let mut log = KernelLog::begin();
    let options = Options {
        max_connections: count as u32,
        ..Options::default()
    };
    let (loaded, world) = (Loaded::with(algorithm, options), World::joined(2));
    let (before, maps_before) = (available(), maps(&loaded));
    let name = loaded.name();
    let listener = serve(&world, name);
    let pairs: Vec<_> = (0..pairs)
        .map(|_| open(&world, &listener, name, None))
        .inspect(|(client, server)| exchange(client, server, b"established"))
        .collect();
    // Both ends are on this host: two entries per connection, of two subflows each.
    let entries = || kernel::status::entries(&loaded);
    until("two subflows of each", || entries() == (count, 2 * count));
    assert_eq!(with_storage(&loaded), storage * 2 * count);
    let connections = loaded.status().connections;
    assert_eq!(connections.len(), count);
    assert!(
        connections
            .iter()
            .all(|connection| connection.subflows.len() == 2)
    );

    eprintln!(
        "{algorithm}: {count} connections of two subflows: {} bytes of maps each, {} KB of memory each",
        (maps(&loaded) - maps_before) / count as u64,
        before.saturating_sub(available()) / count as u64 / 1024
    );

    scrape(algorithm);

    // All connections send and receive at the same time.
    let bytes = content(200_000, 1);
    thread::scope(|scope| {
        for some in pairs.chunks(pairs.len().div_ceil(8)) {
            let bytes = &bytes;
            scope.spawn(move || {
                for (client, server) in some {
                    exchange(client, server, bytes);
                }
            });
        }
    });
    drop(pairs);
    let (totals, swept) = settled(&loaded);
    assert_eq!(swept, 0, "{totals:?}");
    let opened = (totals.connections_opened, totals.subflows_opened);
    assert_eq!(opened, (count as u64, 2 * count as u64), "{totals:?}");
    assert_eq!(
        (totals.alone_full, totals.alone_slots),
        (0, 0),
        "{totals:?}"
    );
    let faults = log.faults();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// Prints the duration and the CPU time of a scrape of the metrics over HTTP, the means of 20.
fn scrape(algorithm: &str) {
    const SCRAPES: u32 = 20;
    let server = kernel::metrics::Server::start(([127, 0, 0, 1], 0).into()).expect("a server");
    let used = || {
        let usage = getrusage(UsageWho::RUSAGE_SELF).expect("usage");
        (usage.user_time() + usage.system_time()).num_microseconds() as f64
    };
    let (begin, before) = (Instant::now(), used());
    for _ in 0..SCRAPES {
        let mut stream = std::net::TcpStream::connect(server.address()).expect("it listens");
        let request = b"GET /metrics HTTP/1.1\r\nHost: lisa\r\nConnection: close\r\n\r\n";
        stream.write_all(request).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    }
    eprintln!(
        "{algorithm}: a scrape takes {:.2} ms, of which {:.2} ms CPU time",
        begin.elapsed().as_secs_f64() * 1e3 / f64::from(SCRAPES),
        (used() - before) / 1e3 / f64::from(SCRAPES)
    );
}

/// Memory of the maps with an entry for each connection and subflow, bytes.
fn maps(loaded: &Loaded) -> u64 {
    memory(loaded, "connections") + memory(loaded, "subflows")
}

#[test]
fn opens_and_closes() {
    let chosen = std::env::var("SOAK_ALGORITHMS").unwrap_or("lisa,lisa_cubic".into());
    for algorithm in chosen.split(',') {
        open_and_close_with(algorithm);
    }
}

/// Number of connections in each namespace that is deleted.
const EACH: usize = 100;

/// Opens `opens` connections in namespaces that are deleted while the connections are open.
fn in_deleted_namespaces(name: &str, opens: usize, begun: Instant) {
    let mut done = 0;
    while done < opens {
        let world = World::impatient(2);
        world.join(1..2);
        let listener = serve(&world, name);
        let pairs: Vec<_> = (0..EACH)
            .map(|_| open(&world, &listener, name, None))
            .inspect(|(client, server)| exchange(client, server, b"established"))
            .collect();
        // First its name and its processes end, then its sockets.
        drop((world, listener));
        for (i, (client, server)) in pairs.into_iter().enumerate() {
            if i % 2 == 0 {
                SockRef::from(&client)
                    .set_linger(Some(Duration::ZERO))
                    .expect("a socket");
            }
            drop((client, server));
        }
        done += EACH;
        if done % (50 * EACH) == 0 {
            let seconds = begun.elapsed().as_secs();
            eprintln!("{seconds:4} s: {done} of {opens} in deleted namespaces");
        }
    }
}

fn open_and_close_with(algorithm: &str) {
    if !able() {
        return;
    }
    let _alone = alone();
    many_descriptors();
    let all = number("SOAK_OPENS", 20_000);
    let opens = (all - all / 10) as u64;
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
    thread::scope(|scope| {
        scope.spawn(|| in_deleted_namespaces(name, all / 10, begun));
        let mut next = begun;
        clients.open_and_close(opens, &listener, |done| {
            if Instant::now() >= next {
                next += Duration::from_secs(10);
                progress(&loaded, done, opens, begun);
            }
        });
    });
    let rate = all as f64 / begun.elapsed().as_secs_f64();
    let (totals, swept) = settled(&loaded);
    eprintln!(
        "{algorithm}: {all} opened and closed, {rate:.0} a second; {swept} swept; {totals:?}"
    );
    assert_eq!(
        (totals.connections_opened, totals.connections_swept),
        (totals.connections_closed, swept as u64),
        "{totals:?}"
    );
    assert!(
        swept <= 1 + all / MILLION * RARE,
        "{swept} connections had no release: {totals:?}"
    );
    if swept == 0 {
        assert_eq!(
            totals.credits_taken,
            totals.credits_settled + totals.credits_void,
            "{totals:?}"
        );
    }
    let opened = totals.connections_opened + totals.plain_returned;
    assert!(opened >= 2 * all as u64, "both ends of each: {totals:?}");
    assert!(
        totals.subflows_opened > totals.connections_opened,
        "some were joined: {totals:?}"
    );
    assert_eq!(
        (totals.alone_full, totals.alone_slots),
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
