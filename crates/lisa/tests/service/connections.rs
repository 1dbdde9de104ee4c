//! Connections that are open while the service changes and ends: every byte arrives.

use super::*;
use crate::support::stream::{PORT, algorithm, carry, connect, exchange, open, serve};
use crate::support::turn::{Turn, good, lisa};
use crate::support::world::{SERVER, World};
use crate::support::{content, number};
use socket2::{Domain, Protocol, Socket, Type};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Number of connections that transfer at a time.
const CONNECTIONS: usize = 8;

/// Transfers until `over`, and compares all bytes. Counts the transfers in `done`.
fn transfer(ends: &(TcpStream, TcpStream), over: &AtomicBool, done: &AtomicUsize) {
    while !over.load(Ordering::Relaxed) {
        let sent = content(200_000, number().into());
        carry(&ends.0, &ends.1, &sent);
        done.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn open_connections_continue() {
    let Some(turn) = Turn::take() else { return };
    let world = World::joined(2);
    let file = File::new("default = \"lisa\"\n");
    let (mut service, _) = Service::start(&world.server, &file);
    let listener = serve(&world, "lisa");
    let connections: Vec<_> = (0..CONNECTIONS)
        .map(|_| open(&world, &listener, "lisa", None))
        .collect();
    for (client, server) in &connections {
        assert_eq!([algorithm(client), algorithm(server)], ["lisa", "lisa"]);
    }
    let (over, done) = (AtomicBool::new(false), AtomicUsize::new(0));
    let (mut stopped, mut late) = (Vec::new(), None);
    std::thread::scope(|scope| {
        let transfers: Vec<_> = connections
            .iter()
            .map(|ends| scope.spawn(|| transfer(ends, &over, &done)))
            .collect();
        // Each connection transfers between any two changes.
        let progress = || {
            let before = done.load(Ordering::Relaxed);
            until("transfers", || {
                done.load(Ordering::Relaxed) >= before + 2 * CONNECTIONS
                    || transfers
                        .iter()
                        .any(std::thread::ScopedJoinHandle::is_finished)
            });
        };
        progress();
        for text in [
            "default = \"lisa\"\nalgorithm.lisa.max_connections = 100\n", // in place
            "default = \"lisa\"\nalgorithm.lisa.max_connections = 20_000\n", // a new registration
            "default = \"lia\"\nalgorithm.lisa.max_connections = 20_000\n",
            "default = \"lia\"\n", // without their algorithm
            "",
        ] {
            file.write(text);
            let status = service.reload();
            assert!(!status.contains("not reloaded"), "{status}");
            progress();
        }
        file.write("default = \"lisa\"\n");
        service.reload();
        late = Some(open(&world, &listener, "lisa", None));
        progress();
        stopped = service.stop(Signal::SIGTERM);
        progress();
        over.store(true, Ordering::Relaxed);
    });
    assert!(
        has_line(&stopped, "unloaded `lisa`, which "),
        "{stopped:#?}"
    );
    assert!(
        has_line(&stopped, "changed `lisa` for new connections"),
        "{stopped:#?}"
    );
    assert!(has_line(&stopped, "loaded `lisa` anew"), "{stopped:#?}");
    assert_eq!(default_of(&world.server), "reno");
    for (client, server) in connections.iter().chain(&late) {
        exchange(client, server, &content(10_000, 1));
        assert_eq!(algorithm(server), "lisa");
    }
    assert_eq!(loaded(), [""; 0]);
    drop((connections, late, listener));
    until("the end of the former loads", || {
        kernel::registry::find_leaving("lisa")
            .expect("the registry")
            .is_empty()
    });
    turn.unchanged();
    // The name is free again.
    good(lisa(&["load", "lisa"]));
    good(lisa(&["unload", "lisa"]));
}

/// A server that was started before the service need not be started again: a connection gets the default when it is accepted.
#[test]
fn a_server_that_listens_already() {
    let Some(turn) = Turn::take() else { return };
    let world = World::new(1);
    let listener = world.server.run(|| {
        let (domain, kind, mptcp) = (Domain::IPV4, Type::STREAM, Some(Protocol::MPTCP));
        let listener = Socket::new(domain, kind, mptcp).expect("a socket");
        let address = SocketAddr::from(([0, 0, 0, 0], PORT));
        listener.bind(&address.into()).expect("a free port");
        listener.listen(8).expect("a listener");
        listener
    });
    let accepted = || {
        let to = SocketAddr::from((SERVER, PORT));
        let client = world.client.run(|| connect("reno", None, to));
        let client = client.expect("a connection");
        let server: TcpStream = listener.accept().expect("the other end").0.into();
        let name = algorithm(&server);
        exchange(&client, &server, &content(10_000, 1));
        name
    };
    let file = File::new("default = \"lisa\"\n");
    assert_eq!(accepted(), "reno");
    let (service, _) = Service::start(&world.server, &file);
    assert_eq!(accepted(), "lisa");
    service.stop(Signal::SIGTERM);
    assert_eq!(accepted(), "reno");
    until("the end of the last sockets", || {
        kernel::registry::find_leaving("lisa")
            .expect("the registry")
            .is_empty()
    });
    turn.unchanged();
}
