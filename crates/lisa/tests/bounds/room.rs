//! Connections and users beyond their bounds run uncoupled, and leave room to others.

use crate::support::stream::{PORT, connect, exchange, open, serve};
use crate::support::world::{SERVER, World, run};
use crate::support::{Loaded, able, content, until};
use kernel::load::Options;
use std::net::TcpStream;

/// Creates sockets as this user: a socket's user is that of the thread's file accesses, who creates its inode.
pub fn as_user<T>(user: u32, work: impl FnOnce() -> T) -> T {
    // SAFETY: it changes this thread only.
    unsafe { libc::setfsuid(user) };
    let result = work();
    // SAFETY: as above.
    unsafe { libc::setfsuid(0) };
    result
}

/// Opens connections as this user, to the listener of [`serve`].
fn open_as(
    world: &World,
    listener: &socket2::Socket,
    algorithm: &str,
    user: u32,
    number: usize,
) -> Vec<(TcpStream, TcpStream)> {
    let to = (SERVER, PORT).into();
    let pairs = (0..number).map(|_| {
        let client = world
            .client
            .run(|| as_user(user, || connect(algorithm, None, to)));
        let server = listener.accept().expect("the other end").0;
        (client.expect("a connection"), server.into())
    });
    pairs
        .inspect(|(client, server)| exchange(client, server, b"established"))
        .collect()
}

/// 64 connections: a user may have 8, and all users beyond the system's together 32.
#[test]
fn one_user_leaves_room_to_others() {
    if !able() {
        return;
    }
    let loaded = Loaded::with(
        "lisa",
        Options {
            max_connections: 64,
            ..Options::default()
        },
    );
    let (world, name) = (World::joined(2), loaded.name());
    let listener = serve(&world, name);
    let connections = || loaded.usage().expect("usage");
    // The listener and so the server's ends are root's.
    let first = open_as(&world, &listener, name, 2000, 12);
    until("all subflows", || loaded.totals().subflows_opened == 48);
    let totals = loaded.totals();
    assert_eq!(
        (connections().connections, connections().other_connections),
        (20, 8)
    );
    // Four connections of two subflows, of which one joined.
    assert_eq!(
        (totals.alone_user, totals.alone_joins),
        (8, 4),
        "{totals:?}"
    );

    // Another user is coupled. (Of 4096 pairs of users one pair shares a counter.)
    let second = open_as(&world, &listener, name, 2001, 4);
    assert_eq!(connections().other_connections, 12);
    assert_eq!(loaded.totals().alone_user, totals.alone_user);

    // A user's connections that close make room for further ones.
    drop(first);
    until("the first user's are closed", || {
        connections().other_connections == 4
    });
    let first = open_as(&world, &listener, name, 2000, 8);
    assert_eq!(connections().other_connections, 12);

    // Root is not bounded.
    let system = open_as(&world, &listener, name, 0, 12);
    until("all subflows", || connections().connections == 12 + 12 + 24);
    assert_eq!(connections().other_connections, 12);
    drop((first, second, system));
    loaded.settled();
    assert_eq!(connections(), kernel::limits::Usage::default());
}

/// All users together cannot take more than half.
#[test]
fn many_users_leave_room_to_the_system() {
    if !able() {
        return;
    }
    let loaded = Loaded::with(
        "lisa",
        Options {
            max_connections: 16,
            ..Options::default()
        },
    );
    let (world, name) = (World::new(1), loaded.name());
    let listener = serve(&world, name);
    let pairs: Vec<_> = (0..12)
        .flat_map(|user| open_as(&world, &listener, name, 3000 + user, 1))
        .collect();
    let usage = loaded.usage().expect("usage");
    assert_eq!(usage.other_connections, 8);
    drop(pairs);
    loaded.settled();
}

/// A join without room starts with three segments.
#[test]
fn a_join_without_room_starts_small() {
    if !able() {
        return;
    }
    let loaded = Loaded::with(
        "lisa",
        Options {
            max_connections: 1,
            ..Options::default()
        },
    );
    let (world, name) = (World::joined(2), loaded.name());
    let listener = serve(&world, name);
    // The client's end takes the only entry, or the server's does.
    let (client, server) = open(&world, &listener, name, None);
    exchange(&client, &server, b"established");
    until("both ends have joined", || {
        loaded.totals().subflows_opened == 4
    });
    let totals = loaded.totals();
    assert_eq!(
        (totals.alone_full, totals.alone_joins),
        (2, 1),
        "{totals:?}"
    );
    let windows: Vec<String> = [&world.client, &world.server]
        .into_iter()
        .flat_map(|host| {
            let output = run(host.command("ss").args(["-tinOH", "state", "established"]));
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            let cwnd = |word: &str| word.strip_prefix("cwnd:").map(String::from);
            let words = text.split_whitespace();
            words.filter_map(cwnd).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(windows.len(), 4, "{windows:?}");
    assert!(windows.contains(&"3".to_string()), "{windows:?}");
    let bytes = content(3_000_000, 3);
    exchange(&client, &server, &bytes);
    drop((client, server));
    loaded.settled();
}
