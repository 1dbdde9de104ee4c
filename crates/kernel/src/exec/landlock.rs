//! Landlock's rules about TCP ports (landlock(7), LANDLOCK_ACCESS_NET_BIND_TCP and LANDLOCK_ACCESS_NET_CONNECT_TCP).
//!
//! The rules do not cover MPTCP sockets (measured on Linux 6.12.117 and 6.18; hook_socket_bind and hook_socket_connect test
//! `sk_is_tcp()`). Therefore a process under such rules keeps plain TCP sockets.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{SockaddrIn, bind, connect};

use super::socket;

const LANDLOCK_CREATE_RULESET_VERSION: libc::c_uint = 1;
/// LANDLOCK_ACCESS_NET_BIND_TCP | LANDLOCK_ACCESS_NET_CONNECT_TCP
const TCP_PORTS: u64 = 1 | 2;
/// First version of Landlock with rules about TCP ports, Linux 6.7.
const ABI_WITH_PORTS: i64 = 4;

/// Whether rules about TCP ports are possible on this kernel.
pub(super) fn has_ports() -> bool {
    let none = std::ptr::null::<RulesetAttributes>();
    // SAFETY: with this flag the kernel takes no attributes.
    let version = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            none,
            0,
            LANDLOCK_CREATE_RULESET_VERSION,
        )
    };
    version >= ABI_WITH_PORTS
}

/// Whether rules about TCP ports restrict this thread: a TCP socket gets EACCES and an MPTCP socket, which Landlock does not
/// cover, does not. (A `prohibit` route or SELinux refuses both.) The test binds and connects to addresses that TCP refuses, which
/// sends no packet.
pub(super) fn restricts_ports() -> bool {
    if !has_ports() {
        return false;
    }
    let (tcp, mptcp) = (socket::tcp(libc::AF_INET), socket::mptcp(libc::AF_INET, 0));
    let (Ok(tcp), Ok(mptcp)) = (tcp, mptcp) else {
        return false;
    };
    // A rule may allow one port.
    [65535, 65534].iter().any(|&port| {
        // RFC 5737: no host has this address.
        let foreign = SockaddrIn::new(192, 0, 2, 1, port);
        // TCP does not connect to a broadcast address.
        let broadcast = SockaddrIn::new(255, 255, 255, 255, port);
        let denied = |result| result == Err(Errno::EACCES);
        let may_not_bind = |socket: &OwnedFd| denied(bind(socket.as_raw_fd(), &foreign));
        let may_not_connect = |socket: &OwnedFd| denied(connect(socket.as_raw_fd(), &broadcast));
        (may_not_bind(&tcp) && !may_not_bind(&mptcp))
            || (may_not_connect(&tcp) && !may_not_connect(&mptcp))
    })
}

/// struct landlock_ruleset_attr of ABI 4.
#[repr(C)]
struct RulesetAttributes {
    handled_access_fs: u64,
    handled_access_net: u64,
}

/// Moves this thread into a Landlock domain that forbids all TCP ports, and nothing else. Returns `false` if the kernel has no
/// rules about TCP ports.
pub(super) fn enter_domain() -> io::Result<bool> {
    if !has_ports() {
        return Ok(false);
    }
    let attributes = RulesetAttributes {
        handled_access_fs: 0,
        handled_access_net: TCP_PORTS,
    };
    // SAFETY: the kernel reads `attributes`; the returned descriptor is closed here.
    unsafe {
        let ruleset = Errno::result(libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &attributes,
            size_of_val(&attributes),
            0,
        ))?;
        let entered = Errno::result(libc::syscall(libc::SYS_landlock_restrict_self, ruleset, 0));
        libc::close(ruleset as i32);
        entered?;
    }
    Ok(true)
}
