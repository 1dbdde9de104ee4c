//! The helper process: makes the command's sockets, as whom and where the command would have made them.
//!
//! A socket belongs to the network namespace, the user and the group of whoever makes it, so the helper takes on the
//! caller's for that moment. One thread serves all callers in turn: an answer takes microseconds and never waits.

use std::fs::{self, File};
use std::io::{IoSlice, IoSliceMut, Read};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::panic::catch_unwind;
use std::path::PathBuf;

use libc::{c_int, c_uint};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sched::{CloneFlags, setns};
use nix::sys::prctl;
use nix::sys::signal::SigSet;
use nix::sys::socket::{
    AddressFamily, ControlMessage, ControlMessageOwned, MsgFlags, SockFlag, SockType, recvmsg,
    sendmsg, socketpair,
};
use nix::sys::wait::waitpid;
use nix::unistd::{
    ForkResult, Gid, Uid, chdir, dup2_stderr, dup2_stdin, dup2_stdout, fork, getegid, geteuid,
    read, setfsgid, setfsuid, setsid, write,
};

use super::Error;
use super::listener::{Call, Listener};
use super::socket;

/// The network namespace that the helper lives in.
pub(super) const HOME: &str = "/proc/self/ns/net";

/// The helper as its maker sees it: it waits for the listener, and ends if this is dropped instead.
pub(super) struct Helper {
    control: OwnedFd,
}

/// Starts the helper. It is forked twice, and so is a child of init (or of the nearest subreaper), not of the command.
pub(super) fn spawn(algorithm: &str) -> Result<Helper, Error> {
    let failed = Error::system("start the helper process");
    let (control, theirs) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )
    .map_err(&failed)?;
    // SAFETY: the child calls nothing that a lock of another thread could hold up: glibc keeps its allocator usable across
    // `fork`, and the child leaves by `_exit` alone, so that no destructor or buffer of the parent runs twice.
    match unsafe { fork() }.map_err(&failed)? {
        ForkResult::Parent { child } => match waitpid(child, None) {
            // ECHILD: the caller ignores SIGCHLD, and the kernel has reaped it.
            Ok(_) | Err(Errno::ECHILD) => Ok(Helper { control }),
            Err(errno) => Err(failed(errno)),
        },
        ForkResult::Child => {
            let theirs = theirs.into_raw_fd();
            let _ = setsid();
            // SAFETY: as above.
            if let Ok(ForkResult::Child) = unsafe { fork() } {
                let _ = catch_unwind(|| serve(theirs, algorithm));
            }
            // SAFETY: ends the process.
            unsafe { libc::_exit(0) }
        }
    }
}

impl Helper {
    /// Passes it the listener, and waits until it listens.
    pub(super) fn hand_over(self, listener: OwnedFd) -> Result<(), Error> {
        let failed = Error::system("hand over to the helper process");
        let rights = [listener.as_raw_fd()];
        let control = self.control.as_raw_fd();
        sendmsg::<()>(
            control,
            &[IoSlice::new(&[0])],
            &[ControlMessage::ScmRights(&rights)],
            MsgFlags::MSG_NOSIGNAL,
            None,
        )
        .map_err(&failed)?;
        let mut answer = [0; size_of::<c_int>()];
        match read(&self.control, &mut answer).map_err(&failed)? {
            0 => Err(failed(Errno::EPIPE)),
            _ => match Errno::from_raw(c_int::from_ne_bytes(answer)) {
                Errno::UnknownErrno => Ok(()),
                Errno::ENOSYS => Err(Error::NoNotify),
                errno => Err(failed(errno)),
            },
        }
    }
}

/// The helper's life. Returns when the last process under the filter has gone, or if it cannot begin.
fn serve(control: RawFd, algorithm: &str) -> Result<(), Errno> {
    let control = withdraw(control)?;
    let Some(listener) = receive_listener(&control)? else {
        return Ok(());
    };
    let begun = Listener::new(listener).and_then(|listener| Ok((listener, Home::new()?)));
    let errno = begun.as_ref().err().map_or(0, |errno| *errno as c_int);
    write(&control, &errno.to_ne_bytes())?;
    let (mut listener, home) = begun?;
    drop(control);
    while let Some(call) = listener.next() {
        // Whatever is amiss, the kernel says it best: by its answer to the call as it was made.
        if home
            .make_socket(&listener, &call, algorithm)
            .and_then(|socket| listener.answer(&call, &socket))
            .is_err()
        {
            listener.let_through(&call);
        }
    }
    Ok(())
}

