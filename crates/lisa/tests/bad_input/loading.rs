//! Names, loading twice, unloading what is in use, and a full map.

use super::*;
use crate::support::stream::{exchange, open, serve, socket};
use crate::support::world::{Running, World, host};
use crate::support::{Loaded, content};
use kernel::load::Options;
use nix::sys::signal::Signal;
use std::os::fd::OwnedFd;
use std::os::unix::{net::UnixStream, process::ExitStatusExt};
use std::process::Stdio;

#[test]
fn names() {
    let Some(turn) = Turn::take() else { return };
    bad(
        lisa(&["load", "lissa"]),
        2,
        "no algorithm `lissa` (do you mean `lisa`?)",
    );
    bad(lisa(&["load", "balai"]), 2, "do you mean `balia`?");
    let line = bad(lisa(&["load", "something"]), 2, "no algorithm `something`;");
    assert!(!line.contains("do you mean"), "{line}");
    bad(
        lisa(&["load", "a_name_of_sixteen"]),
        2,
        "has 17 characters; Linux takes at most 15",
    );
    bad(lisa(&["load", "reno"]), 2, "`reno` is Linux's own");
    bad(lisa(&["load", ""]), 2, "");
    bad(lisa(&["load", "lisa", "--max-connections", "0"]), 2, "0");
    bad(
        lisa(&["load", "lisa", "--max-connections", "many"]),
        2,
        "many",
    );
    bad(lisa(&["load", "lisa", "--frobnicate"]), 2, "--frobnicate");
    bad(lisa(&["laod", "lisa"]), 2, "load");
    bad(lisa(&["unload", "lissa"]), 1, "`lissa` is not loaded");
    bad(lisa(&["unload", "lisa"]), 1, "`lisa` is not loaded");
    bad(
        lisa(&["exec", "lissa", "--", "true"]),
        2,
        "do you mean `lisa`?",
    );
    bad(
        lisa(&["exec", "a_name_of_sixteen", "--", "true"]),
        2,
        "15 characters",
    );
    bad(lisa(&["exec", "reno"]), 2, "is missing");
    bad(
        lisa(&["exec", "reno", "--", "/no/such/command"]),
        127,
        "/no/such/command",
    );
    bad(lisa(&["top"]), 1, "top needs a terminal");
    turn.unchanged();
}

fn limits() -> kernel::limits::Limits {
    let registered = kernel::registry::find_one("lisa").expect("it is loaded");
    registered.limits().expect("its limits")
}

#[test]
fn loaded_again() {
    let Some(turn) = Turn::take() else { return };
    good(lisa(&["load", "lisa"]));
    let loaded = Host::now();
    let said = good(lisa(&["load", "lisa"]));
    assert_eq!(said, "`lisa` is loaded already, with these settings\n");
    assert_eq!(Host::now(), loaded);
    // Fewer connections: in place. More than there is room for: loaded anew.
    let id = || kernel::registry::find_one("lisa").unwrap().map_id();
    let first = id();
    let said = good(lisa(&["load", "lisa", "--max-connections", "1"]));
    assert!(said.starts_with("changed `lisa`:"), "{said}");
    assert_eq!((id(), limits().connections), (first, 1));
    let said = good(lisa(&["load", "lisa", "--max-connections", "16385"]));
    assert!(said.starts_with("loaded `lisa` anew:"), "{said}");
    assert_ne!(id(), first);
    assert_eq!(limits().connections, 16_385);
    assert_eq!(good(lisa(&["unload", "lisa"])), "unloaded `lisa`\n");
    good(lisa(&["load", "css", "--set", "con_ssthresh=40"]));
    let said = good(lisa(&["load", "css", "--set", "con_ssthresh=40"]));
    assert!(said.contains("loaded already"), "{said}");
    let said = good(lisa(&["load", "css"]));
    assert!(said.starts_with("changed `css`:"), "{said}");
    good(lisa(&["unload", "css"]));
    turn.unchanged();
    // Again immediately.
    for _ in 0..5 {
        good(lisa(&["load", "lisa"]));
        good(lisa(&["unload", "lisa"]));
    }
    turn.unchanged();
}

