//! `lisa kernel status`: throughputs, filters, the width of its lines.

use super::valid;
use crate::support::stream::{PORT, exchange, open, serve};
use crate::support::turn::{good, lisa};
use crate::support::world::{World, client_address};
use crate::support::{LISA, Loaded, able, content, is_settled, number, until};
use kernel::holders::Holders;
use kernel::load::{self, How, Options};
use kernel::owner::Owner;
use kernel::registry::Registered;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

/// The connections of an algorithm that a filter leaves.
fn connections(name: &str, filter: &[&str]) -> Vec<Value> {
    let arguments = [&["status", "--json", "--algorithm", name], filter].concat();
    let report = valid(&good(lisa(&arguments)), "kernel-status.schema.json");
    let algorithms = report["algorithms"].as_array().expect("a list");
    assert!(algorithms.len() <= 1, "{report}");
    let connections = algorithms.first().map(|a| a["connections"].as_array());
    connections.flatten().cloned().unwrap_or_default()
}

/// Sends until `over`, in chunks; the other end reads them.
fn stream(mut from: &TcpStream, mut to: &TcpStream, over: &AtomicBool) {
    thread::scope(|scope| {
        scope.spawn(move || {
            let chunk = content(100_000, 1);
            while !over.load(Relaxed) {
                from.write_all(&chunk).expect("sent");
            }
            from.shutdown(Shutdown::Write).expect("a socket");
        });
        let mut buffer = vec![0; 100_000];
        while to.read(&mut buffer).expect("received") > 0 {}
    });
}

#[test]
fn throughputs_processes_and_filters() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(2));
    let name = loaded.name();
    let listener = serve(&world, name);
    let (client, server) = open(&world, &listener, name, None);
    exchange(&client, &server, b"established");
    until("two subflows at both ends", || {
        kernel::status::entries(&loaded) == (2, 4)
    });

    let (over, client_netns) = (AtomicBool::new(false), netns(&world.client));
    thread::scope(|scope| {
        let streaming = scope.spawn(|| stream(&client, &server, &over));
        let all = connections(name, &[]);
        over.store(true, Relaxed);
        streaming.join().expect("no panic");
        assert_eq!(all.len(), 2);
        let me = (std::process::id(), fs_comm());
        for connection in &all {
            let process = &connection["process"];
            assert_eq!(
                (process["pid"].as_u64(), process["command"].as_str()),
                (Some(me.0.into()), Some(me.1.as_str()))
            );
            let is_client = connection["netns"] == client_netns;
            let sum = |key: &str| -> f64 {
                let subflows = connection["subflows"].as_array().expect("a list");
                subflows.iter().map(|s| s[key].as_f64().expect(key)).sum()
            };
            let [forth, back] = match is_client {
                true => ["sent_bps", "received_bps"],
                false => ["received_bps", "sent_bps"],
            };
            assert!(sum(forth) > 1e6, "{connection}");
            assert!(sum(back) < sum(forth), "{connection}");
            let bytes = if is_client {
                "bytes_acked"
            } else {
                "bytes_received"
            };
            assert!(sum(bytes) > 100_000.0, "{connection}");
        }
    });

    let port = PORT.to_string();
    let pid = std::process::id().to_string();
    let inode = client_netns.to_string();
    let client_peer = format!("{}/32", client_address(0));
    for (filter, matching) in [
        (&["--port", &port][..], 2),
        (&["--port", "1"], 0),
        (&["--port", "1", "--port", &port], 2),
        (&["--process", &pid], 2),
        (&["--process", "1"], 0),
        (&["--netns", &inode], 1),
        (&["--peer", &client_peer], 1),
        (&["--peer", "10.7.0.0/16"], 2),
        (&["--peer", "10.7.0.2:7000"], 1),
        (&["--netns", &inode, "--peer", &client_peer], 0),
    ] {
        assert_eq!(connections(name, filter).len(), matching, "{filter:?}");
    }
    let said = good(lisa(&["status", "--port", "1", "--algorithm", name]));
    assert_eq!(said, format!("nothing matches algorithm={name} port=1\n"));

    // Within the width of a small terminal, and with the tokens of both ends.
    let mut narrow = lisa(&["status", "--algorithm", name]);
    narrow.env("COLUMNS", "80");
    let text = good(narrow);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    for connection in connections(name, &[]) {
        let token = connection["token"].as_str().expect("a token");
        assert!(text.contains(token), "{text}");
    }
    watched_live(name);
    drop((client, server));
    loaded.settled();
}

