//! The process that removes the cgroup of a command after its last process has left it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::read;

use super::remove;
use crate::exec::detached;

/// Starts the cleanup process. It begins when the returned descriptor is closed, by `execve` or by the end of this process.
pub(super) fn spawn(cgroup: &Path) -> Result<OwnedFd, Errno> {
    let cgroup = cgroup.to_owned();
    detached::spawn(c"lisa-cleanup", move |control| {
        let _ = read(&control, &mut [0]);
        let _ = remove_when_empty(&cgroup);
        Ok(())
    })
}

fn remove_when_empty(cgroup: &PathBuf) -> std::io::Result<()> {
    // The kernel reports a change of this file by POLLPRI (cgroup-v2.rst, "[Un]populated Notification").
    let events = cgroup.join("cgroup.events");
    let mut changes = File::open(&events)?;
    loop {
        let mut text = String::new();
        changes.read_to_string(&mut text)?;
        if text.lines().any(|line| line == "populated 0") {
            match remove(cgroup) {
                // A process has moved into the cgroup since.
                Err(error) if error.kind() == ErrorKind::ResourceBusy => {}
                done => return done,
            }
        }
        match poll(
            &mut [PollFd::new(changes.as_fd(), PollFlags::POLLPRI)],
            PollTimeout::NONE,
        ) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        changes = File::open(&events)?;
    }
}
