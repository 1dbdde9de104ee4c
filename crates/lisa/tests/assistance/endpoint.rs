//! `lisa kernel assist` on this kernel: groups from a manager, its failing link, its end and its return.

use crate::support::managed::{Managed, assist};
use crate::support::stream::{exchange, open, serve};
use crate::support::world::{Running, World};
use crate::support::{Loaded, able, content, until};
use nix::sys::signal::Signal;
use serde_json::Value;

/// The kinds of the events that it has printed.
fn printed(assist: Running) -> Vec<String> {
    assist.signal(Signal::SIGTERM);
    let output = String::from_utf8(assist.succeed().stdout).expect("text");
    let lines = output.lines().map(|line| {
        let event: Value = serde_json::from_str(line).expect("JSON");
        event["event"].as_str().expect("a kind").to_owned()
    });
    lines.collect()
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

    let listening = serve(&world, loaded.name());
    let (client, server) = open(&world, &listening, loaded.name(), None);
    // Two subflows send, and take over requests on their ACKs.
    let grouped = |what: &str, expected: [u8; 2]| {
        let netns = (world.client).run(|| kernel::default::netns().expect("a namespace"));
        until(what, || {
            exchange(&client, &server, &content(200_000, 30));
            let all = loaded.status().connections;
            let ours = all.iter().find(|connection| connection.netns == netns);
            let ours = ours.expect("it is open");
            let groups = ours.subflows.iter().map(|subflow| subflow.group);
            groups.collect::<Vec<_>>() == expected
        });
    };
    grouped("two subflows", [0, 0]);
    let endpoint = assist(&world, &token);
    grouped("separate links", [0, 1]);
    managed.link("b – s", false);
    grouped("a failed link", [0, 0]);
    managed.link("b – s", true);
    grouped("a link that has returned", [0, 1]);

    // The endpoint begins another session with a manager that has lost the former one, and reports all again.
    manager.signal(Signal::SIGKILL);
    let _ = manager.end();
    let manager = managed.serve();
    managed.link("b – s", false);
    managed.rates();
    grouped("a failed link, after the manager's end", [0, 0]);
    managed.link("b – s", true);
    grouped("both links, after the manager's end", [0, 1]);

    // Its end couples all, and another one starts where it was.
    let events = printed(endpoint);
    assert_eq!(events.first().map(String::as_str), Some("connected"));
    assert_eq!(events.last().map(String::as_str), Some("coupled"));
    assert!(events.iter().any(|event| event == "lost"), "{events:?}");
    grouped("no endpoint", [0, 0]);
    let endpoint = assist(&world, &token);
    managed.rates();
    grouped("another endpoint", [0, 1]);
    drop((client, server));
    assert_eq!(printed(endpoint), ["connected", "groups", "coupled"]);
    manager.signal(Signal::SIGTERM);
    manager.succeed();
    loaded.settled();
}
