//! Joins in the same RTT, subflows that close with an unsettled credit, and both ends on one host.
//!
//! A connection without ACKs settles nothing: a subflow that joins it has taken a credit that the lender has not settled.

use crate::support::stream::{PORT, carry, connect, exchange, listener, open, serve};
use crate::support::watch::Watch;
use crate::support::world::{World, client_address, host, ip, mptcp, run, server_address};
use crate::support::{Loaded, able, content};
use kernel::contract::lisa_event_kind as kind;
use kernel::status::Subflow;
use socket2::Socket;
use std::net::{SocketAddr, TcpStream};

/// A connection between two hosts, and its listener, without which no subflow can join.
fn pair(world: &World, algorithm: &str) -> (TcpStream, TcpStream, Socket) {
    let listener = serve(world, algorithm);
    let (client, server) = open(world, &listener, algorithm, None);
    (client, server, listener)
}

/// The subflows of the client's end.
fn client_subflows(loaded: &Loaded, world: &World) -> Vec<Subflow> {
    let netns = world
        .client
        .run(|| kernel::default::netns().expect("a namespace"));
    let connections = loaded.status().connections;
    let ours = connections
        .into_iter()
        .filter(|connection| connection.netns == netns);
    ours.flat_map(|connection| connection.subflows).collect()
}

/// The client's window after some data and before any join.
fn warm_up(loaded: &Loaded, world: &World, client: &TcpStream, server: &TcpStream) -> u32 {
    let bytes = content(300_000, 3);
    carry(client, server, &bytes);
    exchange(client, server, b"quiet");
    let subflows = client_subflows(loaded, world);
    assert_eq!(subflows.len(), 1, "{subflows:?}");
    assert_eq!(subflows[0].phase, "slow start", "{subflows:?}");
    subflows[0].cwnd
}

#[test]
fn joins_in_one_rtt_take_in_turn_and_are_settled_together() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::new(8));
    let (client, server, _listener) = pair(&world, loaded.name());
    let mut watch = Watch::new(&loaded);
    let before = warm_up(&loaded, &world, &client, &server);
    assert!(
        before >= 80,
        "the window grew to {before}: enough for seven credits of 10"
    );
    world.join(1..8);
    watch.until("eight subflows", |_| {
        client_subflows(&loaded, &world).len() == 8
    });
    // The lender depends on the RTTs, microseconds here; the conservation of the sum does not.
    let subflows = client_subflows(&loaded, &world);
    let sum: u32 = subflows.iter().map(|s| s.cwnd - s.debit).sum();
    assert_eq!(sum, before, "{subflows:?}");
    let took = |s: &Subflow| s.credit_from.is_some() && (3..=10).contains(&s.credit);
    assert!(subflows[1..].iter().all(took), "{subflows:?}");
    let owed: u32 = subflows.iter().map(|s| s.debit).sum();
    let lent: u32 = subflows.iter().map(|s| u32::from(s.credit)).sum();
    assert_eq!(
        owed, lent,
        "nobody has sent, so nothing is paid: {subflows:?}"
    );

    let bytes = content(5_000_000, 4);
    carry(&client, &server, &bytes);
    watch.during(|| exchange(&client, &server, &bytes));
    watch.until("settlement", |seen| {
        seen.of(kind::LISA_EVENT_SETTLED).len() >= 7
    });
    let settled = watch.of(kind::LISA_EVENT_SETTLED);
    assert!(
        settled.iter().all(|e| e.sum_before == e.sum_after),
        "{settled:?}"
    );
    drop((client, server));
    watch.finish();
}

#[test]
fn a_window_too_small_for_all_gives_what_it_can() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::new(8));
    let (client, server, _listener) = pair(&world, loaded.name());
    let mut watch = Watch::new(&loaded);
    exchange(&client, &server, b"few bytes");
    let before = client_subflows(&loaded, &world)[0].cwnd;
    assert!((10..20).contains(&before), "{before}");
    world.join(1..8);
    watch.until("eight subflows", |_| {
        client_subflows(&loaded, &world).len() == 8
    });
    let subflows = client_subflows(&loaded, &world);
    // The fastest subflow lends: subflow 0, later perhaps a joined one. None starts with fewer than 3 segments, and the
    // sum of the credits is at most the window before the joins.
    assert!(
        subflows.iter().all(|s| s.cwnd - s.debit >= 3),
        "{subflows:?}"
    );
    assert!(
        subflows.iter().map(|s| u32::from(s.credit)).max() <= Some(10),
        "{subflows:?}"
    );
    assert!(subflows.iter().any(|s| s.credit > 0), "{subflows:?}");
    watch.during(|| exchange(&client, &server, &content(2_000_000, 5)));
    drop((client, server));
    watch.finish();
}

