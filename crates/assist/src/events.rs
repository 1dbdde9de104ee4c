//! Events of MPTCP's path manager in this network namespace: the multicast group `mptcp_pm_events` of the generic netlink family
//! `mptcp_pm` (include/uapi/linux/mptcp_pm.h), as `ip mptcp monitor` shows them. Joining the group needs CAP_NET_ADMIN (genl_bind), reading the
//! joined socket needs nothing. A socket gives no privilege to a process that inherits it: the kernel tests the capabilities of both
//! its creator and the sender of a message (__netlink_ns_capable).

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use manager::api::{Subflow, Token};
use netlink_bindings::mptcp_pm::{EventAttr, EventType, IterableEventAttr, PROTONAME_CSTR};
use netlink_bindings::nlctrl;
use netlink_socket2::NetlinkSocket;
use nix::sys::socket::{
    AddressFamily, NetlinkAddr, SockFlag, SockProtocol, SockType, bind, setsockopt, socket, sockopt,
};
use tokio::io::unix::AsyncFd;

use crate::error::{Error, Result};

/// Name of the multicast group (MPTCP_PM_EV_GRP_NAME).
const GROUP: &[u8] = b"mptcp_pm_events";

/// Receive buffer, bytes: some thousand events.
const BUFFER: usize = 1 << 20;

/// struct nlmsghdr and struct genlmsghdr.
const HEADERS: [usize; 2] = [16, 4];

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A connection was created or established.
    Opened,
    /// A connection has closed.
    Closed,
    /// A subflow was established.
    SubflowOpened,
    /// A subflow has closed.
    SubflowClosed,
}

/// An event of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathManagerEvent {
    /// What happened.
    pub what: What,
    /// The connection.
    pub token: Token,
    /// The subflow, if the event is of one.
    pub subflow: Option<Subflow>,
}

/// A socket that has joined the multicast group.
pub struct PathManagerEvents {
    socket: OwnedFd,
    family: u16,
}

/// Events as they come.
pub(crate) struct Incoming {
    socket: AsyncFd<OwnedFd>,
    family: u16,
    buffer: Vec<u8>,
}

impl PathManagerEvents {
    /// Joins the multicast group in the network namespace of the calling thread.
    ///
    /// # Errors
    /// Without MPTCP in the kernel, or without CAP_NET_ADMIN.
    pub fn open() -> Result<Self> {
        let what = "events of MPTCP's path manager";
        let (family, group) = family_and_group()
            .map_err(|error| Error::new(what, format!("{error} (the kernel has no MPTCP)")))?;
        let failed = |error: io::Error| {
            let hint = match error.kind() {
                io::ErrorKind::PermissionDenied => " (run it as root, or with CAP_NET_ADMIN)",
                _ => "",
            };
            Error(format!("{what}: {error}{hint}"))
        };
        let socket = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK,
            SockProtocol::NetlinkGeneric,
        )
        .map_err(|error| failed(error.into()))?;
        bind(socket.as_raw_fd(), &NetlinkAddr::new(0, 0)).map_err(|error| failed(error.into()))?;
        let _ = setsockopt(&socket, sockopt::RcvBuf, &BUFFER); // a smaller one overflows sooner
        // SAFETY: the option takes a number of 4 bytes.
        let joined = unsafe {
            libc::setsockopt(
                socket.as_raw_fd(),
                libc::SOL_NETLINK,
                libc::NETLINK_ADD_MEMBERSHIP,
                (&raw const group).cast(),
                size_of::<u32>() as libc::socklen_t,
            )
        };
        if joined != 0 {
            return Err(failed(io::Error::last_os_error()));
        }
        Ok(Self { socket, family })
    }

    /// The events, for the runtime of tokio that the calling thread is in.
    pub(crate) fn incoming(self) -> Result<Incoming> {
        // SAFETY: the `OwnedFd` keeps its descriptor open until the `AsyncFd` drops it.
        let socket = unsafe { AsyncFd::register(self.socket) };
        let socket = socket.map_err(|error| Error::new("events of MPTCP's path manager", error))?;
        Ok(Incoming {
            socket,
            family: self.family,
            buffer: vec![0; 1 << 16],
        })
    }
}

