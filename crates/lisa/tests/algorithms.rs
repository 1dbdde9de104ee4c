//! Every algorithm on the running kernel, through the program alone: loaded by its name, it carries iperf3 in both directions
//! over two and over eight subflows, has them all in one connection and in the kernel's own list of sockets, and is gone
//! afterwards.
//!
//! iperf3 sends what it reads from a pipe, so that the test says when: the connection is quiet while it is looked at.
//! Needs root.

mod support;

use mpcc::Algorithm;
use nix::sys::stat::Mode;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use support::turn::{Turn, good, lisa, loadable};
use support::world::{Running, World, exec, listens, server_address};
use support::{Folder, KernelLog, content, until};

/// What iperf3 reads and writes at a time, and so much is atomic in a pipe (PIPE_BUF).
const BLOCK: usize = 4096;

/// Sent before the look and after it: some hundred segments, so that eight initial windows are not all of it.
const HALF: usize = 256 * BLOCK;

/// A pipe that iperf3 takes for a file.
struct Pipe(File);

impl Pipe {
    fn new(path: &Path) -> Self {
        nix::unistd::mkfifo(path, Mode::S_IRWXU).expect("a pipe");
        // With both ends open here nobody waits for the other to open it.
        let options = File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path);
        Self(options.expect("both ends"))
    }

    fn feed(&mut self, bytes: &[u8]) {
        let mut blocks = bytes.chunks(BLOCK).peekable();
        until("iperf3 reads", || {
            while let Some(block) = blocks.peek() {
                match self.0.write(block) {
                    Ok(_) => blocks.next(),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                    Err(error) => panic!("the pipe: {error}"),
                };
            }
            true
        });
    }
}

/// `lisa kernel status --json` about an algorithm; nothing where it is not loaded.
fn status(name: &str) -> Option<Value> {
    let report: Value = serde_json::from_str(&good(lisa(&["status", "--json"]))).expect("JSON");
    let mut algorithms = report["algorithms"].as_array().expect("a list").iter();
    algorithms.find(|found| found["name"] == name).cloned()
}

/// The subflows of each connection in a namespace.
fn subflows(status: &Value, netns: u32) -> Vec<usize> {
    let connections = status["connections"].as_array().expect("a list").iter();
    let here = connections.filter(|connection| connection["netns"] == netns);
    here.map(|connection| connection["subflows"].as_array().expect("a list").len())
        .collect()
}

/// How many established sockets of a namespace have this algorithm, and how many have another, as the kernel says.
fn sockets(host: &lab::Namespace, name: &str) -> (usize, usize) {
    let output = support::world::run(host.command("ss").args(["-Htin", "state", "established"]));
    let text = String::from_utf8(output.stdout).expect("text");
    let details = text.lines().filter(|line| line.starts_with([' ', '\t']));
    let (ours, others): (Vec<_>, Vec<_>) =
        details.partition(|line| line.split_whitespace().next() == Some(name));
    (ours.len(), others.len())
}

/// iperf3 with a loaded algorithm at both ends; `reverse`: the server sends.
fn carry(name: &str, number: usize, reverse: bool) {
    let (world, folder) = (World::joined(number as u32), Folder::new());
    let (sent, received) = (folder.join("sent"), folder.join("received"));
    let (bytes, mut pipe) = (content(2 * HALF, 1), Pipe::new(&sent));
    let (ours, theirs) = if reverse {
        (&received, &sent)
    } else {
        (&sent, &received)
    };

    let before = status(name).expect("loaded")["totals"].clone();
    let mut server = exec(&world.server, name, "iperf3");
    let server = Running::start(server.args(["--server", "--one-off", "--file"]).arg(theirs));
    listens(&world.server, 5201);
    let mut client = exec(&world.client, name, "iperf3");
    client.args([
        "--client",
        &server_address(0),
        "--bytes",
        &bytes.len().to_string(),
    ]);
    client
        .args(["--length", &BLOCK.to_string(), "--file"])
        .arg(ours);
    if reverse {
        client.arg("--reverse");
    }
    let client = Running::start(&mut client);

    pipe.feed(&bytes[..HALF]);
    let arrived = || fs::metadata(&received).map_or(0, |file| file.len() as usize);
    until("the first half", || arrived() >= HALF);
    for host in [&world.client, &world.server] {
        let netns = host.run(|| kernel::default::netns().expect("a namespace"));
        // iperf3's own connection, and the one for data.
        until(&format!("{number} subflows coupled, twice"), || {
            subflows(&status(name).expect("loaded"), netns) == [number; 2]
        });
        assert_eq!(sockets(host, name), (2 * number, 0), "{name}");
    }
    pipe.feed(&bytes[HALF..]);
    client.succeed();
    server.succeed();
    // An iperf3 server stops reading when the client says that it is done, with the last blocks still under way.
    assert!(
        arrived() >= HALF + if reverse { HALF } else { 0 },
        "{} bytes arrived",
        arrived()
    );
    let got = fs::read(&received).expect("a file");
    assert!(got == bytes[..got.len()], "bytes arrive as they were sent");

    let counted = |after: &Value, what: &str| {
        after[what].as_u64().expect("a count") - before[what].as_u64().expect("a count")
    };
    until("the end of all connections", || {
        let after = &status(name).expect("loaded")["totals"];
        counted(after, "subflows_closed") == 4 * number as u64
            && counted(after, "connections_closed") == 4
    });
    let after = status(name).expect("loaded");
    assert_eq!(after["connections"], Value::Array(Vec::new()));
    let totals = &after["totals"];
    for alone in ["connections_alone", "subflows_alone", "plain_opened"] {
        assert_eq!(counted(totals, alone), 0, "{totals}");
    }
    let ended = counted(totals, "credits_settled") + counted(totals, "credits_void");
    assert_eq!(
        counted(totals, "credits_taken"),
        ended,
        "every credit ends: {totals}"
    );
    let linked = Algorithm::find(name).expect("of the table").slow_start() == "lisa";
    assert_eq!(
        counted(totals, "credits_taken") > 0,
        linked,
        "{name}: {totals}"
    );
}

fn every_algorithm(subflows: usize) {
    let Some(turn) = Turn::take() else { return };
    let mut log = KernelLog::begin();
    for algorithm in loadable() {
        let name = algorithm.name();
        good(lisa(&["load", name]));
        let loaded = status(name).expect("loaded");
        assert_eq!(
            [&loaded["algorithm"], &loaded["about"]],
            [name, algorithm.about()]
        );
        for reverse in [false, true] {
            carry(name, subflows, reverse);
        }
        good(lisa(&["unload", name, "--wait"]));
        assert!(status(name).is_none(), "still in the kernel: {name}");
        turn.unchanged();
    }
    assert_eq!(log.faults(), [""; 0]);
}

#[test]
fn over_two_subflows() {
    every_algorithm(2);
}

#[test]
fn over_eight_subflows() {
    every_algorithm(8);
}
