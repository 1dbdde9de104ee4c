//! An algorithm as the default of network namespaces, on the running kernel and on those in the VM: the algorithms
//! of sockets with and without MPTCP, and the reported holders.
//!
//! Tests that would outlive themselves or change the default of the first namespace run only in the VM.

mod support;

use kernel::default;
use kernel::holders::{self, Holders};
use kernel::load::{self, Options};
use kernel::registry::{self, Registered};
use lab::{Namespace, Vm};
use netlink_bindings::mptcp_pm;
use netlink_socket2::{NetlinkSocket, ReplyError};
use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;
use support::stream::{algorithm, exchange};
use support::vm::{GUEST, answer, fetched, found, set_loopback, vmlinuz};
use support::{Loaded, until};

/// Limit on the guest's clock.
const WITHIN: Duration = Duration::from_secs(120);

const V4: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const V6: SocketAddr = SocketAddr::new(std::net::IpAddr::V6(Ipv6Addr::LOCALHOST), 0);

/// A namespace whose loopback is up.
fn namespace() -> Namespace {
    let host = Namespace::new().expect("a network namespace");
    host.run(|| set_loopback(true));
    host
}

/// A namespace whose loopback is up and whose default is Reno.
fn host() -> Namespace {
    let host = namespace();
    host.run(|| default::set("reno")).expect("reno");
    host
}

/// Makes this algorithm the default of a namespace. Returns the reported algorithm of plain TCP.
fn make_default(host: &Namespace, registered: &Registered) -> String {
    let made = host.run(|| default::make(registered)).expect("a default");
    made.0
}

fn socket(at: SocketAddr, protocol: Protocol) -> Socket {
    Socket::new(Domain::for_address(at), Type::STREAM, Some(protocol)).expect("a socket")
}

/// A listener and its address.
fn listener(at: SocketAddr, protocol: Protocol) -> (Socket, SocketAddr) {
    let listener = socket(at, protocol);
    listener.bind(&at.into()).expect("an address");
    listener.listen(16).expect("listens");
    let at = listener.local_addr().expect("an address");
    (listener, at.as_socket().expect("of IP"))
}

/// A connection on this host's loopback: the client's end, the server's, and the listener.
fn pair(at: SocketAddr, client: Protocol, server: Protocol) -> (TcpStream, TcpStream, Socket) {
    let (listener, to) = listener(at, server);
    let client = socket(at, client);
    client.connect(&to.into()).expect("a connection");
    let server = listener.accept().expect("the other end").0;
    let (client, server) = (client.into(), server.into());
    exchange(&client, &server, b"established");
    (client, server, listener)
}

fn algorithms(ends: &(TcpStream, TcpStream, Socket)) -> [String; 2] {
    [algorithm(&ends.0), algorithm(&ends.1)]
}

fn holders_of(registered: &Registered) -> Holders {
    let name = registered.name();
    let now = registry::find_one(name).expect("it is loaded");
    holders::find().expect("holders").of(&now)
}

/// All tests that leave nothing behind.
fn examine() {
    for name in ["lisa", "lisa_cubic"] {
        plain_sockets_have_what_was_before(name);
        without_a_record(name);
    }
    one_that_keeps_plain_sockets();
    holders_by_name();
    orphans();
}

