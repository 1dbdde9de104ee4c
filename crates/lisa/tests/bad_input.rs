//! What goes wrong is said in one line that begins with `lisa: `, with the right exit code, and leaves the host as it
//! was.
//!
//! These tests run the program itself, which knows its algorithms by their own names: `lisa` and `mptcp` are loaded for
//! real, and a lock keeps these tests, also of several builds, one after the other.

mod support;

#[path = "bad_input/defaults.rs"]
mod defaults;
#[path = "bad_input/foreign.rs"]
mod foreign;
#[path = "bad_input/groups.rs"]
mod groups;
#[path = "bad_input/loading.rs"]
mod loading;
#[path = "bad_input/privilege.rs"]
mod privilege;

use lab::Namespace;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::process::{Command, Output};
use support::{LISA, until};

/// The right to load algorithms under their own names; all that this test has loaded goes with it.
struct Turn {
    before: Host,
    _lock: Flock<File>,
}

/// What a failing command must not change.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Host {
    default: String,
    available: Vec<String>,
}

impl Host {
    fn now() -> Self {
        let read = |name: &str| {
            fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).expect("a sysctl")
        };
        let available = read("tcp_available_congestion_control");
        // Other tests load and unload under names that begin so.
        let lasting = |name: &&str| {
            !(name.starts_with('t') && name[1..].starts_with(|c: char| c.is_ascii_digit()))
        };
        Self {
            default: read("tcp_congestion_control").trim().into(),
            available: available
                .split_whitespace()
                .filter(lasting)
                .map(String::from)
                .collect(),
        }
    }

    fn has(&self, name: &str) -> bool {
        self.available.iter().any(|available| available == name)
    }
}

impl Turn {
    /// Waits for it; none where the tests cannot run.
    fn take() -> Option<Self> {
        if !support::able() {
            return None;
        }
        let path = std::env::temp_dir().join("lisa-test-names.lock");
        let file = File::options()
            .create(true)
            .append(true)
            .open(path)
            .expect("a lock file");
        let lock = Flock::lock(file, FlockArg::LockExclusive).map_err(|(_, error)| error);
        let lock = lock.expect("the lock");
        let before = Host::now();
        for name in ["lisa", "mptcp"] {
            let why = "somebody else has loaded it, and these tests load it themselves";
            assert!(
                !before.has(name),
                "`{name}`: {why}; `lisa kernel unload {name}` first"
            );
        }
        Some(Self {
            before,
            _lock: lock,
        })
    }

    /// The host must be as it was.
    fn unchanged(&self) {
        assert_eq!(Host::now(), self.before);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        for name in ["lisa", "mptcp"] {
            if Host::now().has(name) {
                let _ = Command::new(LISA)
                    .args(["kernel", "unload", name, "--wait"])
                    .output();
            }
        }
        if !std::thread::panicking() {
            until("the host is as it was", || Host::now() == self.before);
        }
    }
}

/// `lisa kernel …`
fn lisa(arguments: &[&str]) -> Command {
    let mut command = Command::new(LISA);
    command.arg("kernel").args(arguments);
    command
}

/// `lisa kernel …` on a host of its own.
fn lisa_on(host: &Namespace, arguments: &[&str]) -> Command {
    let mut command = host.command(LISA);
    command.arg("kernel").args(arguments);
    command
}

/// What it printed, where it must have succeeded without a complaint.
fn good(mut command: Command) -> String {
    let output = support::world::run(&mut command);
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}

/// The line that it failed with.
fn bad(mut command: Command, code: i32, words: &str) -> String {
    failed(&command.output().expect("lisa"), code, words)
}

/// The line that it failed with: one, of ours, with these words, and nothing on standard output.
fn failed(output: &Output, code: i32, words: &str) -> String {
    let line = support::complaint(output, code);
    assert!(line.contains(words), "{line:?} has {words:?}");
    assert!(
        output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    line
}
