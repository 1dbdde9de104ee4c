//! `lisa kernel metrics`: what it prints, serves and writes agrees with the counters, and passes `promtool check metrics`.
//!
//! Needs root.

mod support;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::process::{children, has_ended, has_no_privilege, listens_on};
use support::stream::{exchange, open, serve};
use support::world::{Running, World, run};
use support::{Folder, LISA, Loaded, able, until};

/// Connections under an algorithm of its own name, and the test on it.
fn with_connections(test: impl FnOnce(&Loaded)) {
    let (loaded, world) = (Loaded::lisa(), World::joined(2));
    let listener = serve(&world, loaded.name());
    let pairs: Vec<_> = (0..3)
        .map(|_| open(&world, &listener, loaded.name(), None))
        .inspect(|(client, server)| exchange(client, server, b"established"))
        .collect();
    until("all subflows", || loaded.totals().subflows_opened == 12);
    test(&loaded);
    drop(pairs);
    loaded.settled();
}

fn metrics() -> Command {
    let mut command = Command::new(LISA);
    command.args(["kernel", "metrics"]);
    command
}

/// Sum of the values of a metric of this algorithm, over its network namespaces.
fn sum(text: &str, metric: &str, name: &str) -> f64 {
    let start = format!("{metric}{{name=\"{name}\"");
    let lines = text.lines().filter(|line| line.starts_with(&start));
    let value = |line: &str| {
        line.rsplit(' ')
            .next()
            .and_then(|value| value.parse::<f64>().ok())
    };
    lines.filter_map(value).sum()
}

#[test]
fn printed_and_written() {
    if !able() {
        return;
    }
    with_connections(|loaded| {
        let text = String::from_utf8(run(&mut metrics()).stdout).expect("text");
        check(&text);
        let name = loaded.name();
        assert_eq!(sum(&text, "lisa_connections", name), 6.0, "{text}");
        assert_eq!(sum(&text, "lisa_subflows_opened_total", name), 12.0);
        let hosts = text
            .lines()
            .filter(|line| line.starts_with(&format!("lisa_subflows{{name=\"{name}\"")));
        assert_eq!(hosts.count(), 3, "two hosts and the others");
        assert_eq!(sum(&text, "lisa_coupling_enabled", name), 1.0);

        let folder = Folder::new();
        let file = folder.join("lisa.prom");
        run(metrics().arg("--textfile").arg(&file));
        let written = std::fs::read_to_string(&file).expect("the file");
        assert_eq!(sum(&written, "lisa_connections", name), 6.0);
        assert_eq!(std::fs::read_dir(&*folder).expect("the folder").count(), 1);
        check(&written);

        // A link in place of the file that is written first leads nowhere.
        let (precious, link) = (folder.join("precious"), folder.join("lisa.prom.tmp"));
        std::fs::write(&precious, "kept").expect("a file");
        std::os::unix::fs::symlink(&precious, &link).expect("a link");
        run(metrics().arg("--textfile").arg(&file));
        assert_eq!(
            std::fs::read_to_string(&precious).expect("the file"),
            "kept"
        );
        assert!(!link.exists());
    });
}