fn plain_sockets_have_what_was_before(name: &str) {
    let (loaded, host) = (Loaded::with(name, Options::default()), host());
    assert_eq!(make_default(&host, &loaded), "reno");
    let name = loaded.name();
    for at in [V4, V6] {
        host.run(|| {
            let both = pair(at, Protocol::MPTCP, Protocol::MPTCP);
            assert_eq!(algorithms(&both), [name; 2], "MPTCP on {at}");
            let plain = pair(at, Protocol::TCP, Protocol::TCP);
            assert_eq!(algorithms(&plain), ["reno"; 2], "plain TCP on {at}");
            let fallen = pair(at, Protocol::MPTCP, Protocol::TCP);
            assert_eq!(
                algorithms(&fallen),
                ["reno"; 2],
                "a peer without MPTCP, {at}"
            );
            let fallen = pair(at, Protocol::TCP, Protocol::MPTCP);
            assert_eq!(algorithms(&fallen), ["reno"; 2], "a client without, {at}");
            // A connected socket that chooses the algorithm itself.
            let chosen = SockRef::from(&plain.0).set_tcp_congestion(name.as_bytes());
            chosen.expect("any socket may");
            assert_eq!(algorithm(&plain.0), "reno");
            exchange(&plain.0, &plain.1, &support::content(500_000, 1));
        });
    }
    let totals = loaded.settled();
    assert_eq!(totals.plain_returned, 2 * (3 * 2 + 1), "{totals:?}");
    assert_eq!(
        (
            totals.plain_refused,
            totals.plain_opened,
            totals.plain_closed
        ),
        (0, 0, 0),
        "{totals:?}"
    );
    assert_eq!(totals.connections_opened, 4, "{totals:?}");
}

/// Plain TCP in a namespace whose default was set by sysctl, and in a namespace with another default.
fn without_a_record(name: &str) {
    let (loaded, host) = (Loaded::with(name, Options::default()), host());
    let name = loaded.name();
    host.run(|| {
        let (plain, _listener) = listener(V4, Protocol::TCP);
        let to = plain.local_addr().expect("an address");
        let client = socket(V4, Protocol::TCP);
        client.set_tcp_congestion(name.as_bytes()).expect("any may");
        client.connect(&to).expect("a connection");
        assert_eq!(algorithm(&client), "reno", "the namespace's default");
        default::set(name).expect("a default");
        let plain = pair(V4, Protocol::TCP, Protocol::TCP);
        assert_eq!(algorithms(&plain), ["cubic"; 2], "nobody knows what it was");
        assert_eq!(default::off().expect("off").expect("ours").0, name);
    });
    assert_eq!(loaded.settled().plain_returned, 3);
}

/// An algorithm as the lab loads it for a scenario with plain TCP.
fn one_that_keeps_plain_sockets() {
    let options = Options {
        keeps_plain: true,
        ..Options::default()
    };
    let (loaded, host) = (Loaded::with("lisa", options), host());
    make_default(&host, &loaded);
    host.run(|| {
        let plain = pair(V4, Protocol::TCP, Protocol::TCP);
        assert_eq!(algorithms(&plain), [loaded.name(); 2]);
    });
    let totals = loaded.settled();
    assert_eq!(
        (totals.plain_opened, totals.plain_returned),
        (2, 0),
        "{totals:?}"
    );
}

/// Namespaces, listeners, connections, unconnected sockets, and a socket that its program has closed.
fn holders_by_name() {
    let (loaded, host) = (Loaded::lisa(), host());
    make_default(&host, &loaded);
    let netns = host.run(|| default::netns().expect("a namespace"));
    let found = holders_of(&loaded);
    let [default] = &found.defaults[..] else {
        panic!("{found:?}")
    };
    assert_eq!((default.netns.inode, default.first), (netns, false));
    let this = std::process::id();
    let process = default
        .netns
        .process
        .as_ref()
        .expect("a descriptor of ours");
    assert_eq!(process.pid, this, "{found:?}");

    let (ends, unconnected) = host.run(|| {
        let ends = pair(V6, Protocol::MPTCP, Protocol::MPTCP);
        (ends, socket(V4, Protocol::TCP))
    });
    let found = holders_of(&loaded);
    let mut states: Vec<_> = found.sockets.iter().map(|s| (s.state, s.mptcp)).collect();
    states.sort_unstable();
    let established = ("ESTABLISHED", true);
    let expected = [("CLOSE", false), established, established, ("LISTEN", true)];
    assert_eq!(states, expected, "{found:?}");
    assert_eq!(found.others, 0, "{found:?}");
    assert!(!found.are_passing());
    for socket in &found.sockets {
        assert_eq!(socket.netns.inode, netns, "{socket:?}");
        assert_eq!(
            socket.process.as_ref().map(|p| p.pid),
            Some(this),
            "{socket:?}"
        );
    }
    let local = ends.1.local_addr().expect("an address");
    let remote = ends.1.peer_addr().expect("an address");
    let is_it = |s: &&holders::Socket| (s.local, s.remote) == (local, remote);
    assert!(
        found.sockets.iter().any(|s| is_it(&s)),
        "{local} {remote}: {found:?}"
    );
    let summary = found.summary();
    let parts = [
        "the default of net:[",
        "1 listener: [::1]:",
        "2 connected sockets: [::1]",
        "1 unconnected socket: ",
    ];
    for part in parts {
        assert!(summary.contains(part), "{part}: {summary}");
    }
    drop((ends, unconnected));
    loaded.settled();
}

