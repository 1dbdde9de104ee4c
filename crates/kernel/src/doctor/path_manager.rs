//! Limits and endpoints of the kernel's path manager, as `ip mptcp` shows them.

use super::{Finding, Topic, counted};
use netlink_bindings::mptcp_pm::{IterableAddress, Request};
use netlink_socket2::{NetlinkSocket, ReplyError};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Limits and endpoints of this network namespace.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    limits: Option<Limits>,
    pub(super) endpoints: Vec<Endpoint>,
}

/// Limits of a connection.
#[derive(Clone, Copy, Debug)]
struct Limits {
    /// Subflows beyond the first.
    subflows: u32,
    /// Addresses that the peer announces and that are used.
    accepted: u32,
}

/// An address that connections may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct Endpoint {
    pub(super) id: u8,
    pub(super) address: IpAddr,
    pub(super) port: Option<u16>,
    /// MPTCP_PM_ADDR_FLAG_… (linux/mptcp.h).
    pub(super) flags: u32,
    /// The interface that its subflows are bound to.
    pub(super) interface: Option<u32>,
}

const SIGNAL: u32 = 1 << 0;
const SUBFLOW: u32 = 1 << 1;
const BACKUP: u32 = 1 << 2;
const FULLMESH: u32 = 1 << 3;
/// The kernel's own record of an address that a subflow uses.
const IMPLICIT: u32 = 1 << 4;
/// Starts one subflow to an announced address (Linux 6.18).
const LAMINAR: u32 = 1 << 5;

/// The largest limit that every kernel takes (MPTCP_PM_ADDR_MAX).
const MOST: u32 = 8;

/// The flags by the names of `ip mptcp endpoint`.
const NAMES: [(u32, &str); 5] = [
    (SIGNAL, "signal"),
    (SUBFLOW, "subflow"),
    (BACKUP, "backup"),
    (FULLMESH, "fullmesh"),
    (LAMINAR, "laminar"),
];

impl Endpoint {
    pub(super) fn is(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// The flags that have no name here: of a later kernel.
    fn unknown(&self) -> u32 {
        let known = NAMES.iter().fold(0, |known, (flag, _)| known | flag);
        self.flags & !known
    }

    /// Whether its subflows are bound to its interface: those that this host starts, by whatever flag.
    pub(super) fn binds(&self) -> bool {
        self.is(!(SIGNAL | BACKUP)) && self.interface.is_some()
    }

    /// Its flags, as `ip mptcp endpoint` names them; those without a name as a number.
    pub(super) fn kind(&self) -> String {
        let names = NAMES.iter().filter(|(flag, _)| self.is(*flag));
        let mut kind: Vec<String> = names.map(|(_, name)| (*name).into()).collect();
        match self.unknown() {
            0 if kind.is_empty() => kind.push("no flag".into()),
            0 => {}
            unknown => kind.push(format!("flag {unknown:#x}")),
        }
        kind.join(" ")
    }
}

impl Facts {
    pub(super) fn gather() -> Self {
        Self {
            limits: limits().ok(),
            endpoints: endpoints().unwrap_or_default(),
        }
    }
}

fn limits() -> Result<Limits, ReplyError> {
    let mut socket = NetlinkSocket::new();
    let request = Request::new().op_get_limits_do();
    let mut reply = socket.request(&request)?;
    let limits = reply.recv_one()?;
    Ok(Limits {
        subflows: limits.get_subflows()?,
        accepted: limits.get_rcv_add_addrs()?,
    })
}

fn endpoints() -> Result<Vec<Endpoint>, ReplyError> {
    let mut socket = NetlinkSocket::new();
    let request = Request::new().op_get_addr_dump();
    let mut reply = socket.request(&request)?;
    let mut endpoints = Vec::new();
    while let Some(message) = reply.recv() {
        endpoints.extend(endpoint(&message?.get_addr()?));
    }
    endpoints.retain(|endpoint| !endpoint.is(IMPLICIT));
    Ok(endpoints)
}

fn endpoint(from: &IterableAddress<'_>) -> Option<Endpoint> {
    let v6 = || {
        let bytes: [u8; 16] = from.get_addr6().ok()?.try_into().ok()?;
        Some(IpAddr::V6(Ipv6Addr::from(bytes)))
    };
    let v4 = from.get_addr4().ok();
    Some(Endpoint {
        id: from.get_id().ok()?,
        address: v4.map(|v4| Ipv4Addr::from(v4).into()).or_else(v6)?,
        port: from.get_port().ok().filter(|port| *port != 0),
        flags: from.get_flags().unwrap_or(0),
        interface: from
            .get_if_idx()
            .ok()
            .and_then(|index| index.try_into().ok()),
    })
}

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    use Topic::PathManager;
    let mut found = Vec::new();
    let Some(limits) = facts.limits else {
        found.push(PathManager.ok("limits", "the path manager's limits cannot be read"));
        return found;
    };
    let Limits { subflows, accepted } = limits;
    let of = |flag| facts.endpoints.iter().filter(|e| e.is(flag)).count() as u32;
    let (starts, signals) = (of(SUBFLOW), of(SIGNAL));
    let text = format!(
        "a connection may have {} beyond its first, and use {} of the peer",
        counted(subflows.into(), "subflow"),
        match accepted {
            1 => "1 announced address".into(),
            n => format!("{n} announced addresses"),
        }
    );
    let most = starts.max(signals).clamp(2, MOST);
    let raise = format!(
        "`ip mptcp limits set subflows {} add_addr_accepted {}`",
        most.max(subflows),
        most.max(accepted)
    );
    found.push(if subflows == 0 {
        let text = "connections keep to one path: the limit of further subflows is 0, and joins of peers are refused";
        PathManager.warn("limits", text, raise)
    } else if subflows < MOST && subflows + 1 < starts {
        // One of them may be the address of the first subflow.
        let text = format!("{text}, but {starts} endpoints may start subflows");
        PathManager.warn("limits", text, raise)
    } else {
        PathManager.ok("limits", text)
    });
    if subflows > 0 && starts == 0 && signals == 0 {
        found.push(announced(facts, accepted));
    }
    found
}