#[test]
fn unloaded_while_sockets_use_it() {
    let Some(turn) = Turn::take() else { return };
    let host = host();
    good(lisa(&["load", "lisa"]));
    let loaded = Host::now();
    let [a, b] = [(); 2].map(|()| host.run(|| socket("lisa")).expect("a socket"));
    bad(
        lisa(&["unload", "lisa"]),
        1,
        "`lisa` is in use, and nothing was changed: 2 unconnected sockets: not bound in net:[",
    );
    assert_eq!(Host::now(), loaded);
    drop(a);
    until("the end of a socket", || {
        let output = lisa(&["unload", "lisa"]).output().expect("lisa");
        failed(&output, 1, "in use").contains("1 unconnected socket")
    });

    // Ctrl-C ends the wait. The algorithm stays unloaded: no new socket may choose it, and open sockets keep it.
    let waiting = Running::start(&mut lisa(&["unload", "lisa", "--wait"]));
    until("unloading", || !Host::now().has("lisa"));
    waiting.signal(Signal::SIGINT);
    let line = failed(&waiting.end(), 1, "interrupted: `lisa` is unloaded");
    assert!(line.contains("1 unconnected socket: not bound"), "{line:?}");
    turn.unchanged();
    let status = good(lisa(&["status"]));
    assert!(
        status.contains("unloaded, in use by 1 socket or namespace"),
        "{status}"
    );
    assert!(
        status.contains("  unconnected socket not bound in net:["),
        "{status}"
    );
    let line = bad(lisa(&["unload", "lisa"]), 1, "`lisa` is unloaded already");
    assert!(
        line.contains("1 unconnected socket: not bound in"),
        "{line}"
    );
    bad(
        lisa(&["unload", "lisa", "--wait=forever"]),
        2,
        "a number of seconds",
    );
    // The end of the time ends the wait too. It waits for the remaining sockets.
    let line = bad(
        lisa(&["unload", "lisa", "--wait=0.1"]),
        1,
        "not freed within 0.1 s",
    );
    assert!(
        line.contains("1 unconnected socket: not bound in"),
        "{line}"
    );
    assert!(
        host.run(|| socket("lisa")).is_err(),
        "no new socket may choose it"
    );

    // It can be loaded again beside the earlier registration, as a separate one.
    good(lisa(&["load", "lisa"]));
    good(lisa(&["unload", "lisa", "--wait"]));
    drop(b);
    until("its end", || {
        // Other tests load algorithms under names of their own.
        !good(lisa(&["status"])).contains("lisa (")
    });
    turn.unchanged();
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    if !crate::support::able() {
        return;
    }
    for arguments in [&["kernel", "status"][..], &["completions", "bash"]] {
        let mut command = Command::new(LISA);
        command.args(arguments).stderr(Stdio::piped());
        let (reader, writer) = UnixStream::pair().expect("a pipe");
        drop(reader);
        let child = command.stdout(OwnedFd::from(writer)).spawn().expect("lisa");
        let output = child.wait_with_output().expect("its end");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.signal(), Some(libc::SIGPIPE), "{said}");
        assert!(said.is_empty(), "{said}");
    }
}

#[test]
fn waits_until_the_last_socket_has_closed() {
    let Some(turn) = Turn::take() else { return };
    let world = World::new(1);
    good(lisa(&["load", "lisa"]));
    let listener = serve(&world, "lisa");
    let (client, server) = open(&world, &listener, "lisa", None);
    exchange(&client, &server, b"established");
    bad(
        lisa(&["unload", "lisa"]),
        1,
        "1 listener: 0.0.0.0:7000 in net:[",
    );
    let mut waiting = Running::start(&mut lisa(&["unload", "lisa", "--wait"]));
    until("unloading", || !Host::now().has("lisa"));
    exchange(&client, &server, &content(3_000_000, 1));
    assert!(waiting.runs(), "it waits as long as a connection is open");
    drop((client, server, listener));
    let output = waiting.succeed();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "unloaded `lisa`\n");
    turn.unchanged();
}

#[test]
fn a_full_map_leaves_connections_uncoupled() {
    if !crate::support::able() {
        return;
    }
    // Capacity for one connection: one end of the first.
    let loaded = Loaded::with(
        "lisa",
        Options {
            max_connections: 1,
            ..Options::default()
        },
    );
    let (world, name) = (World::joined(2), loaded.name());
    let listener = serve(&world, name);
    let pairs: Vec<_> = (0..3)
        .map(|_| open(&world, &listener, name, None))
        .inspect(|(client, server)| exchange(client, server, b"established"))
        .collect();
    until("all subflows", || loaded.totals().subflows_opened == 12);
    for (client, server) in &pairs {
        exchange(client, server, &content(3_000_000, 2));
    }
    let totals = loaded.totals();
    assert_eq!(kernel::status::entries(&loaded).0, 1, "{totals:?}");
    // Two subflows at each of the five ends beyond the capacity.
    assert_eq!(
        (
            totals.connections_opened,
            totals.alone_full,
            totals.alone_joins
        ),
        (1, 10, 5),
        "{totals:?}"
    );
    let status = good(lisa(&["status"]));
    let heading = status.split(name).nth(1).expect("it is loaded");
    assert!(
        heading.contains("10 subflows uncoupled for lack of room: 10 beyond 1 connection,"),
        "{status}"
    );
    drop(pairs);
    loaded.settled();

    // The same with the program.
    let Some(turn) = Turn::take() else { return };
    good(lisa(&["load", "lisa", "--max-connections", "1"]));
    good(lisa(&["unload", "lisa"]));
    turn.unchanged();
}
