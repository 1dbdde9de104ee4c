//! What a socket takes from the thread that makes it: network namespace, user and group.
//!
//! A notification names the thread by its number in the helper's PID namespace. A pidfd is opened by that number (on
//! Linux 6.13 it gives all that is needed). /proc/NUMBER is the same thread only if that procfs was mounted in the helper's PID
//! namespace: `unshare --pid` without `--mount-proc` leaves one in which NUMBER is another process, of the host's.

use std::fs::File;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;

use libc::c_int;
use nix::errno::Errno;
use nix::fcntl::{OFlag, openat};
use nix::sys::stat::Mode;
use nix::unistd::{Gid, Uid, gettid};

use crate::exec::{Error, io_errno};

/// A way to look at other threads.
pub(super) enum Inspector {
    Pidfd,
    /// A procfs of this process's PID namespace.
    Proc(File),
}

/// A thread that has called `socket`, looked at through one of its descriptors: /proc/NUMBER or a pidfd.
pub(super) enum Caller {
    Pidfd(OwnedFd),
    Proc(OwnedFd),
}

/// User and group that a socket belongs to: those for access to files.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Owner {
    pub(super) user: Uid,
    pub(super) group: Gid,
}

impl Inspector {
    pub(super) fn new() -> Result<Self, Error> {
        let own = || {
            let caller = Inspector::Pidfd.caller(gettid().as_raw() as u32)?;
            caller.network_namespace().and(caller.owner())
        };
        if own().is_ok() {
            return Ok(Inspector::Pidfd);
        }
        let proc = File::open("/proc").map_err(|source| Error::System {
            step: "open /proc (is it mounted?)",
            source,
        })?;
        let inspector = Inspector::Proc(proc);
        let own = inspector.caller_by("self").and_then(|own| own.status());
        match own {
            Ok(status) if numbers(&status) == Some(1) => Ok(inspector),
            Ok(_) | Err(Errno::ENOENT) => Err(Error::ForeignProc),
            Err(errno) => Err(Error::system("read /proc/self/status")(errno)),
        }
    }

    /// The thread of this number. Until the caller has checked that the notification still waits for its answer, it may be
    /// a later thread of the same number.
    pub(super) fn caller(&self, thread: u32) -> Result<Caller, Errno> {
        match self {
            Inspector::Pidfd => {
                // SAFETY: no pointers; a descriptor that comes back is new and ours alone.
                let fd = unsafe {
                    let fd = libc::syscall(libc::SYS_pidfd_open, thread, libc::PIDFD_THREAD);
                    OwnedFd::from_raw_fd(Errno::result(fd)? as c_int)
                };
                Ok(Caller::Pidfd(fd))
            }
            Inspector::Proc(_) => self.caller_by(&thread.to_string()),
        }
    }

    fn caller_by(&self, name: &str) -> Result<Caller, Errno> {
        let Inspector::Proc(proc) = self else {
            return Err(Errno::EINVAL);
        };
        openat(proc, name, OFlag::O_PATH | OFlag::O_CLOEXEC, Mode::empty()).map(Caller::Proc)
    }
}

impl Caller {
    pub(super) fn network_namespace(&self) -> Result<File, Errno> {
        match self {
            Caller::Pidfd(pidfd) => {
                // SAFETY: no pointers; a descriptor that comes back is new and ours alone.
                unsafe {
                    let fd = libc::ioctl(pidfd.as_raw_fd(), libc::PIDFD_GET_NET_NAMESPACE, 0);
                    Errno::result(fd).map(|fd| File::from_raw_fd(fd))
                }
            }
            Caller::Proc(directory) => open_in(directory, "ns/net"),
        }
    }

    pub(super) fn owner(&self) -> Result<Owner, Errno> {
        let Caller::Pidfd(pidfd) = self else {
            return owner_in(&self.status()?).ok_or(Errno::ESRCH);
        };
        // SAFETY: plain integers, for which zero is a value. The kernel reads and writes a `pidfd_info`.
        let info = unsafe {
            let mut info: libc::pidfd_info = std::mem::zeroed();
            info.mask = u64::from(libc::PIDFD_INFO_CREDS);
            Errno::result(libc::ioctl(
                pidfd.as_raw_fd(),
                libc::PIDFD_GET_INFO,
                &mut info,
            ))?;
            info
        };
        Ok(Owner {
            user: Uid::from_raw(info.fsuid),
            group: Gid::from_raw(info.fsgid),
        })
    }

    /// /proc/NUMBER/status.
    fn status(&self) -> Result<String, Errno> {
        let Caller::Proc(directory) = self else {
            return Err(Errno::EINVAL);
        };
        // The kernel writes all of it for each read.
        let mut status = vec![0; 4096];
        let length = open_in(directory, "status")?
            .read(&mut status)
            .map_err(io_errno)?;
        status.truncate(length);
        Ok(String::from_utf8_lossy(&status).into_owned())
    }
}

fn open_in(directory: &OwnedFd, path: impl AsRef<Path>) -> Result<File, Errno> {
    let flags = OFlag::O_RDONLY | OFlag::O_CLOEXEC;
    openat(directory, path.as_ref(), flags, Mode::empty()).map(File::from)
}

/// The words of a line of a status file.
fn words<'a>(status: &'a str, key: &str) -> Option<std::str::SplitWhitespace<'a>> {
    let line = status.lines().find_map(|line| line.strip_prefix(key))?;
    Some(line.split_whitespace())
}

/// How many PID namespaces there are from that of the procfs down to the process's: 1 if they are the same.
fn numbers(status: &str) -> Option<usize> {
    words(status, "NSpid:").map(Iterator::count)
}

fn owner_in(status: &str) -> Option<Owner> {
    // "Uid:\treal\teffective\tsaved\tfile-system"
    let last = |key: &str| words(status, key)?.nth(3)?.parse().ok();
    Some(Owner {
        user: Uid::from_raw(last("Uid:")?),
        group: Gid::from_raw(last("Gid:")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tx\nUid:\t1\t2\t3\t4\nGid:\t5\t6\t7\t8\nNSpid:\t900\t2\n";

    #[test]
    fn lines_of_a_status_file() {
        let owner = owner_in(STATUS).unwrap();
        assert_eq!((owner.user.as_raw(), owner.group.as_raw()), (4, 8));
        assert_eq!(numbers(STATUS), Some(2));
        assert_eq!(numbers("NSpid:\t1\n"), Some(1));
        assert_eq!(numbers("Uid:\t1\n"), None);
    }

    #[test]
    fn both_ways_see_this_thread() {
        let proc = Inspector::Proc(File::open("/proc").unwrap());
        let inspectors = [proc, Inspector::Pidfd];
        for inspector in &inspectors {
            let own = inspector.caller(gettid().as_raw() as u32).unwrap();
            let owner = match own.owner() {
                Ok(owner) => owner,
                // PIDFD_GET_INFO
                Err(error)
                    if crate::requirements::version(&crate::requirements::release()) >= (6, 13) =>
                {
                    panic!("{error}")
                }
                Err(_) => {
                    eprintln!("skipped: pidfds of this kernel do not tell the owner");
                    continue;
                }
            };
            assert_eq!(owner.user, nix::unistd::geteuid());
            let namespace = own.network_namespace().unwrap();
            let own = File::open("/proc/thread-self/ns/net").unwrap();
            let inode = |file: &File| nix::sys::stat::fstat(file).unwrap().st_ino;
            assert_eq!(inode(&namespace), inode(&own));
        }
    }
}
