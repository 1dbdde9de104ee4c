//! The routes from MPTCP's endpoints. Packets from each address have to leave by the interface that has it: providers drop others.

use super::path_manager::Endpoint;
use super::{Finding, Topic};
use crate::text::printable;
use netlink_bindings::rt_route::{Request, Rtmsg};
use netlink_socket2::NetlinkSocket;
use nix::ifaddrs::getifaddrs;
use nix::net::if_::{if_indextoname, if_nametoindex};
use std::collections::HashMap;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// An endpoint and its route.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    endpoint: Endpoint,
    /// The interface that has the address.
    owner: Option<String>,
    /// A routing table for packets from this interface.
    table: u32,
    /// Whether hosts outside of the local networks can be reached at all.
    has_default_route: bool,
    /// The interface by which packets from the address to a distant host leave; `None`: there is no route.
    leaves_by: Option<String>,
    /// rp_filter of the interface: 1 is strict.
    rp_filter: u32,
}

/// Distant hosts: addresses for documentation (RFC 5737, RFC 3849), which only a default route covers.
const DISTANT: (IpAddr, IpAddr) = (
    IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
    IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1)),
);

/// Looks the routes of these endpoints up.
pub(super) fn gather(endpoints: &[Endpoint]) -> Vec<Facts> {
    let owners = owners();
    let facts = endpoints.iter().map(|endpoint| {
        let is_v4 = endpoint.address.is_ipv4();
        let distant = if is_v4 { DISTANT.0 } else { DISTANT.1 };
        let owner = owners.get(&endpoint.address).cloned();
        let bound = endpoint.interface.filter(|_| endpoint.binds());
        let interface = owner.as_deref().unwrap_or("all");
        Facts {
            endpoint: *endpoint,
            table: owner.as_deref().map_or(0, table_of),
            has_default_route: interface_to(distant, None, None).is_some(),
            leaves_by: interface_to(distant, Some(endpoint.address), bound),
            rp_filter: if is_v4 { rp_filter(interface) } else { 0 },
            owner,
        }
    });
    facts.collect()
}

/// The interfaces by address.
fn owners() -> HashMap<IpAddr, String> {
    let all = getifaddrs().into_iter().flatten();
    let owner = all.filter_map(|interface| {
        let address = interface.address?;
        let v4 = address.as_sockaddr_in().map(|v4| IpAddr::V4(v4.ip()));
        let v6 = address.as_sockaddr_in6().map(|v6| IpAddr::V6(v6.ip()));
        Some((v4.or(v6)?, interface.interface_name))
    });
    owner.collect()
}

/// The number of a routing table that no other interface gets. Linux itself uses 253 to 255.
fn table_of(interface: &str) -> u32 {
    if_nametoindex(interface).map_or(1000, |index| 1000 + index)
}

/// `RTM_F_LOOKUP_TABLE`: the reply names the table that has the route (linux/rtnetlink.h).
const LOOKUP_TABLE: u32 = 0x1000;

/// The interface of the route to a host, from an address, over a bound interface (`ip route get`).
fn interface_to(to: IpAddr, from: Option<IpAddr>, bound: Option<u32>) -> Option<String> {
    let length = if to.is_ipv4() { 32 } else { 128 };
    let family = if to.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    let header = Rtmsg {
        rtm_family: family as u8,
        rtm_dst_len: length,
        rtm_src_len: from.map_or(0, |_| length),
        rtm_flags: LOOKUP_TABLE,
        ..Default::default()
    };
    let mut request = Request::new().op_getroute_do(&header);
    let mut attributes = request.encode().push_dst(to);
    if let Some(from) = from {
        attributes = attributes.push_src(from);
    }
    if let Some(bound) = bound {
        attributes = attributes.push_oif(bound);
    }
    drop(attributes);
    let mut socket = NetlinkSocket::new();
    let mut reply = socket.request(&request).ok()?;
    let (header, route) = reply.recv_one().ok()?;
    // Without a route over the bound interface IPv4 takes every host for a neighbour there (ip_route_output_key_hash_rcu). Such a
    // route is of no table.
    let table = route.get_table().unwrap_or(header.rtm_table.into());
    if header.rtm_type != libc::RTN_UNICAST || table == u32::from(libc::RT_TABLE_UNSPEC) {
        return None;
    }
    let name = if_indextoname(route.get_oif().ok()?).ok()?;
    Some(name.to_string_lossy().into_owned())
}