/// Lets go of all that came from the caller: signals, descriptors (a pipe held open would hang its reader), directory.
fn withdraw(control: RawFd) -> Result<OwnedFd, Errno> {
    SigSet::all().thread_block()?;
    prctl::set_name(c"lisa-exec")?;
    chdir("/")?;
    // SAFETY: `control` is open and nobody else's in this process; the copy is new.
    let control = unsafe {
        let control = OwnedFd::from_raw_fd(control);
        OwnedFd::from_raw_fd(fcntl(&control, FcntlArg::F_DUPFD_CLOEXEC(3))?)
    };
    let null = File::options()
        .read(true)
        .write(true)
        .open("/dev/null")
        .map_err(io_errno)?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    drop(null);
    let kept = control.as_raw_fd() as c_uint;
    for (first, last) in [(3, kept - 1), (kept + 1, c_uint::MAX)] {
        if first <= last {
            // SAFETY: closes descriptors whose owners are the parent's variables: none is used, or dropped, in here.
            Errno::result(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) })?;
        }
    }
    Ok(control)
}

/// `None` if the maker has given up.
fn receive_listener(control: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    let mut byte = [0];
    let mut iov = [IoSliceMut::new(&mut byte)];
    let mut space = cmsg_space!(RawFd);
    let message = recvmsg::<()>(
        control.as_raw_fd(),
        &mut iov,
        Some(&mut space),
        MsgFlags::MSG_CMSG_CLOEXEC,
    )?;
    for part in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(fds) = part {
            // SAFETY: the kernel has just made it for us.
            return Ok(fds.first().map(|fd| unsafe { OwnedFd::from_raw_fd(*fd) }));
        }
    }
    Ok(None)
}

/// Who and where the helper is when it serves nobody.
struct Home {
    namespace: File,
    /// `net:[inode]`
    name: PathBuf,
    owner: (Uid, Gid),
}

impl Home {
    fn new() -> Result<Self, Errno> {
        let namespace = File::open(HOME).map_err(io_errno)?;
        let name = fs::read_link(HOME).map_err(io_errno)?;
        Ok(Home {
            namespace,
            name,
            owner: (geteuid(), getegid()),
        })
    }

    /// The socket that `call` asks for, of MPTCP.
    fn make_socket(
        &self,
        listener: &Listener,
        call: &Call,
        algorithm: &str,
    ) -> Result<OwnedFd, Errno> {
        let theirs = format!("/proc/{}/ns/net", call.thread);
        // Only root can act as another; for anyone else the command's user is the same.
        let owner = if self.owner.0.is_root() {
            owner(call.thread)?
        } else {
            self.owner
        };
        let abroad = if fs::read_link(&theirs).map_err(io_errno)? == self.name {
            None
        } else {
            Some(File::open(&theirs).map_err(io_errno)?)
        };
        if !listener.waits(call) {
            return Err(Errno::ESRCH);
        }
        let make = || {
            let flags = call.flags & libc::SOCK_NONBLOCK;
            let socket = self.acting_as(owner, || socket::mptcp(call.family, flags))?;
            socket::set_algorithm(&socket, algorithm)?;
            Ok(socket)
        };
        let Some(abroad) = abroad else { return make() };
        setns(&abroad, CloneFlags::CLONE_NEWNET)?;
        let socket = make();
        // A socket in the wrong network is worse than none: with no way home the helper ends.
        setns(&self.namespace, CloneFlags::CLONE_NEWNET).expect("back to the own namespace");
        socket
    }

    /// Runs `make` with the file-system identity of `owner`, which the kernel stamps on a socket; other rights stay.
    fn acting_as<T>(&self, owner: (Uid, Gid), make: impl FnOnce() -> T) -> T {
        if owner == self.owner {
            return make();
        }
        setfsgid(owner.1);
        setfsuid(owner.0);
        let made = make();
        setfsuid(self.owner.0);
        setfsgid(self.owner.1);
        made
    }
}

/// The file-system user and group of `thread`.
fn owner(thread: u32) -> Result<(Uid, Gid), Errno> {
    // One read is cheapest: the kernel writes all of it for each. Both lines are near the beginning.
    let mut status = [0; 1024];
    let length = File::open(format!("/proc/{thread}/status"))
        .and_then(|mut file| file.read(&mut status))
        .map_err(io_errno)?;
    let status = String::from_utf8_lossy(&status[..length]);
    // "Uid:\treal\teffective\tsaved\tfile-system"
    let last = |key: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().nth(3)?.parse::<u32>().ok()
    };
    let user = last("Uid:").ok_or(Errno::ESRCH)?;
    let group = last("Gid:").ok_or(Errno::ESRCH)?;
    Ok((Uid::from_raw(user), Gid::from_raw(group)))
}

fn io_errno(error: std::io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}
