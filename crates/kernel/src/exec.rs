//! Runs one command with MPTCP and an algorithm, for it and its children; nothing else on the host changes.
//!
//! There are two mechanisms. `exec/cgroup.rs` moves the command into a cgroup that BPF programs recognise. `exec/seccomp.rs` stops
//! the command's calls of `socket` and answers them from a helper process. The cgroup is used if possible: with Linux 6.6 or
//! later, while an algorithm of `lisa kernel load` is loaded, for users who may make a cgroup below their own (root,
//! `systemd-run --user`, a delegated cgroup). The helper process needs no privilege and Linux 5.14.
//!
//! | | cgroup | seccomp |
//! | --- | --- | --- |
//! | covers | a process until it moves to a cgroup elsewhere (`systemd-run`, a login) | every process |
//! | if its own process is killed | an empty cgroup stays until the next `exec` | `socket` fails with `ENOSYS` for TCP |
//! | setuid programs | as without `exec` | run as their caller, unless root runs the command (no_new_privs) |
//! | 32-bit programs, `io_uring` | MPTCP | plain TCP |
//! | `getsockopt(TCP_CONGESTION)` before a connection | the namespace's default | the algorithm |
//! | under Landlock's rules about TCP ports | plain TCP | plain TCP for the whole command from the first `landlock_restrict_self` of any process in it |
//! | security modules and cgroup accounting apply to | the command | the helper |
//!
//! `LD_PRELOAD` would miss static binaries, Go programs, setuid programs and cleared environments.
//!
//! The command replaces the calling process, so its PID, signals, terminal, job control and exit code are its own. The
//! cleanup or helper process belongs to another session and is no child of the command. It ends when the last
//! process of the command has ended.
//!
//! # Where sockets stay plain TCP
//! * MPTCP is off in the network namespace that the program has moved to, or the algorithm has been unloaded.
//! * Landlock restricts the TCP ports of the program. A socket that the program makes before it restricts itself
//!   is MPTCP all the same.
//! * Sockets that the command inherits.
//! * With seccomp: programs whose network namespace the helper may not open or enter. Without root these are programs that
//!   made themselves undumpable, or that made a network namespace.
//!
//! # Differences for the command
//! * A program that sets `TCP_CONGESTION` keeps its choice, with one exception: with the cgroup, a program that sets the
//!   namespace's default gets the algorithm of `exec`, because the kernel does not record that the program has set it.
//! * `SO_PROTOCOL` is 262, and options that the kernel's MPTCP lacks fail (docs/options.md).
//! * With seccomp, a signal whose handler lacks `SA_RESTART` ends `socket` with `EINTR` if it arrives before the helper has
//!   received the call, some microseconds on an idle machine; before Linux 5.19, if it arrives before the answer.

pub(crate) mod cgroup;
mod detached;
mod landlock;
mod seccomp;
mod socket;

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt;

use nix::errno::Errno;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::execvp;

use mpcc::NAME_MAX;

use crate::registry::{self, Found};

/// Why the command did not start. Every message is one line: the failure, its place, the remedy.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No command was given.
    #[error("no command to run: `lisa kernel exec NAME -- COMMAND…`")]
    NoCommand,
    /// The name is too long or empty for a congestion control.
    #[error(
        "`{0}` cannot name an algorithm: the kernel's names have 1 to {NAME_MAX} characters; `lisa kernel exec --help` lists ours"
    )]
    BadName(String),
    /// The seccomp filter has no system call numbers for this architecture.
    #[error(
        "`lisa kernel exec` supports x86_64 and aarch64 only: use `mptcpize run` on this machine"
    )]
    Architecture,
    /// The kernel is built without MPTCP.
    #[error(
        "this kernel has no MPTCP: boot one built with CONFIG_MPTCP (`uname -r` names the running one)"
    )]
    NoMptcp,
    /// MPTCP is switched off in the caller's network namespace.
    #[error(
        "MPTCP is off in this network namespace: `sysctl net.mptcp.enabled=1` (as root) turns it on"
    )]
    MptcpOff,
    /// No such congestion control is registered.
    #[error("the kernel has no algorithm `{0}`: `lisa kernel load {0}` first")]
    NotLoaded(String),
    /// Another program has registered the name, or the kernel's state cannot be read.
    #[error(transparent)]
    Kernel(crate::Error),
    /// The congestion control is reserved for `CAP_NET_ADMIN`.
    #[error(
        "only root may use `{0}`: add it to `sysctl net.ipv4.tcp_allowed_congestion_control`, or run as root"
    )]
    NotPermitted(String),
    /// /proc shows the processes of another PID namespace.
    #[error(
        "/proc is that of another PID namespace: mount one of this namespace first (`mount -t proc proc /proc`; `unshare --mount-proc` does)"
    )]
    ForeignProc,
    /// Landlock restricts this process's TCP ports.
    #[error(
        "Landlock restricts the TCP ports of this process, and its rules do not cover MPTCP: run the command without `lisa kernel exec`, or outside that sandbox"
    )]
    Landlock,
    /// This process has a seccomp listener already; the kernel allows one.
    #[error(
        "this process is already under a seccomp listener (another `lisa kernel exec`, or a container runtime): start the command outside it"
    )]
    Nested,
    /// The kernel lacks the seccomp user notification of Linux 5.14.
    #[error(
        "this kernel cannot hand `socket` calls to a helper: Linux 5.14 or newer with CONFIG_SECCOMP_FILTER is needed"
    )]
    NoNotify,
    /// The command could not be executed.
    #[error("{command}: {source}")]
    Command {
        /// The command as given.
        command: String,
        /// The error of `execvp`.
        source: io::Error,
    },
    /// A step failed that should not fail.
    #[error("cannot {step}: {source}")]
    System {
        /// The step, as the object of "cannot".
        step: &'static str,
        /// The error of the system.
        source: io::Error,
    },
}

