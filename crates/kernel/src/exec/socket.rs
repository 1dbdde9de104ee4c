//! An MPTCP socket with an algorithm: made once to learn whether it can be, then for every call that is answered.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, socklen_t};
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
    let fd = socket.as_raw_fd();
    let (level, option) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
    let mut default = [0_u8; 16];
    let mut length = default.len() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `default`, and reads `name.len()` bytes of `name`.
    unsafe {
        // Setting it on a socket without a subflow stores any name, and one that is not there is passed over in silence
        // when the subflow comes. Reading it makes the first subflow, so that the answer to setting it counts.
        let (default, length) = (default.as_mut_ptr().cast(), &mut length);
        Errno::result(libc::getsockopt(fd, level, option, default, length))?;
        let result = libc::setsockopt(
            fd,
            level,
            option,
            name.as_ptr().cast(),
            name.len() as socklen_t,
        );
        Errno::result(result).map(drop)
    }
}
