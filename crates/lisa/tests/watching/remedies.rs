//! What `lisa kernel doctor` says to do, done: each command of a remedy succeeds as it is printed, and the warning is gone.

use super::doctor::findings_for;
use crate::support::able;
use crate::support::world::{World, client_address, host, ip, mptcp, run};
use lab::Namespace;
use serde_json::Value;
use std::fs;

/// The finding of a check; the first, if there are several.
fn finding(host: &Namespace, path: &[&str], check: &str) -> Option<Value> {
    warnings(host, path, &[check]).into_iter().next()
}

/// The warnings of these checks.
fn warnings(host: &Namespace, path: &[&str], checks: &[&str]) -> Vec<Value> {
    let is_one = |finding: &Value| {
        let check = finding["check"].as_str().expect("a check");
        checks.contains(&check) && finding["level"] != "ok"
    };
    findings_for(host, path)
        .into_iter()
        .filter(is_one)
        .collect()
}

/// Runs the commands of the remedies of all warnings of these checks, until there are none. Panics if one of the checks has no warning
/// before, or one afterwards.
fn heal(host: &Namespace, path: &[&str], checks: &[&str]) {
    let mut found = warnings(host, path, checks);
    for check in checks {
        let has_one = found.iter().any(|warning| warning["check"] == *check);
        assert!(has_one, "no warning {check}: {found:#?}");
    }
    let mut number = 0;
    while !found.is_empty() {
        number += 1;
        assert!(number < 4, "still there: {found:#?}");
        for warning in &found {
            let remedy = warning["remedy"].as_str().expect("a remedy");
            let commands: Vec<&str> = remedy.split('`').skip(1).step_by(2).collect();
            assert!(!commands.is_empty(), "{warning}");
            for command in commands {
                run(host.command("sh").args(["-c", command]));
            }
        }
        found = warnings(host, path, checks);
    }
}

/// Writes settings below net.
fn set(host: &Namespace, settings: &[(&str, &str)]) {
    host.run(|| {
        for (name, value) in settings {
            fs::write(format!("/proc/sys/net/{name}"), value).expect(name);
        }
    });
}

#[test]
fn settings() {
    if !able() {
        return;
    }
    let of_mptcp = [
        ("mptcp/pm_type", "1", "path_manager"),
        ("mptcp/stale_loss_cnt", "0", "stale_loss_cnt"),
        (
            "mptcp/allow_join_initial_addr_port",
            "0",
            "allow_join_initial_addr_port",
        ),
    ];
    let of_tcp = [
        ("ipv4/tcp_sack", "0", "tcp_sack"),
        ("ipv4/tcp_timestamps", "0", "tcp_timestamps"),
        ("ipv4/tcp_window_scaling", "0", "tcp_window_scaling"),
        ("ipv4/tcp_moderate_rcvbuf", "0", "tcp_moderate_rcvbuf"),
    ];
    let others = [
        ("mptcp/path_manager", "userspace", "path_manager"),
        ("ipv4/tcp_no_metrics_save", "0", "metrics"),
        ("ipv4/tcp_no_ssthresh_metrics_save", "0", "metrics"),
    ];
    let disabled = [("mptcp/enabled", "0", "enabled")];
    for settings in [&of_mptcp[..], &of_tcp, &others, &disabled] {
        let mut settings = settings.to_vec();
        settings.retain(|(name, ..)| {
            let exists = fs::exists(format!("/proc/sys/net/{name}")).expect("/proc");
            if !exists {
                eprintln!("skipped: this kernel has no {name}");
            }
            exists
        });
        let host = host();
        let values: Vec<_> = (settings.iter().map(|(name, value, _)| (*name, *value))).collect();
        set(&host, &values);
        let checks: Vec<_> = settings.iter().map(|(.., check)| *check).collect();
        heal(&host, &[], &checks);
    }
}

/// Linux's buffers, buffers that are too small for any path, and paths up to those that no window holds.
#[test]
fn buffers() {
    if !able() {
        return;
    }
    let paths = [
        ["--rate", "50Mbit", "--rtt", "40ms"],
        ["--rate", "1Gbit", "--rtt", "80ms"],
        ["--rate", "25Gbit", "--rtt", "300ms"],
        ["--rate", "100Gbit", "--rtt", "300ms"],
        ["--rate", "400Gbit", "--rtt", "2s"],
    ];
    let paths = paths.iter().map(|path| &path[..]).chain([&[][..]]);
    for path in paths {
        // The first two are about one setting: each remedy by itself.
        for checks in [&["tcp_rmem_first", "tcp_wmem"][..], &["tcp_rmem"]] {
            let host = host();
            let buffers = [
                ("ipv4/tcp_rmem", "4096 8192 131072"),
                ("ipv4/tcp_wmem", "4096 16384 65536"),
            ];
            set(&host, &buffers);
            heal(&host, path, checks);
        }
    }
}

