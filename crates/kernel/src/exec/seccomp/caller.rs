//! Attributes that a socket takes from the calling thread: network namespace, user and group.
//!
//! A notification has the thread's number in the helper's PID namespace. A pidfd is opened by that number, and suffices from Linux
//! 6.13 on. /proc/NUMBER is the same thread only if the procfs was mounted in the helper's PID namespace: after `unshare --pid`
//! without `--mount-proc`, NUMBER is another process, one of the host.

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
use crate::kernel_fs::PROC;

/// Interface to attributes of other threads.
pub(super) enum Inspector {
    Pidfd,
    /// A procfs of this process's PID namespace.
    Proc(File),
}

/// A thread that has called `socket`: a descriptor of /proc/NUMBER, or a pidfd.
pub(super) enum Caller {
    Pidfd(OwnedFd),
    Proc(OwnedFd),
}

/// Owner of a socket: user and group for access to files.
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
            Ok(status) if pid_namespaces(&status) == Some(1) => Ok(inspector),
            Ok(_) | Err(Errno::ENOENT) => {
                PROC.check().map_err(Error::Kernel)?;
                Err(Error::ForeignProc)
            }
            Err(errno) => Err(Error::system("read /proc/self/status")(errno)),
        }
    }

    /// The thread of this number. It may be a later thread of the same number, unless the notification is still pending afterwards
    /// ([`is_pending`](super::listener::Listener::is_pending)).
    pub(super) fn caller(&self, thread: u32) -> Result<Caller, Errno> {
        match self {
            Inspector::Pidfd => {
                // SAFETY: no pointers; a returned descriptor is new and has no other owner.
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
                // SAFETY: no pointers; a returned descriptor is new and has no other owner.
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
        // SAFETY: plain integers, for which zero is a valid value. The kernel reads and writes a `pidfd_info`.
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
        // One read returns the whole file.
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

/// Number of PID namespaces from that of the procfs down to that of the process: 1 if they are the same.
fn pid_namespaces(status: &str) -> Option<usize> {
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
        assert_eq!(pid_namespaces(STATUS), Some(2));
        assert_eq!(pid_namespaces("NSpid:\t1\n"), Some(1));
        assert_eq!(pid_namespaces("Uid:\t1\n"), None);
    }

    #[test]
    fn both_interfaces_find_this_thread() {
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
                    eprintln!("skipped: pidfds of this kernel do not have the owner");
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
