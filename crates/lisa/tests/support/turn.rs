//! Tests that load algorithms under their own names, as `lisa kernel load` does, instead of a private name: a lock
//! runs these tests, also of several builds, one after another.

use super::{LISA, able, until};
use mpcc::Algorithm;
use nix::fcntl::{Flock, FlockArg};
use std::fs::{self, File};
use std::process::Command;

/// The algorithms that can be loaded.
pub fn loadable() -> impl Iterator<Item = Algorithm> {
    Algorithm::all().filter(|algorithm| algorithm.is_loadable())
}

/// The right to load algorithms under their own names. When it is dropped, the algorithms that this test loaded are unloaded.
pub struct Turn {
    /// State of the host at the start.
    pub before: Host,
    _lock: Flock<File>,
}

/// The state that a failing command must not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Host {
    default: String,
    available: Vec<String>,
}

impl Host {
    /// The current state.
    pub fn now() -> Self {
        let read = |name: &str| {
            fs::read_to_string(format!("/proc/sys/net/ipv4/{name}")).expect("a sysctl")
        };
        let available = read("tcp_available_congestion_control");
        // Other tests load and unload algorithms under names with this prefix.
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

    /// Whether an algorithm of this name is loaded.
    pub fn has(&self, name: &str) -> bool {
        self.available.iter().any(|available| available == name)
    }
}

impl Turn {
    /// Waits for the lock; none if the tests cannot run.
    pub fn take() -> Option<Self> {
        if !able() {
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
        for name in loadable().map(|algorithm| algorithm.name()) {
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

    /// Checks that the host is unchanged.
    pub fn unchanged(&self) {
        assert_eq!(Host::now(), self.before);
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        for name in loadable().map(|algorithm| algorithm.name()) {
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
pub fn lisa(arguments: &[&str]) -> Command {
    let mut command = Command::new(LISA);
    command.arg("kernel").args(arguments);
    command
}

/// Output of a command that must succeed without an error line.
pub fn good(mut command: Command) -> String {
    let output = super::world::run(&mut command);
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("text")
}
