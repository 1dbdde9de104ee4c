//! Tests of the counters: recorded texts, and what they mean.

use super::super::Level;
use super::super::tests::{not_ok, one};
use super::*;

/// What each kernel shows after two connections over its loopback: one to a listener with MPTCP, and one without.
const RECORDED: [(&str, &str); 3] = [
    ("6.1.0-56", include_str!("recorded/linux-6.1.txt")),
    ("6.12.117", include_str!("recorded/linux-6.12.txt")),
    ("7.3.4", include_str!("recorded/linux-7.3.txt")),
];

#[test]
fn recorded_counters() {
    for (kernel, text) in RECORDED {
        let found = findings(&Mib::parse(text));
        assert_eq!(not_ok(&found), [], "{kernel}");
        assert_eq!(
            one(&found, "opened").text,
            "of 2 connections opened here with MPTCP, the peers of 1 support it, 1 fell back to TCP"
        );
        let accepted =
            "of 1 MPTCP connection requested by peers, 1 were established, 0 fell back to TCP";
        assert_eq!(one(&found, "accepted").text, accepted);
        assert_eq!(found.len(), 2, "{kernel}: {found:#?}");
    }
}

/// The names of the counters that are evaluated are those of the newest kernel, and all but the newer ones those of the oldest.
#[test]
fn names_of_counters() {
    const SINCE_6_12: [&str; 6] = [
        "MPCapableSYNTXDrop",
        "MPJoinSynTx",
        "MPJoinSynTxConnectErr",
        "MPJoinRejected",
        "MPCapableDataFallback",
        "DssFallback",
    ];
    const ALWAYS: [&str; 10] = [
        "MPCapableSYNTX",
        "MPCapableSYNACKRX",
        "MPCapableFallbackSYNACK",
        "MPCapableFallbackACK",
        "MPJoinSynRx",
        "MPJoinAckRx",
        "MPJoinSynAckRx",
        "MPJoinNoTokenFound",
        "MPFailTx",
        "DSSCorruptionFallback",
    ];
    let [(_, oldest), _, (_, newest)] = RECORDED;
    let (oldest, newest) = (Mib::parse(oldest), Mib::parse(newest));
    for name in ALWAYS {
        assert!(oldest.known(name).is_some(), "{name}");
    }
    for name in SINCE_6_12 {
        assert!(oldest.known(name).is_none(), "{name}");
    }
    for name in ALWAYS.iter().chain(&SINCE_6_12) {
        assert!(newest.known(name).is_some(), "{name}");
    }
}

/// Counters by name, in the form of /proc/net/netstat; `others` have the value 0.
fn netstat(others: &[&str], counters: &[(&str, u64)]) -> String {
    let given = counters.iter().map(|(name, _)| *name);
    let others = others
        .iter()
        .filter(|name| counters.iter().all(|(given, _)| given != *name));
    let names: Vec<&str> = given.chain(others.copied()).collect();
    let value = |name: &&str| counters.iter().find(|(given, _)| given == name);
    let values: Vec<String> = names
        .iter()
        .map(|name| value(name).map_or(0, |(_, value)| *value).to_string())
        .collect();
    format!(
        "TcpExt: SyncookiesSent TW\nTcpExt: 7 8\nMPTcpExt: {}\nMPTcpExt: {}\n",
        names.join(" "),
        values.join(" ")
    )
}

fn found(counters: &[(&str, u64)]) -> Vec<Finding> {
    findings(&Mib::parse(&netstat(&["MPCapableSYNRX"], counters)))
}

#[test]
fn without_counters() {
    for text in [
        "",
        "TcpExt: TW\nTcpExt: 7\n",
        &netstat(&["MPCapableSYNTX"], &[]),
    ] {
        let found = findings(&Mib::parse(text));
        assert_eq!(one(&found, "none").level, Level::Ok);
    }
}

