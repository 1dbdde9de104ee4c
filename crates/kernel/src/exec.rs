//! Runs one command so that it and its children speak MPTCP with a chosen algorithm; nothing else on the host changes.
//!
//! How: a seccomp filter that the command inherits stops `socket(AF_INET | AF_INET6, SOCK_STREAM, 0 | IPPROTO_TCP)` and
//! nothing else. A helper process is told of each, makes an MPTCP socket with the algorithm set on it, and puts it into
//! the caller as the result of its `socket` call. The command cannot tell, except by `SO_PROTOCOL`.
//!
//! Why so: `LD_PRELOAD` misses static binaries, Go programs, setuid programs and cleared environments; a cgroup with BPF
//! programs needs root and leaves things behind; the sysctl changes all of the namespace. A filter follows every `fork`
//! and `exec`, needs no privilege, and goes with its last process. Linux 5.14 or newer.
//!
//! The command replaces the calling process, so its PID, signals, terminal, job control and exit code are its own. The
//! helper belongs to another session, is no child of the command, and ends when the last process under the filter has.
//!
//! # What stays plain TCP
//! Whenever the MPTCP socket cannot be made, the kernel carries out the call just as the program made it:
//! * MPTCP is off in the network namespace that the program has moved to, or the algorithm was unloaded meanwhile;
//! * the helper may not look at the program (`/proc/PID/ns/net`) or may not enter its network namespace: without root,
//!   programs that made themselves undumpable, or that made a network namespace of their own;
//! * 32-bit (and x32) programs, sockets made through `io_uring`, and sockets inherited from outside the command.
//!
//! # What a command can notice
//! * `SO_PROTOCOL` is 262, and options that the kernel's MPTCP lacks fail with `ENOPROTOOPT` or `EOPNOTSUPP`: of 6.18
//!   `TCP_USER_TIMEOUT`, `TCP_QUICKACK`, `TCP_SYNCNT`, `TCP_MD5SIG`, `TCP_ULP`, `SO_ZEROCOPY`, `IP_TTL`, `IPV6_TCLASS` …
//! * Without `CAP_SYS_ADMIN` the kernel asks for "no new privileges": setuid programs run as their caller.
//! * With the helper killed (`kill -9`), stream sockets fail with `ENOSYS`. It blocks every other signal, so that a
//!   service whose whole cgroup is sent SIGTERM can still open sockets while it shuts down.
//! * Sockets are counted to the cgroup that the command was started in, and security modules see the helper make them.
//! * A signal whose handler lacks `SA_RESTART` ends `socket` with `EINTR` if it comes before the helper has received the
//!   call, some microseconds on an idle machine; before Linux 5.19, if it comes before the answer.

mod filter;
mod helper;
mod listener;
mod socket;

use std::convert::Infallible;
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;
use std::{fs, io};

use nix::errno::Errno;
use nix::sys::signal::{SigHandler, Signal, signal};
use nix::unistd::execvp;

use crate::error::NAME_MAX;

/// Why the command did not start: one line that says what, where and what to do.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No command was given.
    #[error("no command to run: `lisa kernel exec NAME -- COMMAND…`")]
    NoCommand,
    /// The name cannot be that of a congestion control.
    #[error(
        "`{0}` cannot name an algorithm: the kernel's names have 1 to {NAME_MAX} characters; `lisa kernel exec --help` lists ours"
    )]
    BadName(String),
    /// Built for an architecture whose system calls the filter does not know.
    #[error(
        "`lisa kernel exec` knows the system calls of x86_64 and aarch64 only: use `mptcpize run` on this machine"
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
    /// The congestion control is there but reserved for `CAP_NET_ADMIN`.
    #[error(
        "only root may use `{0}`: add it to `sysctl net.ipv4.tcp_allowed_congestion_control`, or run as root"
    )]
    NotPermitted(String),
    /// Another seccomp listener watches this process already; the kernel allows one.
    #[error(
        "this process is already under a seccomp listener (another `lisa kernel exec`, or a container runtime): start the command outside it"
    )]
    Nested,
    /// The kernel lacks seccomp user notification as of Linux 5.14.
    #[error(
        "this kernel cannot hand `socket` calls to a helper: Linux 5.14 or newer with CONFIG_SECCOMP_FILTER is needed"
    )]
    NoNotify,
    /// The command could not be executed.
    #[error("{command}: {source}")]
    Command {
        /// As given.
        command: String,
        /// The answer of `execvp`.
        source: io::Error,
    },
    /// A step that should not fail did.
    #[error("cannot {step}: {source}")]
    System {
        /// What was being done, as it reads after "cannot".
        step: &'static str,
        /// The system's answer.
        source: io::Error,
    },
}

impl Error {
    /// The exit code that a shell would give: 127 for a command that is not there, 126 for one that cannot be executed,
    /// 2 for wrong use, 1 for all else.
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
/// Everything that can be known beforehand is checked before anything is changed. After a failure to execute the command
/// ([`Error::Command`]) the filter stays on the calling thread, as no filter can be taken off: report and exit.
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

    let helper = helper::spawn(algorithm)?;
    let listener = filter::install()?;
    helper.hand_over(listener)?;

    // Rust's runtime ignores SIGPIPE; a command expects the default.
    // SAFETY: SIG_DFL installs no handler.
    unsafe { signal(Signal::SIGPIPE, SigHandler::SigDfl) }
        .map_err(Error::system("reset SIGPIPE"))?;
    execvp(&arguments[0], &arguments).map_err(|errno| Error::Command {
        command: program.to_string_lossy().into_owned(),
        source: errno.into(),
    })
}

/// Is all there that the helper will need? An answer now is worth more than a plain socket later.
fn check(algorithm: &str) -> Result<(), Error> {
    if filter::ARCHITECTURE.is_none() {
        return Err(Error::Architecture);
    }
    if !(1..=NAME_MAX).contains(&algorithm.len()) || algorithm.contains('\0') {
        return Err(Error::BadName(algorithm.to_owned()));
    }
    fs::metadata(helper::HOME).map_err(|source| Error::System {
        step: "read /proc/self/ns/net (is /proc mounted?)",
        source,
    })?;
    let socket = socket::mptcp(libc::AF_INET, 0).map_err(|errno| match errno {
        Errno::ENOPROTOOPT => Error::MptcpOff,
        Errno::EINVAL | Errno::EPROTONOSUPPORT => Error::NoMptcp,
        _ => Error::system("make an MPTCP socket")(errno),
    })?;
    socket::set_algorithm(&socket, algorithm).map_err(|errno| match errno {
        Errno::ENOENT => Error::NotLoaded(algorithm.to_owned()),
        Errno::EPERM => Error::NotPermitted(algorithm.to_owned()),
        _ => Error::system("set the algorithm on an MPTCP socket")(errno),
    })
}
