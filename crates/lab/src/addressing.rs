//! Addresses, routes and rules of an endpoint: rtnetlink(7).

use std::net::{IpAddr, Ipv4Addr};

use netlink_bindings::{rt_addr, rt_link, rt_route, rt_rule};
use nix::net::if_::if_nametoindex;

use crate::error::Error;
use crate::netlink::Netlink;
use crate::tun::MTU;

const AF_INET: u8 = libc::AF_INET as u8;
/// The bits of an address that name one host.
const HOST: u8 = 32;

/// The main routing table: destinations decide.
pub(crate) const MAIN: u8 = libc::RT_TABLE_MAIN;

/// The kernel's tables of the namespace of the thread that makes it.
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
            .ask(&request, || format!("bringing {interface} up"))
    }

    /// Gives an interface an address, alone on its link.
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
        self.netlink.ask(&request, || {
            format!("giving {interface} the address {address}")
        })
    }

    /// In `table`, `destination` is reached through an interface, from the address `source`.
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
        self.netlink.ask(&request, || {
            format!("adding a route to {destination} through {interface}")
        })
    }

    /// Packets from `source` are routed by `table`.
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
        self.netlink.ask(&request, || {
            format!("routing packets from {source} by table {table}")
        })
    }
}

fn index(interface: &str) -> Result<u32, Error> {
    if_nametoindex(interface).map_err(Error::kernel(format!("finding the interface {interface}")))
}
