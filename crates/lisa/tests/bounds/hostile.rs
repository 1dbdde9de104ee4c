//! A user who opens as many sockets as they can leaves others coupled.
//!
//! `HOSTILE_SOCKETS` of them (2 000 unless set), both ends of each connection.

use crate::support::world::host;
use crate::support::{Loaded, able, until};
use kernel::load::Options;
use lab::Namespace;
use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

/// Connections of a process: the two descriptors of each are below the limit that systems set for root.
const EACH_PROCESS: usize = 9_000;

fn sockets() -> usize {
    std::env::var("HOSTILE_SOCKETS").map_or(2_000, |n| n.parse().expect("a number"))
}

/// A process of a user that has opened connections to itself, until this is dropped.
struct Opened(Child);

impl Opened {
    fn start(host: &Namespace, user: u32, algorithm: &str, address: &str, number: usize) -> Self {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bounds/open.py");
        let user = user.to_string();
        let mut command = host.command("setpriv");
        command.args(["--reuid", &user, "--regid", &user, "--clear-groups"]);
        command.args([
            "sh",
            "-c",
            "ulimit -n $(ulimit -Hn) && exec /usr/bin/python3 \"$@\"",
            "sh",
        ]);
        command.args([script, algorithm, address, &number.to_string()]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self(command.spawn().expect("setpriv"))
    }

    /// Waits until all connections are open.
    fn ready(mut self, number: usize) -> Self {
        let mut line = String::new();
        let output = self.0.stdout.take().expect("a pipe");
        BufReader::new(output).read_line(&mut line).expect("a line");
        assert_eq!(line, format!("{number}\n"));
        self
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn one_users_sockets_leave_others_coupled() {
    if !able() {
        return;
    }
    // Less room than there are sockets, in any case.
    let options = Options {
        max_connections: (sockets() / 2).min(16_384) as u32,
        ..Options::default()
    };
    let (loaded, host) = (Loaded::with("lisa", options), host());
    let name = loaded.name();
    let mut left = sockets() / 2;
    let mut hostile = Vec::new();
    while left > 0 {
        let number = left.min(EACH_PROCESS);
        let address = format!("127.0.{}.1", hostile.len());
        hostile.push((Opened::start(&host, 2000, name, &address, number), number));
        left -= number;
    }
    let ready = |(opened, number): (Opened, usize)| opened.ready(number);
    let hostile: Vec<_> = hostile.into_iter().map(ready).collect();
    let usage = || loaded.usage().expect("usage");
    let bound = loaded.limits().expect("limits").user_connections;
    assert_eq!(usage().connections, bound);

    // Another user, and the system: both ends of each connection are coupled.
    let alone = loaded.totals().alone();
    let totals = loaded.totals();
    // Of thousands of connections in a second, Linux lets some fall back to TCP.
    let plain = totals.plain_returned;
    assert_eq!(
        alone + plain,
        sockets() as u64 - u64::from(bound),
        "{totals:?}"
    );
    let other = Opened::start(&host, 2001, name, "127.1.0.1", 20).ready(20);
    let system = Opened::start(&host, 0, name, "127.1.0.2", 20).ready(20);
    let fallen_back = loaded.totals().plain_returned - plain;
    assert_eq!(u64::from(usage().connections - bound) + fallen_back, 80);
    assert!(
        fallen_back < 20,
        "{fallen_back} of 80 sockets without MPTCP"
    );
    assert_eq!(loaded.totals().alone(), alone);
    drop((hostile, other, system));
    loaded.settled();
    until("no connection counts", || usage() == Default::default());
}
