//! Environment of the tests of `exec`: a network namespace for each test, and `exec` in a child process.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use lisa_kernel::exec::exec;
use nix::mount::{MsFlags, mount};
use nix::sched::{CloneFlags, unshare};
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::{geteuid, write};

/// Longest wait, for a busy machine. A wait ends as soon as its condition holds.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(20);

/// The system's Python, which every user may run.
pub(crate) const PYTHON: &str = "/usr/bin/python3";

/// `show(socket)` prints protocol and congestion control of a socket.
pub(crate) const SHOW: &str = "
import socket, os, sys
def show(s, *more):
    p = s.getsockopt(socket.SOL_SOCKET, 38)  # SO_PROTOCOL
    print(p, s.getsockopt(6, 13, 16).rstrip(b'\\0').decode() if p in (6, 262) else '-', *more, flush=True)
";

/// Moves the test's thread and its child processes into a network namespace with the loopback up, and into a mount namespace
/// without cgroups, so that `exec` uses its helper process. Returns `false` and prints the reason if the tests cannot run.
pub(crate) fn enter() -> bool {
    if !geteuid().is_root() {
        eprintln!("skipped: needs root for a network namespace");
        return false;
    }
    unshare(CloneFlags::CLONE_NEWNET | CloneFlags::CLONE_NEWNS).expect("namespaces");
    let none = None::<&str>;
    mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none).expect("own mounts");
    let mounts = fs::read_to_string("/proc/thread-self/mountinfo").expect("mounts");
    for line in mounts.lines().filter(|line| line.contains(" - cgroup2 ")) {
        let place = line.split(' ').nth(4).expect("a place");
        let flags = MsFlags::MS_REMOUNT | MsFlags::MS_BIND | MsFlags::MS_RDONLY;
        mount(none, place, none, flags, none).expect("read-only cgroups");
    }
    let up = Command::new("ip")
        .args(["link", "set", "lo", "up"])
        .status()
        .expect("ip");
    assert!(up.success());
    let default = fs::read_to_string("/proc/sys/net/ipv4/tcp_congestion_control").expect("sysctl");
    if default.trim() == "reno" {
        // Otherwise the default could not be distinguished from the algorithm.
        fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "cubic").expect("another default");
    }
    true
}

/// A process as of `lisa kernel exec ALGORITHM -- COMMAND…`: it reports the error if `exec` returns.
pub(crate) fn lisa(algorithm: &str, command: &[&str]) -> Command {
    let algorithm = algorithm.to_owned();
    let arguments: Vec<_> = command.iter().map(Into::into).collect();
    let mut process = Command::new("/bin/false");
    // SAFETY: glibc keeps its allocator usable in the child of a process with threads; nothing else of it is shared.
    unsafe {
        process.pre_exec(move || {
            // As Rust's runtime does in a `main`.
            signal(Signal::SIGPIPE, SigHandler::SigIgn)?;
            let error = exec(&algorithm, &arguments);
            let _ = write(std::io::stderr(), format!("lisa: {error}\n").as_bytes());
            libc::_exit(error.exit_code().into())
        });
    }
    process.stdin(Stdio::null());
    process
}

/// The standard output of `command` under `exec reno`, which must succeed.
pub(crate) fn under_reno(command: &[&str]) -> String {
    text(lisa("reno", command).output().expect("fork"))
}

/// The standard output of a Python program with the function `show`, under `exec reno`.
pub(crate) fn python(program: &str) -> String {
    under_reno(&[PYTHON, "-c", &format!("{SHOW}{program}")])
}

/// The standard output of a process that must have succeeded.
pub(crate) fn text(output: Output) -> String {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}: {errors}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

/// The processes in this network namespace that hold a seccomp listener.
pub(crate) fn helpers() -> Vec<u32> {
    let here = fs::read_link("/proc/thread-self/ns/net").expect("namespace");
    let listens = |process: &PathBuf| {
        fs::read_dir(process.join("fd")).is_ok_and(|mut fds| {
            fds.any(|fd| {
                fd.and_then(|fd| fs::read_link(fd.path()))
                    .is_ok_and(|target| target.as_os_str() == "anon_inode:seccomp notify")
            })
        })
    };
    fs::read_dir("/proc")
        .expect("proc")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|process| fs::read_link(process.join("ns/net")).is_ok_and(|net| net == here))
        .filter(listens)
        .filter_map(|process| process.file_name()?.to_str()?.parse().ok())
        .collect()
}

/// Waits until `condition` holds.
pub(crate) fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "waited in vain for: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
