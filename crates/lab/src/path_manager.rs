//! Limits and endpoints of MPTCP's in-kernel path manager: `ip mptcp limits`, `ip mptcp endpoint`.

use std::net::Ipv4Addr;

use netlink_bindings::mptcp_pm;

use crate::error::Error;
use crate::netlink::Netlink;
use crate::sysctl;

/// `MPTCP_PM_ADDR_FLAG_SIGNAL`: the address is announced to the peer by ADD_ADDR (linux/mptcp.h).
const FLAG_SIGNAL: u32 = 1 << 0;

/// MPTCP is allowed in the namespace of the calling thread.
pub(crate) fn enable() -> Result<(), Error> {
    match sysctl::get("net.mptcp.enabled") {
        Ok(_) => sysctl::set("net.mptcp.enabled", 1),
        Err(_) => Err(Error::NoMptcp),
    }
}

/// A connection may have `joins` subflows beyond its first and, if `accept`, as many that go to
/// addresses its peer announced.
pub(crate) fn limits(joins: u32, accept: bool) -> Result<(), Error> {
    let mut request = mptcp_pm::Request::new().op_set_limits_do();
    request
        .encode()
        .push_rcv_add_addrs(if accept { joins } else { 0 })
        .push_subflows(joins);
    Netlink::new().ask(&request, || {
        format!("setting MPTCP's limits to {joins} more subflows")
    })
}

/// Connections of this endpoint announce `address` to their peers.
pub(crate) fn announce(address: Ipv4Addr) -> Result<(), Error> {
    let mut request = mptcp_pm::Request::new().op_add_addr_do();
    request
        .encode()
        .nested_addr()
        .push_family(libc::AF_INET as u16)
        .push_addr4(address.to_bits())
        .push_flags(FLAG_SIGNAL);
    Netlink::new().ask(&request, || format!("making {address} an MPTCP endpoint"))
}