/// The kernel uses the larger value of `all` and the interface.
fn rp_filter(interface: &str) -> u32 {
    let of = |name: &str| {
        let path = format!("/proc/sys/net/ipv4/conf/{name}/rp_filter");
        fs::read_to_string(path).ok()?.trim().parse::<u32>().ok()
    };
    of("all").max(of(interface)).unwrap_or(0)
}

pub(super) fn findings(endpoints: &[Facts]) -> Vec<Finding> {
    endpoints.iter().map(finding).collect()
}

fn finding(facts: &Facts) -> Finding {
    use Topic::Endpoints;
    let address = facts.endpoint.address;
    let port = facts.endpoint.port;
    let port = port.map_or(String::new(), |port| format!(" port {port}"));
    let name = format!("{address}{port} ({})", facts.endpoint.kind());
    let Some(owner) = facts.owner.as_deref() else {
        return Endpoints.warn(
            "address",
            format!("{name}: no interface has this address; its subflows fail"),
            format!(
                "`ip mptcp endpoint delete id {}`, or give an interface the address",
                facts.endpoint.id
            ),
        );
    };
    let device = printable(shell_words::quote(owner).as_bytes());
    let on = printable(owner.as_bytes());
    if !facts.has_default_route {
        let text = format!("{name} on {on}; no default route: only the local networks are reached");
        return Endpoints.ok("route", text);
    }
    let family = if address.is_ipv4() { "" } else { "-6 " };
    let table = facts.table;
    let remedy = format!(
        "`ip {family}route replace default via GATEWAY dev {device} table {table}`, `ip {family}rule add from {address} table {table}` \
         (a table for each interface)"
    );
    match &facts.leaves_by {
        Some(interface) if interface == owner => Endpoints.ok("route", format!("{name} on {on}")),
        Some(interface) => {
            let strict = match facts.rp_filter {
                1 => format!("; rp_filter of {on} drops the replies"),
                _ => String::new(),
            };
            Endpoints.warn(
                "route",
                format!(
                    "{name} is on {on}, but its packets leave by {}{strict}",
                    printable(interface.as_bytes())
                ),
                remedy,
            )
        }
        None => Endpoints.warn(
            "route",
            format!("{name} on {on}: no route to distant hosts from there; joins fail"),
            remedy,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::super::path_manager::tests::endpoint;
    use super::*;

    fn facts(leaves_by: Option<&str>) -> Facts {
        Facts {
            endpoint: endpoint("10.0.1.1", 2),
            owner: Some("eth1".into()),
            table: 1003,
            has_default_route: true,
            leaves_by: leaves_by.map(String::from),
            rp_filter: 0,
        }
    }

    #[test]
    fn packets_leave_by_the_interface_of_their_address() {
        let good = finding(&facts(Some("eth1")));
        assert_eq!(
            (good.level, good.text.as_str()),
            (Level::Ok, "10.0.1.1 (subflow) on eth1")
        );
        let bad = finding(&facts(Some("eth0")));
        assert_eq!(bad.level, Level::Warn);
        assert!(
            bad.text
                .ends_with("is on eth1, but its packets leave by eth0"),
            "{bad:?}"
        );
        assert!(
            bad.remedy
                .unwrap()
                .contains("ip rule add from 10.0.1.1 table 1003")
        );
        let strict = finding(&Facts {
            rp_filter: 1,
            ..facts(Some("eth0"))
        });
        assert!(
            strict
                .text
                .ends_with("; rp_filter of eth1 drops the replies"),
            "{strict:?}"
        );
        let none = finding(&facts(None));
        assert!(none.text.contains("no route to distant hosts"), "{none:?}");
        let odd = finding(&Facts {
            owner: Some("a$(b)\u{1b}".into()),
            ..facts(None)
        });
        assert!(odd.text.contains(r" on a$(b)\u{1b}: "), "{odd:?}");
        assert!(odd.remedy.unwrap().contains(r"dev 'a$(b)\u{1b}' table"));
        let mut v6 = facts(None);
        v6.endpoint = endpoint("2001:db8::1", 2);
        assert!(finding(&v6).remedy.unwrap().contains("ip -6 rule add"));
    }

    #[test]
    fn addresses_without_an_interface() {
        let gone = finding(&Facts {
            owner: None,
            ..facts(None)
        });
        assert_eq!((gone.level, gone.check), (Level::Warn, "address"));
    }

    /// Hosts of a test network have no default route, and need none.
    #[test]
    fn hosts_without_a_default_route() {
        let local = finding(&Facts {
            has_default_route: false,
            ..facts(None)
        });
        assert_eq!(local.level, Level::Ok);
    }
}
