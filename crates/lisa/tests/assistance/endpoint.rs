//! `lisa kernel assist` on this kernel: groups from a manager, its failing link, its end and its return.

use crate::support::managed::Managed;
use crate::support::stream::{exchange, open, serve};
use crate::support::world::{Running, World};
use crate::support::{Loaded, able, content, until};
use nix::sys::signal::Signal;
use serde_json::Value;
use socket2::Socket;
use std::net::TcpStream;

/// The kinds of these events.
pub fn kinds(output: &[u8]) -> Vec<String> {
    let output = std::str::from_utf8(output).expect("text");
    let lines = output.lines().map(|line| {
        let event: Value = serde_json::from_str(line).expect("JSON");
        event["event"].as_str().expect("a kind").to_owned()
    });
    lines.collect()
}

/// Ends it with a signal. Returns the kinds of the events that it has printed.
pub fn printed(assist: Running, signal: Signal) -> Vec<String> {
    assist.signal(signal);
    kinds(&assist.succeed().stdout)
}

/// A connection with two subflows, which an endpoint of a manager may separate.
pub struct Separable<'w> {
    world: &'w World,
    loaded: &'w Loaded,
    /// No subflow can join without it.
    _listening: Socket,
    client: TcpStream,
    server: TcpStream,
}

impl<'w> Separable<'w> {
    pub fn open(world: &'w World, loaded: &'w Loaded) -> Self {
        let listening = serve(world, loaded.name());
        let (client, server) = open(world, &listening, loaded.name(), None);
        Self {
            world,
            loaded,
            _listening: listening,
            client,
            server,
        }
    }

    /// Waits until its subflows have these groups. Both send, and take over requests on their ACKs.
    pub fn grouped(&self, what: &str, expected: [u8; 2]) {
        let netns = (self.world.client).run(|| kernel::default::netns().expect("a namespace"));
        until(what, || {
            exchange(&self.client, &self.server, &content(200_000, 30));
            let all = self.loaded.status().connections;
            let ours = all.iter().find(|connection| connection.netns == netns);
            let ours = ours.expect("it is open");
            let groups = ours.subflows.iter().map(|subflow| subflow.group);
            groups.collect::<Vec<_>>() == expected
        });
    }
}

#[test]
fn groups_follow_the_manager() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(2));
    let managed = Managed::new(&world);
    let manager = managed.serve();
    let token = managed.describe();

    let connection = Separable::open(&world, &loaded);
    connection.grouped("two subflows", [0, 0]);
    let endpoint = managed.assist(&token);
    connection.grouped("separate links", [0, 1]);
    managed.link("b – s", false);
    connection.grouped("a failed link", [0, 0]);
    managed.link("b – s", true);
    connection.grouped("a link that has returned", [0, 1]);

    // The endpoint begins another session with a manager that has lost the former one, and reports all again.
    manager.signal(Signal::SIGKILL);
    let _ = manager.end();
    let manager = managed.serve();
    managed.link("b – s", false);
    managed.rates();
    connection.grouped("a failed link, after the manager's end", [0, 0]);
    managed.link("b – s", true);
    connection.grouped("both links, after the manager's end", [0, 1]);

    // Its end couples all, and another one starts where it was.
    let events = printed(endpoint, Signal::SIGTERM);
    assert_eq!(events.first().map(String::as_str), Some("connected"));
    assert_eq!(events.last().map(String::as_str), Some("coupled"));
    assert!(events.iter().any(|event| event == "lost"), "{events:?}");
    connection.grouped("no endpoint", [0, 0]);
    let endpoint = managed.assist(&token);
    managed.rates();
    connection.grouped("another endpoint", [0, 1]);
    drop(connection);
    assert_eq!(
        printed(endpoint, Signal::SIGTERM),
        ["connected", "groups", "coupled"]
    );
    manager.signal(Signal::SIGTERM);
    manager.succeed();
    loaded.settled();
}
