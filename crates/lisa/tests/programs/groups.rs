//! Groups, requested from the command line while connections run.

use crate::support::stream::{carry, exchange, open, serve};
use crate::support::watch::{Watch, connections};
use crate::support::world::{
    Running, World, client_address, exec, listens, mptcp, run, server_address,
};
use crate::support::{LISA, Loaded, able, content, until};
use kernel::contract::{lisa_event, lisa_event_kind as kind};
use kernel::events::{Kinds, Listener};
use kernel::status::{Connection, Subflow};
use lab::Namespace;
use nix::time::{ClockId, clock_gettime};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The only connection of this algorithm that ends at this host.
fn connection(loaded: &Loaded, host: &Namespace) -> Connection {
    let netns = host.run(|| kernel::default::netns().expect("a namespace"));
    let mut all = loaded.status().connections;
    all.retain(|connection| connection.netns == netns);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn subflow(loaded: &Loaded, host: &Namespace, slot: usize) -> Subflow {
    connection(loaded, host).subflows.remove(slot)
}

/// The output of `lisa kernel group …`.
fn group(arguments: &[&str]) -> String {
    let output = run(Command::new(LISA).args(["kernel", "group"]).args(arguments));
    String::from_utf8(output.stdout).expect("text")
}

/// Nanoseconds of CLOCK_MONOTONIC, the clock of events.
fn now() -> u64 {
    let time = clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has it");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// Sends data, and collects all events at the same time.
fn events_of(listener: &mut Listener<'_>, work: impl FnOnce() + Send) -> Vec<lisa_event> {
    let mut events = Vec::new();
    std::thread::scope(|scope| {
        let work = scope.spawn(work);
        while !work.is_finished() {
            events.extend(listener.poll(Duration::from_millis(1)).expect("events"));
        }
    });
    events.extend(listener.poll(Duration::ZERO).expect("events"));
    events
}

/// Waits until each of the client's subflows has sent data and received an ACK.
fn warm_up(loaded: &Loaded, world: &World, (client, server): (&TcpStream, &TcpStream), n: usize) {
    until("all subflows to have sent", || {
        exchange(client, server, &content(200_000, 20));
        let subflows = connection(loaded, &world.client).subflows;
        subflows.len() == n && subflows.iter().all(|s| s.srtt_us.is_some())
    });
}

#[test]
fn a_subflow_moves_on_its_next_ack() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(3));
    let listening = serve(&world, loaded.name());
    let (client, server) = open(&world, &listening, loaded.name(), None);
    warm_up(&loaded, &world, (&client, &server), 3);
    let token = connection(&loaded, &world.client).token;
    let mut listener = Listener::new(&loaded, Kinds::ALL).expect("listens");

    // Nothing is sent: the request is pending, and no subflow has moved.
    let before = now();
    let said = group(&[&token, "1=5", &format!("{}=238", client_address(2))]);
    assert!(
        said.contains("group 0 → 5\n") && said.contains("group 0 → 238\n"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 2, "{said}");
    let asked = now();
    let shown = |n: usize| {
        let subflow = subflow(&loaded, &world.client, n);
        (subflow.group, subflow.group_asked)
    };
    assert_eq!(
        [0, 1, 2].map(shown),
        [(0, None), (0, Some(5)), (0, Some(238))]
    );
    let status = connections(loaded.name());
    let ours = status.iter().find(|c| c["token"] == *token).expect("ours");
    assert_eq!(ours["subflows"][1]["group_asked"], 5, "{ours}");

    let mut events = Vec::new();
    until("two moves", || {
        let send = || exchange(&client, &server, &content(200_000, 21));
        events.extend(events_of(&mut listener, send));
        [1, 2].map(shown) == [(5, None), (238, None)]
    });
    assert_eq!(loaded.totals().events_lost, 0);
    let id = u32::from_str_radix(&token, 16).expect("a token");
    for (slot, group) in [(0, 0), (1, 5), (2, 238)] {
        let ours = |e: &&lisa_event| e.connection.token == id && e.slot == slot;
        let ours: Vec<&lisa_event> = events.iter().filter(ours).collect();
        for e in ours.iter().filter(|e| e.time > asked) {
            assert_eq!(e.group, group, "an ACK after the wish: {e:?}");
        }
        assert!(
            ours.iter()
                .filter(|e| e.time < before)
                .all(|e| e.group == 0)
        );
        let moved = ours
            .iter()
            .filter(|e| u32::from(e.kind) == kind::LISA_EVENT_MOVED);
        assert_eq!(moved.count(), usize::from(group > 0), "slot {slot}");
        // The move is the subflow's first event after the request.
        if group > 0 {
            let first = ours.iter().find(|e| e.time > before).expect("it is used");
            assert_eq!(u32::from(first.kind), kind::LISA_EVENT_MOVED, "{first:?}");
        }
    }
    // The other end has groups of its own.
    assert!(
        connection(&loaded, &world.server)
            .subflows
            .iter()
            .all(|s| s.group == 0)
    );

    // The tables show the column only if a group differs.
    let table = group(&[&token]);
    assert_eq!(
        table.lines().filter(|line| line.contains(&token)).count(),
        3,
        "{table}"
    );
    assert!(
        table.lines().any(|line| line.trim_end().ends_with("238")),
        "{table}"
    );
    let status = run(Command::new(LISA).args(["kernel", "status"]));
    assert!(String::from_utf8_lossy(&status.stdout).contains("group"));

    assert_eq!(group(&[&token, "--reset"]), "2 subflows back to group 0\n");
    until("all together again", || {
        exchange(&client, &server, &content(200_000, 22));
        [0, 1, 2].map(shown) == [(0, None); 3]
    });
    let said = group(&[&token, "--reset"]);
    assert_eq!(said, "nothing to do: all subflows are in group 0\n");
    drop(listener);
    // A pending request ends with its connection.
    group(&[&token, "0=1", "1=1", "2=1"]);
    drop((client, server));
    loaded.settled();
}

/// A connection with a large window before any join.
fn pair(loaded: &Loaded, world: &World) -> (socket2::Socket, TcpStream, TcpStream) {
    let listening = serve(world, loaded.name());
    let (client, server) = open(world, &listening, loaded.name(), None);
    let bytes = content(300_000, 23);
    carry(&client, &server, &bytes);
    exchange(&client, &server, b"quiet");
    let first = subflow(loaded, &world.client, 0);
    assert!(first.cwnd >= 80 && first.phase == "slow start", "{first:?}");
    (listening, client, server)
}

/// Waits for the subflow that joins over this link.
fn joined(loaded: &Loaded, world: &World, link: u32) -> Subflow {
    world.join(link..link + 1);
    let slot = link as usize;
    until("a join", || {
        connection(loaded, &world.client).subflows.len() > slot
    });
    subflow(loaded, &world.client, slot)
}

/// The lender of a subflow that joins this group: the fastest subflow in slow start.
fn lender(connection: &Connection, group: u8) -> Option<u8> {
    let lends = |s: &&Subflow| s.group == group && s.phase == "slow start";
    let rate = |s: &Subflow| f64::from(s.cwnd) / s.srtt_us.expect("it has sent");
    let lenders = connection.subflows.iter().filter(lends);
    let fastest = lenders.max_by(|a, b| rate(a).total_cmp(&rate(b)));
    fastest.map(|s| s.slot as u8)
}

#[test]
fn a_subflow_that_joins_takes_from_its_group_only() {
    if !able() {
        return;
    }
    // On a busy machine a retransmission may end the first subflow's slow start, and then it does not lend.
    until("a first subflow that stays in slow start", || {
        let (loaded, world) = (Loaded::lisa(), World::new(3));
        let (_listening, client, server) = pair(&loaded, &world);
        let now = || connection(&loaded, &world.client);
        let token = now().token;
        let moves_to = |group: u8| {
            until("a move", || {
                exchange(&client, &server, b"an ACK");
                now().subflows[0].group == group
            });
        };
        group(&[&token, "0=1"]);
        moves_to(1);
        let would_lend = lender(&now(), 1) == Some(0);
        let alone = joined(&loaded, &world, 1);
        let seen = (alone.initial_cwnd, alone.credit, alone.credit_from);
        assert_eq!(seen, (10, 0, None), "{alone:?}");

        group(&[&token, "--reset"]);
        moves_to(0);
        let before = now();
        let taker = joined(&loaded, &world, 2);
        assert_eq!(
            taker.credit_from,
            lender(&before, 0),
            "{taker:?} {before:?}"
        );
        drop((client, server));
        loaded.settled();
        would_lend
    });
}

/// Subflows join, move and close while data flows both ways: every credit ends once.
#[test]
fn moves_at_any_moment() {
    if !able() {
        return;
    }
    const LINKS: u32 = 6;
    let (loaded, world) = (Loaded::lisa(), World::new(LINKS));
    let mut watch = Watch::new(&loaded);
    let listening = serve(&world, loaded.name());
    let (client, server) = open(&world, &listening, loaded.name(), None);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                exchange(&client, &server, &content(1_000_000, 24));
            }
        });
        scope.spawn(|| {
            for round in 0u32.. {
                let found = kernel::group::all().expect("groups");
                let (registered, connections) = found
                    .into_iter()
                    .find(|(r, _)| r.name() == loaded.name())
                    .expect("loaded");
                for connection in connections {
                    let moves = connection.subflows.iter();
                    let moves: Vec<_> = moves.map(|s| (s, ((s.slot + round) % 3) as u8)).collect();
                    kernel::group::request(&registered, &connection, &moves).expect("asked");
                }
                if done.load(Ordering::Relaxed) {
                    break;
                }
            }
        });
        for _ in 0..40 {
            for link in 1..LINKS {
                let address = client_address(link);
                let endpoint = format!("endpoint add {address} dev c{link} id {link} subflow");
                mptcp(&world.client, &endpoint);
            }
            watch.look();
            for link in 1..LINKS {
                mptcp(&world.client, &format!("endpoint delete id {link}"));
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    let moves = watch.of(kind::LISA_EVENT_MOVED).len();
    assert!(moves > 30, "{moves} moves");
    drop((client, server));
    let (settled, void) = watch.finish();
    eprintln!("{moves} moves, {settled} credits settled, {void} void");
    assert!(settled + void > 30);
}

/// An operator's use: iperf3 runs, and its subflows are put into groups by their addresses.
#[test]
fn iperf3_is_put_into_groups_while_it_runs() {
    if !able() {
        return;
    }
    const LINKS: u32 = 4;
    let (loaded, world) = (
        Loaded::with("nmcc", kernel::load::Options::default()),
        World::joined(LINKS),
    );
    let mut server = exec(&world.server, loaded.name(), "iperf3");
    let server = Running::start(server.args(["--server", "--one-off"]));
    listens(&world.server, 5201);
    let mut client = exec(&world.client, loaded.name(), "iperf3");
    client.args([
        "--client",
        &server_address(0),
        "--time",
        "0",
        "--bitrate",
        "400M",
    ]);
    let client = Running::start(&mut client);
    let netns = world
        .client
        .run(|| kernel::default::netns().expect("a namespace"));
    // iperf3 has a connection for control and one for data.
    let data = || {
        let mut all = loaded.status().connections;
        all.retain(|c| c.netns == netns && c.subflows.len() == LINKS as usize);
        all.retain(|c| c.subflows.iter().all(|s| s.cwnd > 10));
        all.pop()
    };
    until("four subflows that send", || data().is_some());
    let token = data().expect("it is there").token;
    let there = |link| format!("{}=1", client_address(link));
    group(&[&token, &there(2), &there(3)]);
    let groups = || {
        let connection = data().expect("it runs");
        let of = |s: &Subflow| (s.local.expect("an address").ip().to_string(), s.group);
        let mut groups: Vec<_> = connection.subflows.iter().map(of).collect();
        groups.sort();
        groups
    };
    let of = |link: u32| (client_address(link), u8::from(link >= 2));
    until("two groups", || {
        groups() == (0..LINKS).map(of).collect::<Vec<_>>()
    });
    group(&["--reset"]);
    until("one group", || {
        groups().iter().all(|(_, group)| *group == 0)
    });
    drop((client, server));
    loaded.settled();
}