impl Error {
    /// The exit code of a shell: 127 if the command is not found, 126 if it cannot be executed, 2 for wrong usage, 1 otherwise.
    pub fn exit_code(&self) -> u8 {
        match self {
            Error::Command { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
            Error::Command { .. } => 126,
            Error::NoCommand | Error::BadName(_) => 2,
            _ => 1,
        }
    }

    fn system(step: &'static str) -> impl Fn(Errno) -> Error {
        move |errno| Error::System {
            step,
            source: errno.into(),
        }
    }
}

/// Replaces the calling process by `command` (searched in `PATH`), whose new TCP sockets, and those of its children, are
/// MPTCP sockets with the congestion control `algorithm`. Returns only on failure, as `exec(2)`.
///
/// All checks precede the first change. After a failure to execute the command ([`Error::Command`]) the calling process stays in
/// the cgroup or under the filter: it must report the error and exit.
pub fn exec(algorithm: &str, command: &[OsString]) -> Error {
    match run(algorithm, command) {
        Err(error) => error,
    }
}

fn run(algorithm: &str, command: &[OsString]) -> Result<Infallible, Error> {
    let [program, ..] = command else {
        return Err(Error::NoCommand);
    };
    let arguments: Vec<CString> = command
        .iter()
        .map(|argument| {
            CString::new(argument.as_bytes())
                .map_err(|_| Error::system("pass a NUL in an argument")(Errno::EINVAL))
        })
        .collect::<Result<_, _>>()?;
    check(algorithm)?;

    // Kept until `execve` or a failure.
    let cgroup = cgroup::enter(algorithm);
    if cgroup.is_none() {
        seccomp::install(algorithm)?;
    }

    // Rust's runtime ignores SIGPIPE; commands rely on the default.
    // SAFETY: SIG_DFL installs no handler.
    unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }
        .map_err(Error::system("reset SIGPIPE"))?;
    execvp(&arguments[0], &arguments).map_err(|errno| Error::Command {
        command: program.to_string_lossy().into_owned(),
        source: errno.into(),
    })
}

/// Checks the conditions under which sockets become MPTCP sockets with the algorithm.
fn check(algorithm: &str) -> Result<(), Error> {
    if !(1..=NAME_MAX).contains(&algorithm.len()) || algorithm.contains('\0') {
        return Err(Error::BadName(algorithm.to_owned()));
    }
    if landlock::restricts_ports() {
        return Err(Error::Landlock);
    }
    let socket = socket::mptcp(libc::AF_INET, 0).map_err(|errno| match errno {
        Errno::ENOPROTOOPT => Error::MptcpOff,
        Errno::EINVAL | Errno::EPROTONOSUPPORT => Error::NoMptcp,
        _ => Error::system("make an MPTCP socket")(errno),
    })?;
    socket::set_algorithm(&socket, algorithm).map_err(|errno| match errno {
        Errno::ENOENT => Error::NotLoaded(algorithm.to_owned()),
        Errno::EPERM => Error::NotPermitted(algorithm.to_owned()),
        _ => Error::system("set the algorithm on an MPTCP socket")(errno),
    })?;
    check_registration(algorithm)
}

/// Whether this project loads an algorithm under this name.
fn is_name_of_ours(name: &str) -> bool {
    mpcc::Algorithm::find(name).is_some_and(|algorithm| algorithm.is_loadable())
}

/// Checks that an algorithm with a name of this project is of this project. Without the privilege to read the registrations, the
/// kernel's answer about a TCP socket decides.
fn check_registration(algorithm: &str) -> Result<(), Error> {
    if !is_name_of_ours(algorithm) {
        return Ok(()); // Linux's own, or another program's
    }
    match registry::find_any(algorithm) {
        Ok(Found::Current(_) | Found::Other(_)) => Ok(()),
        Ok(Found::Damaged(error)) => Err(Error::Kernel(error)),
        Err(error @ crate::Error::Foreign { .. }) => Err(Error::Kernel(error)),
        Err(crate::Error::NotLoaded { name, .. }) => Err(Error::NotLoaded(name)),
        Err(_) if socket::keeps_without_mptcp(algorithm) == Ok(true) => {
            let name = algorithm.into();
            Err(Error::Kernel(crate::Error::Foreign { name }))
        }
        Err(_) => Ok(()),
    }
}

fn io_errno(error: io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}