/// `promtool check metrics` accepts the text: names, types, help.
fn check(text: &str) {
    let mut promtool = Command::new(support::promtool())
        .args(["check", "metrics"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("promtool: `make setup` installs it");
    let mut input = promtool.stdin.take().expect("pipe");
    input.write_all(text.as_bytes()).expect("promtool reads");
    drop(input);
    let output = promtool.wait_with_output().expect("promtool");
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.is_empty(), "{said}");
}

#[test]
fn served() {
    if !able() {
        return;
    }
    with_connections(|loaded| {
        let server = Server::start();
        let get = |accept: &str| server.get(accept);
        let plain = get("*/*");
        assert!(plain.starts_with("HTTP/1.1 200 OK\r\n"), "{plain}");
        assert!(
            plain.contains("content-type: text/plain; version=0.0.4"),
            "{plain}"
        );
        assert_eq!(sum(&plain, "lisa_connections", loaded.name()), 6.0);
        let open = get("application/openmetrics-text; version=1.0.0");
        assert!(open.contains("# EOF"), "{open}");
        assert!(
            open.contains("content-type: application/openmetrics-text"),
            "{open}"
        );
        server.end();
    });
}

/// The process that reads requests can do nothing else, and neither process outlives the other.
#[test]
fn the_process_that_listens_has_no_privilege() {
    if !able() {
        return;
    }
    with_connections(|loaded| {
        let server = Server::start();
        let network = server.network_process();
        has_no_privilege(network);
        let answer = server.get("*/*");
        assert_eq!(sum(&answer, "lisa_connections", loaded.name()), 6.0);
        let id = server.child.id();
        server.end();
        until("its end", || has_ended(id) && has_ended(network));

        let mut server = Server::start();
        let network = server.network_process();
        kill(Pid::from_raw(network as i32), Signal::SIGKILL).expect("it runs");
        until("its end", || has_ended(server.child.id()));
        assert_eq!(server.child.wait().expect("lisa").code(), Some(1));

        let mut server = Server::start();
        let network = server.network_process();
        server.child.kill().expect("it runs");
        server.child.wait().expect("lisa");
        until("its end", || has_ended(network));
    });
}

/// `lisa kernel metrics --listen`.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    /// Starts it, with 64 file descriptors.
    fn start() -> Self {
        let mut command = Command::new("prlimit");
        command.args(["--nofile=64", LISA, "kernel", "metrics"]);
        let mut child = command
            .args(["--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("lisa");
        let mut line = String::new();
        let mut output = BufReader::new(child.stdout.take().expect("pipe"));
        output.read_line(&mut line).expect("a line");
        let address = line
            .trim()
            .strip_prefix("metrics at http://")
            .and_then(|line| line.strip_suffix("/metrics"))
            .unwrap_or_else(|| panic!("{line:?}"));
        let address = address.into();
        Self { child, address }
    }

    /// The process that listens.
    fn network_process(&self) -> u32 {
        let port = self.address.rsplit(':').next().expect("a port");
        let port = port.parse().expect("a number");
        let mut all = children(self.child.id());
        all.push(self.child.id());
        all.retain(|id| listens_on(*id, port));
        let [network] = all[..] else {
            panic!("one process listens: {all:?}")
        };
        network
    }

    fn connect(&self) -> TcpStream {
        TcpStream::connect(&self.address).expect("it listens")
    }

    fn get(&self, accept: &str) -> String {
        let mut stream = self.connect();
        let request = format!(
            "GET /metrics HTTP/1.1\r\nHost: {}\r\nAccept: {accept}\r\nConnection: close\r\n\r\n",
            self.address
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    fn end(mut self) {
        let id = nix::unistd::Pid::from_raw(self.child.id() as i32);
        nix::sys::signal::kill(id, nix::sys::signal::SIGTERM).expect("a child of ours");
        assert!(self.child.wait().expect("lisa").success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill(); // it has ended unless the test has failed
        let _ = self.child.wait();
    }
}

/// More connections than the server has file descriptors, which send nothing, part of a request, or a request without an end: others are
/// answered as soon as the time of these is over.
#[test]
fn slow_endless_and_many_requests() {
    if !able() {
        return;
    }
    with_connections(|loaded| {
        let server = Server::start();
        let mut held: Vec<TcpStream> = (0..70).map(|_| server.connect()).collect();
        for stream in &mut held[..10] {
            stream.write_all(b"GET /metrics HTT").expect("sent");
        }
        for stream in &mut held[10..20] {
            stream
                .set_nonblocking(true)
                .expect("its buffer takes the rest");
            let endless = [b'x'; 1 << 16];
            let _ = stream.write_all(b"GET /metrics HTTP/1.1\r\nX: ");
            while stream.write(&endless).is_ok() {}
        }
        let answer = server.get("*/*");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert_eq!(sum(&answer, "lisa_connections", loaded.name()), 6.0);
        drop(held);
        server.end();
    });
}

#[test]
fn a_port_that_is_taken() {
    if !able() {
        return;
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let output = Running::start(metrics().args(["--listen", &address])).end();
    let line = support::complaint(&output, 1);
    assert!(line.contains(&address) && line.contains("in use"), "{line}");
}
