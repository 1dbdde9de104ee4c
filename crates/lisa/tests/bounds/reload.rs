//! Settings and bounds change while connections run; a new load takes over from the former one.

use crate::support::stream::{algorithm, exchange, listener, open, serve};
use crate::support::world::World;
use crate::support::{able, content, is_settled, number, until};
use kernel::load::{Applied, How, Options, apply};
use kernel::owner::Owner;
use kernel::totals::Former;
use kernel::{default, holders, registry, totals};

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

    let world = World::joined(2);
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

    // Open connections go on under the former load, new ones start under the new one.
    exchange(&client, &server, &bytes);
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
    assert!(second.usage().expect("usage").connections == 2);
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
        (4, 4),
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
