//! What peers answered so far: the counters of MPTCP (`MPTcpExt` in /proc/net/netstat; net/mptcp/mib.c of Linux). They count since
//! the network namespace exists. Older kernels lack some of them.

use super::{Finding, Topic, counted};
use std::collections::BTreeMap;
use std::fs;

/// The counters of this network namespace.
#[derive(Clone, Debug, Default)]
pub(super) struct Mib(BTreeMap<String, u64>);

impl Mib {
    pub(super) fn gather() -> Self {
        Self::parse(&fs::read_to_string("/proc/thread-self/net/netstat").unwrap_or_default())
    }

    /// Two lines begin with `MPTcpExt:`: the names, and the values.
    fn parse(netstat: &str) -> Self {
        let mut lines = netstat
            .lines()
            .filter_map(|line| line.strip_prefix("MPTcpExt:"))
            .map(str::split_whitespace);
        let (Some(names), Some(values)) = (lines.next(), lines.next()) else {
            return Self::default();
        };
        let values = values.map(|value| value.parse().unwrap_or(0));
        Self(names.map(String::from).zip(values).collect())
    }

    /// A counter, or `None` if this kernel does not have it.
    fn known(&self, name: &str) -> Option<u64> {
        self.0.get(name).copied()
    }

    fn get(&self, name: &str) -> u64 {
        self.known(name).unwrap_or(0)
    }

    fn sum(&self, names: &[&str]) -> u64 {
        names.iter().map(|name| self.get(name)).sum()
    }
}

/// Of joins that at least this share failed, the cause is worth a search.
const MANY: u64 = 10; // one in ten

pub(super) fn findings(mib: &Mib) -> Vec<Finding> {
    let mut found = Vec::new();
    found.extend(opened(mib));
    found.extend(accepted(mib));
    found.extend(joins_of_this_host(mib));
    found.extend(joins_of_peers(mib));
    found.extend(broken(mib));
    if found.is_empty() {
        found.push(Topic::Peers.ok("none", "no connection asked for MPTCP here so far"));
    }
    found
}

/// Connections that this host opened.
fn opened(mib: &Mib) -> Option<Finding> {
    use Topic::Peers;
    let asked = mib.get("MPCapableSYNTX");
    if asked == 0 {
        return None;
    }
    let supported = mib.get("MPCapableSYNACKRX");
    let dropped = mib.get("MPCapableSYNTXDrop");
    let text = format!(
        "of {} opened here with MPTCP, the peers of {supported} support it, {} fell back to TCP",
        counted(asked, "connection"),
        mib.get("MPCapableFallbackSYNACK")
    );
    Some(if supported > 0 {
        Peers.ok("opened", text)
    } else if dropped > 0 {
        Peers.warn(
            "opened",
            format!(
                "{text}; {dropped} were answered only without the option: a middlebox drops it"
            ),
            "test another path; a firewall near this host may drop TCP options",
        )
    } else {
        Peers.warn(
            "opened",
            format!("{text}: these peers have no MPTCP, or a middlebox removes the option"),
            "test a peer that has MPTCP; on the server: `sysctl net.mptcp.enabled`",
        )
    })
}

/// Connections that peers opened.
fn accepted(mib: &Mib) -> Option<Finding> {
    let asked = mib.get("MPCapableSYNRX");
    (asked > 0).then(|| {
        Topic::Peers.ok(
            "accepted",
            format!(
                "of {} requested by peers, {} were established, {} fell back to TCP",
                counted(asked, "MPTCP connection"),
                mib.get("MPCapableACKRX"),
                mib.get("MPCapableFallbackACK")
            ),
        )
    })
}

/// Subflows that this host started. Linux before 6.12 counts only the answered ones.
fn joins_of_this_host(mib: &Mib) -> Option<Finding> {
    use Topic::Peers;
    let answered = mib.get("MPJoinSynAckRx");
    let failed = mib.get("MPJoinSynAckHMacFailure");
    let local = mib.sum(&[
        "MPJoinSynTxCreatSkErr",
        "MPJoinSynTxBindErr",
        "MPJoinSynTxConnectErr",
    ]);
    let asked = mib.known("MPJoinSynTx");
    if answered == 0 && local == 0 && asked.unwrap_or(0) == 0 {
        return None;
    }
    let text = match asked {
        Some(asked) => format!(
            "of {} started here, {answered} were answered",
            counted(asked, "join")
        ),
        None => format!("{} of this host answered", counted(answered, "join")),
    };
    let unanswered = asked.map_or(0, |asked| asked.saturating_sub(answered));
    Some(if local > 0 {
        Peers.warn(
            "joins_started",
            format!("{text}; {local} failed at this host: no route, or an address that is gone"),
            "see the endpoints above; `ip mptcp endpoint show`, `ip rule`",
        )
    } else if failed > 0 {
        Peers.warn(
            "joins_started",
            format!("{text}; {failed} with a wrong HMAC: another host or a proxy answered"),
            "look for a transparent proxy or load balancer on that path",
        )
    } else if unanswered * MANY > asked.unwrap_or(0) {
        Peers.warn(
            "joins_started",
            format!("{text}: lost, refused, or dropped by a firewall, which cannot be seen from here"),
            "see the routes of the endpoints; on the peer: `ip mptcp limits`, open ports on all addresses",
        )
    } else {
        Peers.ok("joins_started", text)
    })
}

/// Subflows that peers started.
fn joins_of_peers(mib: &Mib) -> Option<Finding> {
    use Topic::Peers;
    let asked = mib.get("MPJoinSynRx");
    let no_token = mib.get("MPJoinNoTokenFound");
    if asked + no_token == 0 {
        return None;
    }
    let established = mib.get("MPJoinAckRx");
    let wrong = mib.get("MPJoinAckHMacFailure");
    let rejected = mib.get("MPJoinRejected");
    let text = format!(
        "of {} requested by peers, {established} were established",
        counted(asked, "join")
    );
    Some(if no_token * MANY > asked {
        Peers.warn(
            "joins_accepted",
            format!("{text}; {no_token} named a connection that this host does not have"),
            "behind a load balancer, all subflows of a connection must reach one server",
        )
    } else if wrong > 0 {
        Peers.warn(
            "joins_accepted",
            format!("{text}; {wrong} with a wrong HMAC"),
            "these are no joins of the peers of the connections: look at the firewall's log",
        )
    } else if rejected * MANY > asked {
        Peers.warn(
            "joins_accepted",
            format!("{text}; {rejected} were refused for the limit of subflows"),
            "`ip mptcp limits set subflows 8`",
        )
    } else if established * 2 < asked {
        Peers.warn(
            "joins_accepted",
            format!(
                "{text}: the limit of subflows refused the others, or their path lost the reply"
            ),
            "`ip mptcp limits show`; see the routes of the endpoints",
        )
    } else {
        Peers.ok("joins_accepted", text)
    })
}

/// Established connections that middleboxes broke.
fn broken(mib: &Mib) -> Option<Finding> {
    let changed = mib.sum(&[
        "DSSCorruptionFallback",
        "DSSCorruptionReset",
        "DataCsumErr",
        "MPFailTx",
        "MPFailRx",
    ]);
    let late = mib.sum(&["MPCapableDataFallback", "DssFallback", "InfiniteMapRx"]);
    (changed + late > 0).then(|| {
        Topic::Peers.warn(
            "broken",
            format!(
                "{changed} errors of changed data, {late} fallbacks after the handshake: a middlebox changes the stream or removes options"
            ),
            "`sysctl -w net.mptcp.checksum_enabled=1` detects changed data; test other paths",
        )
    })
}

#[cfg(test)]
mod tests;