/// The keys of `top`, in a terminal of 80 by 24: another order, a filter that nothing matches, the end.
fn watched_live(name: &str) {
    let line = format!("stty rows 24 cols 80; exec {LISA} kernel top --algorithm {name}");
    let mut top = Command::new("script");
    top.args(["-qefc", &line, "/dev/null"]);
    let mut top = top
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script");
    let mut keys = top.stdin.take().expect("a pipe");
    let mut output = top.stdout.take().expect("a pipe");
    let mut shown = String::new();
    let mut until_shown = |text: &str| {
        let mut buffer = [0; 4096];
        while !shown.contains(text) {
            let length = output.read(&mut buffer).expect("output");
            assert!(length > 0, "`{text}` is not in {shown}");
            shown += &String::from_utf8_lossy(&buffer[..length]);
        }
    };
    until_shown("order: throughput");
    keys.write_all(b"s").expect("a key");
    until_shown("cwnd");
    keys.write_all(b"/ port=1\r").expect("keys");
    until_shown("nothing matches");
    keys.write_all(b"q").expect("a key");
    assert!(top.wait().expect("ended").success());
}

fn netns(host: &lab::Namespace) -> u32 {
    host.run(|| kernel::default::netns().expect("a namespace"))
}

/// Name of this program in the kernel.
fn fs_comm() -> String {
    let name = std::fs::read_to_string("/proc/self/comm").expect("this process");
    name.trim_end().into()
}

#[test]
fn wrong_filters() {
    for arguments in [
        ["--peer", "host"],
        ["--peer", "10.0.0.0/33"],
        ["--port", "65536"],
        ["--process", ""],
        ["--netns", ""],
    ] {
        let output = lisa(&["status"]).args(arguments).output().expect("lisa");
        crate::support::complaint(&output, 2);
    }
}

/// Without a terminal, so that it ends at once.
#[test]
fn top_needs_a_terminal() {
    let output = Command::new(LISA)
        .args(["kernel", "top", "--port", "443"])
        .output()
        .expect("lisa");
    let line = crate::support::complaint(&output, 1);
    assert!(line.contains("top needs a terminal"), "{line}");
}

/// A listener with TCP_CONGESTION gives the load that it had to new connections; `status` says so once that load is a former one.
#[test]
fn a_listener_keeps_its_load() {
    if !able() {
        return;
    }
    let name = format!("l{}_{}", std::process::id(), number());
    let with_room = |max_connections| {
        let options = Options {
            register_as: Some(name.clone()),
            owner: Some(Owner::this()),
            max_connections,
            ..Options::default()
        };
        load::apply("lisa", &options).expect("it loads")
    };
    let (loaded, world) = (with_room(100).registered, World::joined(2));
    let listening = serve(&world, &name);
    let status = || good(lisa(&["status", "--algorithm", &name]));
    let words = "new connections get this former load until its program starts again";
    assert!(!status().contains(words), "{}", status());
    let second = with_room(200); // more than there is room for
    assert_eq!(second.how, How::Replaced);
    let second = second.registered;
    let ends = open(&world, &listening, &name, None);
    exchange(&ends.0, &ends.1, &content(10_000, 1));
    // The client has the new load, the accepted socket the former one.
    let connections = |of: &Registered| {
        let status = kernel::status::status(of, Holders::default());
        status.expect("status").connections.len()
    };
    assert_eq!(connections(&loaded), 1);
    assert!(connections(&second) >= 1);
    let text = status();
    let line = text.lines().find(|line| line.contains(words));
    let line = line.unwrap_or_else(|| panic!("{text}"));
    assert!(line.contains(&format!("listener 0.0.0.0:{PORT}")), "{line}");
    drop((ends, listening));
    until("the end of the former load", || !status().contains(words));
    until("the end of all connections", || is_settled(&second));
    second.unload(None).expect("unloads");
}
