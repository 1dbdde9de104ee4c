//! TCP and MPTCP sockets, and their congestion control.

use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

use libc::{c_int, socklen_t};
use nix::errno::Errno;
use nix::sys::socket::sockopt::{Linger, SendTimeout};
use nix::sys::socket::{SockaddrIn, bind, connect, getsockname, setsockopt};
use nix::sys::time::TimeVal;

use mpcc::NAME_MAX;

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

/// Whether a connected TCP socket without MPTCP keeps this congestion control. One of this project gives such a socket back to the
/// default of its network namespace (bpf/plain.h), which every user can see.
///
/// # Errors
/// The reason why it cannot be tried: without a loopback interface (`ENETUNREACH`), or where TCP sockets become MPTCP
/// (`EPROTOTYPE`).
pub(super) fn keeps_without_mptcp(name: &str) -> Result<bool, Errno> {
    let socket = stream(libc::AF_INET, 0, libc::IPPROTO_TCP)?;
    if protocol(&socket)? != libc::IPPROTO_TCP {
        return Err(Errno::EPROTOTYPE);
    }
    // A firewall may drop the packets. At the end the socket is reset, without TIME_WAIT.
    setsockopt(&socket, SendTimeout, &TimeVal::new(1, 0))?;
    let (l_onoff, l_linger) = (1, 0);
    setsockopt(&socket, Linger, &libc::linger { l_onoff, l_linger })?;
    // A socket that connects to itself: both ends of a connection (RFC 9293, 3.5, simultaneous open).
    let fd = socket.as_raw_fd();
    bind(
        fd,
        &SockaddrIn::from(std::net::SocketAddrV4::new(Ipv4Addr::LOCALHOST, 0)),
    )?;
    connect(fd, &getsockname::<SockaddrIn>(fd)?)?;
    set(&socket, name)?;
    Ok(algorithm(&socket)? == name)
}

/// `TCP_CONGESTION`. On an MPTCP socket the call makes the first subflow.
fn algorithm(socket: &OwnedFd) -> Result<String, Errno> {
    let mut name = [0_u8; NAME_MAX + 1];
    let mut length = name.len() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `name`.
    unsafe {
        let (fd, name) = (socket.as_raw_fd(), name.as_mut_ptr().cast());
        let (level, option) = (libc::IPPROTO_TCP, libc::TCP_CONGESTION);
        Errno::result(libc::getsockopt(fd, level, option, name, &mut length))?;
    }
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    Ok(String::from_utf8_lossy(name).into_owned())
}

fn set(socket: &OwnedFd, name: &str) -> Result<(), Errno> {
    // SAFETY: the kernel reads `name.len()` bytes of `name`.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_CONGESTION,
            name.as_ptr().cast(),
            name.len() as socklen_t,
        )
    };
    Errno::result(result).map(drop)
}

/// Sets the congestion control of all present and future subflows, and of the connections that a listener accepts.
pub(super) fn set_algorithm(socket: &OwnedFd, name: &str) -> Result<(), Errno> {
    // On a socket without a subflow the kernel stores any name, and ignores an unknown name when it makes the subflow. After the
    // first subflow is made, setting an unknown algorithm fails.
    algorithm(socket)?;
    set(socket, name)
}
