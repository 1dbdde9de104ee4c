//! Algorithms on the running kernel (`KERNELS_ALGORITHMS`: support/selection.rs), with the program only: loaded by its name, it carries iperf3 in both directions
//! over two and over eight subflows, with all of them in one connection and in the kernel's list of sockets, and is unloaded
//! afterwards.
//!
//! iperf3 reads its data from a pipe, so that the test decides when it sends: the connection is quiet while it is examined.
//! Needs root.

mod support;

use mpcc::Algorithm;
use nix::sys::stat::Mode;
use serde_json::Value;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use support::selection::algorithms;
use support::turn::{Turn, good, lisa, loadable};
use support::world::{Running, World, exec, listens, server_address};
use support::{Folder, KernelLog, content, until};

/// Size of iperf3's reads and writes, which is atomic in a pipe (PIPE_BUF).
const BLOCK: usize = 4096;

/// Bytes sent before and after the examination: some hundred segments, more than eight initial windows.
const HALF: usize = 256 * BLOCK;

/// A pipe that iperf3 reads as a file.
struct Pipe(File);

impl Pipe {
    fn new(path: &Path) -> Self {
        nix::unistd::mkfifo(path, Mode::S_IRWXU).expect("a pipe");
        // With both ends open here, neither open() blocks.
        let options = File::options()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open(path);
        Self(options.expect("both ends"))
    }

    /// Waits until all is read. False if the reader ended before.
    fn feed(&mut self, bytes: &[u8], reader: &mut Running) -> bool {
        let mut blocks = bytes.chunks(BLOCK).peekable();
        let mut ended = false;
        until("iperf3 reads", || {
            while let Some(block) = blocks.peek() {
                match self.0.write(block) {
                    Ok(_) => blocks.next(),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => {
                        ended = !reader.runs();
                        return ended;
                    }
                    Err(error) => panic!("the pipe: {error}"),
                };
            }
            true
        });
        !ended
    }
}

/// `lisa kernel status --json` of an algorithm; none if it is not loaded.
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

/// Number of established sockets of a namespace with this algorithm, and with another one, from the kernel's list.
fn sockets(host: &lab::Namespace, name: &str) -> (usize, usize) {
    let output = support::world::run(host.command("ss").args(["-Htin", "state", "established"]));
    let text = String::from_utf8(output.stdout).expect("text");
    let details = text.lines().filter(|line| line.starts_with([' ', '\t']));
    let (ours, others): (Vec<_>, Vec<_>) =
        details.partition(|line| line.split_whitespace().next() == Some(name));
    (ours.len(), others.len())
}

/// Errors of both ends of iperf3 after the kernel confused the first bytes of its control connection with later ones.
const MIXED_UP: [&str; 2] = [
    "control socket has closed unexpectedly",
    "unable to receive parameters from client",
];

/// Checks that both ends have these errors and no others. On a busy machine MPTCP's receiver (Linux 6.18) causes them once
/// in some dozens of connections with eight subflows, also with Linux's own Reno (docs/notes/kernel.md).
fn must_be_mixed_up(client: Running, server: Running) {
    let said = [client, server].map(|end| {
        let output = end.end();
        let said = [output.stdout, output.stderr].concat();
        String::from_utf8_lossy(&said).into_owned()
    });
    let so = said
        .iter()
        .zip(MIXED_UP)
        .all(|(said, so)| said.contains(so));
    assert!(so, "iperf3 stopped reading: {said:?}");
}

/// iperf3 with a loaded algorithm at both ends; `reverse`: the server sends.
fn carry(name: &str, number: usize, reverse: bool) {
    const TRIES: u32 = 5; // of one that fails once in 25, at most
    for _ in 0..TRIES {
        if try_to_carry(name, number, reverse) {
            return;
        }
        eprintln!("{name}: once more, the kernel's MPTCP mixed up what iperf3 sent to begin with");
    }
    panic!("{name}: {MIXED_UP:?}, {TRIES} times");
}

/// False if the kernel confused the bytes of iperf3's own messages.
fn try_to_carry(name: &str, number: usize, reverse: bool) -> bool {
    let (world, folder) = (World::joined(number as u32), Folder::new());
    // All data fits: after a partial write iperf3 corrupts its own data.
    for host in [&world.client, &world.server] {
        let sizes = format!("4096 {0} {0}", 8 * 2 * HALF);
        host.run(|| fs::write("/proc/sys/net/ipv4/tcp_wmem", sizes).expect("tcp_wmem"));
    }
    let (sent, received) = (folder.join("sent"), folder.join("received"));
    let (bytes, mut pipe) = (content(2 * HALF, 1), Pipe::new(&sent));
    let (ours, theirs) = if reverse {
        (&received, &sent)
    } else {
        (&sent, &received)
    };

    let before = status(name).expect("loaded")["totals"].clone();
    let mut server = exec(&world.server, name, "iperf3");
    server.args(["--server", "--one-off", "--file"]).arg(theirs);
    let mut server = Running::start(&mut server);
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
    let mut client = Running::start(&mut client);

    let sender = if reverse { &mut server } else { &mut client };
    if !pipe.feed(&bytes[..HALF], sender) {
        must_be_mixed_up(client, server);
        until("the end of all connections", || {
            status(name).expect("loaded")["connections"] == Value::Array(Vec::new())
        });
        return false;
    }
    let arrived = || fs::metadata(&received).map_or(0, |file| file.len() as usize);
    until("the first half", || arrived() >= HALF);
    for host in [&world.client, &world.server] {
        let netns = host.run(|| kernel::default::netns().expect("a namespace"));
        // iperf3's control connection, and its data connection.
        until(&format!("{number} subflows coupled, twice"), || {
            subflows(&status(name).expect("loaded"), netns) == [number; 2]
        });
        assert_eq!(sockets(host, name), (2 * number, 0), "{name}");
    }
    let sender = if reverse { &mut server } else { &mut client };
    let whole = pipe.feed(&bytes[HALF..], sender);
    assert!(whole, "iperf3 stopped reading");
    client.succeed();
    server.succeed();
    // An iperf3 server stops reading when the client reports its end, with the last blocks still in flight.
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
    for alone in ["alone_full", "alone_slots", "plain_opened"] {
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
    true
}

#[test]
fn algorithms_over_two_and_eight_subflows() {
    let Some(turn) = Turn::take() else { return };
    let mut log = KernelLog::begin();
    let selected = algorithms();
    for algorithm in loadable().filter(|a| selected.iter().any(|name| name == a.name())) {
        let name = algorithm.name();
        good(lisa(&["load", name]));
        let loaded = status(name).expect("loaded");
        assert_eq!(
            [&loaded["algorithm"], &loaded["about"]],
            [name, algorithm.about()]
        );
        for subflows in [2, 8] {
            for reverse in [false, true] {
                carry(name, subflows, reverse);
            }
        }
        good(lisa(&["unload", name, "--wait"]));
        assert!(status(name).is_none(), "still in the kernel: {name}");
        turn.unchanged();
    }
    assert_eq!(log.faults(), [""; 0]);
}