/// By hand: the largest buffer, 2047 MiB, has 1 073 217 536 bytes in flight, which are 28.6 Gbit/s at 300 ms.
#[test]
fn the_largest_window() {
    if !able() {
        return;
    }
    let host = host();
    let path = ["--rate", "100Gbit", "--rtt", "300ms"];
    heal(&host, &path, &["tcp_rmem"]);
    let found = findings_for(&host, &path);
    let text = found.iter().find(|finding| finding["check"] == "tcp_rmem");
    let text = text.expect("a finding")["text"].as_str().expect("text");
    assert!(
        text.ends_with("TCP's largest window, 1 GiB, allows 28.6 Gbit/s"),
        "{text}"
    );
}

#[test]
fn limits_and_endpoints() {
    if !able() {
        return;
    }
    let device = |link: u32| format!("c{link}");
    for link in 0..2 {
        // A client, then a server.
        let world = World::new(2);
        mptcp(&world.client, "limits set subflows 2 add_addr_accepted 0");
        let warning = finding(&world.client, &[], "paths").expect("a warning");
        let remedy = warning["remedy"].as_str().expect("a remedy");
        let (client, server) = remedy.split_once("; ").expect("two ends");
        let only = if link == 0 { server } else { client };
        let command = only.split('`').nth(1).expect("a command");
        let command = command
            .replace("ADDRESS", &client_address(1))
            .replace("DEVICE", &device(1));
        run(world.client.command("sh").args(["-c", &command]));
        assert_eq!(finding(&world.client, &[], "paths"), None);
    }
    for (limits, endpoints) in [
        ("subflows 0 add_addr_accepted 0", 0),
        ("subflows 0 add_addr_accepted 5", 1),
        ("subflows 1 add_addr_accepted 8", 8),
    ] {
        let world = World::new(8);
        world.join(0..endpoints);
        mptcp(&world.client, &format!("limits set {limits}"));
        heal(&world.client, &[], &["limits"]);
        let accepted = limits.split(' ').next_back().expect("a number");
        let shown = run(world.client.command("ip").args(["mptcp", "limits"]));
        let shown = String::from_utf8(shown.stdout).expect("text");
        let kept: u32 = shown
            .split(' ')
            .nth(1)
            .expect("a number")
            .parse()
            .expect("a number");
        assert!(
            kept >= accepted.parse().expect("a number"),
            "{limits}: {shown}"
        );
    }
}

/// Two interfaces whose packets leave by a third, and two addresses on one of them.
#[test]
fn routes() {
    if !able() {
        return;
    }
    for family in ["-4", "-6"] {
        let world = World::new(3);
        let client = &world.client;
        let (address, gateway) = match family {
            "-4" => (
                ["10.7.1.1", "10.7.2.1", "10.7.2.3"],
                ["10.7.0.2", "10.7.1.2", "10.7.2.2"],
            ),
            _ => (
                ["fd00:1::1", "fd00:2::1", "fd00:2::3"],
                ["fd00:0::2", "fd00:1::2", "fd00:2::2"],
            ),
        };
        if family == "-6" {
            for (device, address) in [("c0", "fd00:0::1"), ("c1", address[0]), ("c2", address[1])] {
                ip(client, &format!("addr add {address}/64 dev {device} nodad"));
            }
        }
        let prefix = if family == "-4" { "24" } else { "64 nodad" };
        ip(client, &format!("addr add {}/{prefix} dev c2", address[2]));
        ip(
            client,
            &format!("{family} route add default via {} dev c0", gateway[0]),
        );
        for (address, device) in address.iter().zip(["c1", "c2", "c2"]) {
            mptcp(
                client,
                &format!("endpoint add {address} dev {device} subflow"),
            );
        }
        while let Some(warning) = finding(client, &[], "route") {
            let text = warning["text"].as_str().expect("text");
            let link = if text.contains("on c1") { 1 } else { 2 };
            let remedy = warning["remedy"].as_str().expect("a remedy");
            for command in remedy.split('`').skip(1).step_by(2) {
                let command = command.replace("GATEWAY", gateway[link]);
                run(client.command("sh").args(["-c", &command]));
            }
            let after = finding(client, &[], "route");
            assert_ne!(after.as_ref(), Some(&warning));
        }
    }
}

#[test]
fn addresses_that_are_gone() {
    if !able() {
        return;
    }
    let world = World::joined(3);
    ip(&world.client, "addr del 10.7.2.1/24 dev c2");
    heal(&world.client, &[], &["address"]);
    let left = run(world.client.command("ip").args(["mptcp", "endpoint"]));
    let left = String::from_utf8(left.stdout).expect("text");
    assert!(
        left.starts_with("10.7.1.1 ") && left.lines().count() == 1,
        "{left}"
    );
}