/// The finding about further paths, if no endpoint has the flag `subflow` or `signal`.
fn announced(facts: &Facts, accepted: u32) -> Finding {
    use Topic::PathManager;
    let unknown = facts.endpoints.iter().fold(0, |all, e| all | e.unknown());
    let laminar = facts.endpoints.iter().any(|e| e.is(LAMINAR));
    match (unknown, laminar, accepted) {
        (1.., _, _) => PathManager.ok(
            "paths",
            format!("endpoints have a flag of a later kernel ({unknown:#x}), which may start further paths"),
        ),
        (_, true, 0) => PathManager.warn(
            "paths",
            "nothing starts a second path here: `laminar` endpoints serve announced addresses, and none is used",
            format!("`ip mptcp limits set add_addr_accepted {MOST}`"),
        ),
        (_, false, 0) => PathManager.warn(
            "paths",
            "nothing starts a second path here: no `subflow` or `signal` endpoint, and no announced address is used",
            "client: `ip mptcp endpoint add ADDRESS dev DEVICE subflow`; server: `ip mptcp endpoint add ADDRESS signal`",
        ),
        (_, true, _) => PathManager.ok(
            "paths",
            "`laminar` endpoints: further paths only to addresses that the peer announces",
        ),
        (_, false, _) => PathManager.ok(
            "paths",
            "no `subflow` or `signal` endpoint: further paths only to addresses that the peer announces",
        ),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::Level;
    use super::super::tests::{not_ok, one};
    use super::*;

    pub(in crate::doctor) fn endpoint(address: &str, flags: u32) -> Endpoint {
        Endpoint {
            id: 1,
            address: address.parse().unwrap(),
            port: None,
            flags,
            interface: None,
        }
    }

    fn facts(subflows: u32, accepted: u32, flags: &[u32]) -> Facts {
        let endpoints = flags.iter().map(|flags| endpoint("10.0.0.1", *flags));
        Facts {
            limits: Some(Limits { subflows, accepted }),
            endpoints: endpoints.collect(),
        }
    }

    #[test]
    fn limits_refuse_joins() {
        // Linux's default, without an endpoint.
        let found = findings(&facts(2, 0, &[]));
        assert_eq!(not_ok(&found), [("paths", Level::Warn)]);
        let text = "a connection may have 2 subflows beyond its first, and use 0 announced addresses of the peer";
        assert_eq!(one(&found, "limits").text, text);
        assert_eq!(
            not_ok(&findings(&facts(0, 0, &[SIGNAL]))),
            [("limits", Level::Warn)]
        );
        let found = findings(&facts(2, 2, &[SUBFLOW, SUBFLOW | BACKUP, SUBFLOW, SUBFLOW]));
        assert_eq!(not_ok(&found), [("limits", Level::Warn)]);
        let remedy = one(&found, "limits").remedy.as_deref().unwrap();
        assert!(
            remedy.contains("set subflows 4 add_addr_accepted 4"),
            "{remedy}"
        );
    }

    #[test]
    fn limits_with_room() {
        for facts in [
            facts(2, 0, &[SUBFLOW]),
            facts(2, 0, &[SUBFLOW, SUBFLOW, SUBFLOW]),
            facts(2, 0, &[SIGNAL]),
            facts(2, 1, &[]),
            facts(8, 8, &[SUBFLOW, SIGNAL]),
        ] {
            assert_eq!(not_ok(&findings(&facts)), [], "{facts:?}");
        }
    }

    #[test]
    fn kinds_of_endpoints() {
        assert_eq!(
            endpoint("10.0.0.1", SUBFLOW | BACKUP).kind(),
            "subflow backup"
        );
        assert_eq!(endpoint("10.0.0.1", SIGNAL).kind(), "signal");
        assert_eq!(endpoint("10.0.0.1", LAMINAR).kind(), "laminar");
        let later = endpoint("10.0.0.1", SUBFLOW | 1 << 7 | 1 << 9);
        assert_eq!(later.kind(), "subflow flag 0x280");
        assert_eq!(endpoint("10.0.0.1", 0).kind(), "no flag");
    }

    #[test]
    fn what_announced_addresses_need() {
        let paths = |accepted, flags| {
            let found = findings(&facts(2, accepted, &[flags]));
            one(&found, "paths").level
        };
        assert_eq!(paths(0, LAMINAR), Level::Warn);
        assert_eq!(paths(1, LAMINAR), Level::Ok);
        assert_eq!(paths(0, 1 << 9), Level::Ok);
        assert_eq!(paths(0, 1 << 9 | LAMINAR), Level::Ok);
    }

    #[test]
    fn subflows_that_are_bound() {
        let binds = |flags| {
            let bound = Endpoint {
                interface: Some(2),
                ..endpoint("10.0.0.1", flags)
            };
            bound.binds()
        };
        for flags in [SUBFLOW, LAMINAR, 1 << 9, SUBFLOW | SIGNAL] {
            assert!(binds(flags), "{flags:#x}");
        }
        assert!(!binds(SIGNAL) && !binds(SIGNAL | BACKUP));
        assert!(!endpoint("10.0.0.1", SUBFLOW).binds());
    }
}
