//! A process that outlives this one and shares no resource with it.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd, RawFd};
use std::panic::{AssertUnwindSafe, catch_unwind};

use libc::c_uint;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use nix::sys::prctl;
use nix::sys::signal::SigSet;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socketpair};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, chdir, dup2_stderr, dup2_stdin, dup2_stdout, fork, setsid};

/// Starts a process called `name` that runs `work` and ends. `work` gets one end of a socket pair, the caller gets the other.
///
/// The process is forked twice, which makes it a child of init (or of the nearest subreaper). It belongs to a session of its own and
/// blocks every signal that can be blocked.
pub(super) fn spawn(
    name: &CStr,
    work: impl FnOnce(OwnedFd) -> Result<(), Errno>,
) -> Result<OwnedFd, Errno> {
    let (control, theirs) = socketpair(
        AddressFamily::Unix,
        SockType::SeqPacket,
        None,
        SockFlag::SOCK_CLOEXEC,
    )?;
    // SAFETY: no lock of another thread can block the child: glibc keeps its allocator usable across `fork`. The child ends by
    // `_exit` alone, so that no destructor or buffer of the parent runs twice.
    match unsafe { fork() }? {
        ForkResult::Parent { child } => match waitpid(child, None) {
            // ECHILD: the caller ignores SIGCHLD, and the kernel has reaped it.
            Ok(_) | Err(Errno::ECHILD) => Ok(control),
            Err(errno) => Err(errno),
        },
        ForkResult::Child => {
            let theirs = theirs.into_raw_fd();
            let _ = setsid();
            // SAFETY: as above.
            if let Ok(ForkResult::Child) = unsafe { fork() } {
                let _ = catch_unwind(AssertUnwindSafe(|| work(release_all(name, theirs)?)));
            }
            // SAFETY: ends the process.
            unsafe { libc::_exit(0) }
        }
    }
}

/// Releases inherited resources: signals, descriptors (an inherited pipe would never end for its reader), the directory.
fn release_all(name: &CStr, control: RawFd) -> Result<OwnedFd, Errno> {
    SigSet::all().thread_block()?;
    prctl::set_name(name)?;
    chdir("/")?;
    // First, so that a low limit of descriptors suffices for the rest.
    let kept = control as c_uint;
    for (first, last) in [
        (3, kept.saturating_sub(1)),
        ((kept + 1).max(3), c_uint::MAX),
    ] {
        if first <= last {
            // SAFETY: the closed descriptors belong to variables of the parent, which this process neither uses nor drops.
            Errno::result(unsafe { libc::syscall(libc::SYS_close_range, first, last, 0) })?;
        }
    }
    // SAFETY: `control` is open, and no other variable of this process owns it; the copy is new.
    let control = unsafe {
        let control = OwnedFd::from_raw_fd(control);
        OwnedFd::from_raw_fd(fcntl(&control, FcntlArg::F_DUPFD_CLOEXEC(3))?)
    };
    let null = File::options().read(true).write(true).open("/dev/null");
    let null = null.map_err(super::io_errno)?;
    dup2_stdin(&null)?;
    dup2_stdout(&null)?;
    dup2_stderr(&null)?;
    Ok(control)
}
