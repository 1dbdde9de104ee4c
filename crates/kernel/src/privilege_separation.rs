//! Privilege separation: what reads input from the network runs in a process without privileges.
//!
//! The privileged process starts the network process ([`spawn`]), which gives up everything that its work does not need ([`Sandbox`])
//! before it runs a line of that work. Both are connected by one [`Channel`]. The network process sends requests, the privileged process
//! answers them and takes every byte of them as hostile.
//!
//! The privileged process is the parent, and so the one that systemd and a shell know: its signals end the work, and it sees each end of
//! the other. The network process ends with it: the channel closes, and the kernel sends SIGKILL (PR_SET_PDEATHSIG) if the parent was
//! killed. Without `exec` the network process inherits the parent's memory. A parent must not have mapped BPF maps when it forks.

mod channel;
mod filter;
mod sandbox;

use crate::{Error, Result};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{Shutdown, setsockopt, shutdown, sockopt};
use nix::sys::time::TimeVal;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::{ForkResult, Pid, fork, getpid};
use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use channel::{Channel, MESSAGE};
pub use filter::forbid_sockets;
pub use sandbox::{Sandbox, keep_capabilities};

/// Longest time until an answer is taken, seconds. A network process that takes none must not block the privileged one.
const SENDING: i64 = 5;

/// Longest time until the network process ends after the end of the channel, milliseconds.
const ENDING: u16 = 1000;

/// The network process, as its parent sees it.
pub struct NetworkProcess {
    id: Pid,
    /// Readable when the process has ended.
    handle: OwnedFd,
    channel: Channel,
}

/// Why a request is not carried out.
#[derive(Debug)]
pub enum Refusal {
    /// The request is well-formed and has failed. The network process receives this text.
    Failed(String),
    /// The network process of this program never sends such a request.
    Invalid,
    /// The answer cannot be sent.
    Unanswered(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::Unanswered(error)
    }
}

/// Why requests are not answered any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// `stop` is readable, or [`NetworkProcess::stop`] was called.
    Stopped,
    /// The network process has ended or takes no answer.
    Ended,
    /// It has sent a request that this program never sends.
    Invalid,
}

/// Starts the network process. Returns when it has given up its privileges and begins `work`, whose result is its exit code.
///
/// # Errors
/// If it cannot be started, or cannot give up a privilege.
pub fn spawn(sandbox: &Sandbox<'_>, work: impl FnOnce(Channel) -> u8) -> Result<NetworkProcess> {
    let failed = |errno: Errno| Error::io("starting the network process")(errno.into());
    let (ours, theirs) = Channel::pair().map_err(failed)?;
    let parent = getpid();
    // SAFETY: no lock of another thread can block the child: glibc keeps its allocator usable across `fork`. The child ends by
    // `_exit` alone, so that no destructor or buffer of the parent runs twice.
    match unsafe { fork() }.map_err(failed)? {
        ForkResult::Parent { child } => {
            drop(theirs);
            let network = NetworkProcess {
                id: child,
                handle: handle(child).map_err(failed)?,
                channel: ours,
            };
            let most = TimeVal::new(SENDING, 0);
            setsockopt(&network.channel, sockopt::SendTimeout, &most).map_err(failed)?;
            // Until here it has read nothing of the network.
            let begun = match network.channel.answer(|_| ()) {
                Ok(begun) => begun.map_err(Error::NetworkProcess),
                Err(error) => Err(Error::io("the network process")(error)),
            };
            if begun.is_err() {
                network.wait();
            }
            begun.map(|()| network)
        }
        ForkResult::Child => {
            let code = catch_unwind(AssertUnwindSafe(|| {
                drop(ours);
                let entered = sandbox.enter(&theirs, parent);
                match theirs.finish(&entered).is_ok() && entered.is_ok() {
                    true => work(theirs),
                    false => 1,
                }
            }));
            // SAFETY: ends the process. A panic was printed; 101 is its exit code in a thread `main`.
            unsafe { libc::_exit(code.unwrap_or(101).into()) }
        }
    }
}

/// A descriptor of a process (pidfd_open(2)).
fn handle(process: Pid) -> nix::Result<OwnedFd> {
    // SAFETY: the call takes two integers. The result is a new close-on-exec descriptor without another owner.
    unsafe {
        let fd = Errno::result(libc::syscall(libc::SYS_pidfd_open, process.as_raw(), 0))?;
        Ok(OwnedFd::from_raw_fd(fd as i32))
    }
}

impl NetworkProcess {
    /// Answers requests, one at a time, until the end of the process, or until `stop` is readable. `answer` sends the parts of its answer,
    /// of at most [`MESSAGE`] − 1 bytes, by the function that it gets.
    pub fn serve(
        &self,
        stop: Option<BorrowedFd<'_>>,
        mut answer: impl FnMut(&[u8], &dyn Fn(&[u8]) -> io::Result<()>) -> Result<(), Refusal>,
    ) -> End {
        let mut buffer = channel::buffer();
        let mut events = vec![PollFd::new(self.channel.as_fd(), PollFlags::POLLIN)];
        events.extend(stop.map(|stop| PollFd::new(stop, PollFlags::POLLIN)));
        loop {
            match poll(&mut events, PollTimeout::NONE) {
                Ok(_) => {}
                Err(Errno::EINTR) => continue,
                Err(_) => return End::Stopped,
            }
            if events.get(1).is_some_and(|stop| stop.any() != Some(false)) {
                return End::Stopped;
            }
            let request = match self.channel.receive(&mut buffer) {
                Ok(Some(request)) => request,
                Ok(None) => return End::Ended,
                Err(error) if error.kind() == io::ErrorKind::InvalidData => return End::Invalid,
                Err(_) => return End::Ended,
            };
            let answered = match answer(request, &|part| self.channel.part(part)) {
                Ok(()) => Ok(()),
                Err(Refusal::Failed(text)) => Err(text),
                Err(Refusal::Invalid) => return End::Invalid,
                Err(Refusal::Unanswered(_)) => return End::Ended,
            };
            if self.channel.finish(&answered).is_err() {
                return End::Ended;
            }
        }
    }

    /// Ends the channel, and so [`serve`](Self::serve) and the process.
    pub fn stop(&self) {
        let _ = shutdown(self.channel.as_fd().as_raw_fd(), Shutdown::Both);
    }

    /// Waits at most a second for the end of the process after [`stop`](Self::stop). Returns how it has ended; `None` if it still runs, or if
    /// the kernel has no record because this program ignores SIGCHLD.
    pub fn wait(&self) -> Option<Exit> {
        let _ = poll(
            &mut [PollFd::new(self.handle.as_fd(), PollFlags::POLLIN)],
            PollTimeout::from(ENDING),
        );
        match waitpid(self.id, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::StillAlive) | Err(_) => None,
            Ok(status) => Some(Exit(status)),
        }
    }
}

impl AsFd for NetworkProcess {
    /// A descriptor that is readable when the process has ended.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

/// How a process has ended: `exit code 101`, `SIGKILL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit(WaitStatus);

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            WaitStatus::Exited(_, code) => write!(f, "exit code {code}"),
            WaitStatus::Signaled(_, signal, _) => write!(f, "{signal}"),
            other => write!(f, "{other:?}"),
        }
    }
}

#[cfg(test)]
mod tests;
