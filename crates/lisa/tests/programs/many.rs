//! More subflows than can be coupled: the rest run uncoupled, and are counted.

use crate::support::stream::{PORT, exchange, open, serve};
use crate::support::watch::Watch;
use crate::support::world::{Running, SERVER, World, client_address};
use crate::support::{Loaded, able, content, until};
use netlink_bindings::mptcp_pm;
use netlink_socket2::{NetlinkSocket, ReplyError};
use std::fs;
use std::net::{IpAddr, Ipv4Addr};

/// Requests one more subflow of a connection from the kernel, as a path manager in user space does.
fn create_subflow(token: u32, id: u8, from: Ipv4Addr, to: Ipv4Addr) {
    let mut request = mptcp_pm::Request::new().op_subflow_create_do();
    request
        .encode()
        .push_token(token)
        .nested_addr()
        .push_family(libc::AF_INET as u16)
        .push_id(id)
        .push_addr4(from.to_bits())
        .end_nested()
        .nested_addr_remote()
        .push_family(libc::AF_INET as u16)
        .push_addr4(to.to_bits())
        .push_port(PORT)
        .end_nested();
    let mut socket = NetlinkSocket::new();
    let sent = socket.request(&request).map_err(ReplyError::from);
    sent.and_then(|mut reply| reply.recv_ack())
        .expect("a subflow");
}

/// Whether a program of this network namespace listens to a multicast group of generic netlink, as path managers do.
fn listens() -> bool {
    const GENERIC: &str = "16"; // NETLINK_GENERIC
    let sockets = fs::read_to_string("/proc/thread-self/net/netlink").expect("netlink sockets");
    // Columns: address, protocol, port, groups (a bitmap in hexadecimal) and others.
    sockets.lines().any(|line| {
        let columns: Vec<_> = line.split_whitespace().collect();
        columns[1] == GENERIC && columns[3] != "00000000"
    })
}

#[test]
fn beyond_sixteen_subflows_run_by_themselves() {
    if !able() {
        return;
    }
    const SUBFLOWS: usize = 20;
    let (loaded, world) = (Loaded::lisa(), World::new(SUBFLOWS as u32));
    // The kernel's path manager creates at most 1 + 8 subflows; one in user space may create more.
    for host in [&world.client, &world.server] {
        host.run(|| fs::write("/proc/sys/net/mptcp/pm_type", "1"))
            .expect("a sysctl");
    }
    // The kernel accepts subflows of a path manager in user space while a program listens to its events.
    let managers = [&world.client, &world.server]
        .map(|host| Running::start(host.command("ip").args(["mptcp", "monitor"])));
    until("path managers listen", || {
        world.client.run(listens) && world.server.run(listens)
    });
    let mut watch = Watch::new(&loaded);
    let name = loaded.name();
    let listener = serve(&world, name);
    let (client, server) = open(&world, &listener, name, None);
    exchange(&client, &server, b"established");
    let netns = world
        .client
        .run(|| kernel::default::netns().expect("a namespace"));
    let ours = |connections: &[kernel::status::Connection]| {
        let at = connections
            .iter()
            .position(|connection| connection.netns == netns);
        at.expect("the client's end")
    };
    let connections = loaded.status().connections;
    let token = &connections[ours(&connections)].token;
    let token = u32::from_str_radix(token, 16).expect("a token");
    for link in 1..SUBFLOWS as u32 {
        let from = client_address(link).parse().expect("an address");
        world
            .client
            .run(|| create_subflow(token, link as u8, from, Ipv4Addr::from(SERVER)));
    }
    watch.until("all subflows", |_| {
        loaded.totals().subflows_opened == 2 * SUBFLOWS as u64
    });
    let totals = loaded.totals();
    assert_eq!(totals.alone_slots, 2 * (SUBFLOWS as u64 - 16), "{totals:?}");
    assert_eq!(watch_most(&loaded), [16, 16]);
    watch.during(|| exchange(&client, &server, &content(20_000_000, 10)));
    drop((client, server));
    watch.finish();
    drop(managers);
    let totals = loaded.totals();
    assert_eq!(
        (totals.connections_closed, totals.subflows_closed),
        (2, 2 * SUBFLOWS as u64)
    );
}

/// The coupled subflows of each connection.
fn watch_most(loaded: &Loaded) -> Vec<usize> {
    loaded
        .status()
        .connections
        .iter()
        .map(|connection| connection.subflows.len())
        .collect()
}

#[test]
fn two_hundred_connections_of_four_subflows() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(4));
    let name = loaded.name();
    let listener = serve(&world, name);
    let from: IpAddr = client_address(0).parse().expect("an address");
    let pairs: Vec<_> = (0..200)
        .map(|_| open(&world, &listener, name, Some(from)))
        .inspect(|(client, server)| exchange(client, server, b"established"))
        .collect();
    until("1 600 subflows", || {
        kernel::status::entries(&loaded) == (400, 1600)
    });
    for (client, server) in &pairs {
        exchange(client, server, &content(100_000, 11));
    }
    drop(pairs);
    let totals = loaded.settled();
    assert_eq!(
        (totals.connections_opened, totals.subflows_opened),
        (400, 1600),
        "{totals:?}"
    );
    eprintln!("{totals:?}");
}
