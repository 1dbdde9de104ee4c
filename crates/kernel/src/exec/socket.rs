//! TCP and MPTCP sockets, and their congestion control.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, socklen_t};
use nix::errno::Errno;

/// A TCP socket of `family`.
pub(super) fn tcp(family: c_int) -> Result<OwnedFd, Errno> {
    stream(family, 0, 0)
}

/// An MPTCP socket of `family`; `flags` may have `SOCK_NONBLOCK`.
pub(super) fn mptcp(family: c_int, flags: c_int) -> Result<OwnedFd, Errno> {
    stream(family, flags, libc::IPPROTO_MPTCP)
}

fn stream(family: c_int, flags: c_int, protocol: c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: no pointers; a returned descriptor is new and has no other owner.
    unsafe {
        let kind = libc::SOCK_STREAM | libc::SOCK_CLOEXEC | flags;
        let fd = libc::socket(family, kind, protocol);
        Errno::result(fd).map(|fd| OwnedFd::from_raw_fd(fd))
    }
}

/// `SO_PROTOCOL`.
pub(super) fn protocol(socket: &OwnedFd) -> Result<c_int, Errno> {
    let (mut protocol, mut length) = (0, size_of::<c_int>() as socklen_t);
    // SAFETY: the kernel writes a `c_int`.
    unsafe {
        Errno::result(libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_PROTOCOL,
            (&raw mut protocol).cast(),
            &mut length,
        ))?;
    }
    Ok(protocol)
}

/// Sets the congestion control of all present and future subflows, and of the connections that a listener accepts.
pub(super) fn set_algorithm(socket: &OwnedFd, name: &str) -> Result<(), Errno> {
    let fd = socket.as_raw_fd();
    let (level, option) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
    let mut default = [0_u8; 16];
    let mut length = default.len() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `default`, and reads `name.len()` bytes of `name`.
    unsafe {
        // On a socket without a subflow the kernel stores any name, and ignores an unknown name when it makes the subflow.
        // Reading the option makes the first subflow, so that setting an unknown algorithm fails.
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
