//! An MPTCP socket with an algorithm: made once to learn whether it can be, then for every call that is answered.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::c_int;
use nix::errno::Errno;

/// An MPTCP socket of `family`; `flags` may hold `SOCK_NONBLOCK`.
pub(super) fn mptcp(family: c_int, flags: c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: no pointers; a descriptor that comes back is new and ours alone.
    unsafe {
        let fd = libc::socket(
            family,
            libc::SOCK_STREAM | libc::SOCK_CLOEXEC | flags,
            libc::IPPROTO_MPTCP,
        );
        Errno::result(fd).map(|fd| OwnedFd::from_raw_fd(fd))
    }
}

/// Sets the congestion control of all present and future subflows, and of the connections a listener accepts.
pub(super) fn set_algorithm(socket: &OwnedFd, name: &str) -> Result<(), Errno> {
    // SAFETY: the kernel reads `name.len()` bytes of `name`.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as libc::socklen_t,
        )
    };
    Errno::result(result).map(drop)
}
