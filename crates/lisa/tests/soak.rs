//! Many connections at once, and many opened and closed: no entry is left in any map, and no storage with any socket, the
//! counts agree, the kernel's log stays clean. With `lisa`, and with `lisa_cubic`, whose state is beside the socket.
//!
//! `SOAK_OPENS` is how many are opened and closed with each: 20 000 unless set.

mod support;

use kernel::load::Options;
use kernel::status::Totals;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use socket2::{SockRef, Socket};
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use support::bpf::with_storage;
use support::stream::{PORT, connect, exchange, joined, open, serve};
use support::world::{SERVER, World, ip};
use support::{KernelLog, Loaded, PATIENCE, able, content, until};

/// The client's addresses on its first link: a closed connection keeps its port for a minute, and an address has
/// 28 000.
const ADDRESSES: u8 = 200;

/// Threads that open and close.
const THREADS: u64 = 4;

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
    listener.set_nonblocking(true).expect("a socket");
    let (over, done) = (AtomicBool::new(false), AtomicU64::new(0));
    let begun = Instant::now();
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| answer(&listener, &over));
        }
        let clients: Vec<_> = (0..THREADS)
            .map(|thread| {
                let (world, done) = (&world, &done);
                scope.spawn(move || {
                    let mine = opens / THREADS + u64::from(thread < opens % THREADS);
                    world
                        .client
                        .run(|| open_and_close(name, thread, mine, done));
                })
            })
            .collect();
        let mut next = begun;
        while !clients.iter().all(thread::ScopedJoinHandle::is_finished) {
            if Instant::now() >= next {
                next += Duration::from_secs(10);
                progress(&loaded, done.load(Relaxed), opens, begun);
            }
            thread::sleep(Duration::from_millis(20));
        }
        over.store(true, Relaxed);
        for client in clients {
            client.join().expect("no client fails");
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

/// Answers every connection's byte with one, and closes after the client has.
fn answer(listener: &Socket, over: &AtomicBool) {
    while !over.load(Relaxed) {
        // Not by SO_RCVTIMEO: MPTCP's accept waits all the same.
        let mut events = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        let _ = poll(&mut events, PollTimeout::from(100u8));
        let Ok((connection, _)) = listener.accept() else {
            continue;
        };
        connection.set_nonblocking(false).expect("a socket");
        connection
            .set_read_timeout(Some(PATIENCE))
            .expect("a socket");
        let mut connection = TcpStream::from(connection);
        let mut byte = [0];
        // A client that resets is no error here.
        if connection.read_exact(&mut byte).is_ok() && connection.write_all(&byte).is_ok() {
            let _ = connection.read(&mut byte);
        }
    }
}

/// Opens and closes connections one after the other: every second one ends with a reset, as SO_LINGER 0 asks for, and
/// every fourth waits until a second subflow has had the time to join.
fn open_and_close(algorithm: &str, thread: u64, opens: u64, done: &AtomicU64) {
    let to = SocketAddr::from((SERVER, PORT));
    for open in 0..opens {
        let last = 11 + ((open * THREADS + thread) % u64::from(ADDRESSES)) as u8;
        let from = IpAddr::from([10, 7, 0, last]);
        let mut connection = connect(algorithm, Some(from), to).expect("a connection");
        let mut byte = [open as u8];
        connection.write_all(&byte).expect("sent");
        connection.read_exact(&mut byte).expect("answered");
        assert_eq!(byte, [open as u8], "bytes arrive as they were sent");
        if open % 4 == 0 {
            let deadline = Instant::now() + Duration::from_millis(20);
            while joined(&connection) == 0 && Instant::now() < deadline {
                thread::yield_now();
            }
        }
        if open % 2 == 0 {
            SockRef::from(&connection)
                .set_linger(Some(Duration::ZERO))
                .expect("a socket");
        }
        drop(connection);
        done.fetch_add(1, Relaxed);
    }
}
