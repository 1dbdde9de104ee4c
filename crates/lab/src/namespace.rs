//! A network namespace without a name: see namespaces(7), "Namespace lifetime".
//!
//! `ip netns` keeps a namespace by a mount in /run/netns, which outlives the process that dies
//! before it cleans up. Here a file descriptor keeps it, so the kernel removes it with the last
//! descriptor, thread or socket in it. The namespace of a thread, not of the process, changes.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::panic::resume_unwind;
use std::process::Command;
use std::sync::Arc;
use std::thread;

use nix::errno::Errno;
use nix::sched::{CloneFlags, setns, unshare};

use crate::child;
use crate::error::Error;

/// A network namespace. Threads and processes enter it; the sockets they make stay in it.
#[derive(Debug)]
pub struct Namespace {
    fd: Arc<OwnedFd>,
}

impl Namespace {
    /// A new namespace: no interface but a loopback that is down.
    pub fn new() -> Result<Self, Error> {
        // In a thread of its own, since a thread that has left its namespace is not to be reused.
        let made = thread::spawn(|| {
            unshare(CloneFlags::CLONE_NEWNET)?;
            File::open("/proc/thread-self/ns/net")
        });
        match made.join().unwrap_or_else(|panic| resume_unwind(panic)) {
            Ok(file) => Ok(Self {
                fd: Arc::new(file.into()),
            }),
            Err(error) if error.raw_os_error() == Some(Errno::EPERM as i32) => {
                Err(Error::Privilege)
            }
            Err(error) => Err(Error::kernel("making a network namespace")(error)),
        }
    }

    /// Runs `f` on a thread inside the namespace and returns its result; a panic of `f` goes on in
    /// the caller. Sockets that `f` makes belong to the namespace for good.
    ///
    /// # Panics
    /// When no thread can be made, or the process has given up the right to enter its namespace.
    pub fn run<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                self.enter();
                f()
            });
            inside.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// Starts a thread called `name` (15 bytes show) inside the namespace, which then lives at
    /// least as long as the thread.
    pub fn spawn<T: Send + 'static>(
        &self,
        name: &str,
        f: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<thread::JoinHandle<T>> {
        let namespace = Self {
            fd: Arc::clone(&self.fd),
        };
        thread::Builder::new().name(name.into()).spawn(move || {
            namespace.enter();
            f()
        })
    }

    /// A command that will run inside the namespace.
    ///
    /// The child is killed when the thread that starts it ends, so start it from a thread that
    /// stays. Its own children are not.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let fd = Arc::clone(&self.fd);
        let parent = std::process::id();
        let mut command = Command::new(program);
        // SAFETY: between fork and exec the closure makes only system calls: setns, prctl, getppid.
        // It allocates nothing and takes no lock; the descriptor is closed by exec.
        unsafe {
            command.pre_exec(move || {
                setns(&*fd, CloneFlags::CLONE_NEWNET)?;
                child::dies_with(parent)
            });
        }
        command
    }

    /// Moves the calling thread into the namespace.
    fn enter(&self) {
        setns(&*self.fd, CloneFlags::CLONE_NEWNET).expect("entering a namespace of our own");
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
