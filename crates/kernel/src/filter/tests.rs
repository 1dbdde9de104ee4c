//! Tests of filters: texts, and what they match.

use super::*;
use crate::holders::{Holders, tests::socket};
use crate::status::Subflow;

fn peer(text: &str, remote: &str) -> bool {
    let peer: Peer = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    peer.matches(remote.parse().expect(remote))
}

#[test]
fn peers() {
    for (text, remote) in [
        ("10.0.0.1", "10.0.0.1:443"),
        ("10.0.0.0/24", "10.0.0.200:443"),
        ("10.0.0.77/24", "10.0.0.200:443"),
        ("0.0.0.0/0", "203.0.113.9:1"),
        ("10.0.0.1:443", "10.0.0.1:443"),
        ("10.0.0.0/8:443", "10.9.9.9:443"),
        ("10.0.0.1", "[::ffff:10.0.0.1]:443"),
        ("::ffff:10.0.0.1", "10.0.0.1:443"),
        ("::ffff:10.0.0.0/104", "10.1.2.3:443"),
        ("fd00::1", "[fd00::1]:443"),
        ("fd00::/64", "[fd00::9]:443"),
        ("::/0", "[2001:db8::1]:1"),
        ("[fd00::1]", "[fd00::1]:443"),
        ("[fd00::1]:443", "[fd00::1]:443"),
        ("[fd00::]/64:443", "[fd00::5]:443"),
    ] {
        assert!(peer(text, remote), "{text} {remote}");
    }
    for (text, remote) in [
        ("10.0.0.1", "10.0.0.2:443"),
        ("10.0.0.0/24", "10.0.1.0:443"),
        ("10.0.0.0/31", "10.0.0.2:443"),
        ("10.0.0.1:443", "10.0.0.1:80"),
        ("0.0.0.0/0", "[fd00::1]:443"),
        ("::/0", "10.0.0.1:443"),
        ("fd00::/64", "[fd00:0:0:1::]:443"),
        ("fd00::1", "[fd00::1:443]:443"),
    ] {
        assert!(!peer(text, remote), "{text} {remote}");
    }
}

#[test]
fn peers_are_printed_as_they_are_read() {
    for text in [
        "10.0.0.1",
        "10.0.0.0/8:443",
        "fd00::1",
        "[fd00::]/64:443",
        "[fd00::1]:443",
    ] {
        let peer: Peer = text.parse().unwrap();
        assert_eq!(peer.to_string(), text);
    }
}

#[test]
fn wrong_peers() {
    for text in [
        "",
        "10.0.0",
        "10.0.0.1/33",
        "10.0.0.1/",
        "10.0.0.1:",
        "10.0.0.1:70000",
        "fd00::1/129",
        "host",
        "[10.0.0.1]",
        "fd00::/64:443",
        "10.0.0.1/24/8",
        ":443",
        "::ffff:10.0.0.1/8",
    ] {
        assert!(text.parse::<Peer>().is_err(), "{text}");
    }
}

#[test]
fn a_filter_is_printed_as_it_is_read() {
    let text = "algorithm=lisa peer=10.0.0.0/8 port=80 port=443 process=7 process=nginx netns=4 netns=blue";
    let filter: Filter = text.parse().unwrap();
    assert_eq!(filter.to_string(), text);
    assert_eq!(
        "netns=net:[9]".parse::<Filter>().unwrap().to_string(),
        "netns=9"
    );
    assert!("".parse::<Filter>().unwrap().is_empty());
    // A command of Firefox, and a namespace of Mininet with a blank.
    let text = "process='Web Content' 'netns=h1 sp ace'";
    let filter: Filter = text.parse().unwrap();
    let command = ProcessName::Command("Web Content".into());
    assert_eq!(filter.processes, [command]);
    assert_eq!(filter.namespaces, [NamespaceName::Name("h1 sp ace".into())]);
    assert_eq!(
        filter.to_string(),
        "process='Web Content' netns='h1 sp ace'"
    );
    let error = "netns='blue".parse::<Filter>().unwrap_err();
    assert_eq!(error, "a quotation mark is missing");
    for wrong in [
        "port",
        "port=x",
        "port=65536",
        "prot=1",
        "peer=",
        "443",
        "algorithm=",
        "process=",
        "netns=",
        "a=b",
    ] {
        let error = wrong.parse::<Filter>().unwrap_err();
        assert!(error.contains(&format!("`{wrong}`")), "{error}");
    }
}

