//! Addresses, routes and rules of a namespace: rtnetlink(7).

use std::net::{IpAddr, Ipv4Addr};

use netlink_bindings::{rt_addr, rt_link, rt_route, rt_rule};
use nix::net::if_::if_nametoindex;

use crate::error::Error;
use crate::linux::netlink::Netlink;
use crate::linux::tun::MTU;

const AF_INET: u8 = libc::AF_INET as u8;
/// Prefix length of a single address.
const HOST: u8 = 32;

/// The main routing table.
pub(crate) const MAIN: u8 = libc::RT_TABLE_MAIN;

/// Addresses, routes and rules of the namespace in which this is created.
pub(crate) struct Addressing {
    netlink: Netlink,
}

impl Addressing {
    pub(crate) fn new() -> Self {
        Self {
            netlink: Netlink::new(),
        }
    }

    /// Brings an interface up.
    pub(crate) fn up(&mut self, interface: &str) -> Result<(), Error> {
        let header = rt_link::Ifinfomsg {
            ifi_index: index(interface)? as i32,
            ifi_flags: libc::IFF_UP as u32,
            ifi_change: libc::IFF_UP as u32,
            ..Default::default()
        };
        let mut request = rt_link::Request::new().op_setlink_do(&header);
        if interface != "lo" {
            request.encode().push_mtu(MTU as u32);
        }
        self.netlink
            .request(&request, || format!("bringing {interface} up"))
    }

    /// Adds an address with a prefix of its own to an interface.
    pub(crate) fn address(&mut self, interface: &str, address: Ipv4Addr) -> Result<(), Error> {
        let header = rt_addr::Ifaddrmsg {
            ifa_index: index(interface)?,
            ifa_family: AF_INET,
            ifa_prefixlen: HOST,
            ..Default::default()
        };
        let mut request = rt_addr::Request::new()
            .set_create()
            .set_excl()
            .op_newaddr_do(&header);
        request.encode().push_local(IpAddr::V4(address));
        self.netlink.request(&request, || {
            format!("giving {interface} the address {address}")
        })
    }

    /// Adds a route to `table`: to `destination` through an interface, with the source address `source`.
    pub(crate) fn route(
        &mut self,
        table: u8,
        destination: Ipv4Addr,
        interface: &str,
        source: Ipv4Addr,
    ) -> Result<(), Error> {
        let header = rt_route::Rtmsg {
            rtm_family: AF_INET,
            rtm_dst_len: HOST,
            rtm_table: table,
            rtm_protocol: libc::RTPROT_STATIC,
            rtm_scope: libc::RT_SCOPE_LINK,
            rtm_type: libc::RTN_UNICAST,
            ..Default::default()
        };
        let mut request = rt_route::Request::new()
            .set_create()
            .set_excl()
            .op_newroute_do(&header);
        request
            .encode()
            .push_dst(IpAddr::V4(destination))
            .push_oif(index(interface)?)
            .push_prefsrc(IpAddr::V4(source));
        self.netlink.request(&request, || {
            format!("adding a route to {destination} through {interface}")
        })
    }

    /// Adds a rule: `table` routes the packets from `source`.
    pub(crate) fn rule(&mut self, source: Ipv4Addr, table: u8) -> Result<(), Error> {
        let header = rt_rule::FibRuleHdr {
            family: AF_INET,
            src_len: HOST,
            table,
            action: rt_rule::FrAct::ToTbl as u8,
            ..Default::default()
        };
        let mut request = rt_rule::Request::new()
            .set_create()
            .set_excl()
            .op_newrule_do(&header);
        request.encode().push_src(IpAddr::V4(source));
        self.netlink.request(&request, || {
            format!("routing packets from {source} by table {table}")
        })
    }
}

fn index(interface: &str) -> Result<u32, Error> {
    if_nametoindex(interface).map_err(Error::kernel(format!("finding the interface {interface}")))
}