impl AsFd for PathManagerEvents {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Incoming {
    /// Waits for events, and returns those that are there; none if some were lost. Can be cancelled.
    ///
    /// # Errors
    /// If the socket fails.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<PathManagerEvent>>> {
        loop {
            let failed = |error: io::Error| Error::new("events of MPTCP's path manager", error);
            let mut ready = self.socket.readable().await.map_err(failed)?;
            let buffer = &mut self.buffer;
            let read = ready.try_io(|socket| {
                let flags = nix::sys::socket::MsgFlags::empty();
                let read = nix::sys::socket::recv(socket.as_raw_fd(), buffer, flags);
                read.map_err(io::Error::from)
            });
            match read {
                Err(_) => continue, // it would block
                Ok(Ok(length)) => return Ok(Some(decode(&self.buffer[..length], self.family))),
                Ok(Err(error)) if error.raw_os_error() == Some(libc::ENOBUFS) => return Ok(None),
                Ok(Err(error)) => return Err(failed(error)),
            }
        }
    }
}

/// Numbers of the family and of its multicast group.
fn family_and_group() -> Result<(u16, u32), String> {
    let mut socket = NetlinkSocket::new();
    let mut request = nlctrl::Request::new().op_getfamily_do();
    request.encode().push_family_name(PROTONAME_CSTR);
    let mut reply = socket
        .request(&request)
        .map_err(|error| error.to_string())?;
    let family = reply.recv_one().map_err(|error| error.to_string())?;
    let id = family.get_family_id().map_err(|error| error.to_string())?;
    let groups = family
        .get_mcast_groups()
        .map_err(|error| error.to_string())?;
    for group in groups {
        if group.get_name().is_ok_and(|name| name.to_bytes() == GROUP) {
            return Ok((id, group.get_id().map_err(|error| error.to_string())?));
        }
    }
    Err("no multicast group".into())
}

/// The events of a datagram. Messages of other kinds are skipped.
fn decode(mut bytes: &[u8], family: u16) -> Vec<PathManagerEvent> {
    let mut events = Vec::new();
    let [netlink, generic] = HEADERS;
    while bytes.len() >= netlink + generic {
        let length = u32::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) as usize;
        let kind = u16::from_ne_bytes([bytes[4], bytes[5]]);
        if length < netlink + generic || length > bytes.len() {
            break;
        }
        if kind == family {
            let attributes = EventAttr::new(&bytes[netlink + generic..length]);
            events.extend(event(bytes[netlink], &attributes));
        }
        bytes = &bytes[length.next_multiple_of(4).min(bytes.len())..];
    }
    events
}

fn event(command: u8, attributes: &IterableEventAttr<'_>) -> Option<PathManagerEvent> {
    let what = match EventType::from_value(command.into())? {
        EventType::Created | EventType::Established => What::Opened,
        EventType::Closed => What::Closed,
        EventType::SubEstablished => What::SubflowOpened,
        EventType::SubClosed => What::SubflowClosed,
        _ => return None,
    };
    let address = |v4: Option<u32>, v6: Option<&[u8]>| {
        let v6 = || {
            let bytes: [u8; 16] = v6?.try_into().ok()?;
            Some(IpAddr::V6(Ipv6Addr::from(bytes)).to_canonical())
        };
        v4.map(|v4| Ipv4Addr::from(v4).into()).or_else(v6)
    };
    let local = address(attributes.get_saddr4().ok(), attributes.get_saddr6().ok());
    let remote = address(attributes.get_daddr4().ok(), attributes.get_daddr6().ok());
    let ports = attributes.get_sport().ok().zip(attributes.get_dport().ok());
    let subflow = local.zip(remote).zip(ports);
    Some(PathManagerEvent {
        what,
        token: Token(attributes.get_token().ok()?),
        subflow: subflow.map(|((local, remote), (sport, dport))| Subflow {
            local: SocketAddr::new(local, sport),
            remote: SocketAddr::new(remote, dport),
        }),
    })
}
