//! Support of the tests on the running kernel: an algorithm under a private name, waits, files, the kernel's log.
#![allow(dead_code)] // each test uses a part of it

pub mod bpf;
pub mod foreign;
pub mod managed;
pub mod middlebox;
pub mod named;
pub mod opens;
pub mod process;
pub mod selection;
pub mod stream;
pub mod turn;
pub mod vm;
pub mod watch;
pub mod world;

use kernel::holders::Holders;
use kernel::load::{self, Options};
use kernel::owner::Owner;
use kernel::registry::{self, Registered};
use kernel::status;
use kernel::totals::{self, Totals};
use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::ops::Deref;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// The program that is tested.
pub const LISA: &str = env!("CARGO_BIN_EXE_lisa");

/// Limit of every wait, long enough for a loaded machine. A wait ends as soon as its condition holds.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Prometheus' own checker of metrics, which `make setup` fetches.
pub fn promtool() -> PathBuf {
    let cache = std::env::var_os("XDG_CACHE_HOME").map_or_else(
        || PathBuf::from(std::env::var_os("HOME").expect("a home")).join(".cache"),
        PathBuf::from,
    );
    cache.join("lisa/promtool")
}

/// Whether the test can run here. Prints the reason of a skip.
pub fn able() -> bool {
    match kernel::requirements::check() {
        Ok(()) => true,
        Err(error) => {
            eprintln!("skipped: {error}");
            false
        }
    }
}

/// Waits until `condition` holds.
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A number that no other caller in this process gets.
pub fn number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// An algorithm that is registered under a private name until this is dropped.
pub struct Loaded {
    registered: Option<Registered>,
}

impl Loaded {
    /// `lisa`.
    pub fn lisa() -> Self {
        Self::with("lisa", Options::default())
    }

    /// Any algorithm.
    pub fn with(algorithm: &str, options: Options) -> Self {
        let name = format!("t{}_{}", std::process::id(), number());
        let options = Options {
            register_as: Some(name),
            owner: Some(Owner::this()),
            ..options
        };
        Self {
            registered: Some(load::load(algorithm, &options).expect("loads")),
        }
    }

    /// The counts so far.
    pub fn totals(&self) -> Totals {
        totals::totals(self).expect("totals")
    }

    /// The current status, as `lisa kernel status` shows it.
    pub fn status(&self) -> status::Status {
        status::status(self, Holders::default()).expect("status")
    }

    /// Whether all connections have closed and no map has an entry of them.
    pub fn is_settled(&self) -> bool {
        is_settled(self)
    }

    /// Waits until all connections have closed. Returns the counts.
    pub fn settled(&self) -> Totals {
        settled(self)
    }
}

/// Whether all connections of an algorithm have closed and no map has an entry of them.
pub fn is_settled(registered: &Registered) -> bool {
    let t = totals::totals(registered).expect("totals");
    t.connections_opened == t.connections_closed
        && t.subflows_opened == t.subflows_closed
        && t.plain_opened == t.plain_closed
        && status::entries(registered) == (0, 0)
}

/// The open connections with their sockets; an entry without a socket is left over.
fn left_open(registered: &Registered) -> String {
    let found = kernel::holders::find().expect("the sockets");
    let status = status::status(registered, found.of(registered)).expect("status");
    format!("{:#?}", (status.users, status.holders, status.connections))
}

/// Waits until all connections of an algorithm have closed. Returns the counts.
///
/// A connection whose last packets were lost may stay for `net.mptcp.close_timeout`, 60 s, after the end of its
/// program; one of a million did.
pub fn settled(registered: &Registered) -> Totals {
    let deadline = Instant::now() + 5 * PATIENCE;
    let totals = || kernel::totals::totals(registered).expect("totals");
    while !is_settled(registered) {
        let (entries, totals) = (status::entries(registered), totals());
        assert!(
            Instant::now() < deadline,
            "left open: {entries:?} entries, {totals:?}; {}",
            left_open(registered)
        );
        std::thread::sleep(Duration::from_millis(5));
    }
    let totals = totals();
    let ended = totals.credits_settled + totals.credits_void;
    assert_eq!(totals.credits_taken, ended, "every credit ends: {totals:?}");
    totals
}

impl Deref for Loaded {
    type Target = Registered;

    fn deref(&self) -> &Registered {
        self.registered.as_ref().expect("until dropped")
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let Some(registered) = self.registered.take() else {
            return;
        };
        let name = registered.name().to_owned();
        let deadline = Instant::now() + PATIENCE;
        let done = registered.unload(Some(&mut |_| Instant::now() < deadline));
        if std::thread::panicking() {
            return;
        }
        done.expect("unloads");
        let left = registry::find().expect("registry");
        let left: Vec<_> = left.iter().filter(|left| left.name() == name).collect();
        assert!(left.is_empty(), "still in the kernel: {left:?}");
    }
}

/// A directory that is deleted when this is dropped.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty directory.
    pub fn new() -> Self {
        let name = format!("lisa-test-{}-{}", std::process::id(), number());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("folder");
        Self(path)
    }
}

impl Deref for Folder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The error of a failed `lisa`: one line, with `lisa: ` before it.
pub fn complaint(output: &Output, code: i32) -> String {
    let line = without_progress(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{line}");
    assert!(
        line.starts_with("lisa: ") && line.ends_with('\n'),
        "{line:?}"
    );
    assert_eq!(line.lines().count(), 1, "{line}");
    assert!(!line.contains("os error"), "{line}");
    line
}

/// What a command printed on standard error without the lines of its progress, which a slow machine has after 5 s.
pub fn without_progress(stderr: &[u8]) -> String {
    let said = String::from_utf8_lossy(stderr);
    let is_progress = |line: &&str| line.contains(" runs, ") && !line.starts_with("lisa: ");
    let lines = said.split_inclusive('\n');
    lines.filter(|line| !is_progress(line)).collect()
}

/// Bytes in which a missing or misplaced byte is detected: from a linear congruential generator (Knuth's MMIX).
pub fn content(bytes: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut step = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..bytes).map(|_| step()).collect()
}

/// The kernel's log from this time on.
pub struct KernelLog(File);

impl KernelLog {
    /// Begins at the end of the log.
    pub fn begin() -> Self {
        let mut file = OpenOptions::new()
            .read(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/kmsg")
            .expect("/dev/kmsg");
        file.seek(SeekFrom::End(0)).expect("its end");
        Self(file)
    }

    /// The new lines that report a fault of the kernel.
    pub fn faults(&mut self) -> Vec<String> {
        const FAULTS: [&str; 10] = [
            "WARNING:",
            "BUG:",
            "Oops",
            "Call Trace",
            "general protection",
            "lockup",
            "rcu: INFO",
            "RIP:",
            "hung_task",
            "bpf:",
        ];
        let mut found = Vec::new();
        let mut record = [0u8; 8192];
        loop {
            match self.0.read(&mut record) {
                Ok(0) => return found,
                Ok(length) => {
                    let line = String::from_utf8_lossy(&record[..length]).into_owned();
                    if FAULTS.iter().any(|fault| line.contains(fault)) {
                        found.push(line);
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return found,
                // EPIPE: records were overwritten before they were read; the next read continues after them.
                Err(error) if error.kind() == ErrorKind::BrokenPipe => {
                    found.push("part of the log was lost".into());
                }
                Err(error) => panic!("/dev/kmsg: {error}"),
            }
        }
    }
}