/// Sockets that their program has closed, while the other end cannot be reached.
fn orphans() {
    let options = Options {
        keeps_plain: true,
        ..Options::default()
    };
    let (loaded, host) = (Loaded::with("lisa", options), host());
    make_default(&host, &loaded);
    let plain = host.run(|| pair(V4, Protocol::TCP, Protocol::TCP));
    let mptcp = host.run(|| pair(V4, Protocol::MPTCP, Protocol::MPTCP));
    let ends = [&plain, &mptcp].map(|ends| ends.0.local_addr().expect("an address"));
    host.run(|| set_loopback(false));
    drop((plain, mptcp));
    let mut found = Holders::default();
    let orphan = |found: &Holders, local| {
        let mut sockets = found.sockets.iter();
        let orphan = sockets.find(|socket| socket.orphan && socket.local == local);
        orphan.cloned()
    };
    until("two sockets without a program", || {
        found = holders_of(&loaded);
        ends.iter().all(|&local| orphan(&found, local).is_some())
    });
    let [plain, mptcp] = ends.map(|local| orphan(&found, local).expect("an orphan"));
    assert_eq!(
        (plain.state, plain.mptcp),
        ("FIN_WAIT1", false),
        "{found:?}"
    );
    let timer = plain.timer.expect("a timer");
    assert_eq!(timer.kind, "retransmission", "{found:?}");
    assert!(timer.expires_s <= 120.0, "TCP_RTO_MAX: {timer:?}");
    // net.mptcp.close_timeout, 60 s; Linux 6.1 has TCP_TIMEWAIT_LEN, which is as long.
    let timer = mptcp.timer.expect("a timer");
    assert!(mptcp.mptcp && timer.kind == "close", "{found:?}");
    assert!((20.0..=61.0).contains(&timer.expires_s), "{timer:?}");
    assert!(mptcp.process.is_none(), "{found:?}");
    host.run(|| set_loopback(true));
    loaded.settled();
}

/// In the VM: the default of the first namespace, its inheritance, and a namespace that only the kernel keeps.
fn examine_first() {
    let loaded = Loaded::lisa();
    let before = default::get().expect("a default");
    assert!(default::is_first());
    assert_eq!(
        default::make(&loaded).expect("a default"),
        (before.clone(), true)
    );
    let later = namespace();
    assert!(!later.run(default::is_first));
    assert_eq!(later.run(default::get).expect("a default"), loaded.name());
    // Plain TCP does not get the inherited default: the record of the first namespace applies to them.
    let plain = later.run(|| algorithms(&pair(V4, Protocol::TCP, Protocol::TCP)));
    assert_eq!(plain, [&before[..]; 2]);
    loaded.settled();

    let found = holders_of(&loaded);
    let first: Vec<_> = found.defaults.iter().map(|default| default.first).collect();
    assert_eq!(first, [true, false], "{found:?}");
    // The first namespace's default is restored, and later ones keep theirs: refused, with and without --wait.
    for wait in [false, true] {
        let registered = registry::find_one(loaded.name()).expect("loaded");
        let mut never = |_| panic!("nothing to wait for");
        let refused = registered.unload(wait.then_some(&mut never)).unwrap_err();
        assert!(refused.to_string().contains("--off --all"), "{refused}");
        assert_eq!(default::get().expect("a default"), loaded.name());
    }
    let restored = default::off_everywhere().expect("all");
    assert_eq!(restored.len(), 2, "{restored:?}");
    assert_eq!(default::get().expect("a default"), before);
    assert_eq!(later.run(default::get).expect("a default"), before);
}