#[test]
fn peers_with_and_without_mptcp() {
    let mixed = found(&[
        ("MPCapableSYNTX", 10),
        ("MPCapableSYNACKRX", 7),
        ("MPCapableFallbackSYNACK", 3),
    ]);
    assert_eq!(not_ok(&mixed), []);
    assert_eq!(
        one(&mixed, "opened").text,
        "of 10 connections opened here with MPTCP, the peers of 7 support it, 3 fell back to TCP"
    );
    let without = found(&[("MPCapableSYNTX", 4), ("MPCapableFallbackSYNACK", 4)]);
    assert_eq!(not_ok(&without), [("opened", Level::Warn)]);
    assert!(one(&without, "opened").text.contains("removes the option"));
    let dropped = found(&[("MPCapableSYNTX", 4), ("MPCapableSYNTXDrop", 4)]);
    assert!(
        one(&dropped, "opened")
            .text
            .contains("a middlebox drops it")
    );
    let served = found(&[
        ("MPCapableSYNRX", 5),
        ("MPCapableACKRX", 4),
        ("MPCapableFallbackACK", 1),
    ]);
    assert_eq!(
        one(&served, "accepted").text,
        "of 5 MPTCP connections requested by peers, 4 were established, 1 fell back to TCP"
    );
}

#[test]
fn joins_of_this_host() {
    let text = |counters: &[(&str, u64)]| {
        let found = found(counters);
        let finding = one(&found, "joins_started");
        (finding.level, finding.text.clone())
    };
    let good = text(&[("MPJoinSynTx", 10), ("MPJoinSynAckRx", 10)]);
    assert_eq!(
        good,
        (
            Level::Ok,
            "of 10 joins started here, 10 were answered".into()
        )
    );
    // Before Linux 6.12.
    let old = text(&[("MPJoinSynAckRx", 1)]);
    assert_eq!(old, (Level::Ok, "1 join of this host answered".into()));
    let lost = text(&[("MPJoinSynTx", 10), ("MPJoinSynAckRx", 5)]);
    assert!(
        lost.0 == Level::Warn && lost.1.contains("firewall"),
        "{lost:?}"
    );
    let local = text(&[("MPJoinSynTx", 10), ("MPJoinSynTxConnectErr", 2)]);
    assert!(
        local.0 == Level::Warn && local.1.contains("2 failed at this host"),
        "{local:?}"
    );
    let proxy = text(&[
        ("MPJoinSynTx", 10),
        ("MPJoinSynAckRx", 10),
        ("MPJoinSynAckHMacFailure", 1),
    ]);
    assert!(proxy.1.contains("wrong HMAC"), "{proxy:?}");
}

#[test]
fn joins_of_peers() {
    let check = |counters: &[(&str, u64)]| {
        let found = found(counters);
        let finding = one(&found, "joins_accepted");
        (finding.level, finding.text.clone())
    };
    let good = check(&[("MPJoinSynRx", 10), ("MPJoinAckRx", 9)]);
    assert_eq!(
        good,
        (
            Level::Ok,
            "of 10 joins requested by peers, 9 were established".into()
        )
    );
    for (counter, words) in [
        ("MPJoinNoTokenFound", "does not have"),
        ("MPJoinAckHMacFailure", "wrong HMAC"),
        ("MPJoinRejected", "limit of subflows"),
    ] {
        let bad = check(&[("MPJoinSynRx", 10), ("MPJoinAckRx", 9), (counter, 2)]);
        assert!(bad.0 == Level::Warn && bad.1.contains(words), "{bad:?}");
    }
    let few = check(&[("MPJoinSynRx", 10), ("MPJoinAckRx", 2)]);
    assert_eq!(few.0, Level::Warn);
}

#[test]
fn broken_connections() {
    let found = found(&[("MPFailTx", 2), ("DssFallback", 1)]);
    assert_eq!(not_ok(&found), [("broken", Level::Warn)]);
    assert!(
        one(&found, "broken")
            .text
            .starts_with("2 errors of changed data, 1 fallbacks")
    );
}