#[test]
fn a_subflow_that_closes_before_its_lender_paid_gives_the_credit_back() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::new(2));
    let (client, server, _listener) = pair(&world, loaded.name());
    let mut watch = Watch::new(&loaded);
    let before = warm_up(&loaded, &world, &client, &server);
    let endpoint = format!("endpoint add {} dev c1 id 5 subflow", client_address(1));
    for round in 1..=3 {
        mptcp(&world.client, &endpoint);
        watch.until("a join", |_| client_subflows(&loaded, &world).len() == 2);
        let subflows = client_subflows(&loaded, &world);
        assert_eq!(
            (subflows[0].debit, subflows[1].credit),
            (10, 10),
            "{subflows:?}"
        );
        mptcp(&world.client, "endpoint delete id 5");
        watch.until("its end", |_| client_subflows(&loaded, &world).len() == 1);
        let lender = &client_subflows(&loaded, &world)[0];
        assert_eq!(
            (lender.cwnd, lender.debit),
            (before, 0),
            "as before: {lender:?}"
        );
        watch.until("word of it", |seen| {
            seen.of(kind::LISA_EVENT_VOID).len() >= round
        });
    }
    watch.during(|| exchange(&client, &server, &content(2_000_000, 6)));
    drop((client, server));
    let (_, void) = watch.finish();
    assert!(void >= 3, "{void}");
}

#[test]
fn a_lender_that_closes_with_a_debit_leaves_the_credit_to_the_borrower() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::new(2));
    let (client, server, _listener) = pair(&world, loaded.name());
    let mut watch = Watch::new(&loaded);
    warm_up(&loaded, &world, &client, &server);
    world.join(1..2);
    watch.until("a join", |_| client_subflows(&loaded, &world).len() == 2);
    let [from, to] = [client_address(0), server_address(0)];
    run(world
        .client
        .command("ss")
        .args(["-K", "-t", "src", &from, "dst", &to]));
    watch.until("its end", |_| client_subflows(&loaded, &world).len() == 1);
    let left = &client_subflows(&loaded, &world)[0];
    assert_eq!((left.slot, left.cwnd, left.credit), (1, 10, 10), "{left:?}");
    watch.during(|| exchange(&client, &server, &content(2_000_000, 7)));
    drop((client, server));
    let (_, void) = watch.finish();
    assert!(void >= 1, "{void}");
}

#[test]
fn a_path_that_is_cut_in_mid_transfer_loses_no_byte() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(3));
    let bytes = content(60_000_000, 8);
    let (client, server, _listener) = pair(&world, loaded.name());
    let mut watch = Watch::new(&loaded);
    exchange(&client, &server, b"established");
    watch.until("three subflows", |_| {
        client_subflows(&loaded, &world).len() == 3
    });
    std::thread::scope(|scope| {
        let transfer = scope.spawn(|| carry(&client, &server, &bytes));
        ip(&world.client, "link set c1 down");
        mptcp(&world.client, "endpoint delete id 1");
        watch.during(|| transfer.join().expect("a transfer"));
    });
    // Its segments in flight are retransmitted until the peer answers.
    ip(&world.client, "link set c1 up");
    drop((client, server));
    watch.finish();
}

#[test]
fn both_ends_on_one_host_are_two_connections() {
    if !able() {
        return;
    }
    let (loaded, host) = (Loaded::lisa(), host());
    for address in ["10.8.0.1", "10.8.0.2", "10.8.0.3"] {
        ip(&host, &format!("addr add {address}/32 dev lo"));
    }
    mptcp(&host, "endpoint add 10.8.0.2 dev lo subflow");
    mptcp(&host, "endpoint add 10.8.0.3 dev lo subflow");
    let name = loaded.name();
    let listener = host.run(|| listener(name, PORT)).expect("a listener");
    let to = SocketAddr::from(([10, 8, 0, 1], PORT));
    let client = host.run(|| connect(name, None, to)).expect("a connection");
    let server: TcpStream = listener.accept().expect("the other end").0.into();
    let mut watch = Watch::new(&loaded);
    exchange(&client, &server, b"established");
    watch.until("three subflows at both ends", |_| {
        let connections = loaded.status().connections;
        connections.len() == 2 && connections.iter().all(|c| c.subflows.len() == 3)
    });
    let connections = loaded.status().connections;
    assert_ne!(connections[0].token, connections[1].token);
    watch.during(|| exchange(&client, &server, &content(5_000_000, 9)));
    drop((client, server));
    drop(watch); // begun after the first credits: it has not seen all
    let totals = loaded.settled();
    assert_eq!(
        (totals.connections_opened, totals.subflows_opened),
        (2, 6),
        "{totals:?}"
    );
}
