//! Runs the command in a cgroup that the BPF programs of `bpf/exec.bpf.c` recognise by its name.
//!
//! `lisa kernel load` attaches the programs ([`programs`]). They serve every process in the cgroup, or in a cgroup below it, until
//! the process moves to a cgroup elsewhere. No helper process takes part in a call of `socket`. A process ([`cleanup`]) removes the
//! cgroup after the last process has left it. If the cleanup process is killed, an empty cgroup stays until the next `exec` in the
//! same place ([`remove_abandoned`]).

mod cleanup;
pub(crate) mod hierarchy;
pub(crate) mod programs;

use std::fs;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::signal::kill;
use nix::unistd::{AccessFlags, Pid, access, getpid};

use super::socket;

/// Prefix of the name of each such cgroup; the algorithm and the process id follow.
const PREFIX: &str = "lisa-exec-"; // bpf/exec.bpf.c: PREFIX

/// The cgroup of a command. The cleanup process begins when this is dropped, or closed by `execve`.
pub(super) struct Cgroup {
    _cleanup: OwnedFd,
}

/// Moves this process into a new cgroup for `algorithm`. If the user may not make a cgroup, or no program serves it, returns `None`
/// and leaves the process in its cgroup.
pub(super) fn enter(algorithm: &str) -> Option<Cgroup> {
    let parent = hierarchy::own()?;
    let writable = |path: &Path| access(path, AccessFlags::W_OK).is_ok();
    if !writable(&parent) || !writable(&parent.join(PROCESSES)) {
        return None;
    }
    // Served, but not by a cgroup: the helper process of another `exec` would answer here, too.
    if is_served() && !is_below_another(&parent) {
        return None;
    }
    remove_abandoned(&parent);
    let cgroup = parent.join(format!("{PREFIX}{algorithm}-{}", getpid()));
    // Before the cgroup exists: if this process is killed after that, the cgroup is removed all the same.
    let cleanup = cleanup::spawn(&cgroup).ok()?;
    fs::create_dir(&cgroup).ok()?;
    move_to(&cgroup).ok()?;
    if !is_served() {
        let _ = move_to(&parent);
        return None;
    }
    Some(Cgroup { _cleanup: cleanup })
}

/// File of a cgroup that lists its processes and takes new ones.
const PROCESSES: &str = "cgroup.procs";

fn move_to(cgroup: &Path) -> std::io::Result<()> {
    fs::write(cgroup.join(PROCESSES), "0")
}

/// Whether this process gets MPTCP sockets for TCP sockets.
fn is_served() -> bool {
    socket::tcp(libc::AF_INET)
        .and_then(|socket| socket::protocol(&socket))
        .is_ok_and(|protocol| protocol == libc::IPPROTO_MPTCP)
}

/// Whether the cgroup is one of a command, or below one.
fn is_below_another(cgroup: &Path) -> bool {
    let mut names = cgroup.iter().map(|name| name.to_string_lossy());
    names.any(|name| process_of(&name).is_some())
}

/// Removes the cgroups of commands whose cleanup process was killed: those without a process in them or below them.
fn remove_abandoned(parent: &Path) {
    let names = fs::read_dir(parent).into_iter().flatten().flatten();
    for entry in names {
        let cgroup = entry.path();
        let maker = process_of(&entry.file_name().to_string_lossy());
        // The process that makes a cgroup moves into it afterwards.
        if maker.is_some_and(|pid| kill(pid, None) == Err(Errno::ESRCH)) && !is_populated(&cgroup) {
            let _ = remove(&cgroup);
        }
    }
}

/// Whether a process is in the cgroup or below it (cgroups(7), cgroup.events); true if that cannot be read.
fn is_populated(cgroup: &Path) -> bool {
    let events = fs::read_to_string(cgroup.join("cgroup.events")).unwrap_or_default();
    !events.lines().any(|line| line == "populated 0")
}

/// The process that made the cgroup of this name.
fn process_of(name: &str) -> Option<Pid> {
    let (_, pid) = name.strip_prefix(PREFIX)?.rsplit_once('-')?;
    pid.parse().ok().map(Pid::from_raw)
}

/// Removes a cgroup and the cgroups below it. Fails if one of them has a process.
fn remove(cgroup: &PathBuf) -> std::io::Result<()> {
    for entry in fs::read_dir(cgroup)?.flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            remove(&entry.path())?;
        }
    }
    fs::remove_dir(cgroup)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_cgroups() {
        assert_eq!(
            process_of("lisa-exec-lisa_olia-17"),
            Some(Pid::from_raw(17))
        );
        for other in [
            "lisa-exec-lisa",
            "lisa-exec-lisa-x",
            "lisa-17",
            "user.slice",
        ] {
            assert_eq!(process_of(other), None, "{other}");
        }
    }
}