/// Linux keeps a namespace that is deleted while it has an MPTCP endpoint that announces a port, with its listener.
fn examine_hidden() {
    // Not a namespace of the test, which must be freed at its end.
    let options = Options {
        register_as: Some("kept".into()),
        ..Options::default()
    };
    let kept = load::load("lisa", &options).expect("loads");
    let host = host();
    make_default(&host, &kept);
    host.run(|| signal_with_port(7777));
    let netns = host.run(|| default::netns().expect("a namespace"));
    drop(host);
    until("a namespace that nothing leads into", || {
        let found = holders_of(&kept);
        found.defaults.iter().any(|d| !d.netns.can_be_entered())
    });
    // Longer than the time until a namespace without such an endpoint is freed.
    drop(Namespace::new().expect("a network namespace"));
    let found = holders_of(&kept);
    let summary = found.summary();
    let default = format!("the default of net:[{netns}] (no process, no name)");
    assert!(summary.contains(&default), "{summary}");
    let listener = format!("1 listener: 127.0.0.1:7777 in net:[{netns}]");
    assert!(summary.contains(&listener), "{summary}");

    // Without --wait nothing changes; with --wait no new socket gets it, and this namespace remains.
    let refused = kept.unload(None).unwrap_err().to_string();
    assert!(refused.contains(&default), "{refused}");
    let kept = registry::find_one("kept").expect("still there");
    let unloaded = kept.unload(Some(&mut |_| false)).expect("unloads");
    assert!(unloaded.left >= 2, "{unloaded:?}");
    let leaving = registry::find_leaving("kept").expect("what is loaded");
    let [leaving] = &leaving[..] else {
        panic!("it stays: {leaving:?}");
    };
    let summary = holders::find().expect("holders").of(leaving).summary();
    assert!(summary.contains(&listener), "{summary}");
    let restored = default::off_everywhere().expect("all");
    let why = restored[0].to.as_ref().expect_err("nothing leads into it");
    assert!(why.contains("until the next boot"), "{why}");
}

fn signal_with_port(port: u16) {
    const FLAG_SIGNAL: u32 = 1 << 0;
    let mut request = mptcp_pm::Request::new().op_add_addr_do();
    request
        .encode()
        .nested_addr()
        .push_family(libc::AF_INET as u16)
        .push_addr4(Ipv4Addr::LOCALHOST.to_bits())
        .push_port(port)
        .push_flags(FLAG_SIGNAL);
    let mut netlink = NetlinkSocket::new();
    let sent = netlink.request(&request).map_err(ReplyError::from);
    let acknowledged = sent.and_then(|mut reply| reply.recv_ack());
    acknowledged.unwrap_or_else(|refusal| panic!("{refusal}"));
}

#[test]
#[ignore = "is run by the tests in the VM, there"]
fn guest() {
    support::vm::guest(|(): ()| {
        let all = || {
            examine();
            examine_first();
            examine_hidden();
        };
        found(all)
    });
}

fn in_vm(version: &str) {
    let Some(kernel) = fetched(version) else {
        return;
    };
    let vm = Vm::new(Some(&vmlinuz(&kernel)), Arc::default());
    let held = vm.and_then(|vm| vm.call(GUEST, &(), WITHIN));
    let held: Option<Result<(), String>> = answer(version, held);
    if let Some(Err(error)) = held {
        panic!("Linux {version}: {error}");
    }
}

#[test]
fn linux_6_1() {
    in_vm("6.1");
}

#[test]
fn linux_6_12() {
    in_vm("6.12");
}

#[test]
fn linux_7_3() {
    in_vm("7.3");
}

#[test]
fn this_linux() {
    if support::able() {
        examine();
    }
}
