//! Network namespaces without a name: see namespaces(7), "Namespace lifetime".
//!
//! `ip netns` keeps a namespace by a mount in /run/netns, which remains if the process is killed. Here a file descriptor keeps the
//! namespace, so the kernel removes it with its last descriptor, thread or socket. A thread changes its namespace, not the
//! process.

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

use crate::error::Error;
use crate::process;

/// A network namespace. Threads and processes enter it; their sockets belong to it.
#[derive(Debug)]
pub struct Namespace {
    fd: Arc<OwnedFd>,
}

impl Namespace {
    /// Creates a namespace. Its only interface is a loopback that is down.
    pub fn new() -> Result<Self, Error> {
        // On a new thread, because a thread in another namespace must not be used again.
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

    /// Runs `f` on a thread inside the namespace and returns its result. A panic of `f` is resumed in the caller. Sockets that `f`
    /// creates belong to the namespace.
    ///
    /// # Panics
    /// If no thread can be created, or the process has dropped the privilege to enter the namespace.
    pub fn run<T: Send>(&self, f: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let inside = scope.spawn(|| {
                self.enter();
                f()
            });
            inside.join().unwrap_or_else(|panic| resume_unwind(panic))
        })
    }

    /// Starts a thread called `name` (at most 15 bytes are visible) inside the namespace, which exists at least as long as the thread.
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

    /// A command that runs inside the namespace.
    ///
    /// The child is killed when the thread that starts it ends, so start it from a long-lived thread. The child's own children are
    /// not killed.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let fd = Arc::clone(&self.fd);
        let parent = std::process::id();
        let mut command = Command::new(program);
        // SAFETY: between fork and exec the closure makes only system calls: setns, prctl, getppid.
        // The closure allocates no memory and takes no lock; exec closes the descriptor.
        unsafe {
            command.pre_exec(move || {
                setns(&*fd, CloneFlags::CLONE_NEWNET)?;
                process::die_with_parent(parent)
            });
        }
        command
    }

    /// Moves the calling thread into the namespace.
    fn enter(&self) {
        setns(&*self.fd, CloneFlags::CLONE_NEWNET)
            .expect("this process's own namespace can be entered");
    }
}

impl AsFd for Namespace {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
