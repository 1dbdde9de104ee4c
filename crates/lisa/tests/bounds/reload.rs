//! Settings and bounds change while connections run; a new load takes over from the former one.

use crate::support::stream::{algorithm, exchange, listener, open, serve};
use crate::support::world::World;
use crate::support::{able, content, is_settled, number, until};
use kernel::load::{Applied, How, Options, apply};
use kernel::owner::Owner;
use kernel::totals::Former;
use kernel::{default, holders, registry, totals};
use socket2::{Domain, Socket, Type};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Instant;

fn options(name: &str, max_connections: u32, con_ssthresh: u32) -> Options {
    Options {
        register_as: Some(name.into()),
        owner: Some(Owner::this()),
        max_connections,
        settings: vec![("con_ssthresh".into(), con_ssthresh)],
        ..Options::default()
    }
}

/// Unloads the algorithm of this name when it is dropped, if a test has failed.
struct Cleared(String);

impl Drop for Cleared {
    fn drop(&mut self) {
        if let Ok(registered) = registry::find_one(&self.0) {
            let _ = registered.unregister();
        }
    }
}

#[test]
fn changes_are_in_place_or_by_a_new_load() {
    if !able() {
        return;
    }
    let name = format!("r{}_{}", std::process::id(), number());
    let _cleared = Cleared(name.clone());
    let applied = |max, setting| apply("css", &options(&name, max, setting)).expect("applied");
    let Applied {
        registered: first,
        how,
        ..
    } = applied(100, 40);
    assert_eq!(how, How::Loaded);
    assert_eq!(applied(100, 40).how, How::Unchanged);

    let world = World::new(4);
    world.join(1..2);
    world.server.run(|| default::make(&first)).expect("default");
    let listening = serve(&world, &name);
    let (client, server) = open(&world, &listening, &name, None);
    let bytes = content(1_000_000, 9);
    exchange(&client, &server, &bytes);
    until("both joined", || {
        totals::totals(&first).unwrap().subflows_opened == 4
    });

    // In place: the same registration, with other values.
    let changed = applied(90, 60);
    assert_eq!(
        (changed.how, changed.registered.map_id()),
        (How::Changed, first.map_id())
    );
    let limits = first.limits().expect("limits");
    assert_eq!((limits.connections, limits.settings.values()[0]), (90, 60));

    // More than there is room for: a new load. The counters go on, and the server's default is the new load.
    first.switch(true).expect("switched off");
    let replaced = applied(200, 60);
    assert_eq!(replaced.how, How::Replaced);
    let second = replaced.registered;
    assert_ne!(second.map_id(), first.map_id());
    assert!(second.is_off().expect("the switch"), "it stays off");
    let counted = totals::totals(&second).expect("totals");
    assert_eq!(
        (counted.connections_opened, counted.subflows_opened),
        (2, 4)
    );
    let found = holders::find().expect("holders").of(&second);
    let here = world.server.run(default::netns).expect("its number");
    assert_eq!(found.defaults.len(), 1, "{found:?}");
    assert_eq!(found.defaults[0].netns.inode, here);
    let before = world
        .server
        .run(|| default::before(&second))
        .expect("record");
    assert_eq!(before.expect("a record").plain, "reno");

    // Open connections go on under the former load, new ones start under the new one. So does a subflow that joins later, at each
    // end.
    exchange(&client, &server, &bytes);
    assert_eq!(totals::totals(&second).expect("totals").apart_joins, 0);
    for (links, joins) in [(2..3, 2), (3..4, 4)] {
        world.join(links);
        until("both ends of the join are counted", || {
            totals::totals(&second).expect("totals").apart_joins == joins
        });
    }
    let ours = registry::find_leaving(&name).expect("what leaves");
    assert_eq!(ours.len(), 1);
    let fresh = world
        .server
        .run(|| listener(&name, 7001))
        .expect("a listener");
    assert_eq!(algorithm(&fresh), name);
    drop(fresh);
    let (other_client, other_server) = {
        let listening = world
            .server
            .run(|| listener(&name, 7002))
            .expect("a listener");
        let to = (crate::support::world::SERVER, 7002).into();
        let client = world
            .client
            .run(|| crate::support::stream::connect(&name, None, to));
        let server = listening.accept().expect("the other end").0;
        (client.expect("a connection"), server.into())
    };
    exchange(&other_client, &other_server, &bytes);
    // The joins of the open connections have entries of their own.
    assert_eq!(second.usage().expect("usage").connections, 4);
    // What the last sockets of the former load count is not lost when it ends with them.
    let mut former = Former::default();
    former.gather().expect("gathered");
    assert!(!former.is_empty());
    drop((client, server, listening));
    until("the former load has left", || {
        registry::find_leaving(&name)
            .expect("what leaves")
            .is_empty()
    });
    former.gather().expect("gathered");
    assert!(former.is_empty());
    drop((other_client, other_server));
    until("all closed", || {
        second.usage().expect("usage").connections == 0
    });
    let counted = totals::totals(&second).expect("totals");
    assert_eq!(
        (counted.connections_opened, counted.connections_closed),
        (6, 6),
        "{counted:?}"
    );
    world
        .server
        .run(default::off)
        .expect("off")
        .expect("it was ours");
    second.unload(None).expect("unloads");
    assert!(is_settled(&second));
}

/// Between the former load and the new one the name is unknown to setsockopt(TCP_CONGESTION), once for each new load. Prints for how long, and
/// how many calls fail.
#[test]
fn the_gap_of_a_new_load() {
    if !able() {
        return;
    }
    let name = format!("r{}_{}", std::process::id(), number());
    let _cleared = Cleared(name.clone());
    let applied = |max| apply("css", &options(&name, max, 40)).expect("applied");
    applied(100);
    let (ends, began) = (AtomicBool::new(false), AtomicBool::new(false));
    const LOADS: u32 = 5;
    let (calls, failures, gaps) = thread::scope(|scope| {
        let caller = scope.spawn(|| {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
            let (mut calls, mut failures, mut gaps) = (0, 0, Vec::new());
            let mut since = None;
            while !ends.load(Ordering::Relaxed) {
                let start = Instant::now();
                let set = socket.set_tcp_congestion(name.as_bytes());
                calls += 1;
                failures += u32::from(set.is_err());
                match set {
                    Err(_) => since = since.or(Some(start)),
                    Ok(()) => gaps.extend(since.take().map(|since: Instant| since.elapsed())),
                }
                let _ = socket.set_tcp_congestion(b"reno");
                began.store(true, Ordering::Relaxed);
            }
            (calls, failures, gaps)
        });
        until("the calls", || began.load(Ordering::Relaxed));
        for load in 1..=LOADS {
            assert_eq!(applied(100 + load).how, How::Replaced);
        }
        ends.store(true, Ordering::Relaxed);
        caller.join().expect("it does not panic")
    });
    eprintln!(
        "{LOADS} new loads: {failures} of {calls} calls failed, in {} gaps: {gaps:.1?}",
        gaps.len()
    );
    assert!(gaps.len() <= LOADS as usize, "{gaps:?}");
    registry::find_one(&name)
        .expect("it is loaded")
        .unload(None)
        .expect("unloads");
}
