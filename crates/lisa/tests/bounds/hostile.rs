//! A user who opens as many sockets as they can leaves others coupled.
//!
//! `HOSTILE_SOCKETS` of them (2 000 unless set), both ends of each connection.

use crate::room::as_user;
use crate::support::stream::{PORT, connect, exchange, listener};
use crate::support::world::{SERVER, World, ip};
use crate::support::{Loaded, able, until};
use kernel::load::Options;
use std::net::{IpAddr, SocketAddr, TcpStream};

/// Connections of a client address to one port: half of the ports that Linux uses unasked.
const EACH_ADDRESS: usize = 14_000;

fn sockets() -> usize {
    std::env::var("HOSTILE_SOCKETS").map_or(2_000, |n| n.parse().expect("a number"))
}

#[test]
fn one_users_sockets_leave_others_coupled() {
    if !able() {
        return;
    }
    allow_descriptors(sockets() as u64 + 1000);
    // Less room than there are sockets, in any case.
    let room = (sockets() / 2).min(16_384) as u32;
    let options = Options {
        max_connections: room,
        ..Options::default()
    };
    let (loaded, world) = (Loaded::with("lisa", options), World::new(1));
    let name = loaded.name();
    let addresses = sockets().div_ceil(2 * EACH_ADDRESS) as u8;
    for i in 0..addresses {
        ip(&world.client, &format!("addr add 10.7.0.{}/24 dev c0", 10 + i));
    }
    let open = |user: u32, port: u16, number: usize| -> Vec<(TcpStream, TcpStream)> {
        let listening = world
            .server
            .run(|| as_user(user, || listener(name, port)))
            .expect("a listener");
        let to = SocketAddr::from((SERVER, port));
        let pairs = (0..number).map(|i| {
            let from = IpAddr::from([10, 7, 0, 10 + (i / EACH_ADDRESS) as u8]);
            let client = world
                .client
                .run(|| as_user(user, || connect(name, Some(from), to)));
            let server = listening.accept().expect("the other end").0;
            (client.expect("a connection"), server.into())
        });
        pairs.collect()
    };
    let hostile = open(2000, PORT, sockets() / 2);
    let usage = || loaded.usage().expect("usage");
    let bound = loaded.limits().expect("limits").user_connections;
    assert_eq!(usage().connections, bound);

    // Another user, and the system: both ends of each connection are coupled.
    let alone = loaded.totals().alone();
    let other = open(2001, PORT + 1, 20);
    let system = open(0, PORT + 2, 20);
    assert_eq!(usage().connections, bound + 80);
    assert_eq!(loaded.totals().alone(), alone);
    for (client, server) in hostile.iter().step_by(100).chain(&other).chain(&system) {
        exchange(client, server, b"unharmed");
    }
    drop((hostile, other, system));
    loaded.settled();
    until("no connection counts", || usage() == Default::default());
}

/// Allows this process so many descriptors.
fn allow_descriptors(needed: u64) {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    let needed = most.max(needed);
    setrlimit(Resource::RLIMIT_NOFILE, needed, needed).expect("root may");
}