fn subflow(local: &str, remote: &str) -> Subflow {
    Subflow {
        local: local.parse().ok(),
        remote: remote.parse().ok(),
        ..Subflow::default()
    }
}

fn nginx() -> Option<Process> {
    let command = "nginx".into();
    Some(Process { pid: 7, command })
}

/// `lisa` under another name, with two connections: nginx's in namespace 1, and one without a process in namespace 2.
fn status() -> Status {
    let served = Connection {
        token: "a".into(),
        netns: 1,
        netns_name: Some("blue".into()),
        process: nginx(),
        subflows: vec![
            subflow("10.0.0.1:443", "10.1.0.1:5000"),
            subflow("10.0.1.1:443", "10.2.0.1:5001"),
        ],
        ..Connection::default()
    };
    let opened = Connection {
        token: "b".into(),
        netns: 2,
        subflows: vec![subflow("[fd00::1]:6000", "[fd00::2]:80")],
        ..Connection::default()
    };
    let mut listener = socket("0.0.0.0:443", "0.0.0.0:0");
    (listener.state, listener.process) = ("LISTEN", nginx());
    listener.netns.name = Some("blue".into());
    let default = DefaultOf {
        netns: listener.netns.clone(),
        first: false,
        ends: false,
        cookie: 1,
    };
    Status {
        name: "mine".into(),
        algorithm: "lisa".into(),
        holders: Holders {
            sockets: vec![listener],
            defaults: vec![default],
            others: 0,
        },
        connections: vec![served, opened],
        ..Status::default()
    }
}

/// Tokens of the connections, number of sockets and number of defaults that a filter leaves.
fn left(filter: &str) -> (String, usize, usize) {
    let mut status = status();
    filter.parse::<Filter>().unwrap().apply(&mut status);
    let tokens = status.connections.iter().map(|c| c.token.as_str());
    let holders = &status.holders;
    (
        tokens.collect(),
        holders.sockets.len(),
        holders.defaults.len(),
    )
}

#[test]
fn kinds_are_all_needed_and_values_are_alternatives() {
    for (filter, connections, sockets, defaults) in [
        ("", "ab", 1, 1),
        ("algorithm=lisa", "ab", 1, 1),
        ("algorithm=mine", "ab", 1, 1),
        ("algorithm=lia", "", 0, 0),
        ("algorithm=lia algorithm=lisa", "ab", 1, 1),
        ("peer=10.2.0.0/16", "a", 0, 0),
        ("peer=10.2.0.0/16 peer=fd00::2", "ab", 0, 0),
        ("peer=10.0.0.1", "", 0, 0),
        ("port=443", "a", 1, 0),
        ("port=5001", "a", 0, 0),
        ("port=443 port=80", "ab", 1, 0),
        ("process=nginx", "a", 1, 0),
        ("process=7", "a", 1, 0),
        ("process=8", "", 0, 0),
        ("process=ngin", "", 0, 0),
        ("netns=1", "a", 1, 1),
        ("netns=2", "b", 0, 0),
        ("netns=blue", "a", 1, 1),
        ("netns=red", "", 0, 0),
        ("netns=1 netns=2", "ab", 1, 1),
        ("process=nginx netns=2", "", 0, 0),
        ("port=443 peer=10.2.0.1", "a", 0, 0),
        // Peer and port of two different subflows.
        ("port=5000 peer=10.2.0.1", "", 0, 0),
    ] {
        let expected = (connections.into(), sockets, defaults);
        assert_eq!(left(filter), expected, "{filter}");
    }
}

/// The kernel cuts a command's name, and the user may not.
#[test]
fn long_commands() {
    let process = Process {
        pid: 7,
        command: "a_name_longer_t".into(),
    };
    let matches = |text: &str| {
        let name: ProcessName = text.parse().unwrap();
        name.matches(Some(&process))
    };
    assert!(matches("a_name_longer_than_that"));
    assert!(matches("a_name_longer_t"));
    assert!(!matches("a_name_longer_"));
    assert!(!matches("a_name_longer_übrig"));
    // Cut within a character of two bytes.
    let process = Process {
        command: printable(&"fourteen_bytesü".as_bytes()[..15]),
        ..process
    };
    assert_eq!(process.command, r"fourteen_bytes\xc3");
    for text in ["fourteen_bytesü", r"fourteen_bytes\xc3"] {
        let name: ProcessName = text.parse().unwrap();
        assert!(name.matches(Some(&process)), "{text}");
    }
}
