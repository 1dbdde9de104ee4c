//! Limits and endpoints of MPTCP's in-kernel path manager: `ip mptcp limits`, `ip mptcp endpoint`.

use std::net::Ipv4Addr;

use netlink_bindings::mptcp_pm;

use crate::error::Error;
use crate::linux::netlink::Netlink;
use crate::linux::sysctl;

/// `MPTCP_PM_ADDR_FLAG_SIGNAL`: the address is announced to the peer by ADD_ADDR (linux/mptcp.h).
const FLAG_SIGNAL: u32 = 1 << 0;

/// `MPTCP_PM_ADDR_FLAG_BACKUP`: subflows to and from the address are backups. For an address of the server, the SYN/ACK of a join
/// carries the flag to the client (`mptcp_pm_is_backup`).
const FLAG_BACKUP: u32 = 1 << 2;

/// Enables MPTCP in the namespace of the calling thread.
pub(crate) fn enable() -> Result<(), Error> {
    match sysctl::get("net.mptcp.enabled") {
        Ok(_) => sysctl::set("net.mptcp.enabled", 1),
        Err(_) => Err(Error::NoMptcp),
    }
}

/// Limits a connection to `joins` subflows beyond its first. If `accept`, as many may use addresses that the peer announces.
pub(crate) fn limits(joins: u32, accept: bool) -> Result<(), Error> {
    let mut request = mptcp_pm::Request::new().op_set_limits_do();
    request
        .encode()
        .push_rcv_add_addrs(if accept { joins } else { 0 })
        .push_subflows(joins);
    Netlink::new().request(&request, || {
        format!("setting MPTCP's limits to {joins} more subflows")
    })
}

/// Makes the connections of this namespace announce `address` to their peers. `backup`: subflows that join at the address are
/// backups.
pub(crate) fn announce(address: Ipv4Addr, backup: bool) -> Result<(), Error> {
    let flags = FLAG_SIGNAL | if backup { FLAG_BACKUP } else { 0 };
    let mut request = mptcp_pm::Request::new().op_add_addr_do();
    request
        .encode()
        .nested_addr()
        .push_family(libc::AF_INET as u16)
        .push_addr4(address.to_bits())
        .push_flags(flags);
    Netlink::new().request(&request, || format!("making {address} an MPTCP endpoint"))
}
