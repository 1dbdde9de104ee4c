//! `lisa kernel doctor`: hosts with usual faults, and other kernels in the VM.

use super::valid;
use crate::support::foreign::register;
use crate::support::stream::{PORT, connect, exchange, listener, open, serve};
use crate::support::turn::{Host, Turn, good, lisa, loadable};
use crate::support::vm::{GUEST, answer, fetched, set_loopback, vmlinuz};
use crate::support::world::{World, host, ip, mptcp};
use crate::support::{Folder, LISA, Loaded, able, complaint, content, until};
use kernel::holders::{Detail, Lister, Storage};
use lab::{Namespace, Vm};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

fn doctor(host: &Namespace, arguments: &[&str]) -> Command {
    let mut command = host.command(LISA);
    command.args(["kernel", "doctor"]).args(arguments);
    command
}

pub fn findings(host: &Namespace) -> Vec<Value> {
    findings_for(host, &[])
}

pub fn findings_for(host: &Namespace, path: &[&str]) -> Vec<Value> {
    let output = doctor(host, &[&["--json"][..], path].concat())
        .output()
        .expect("lisa");
    let json = String::from_utf8(output.stdout).expect("text");
    let report = valid(&json, "kernel-doctor.schema.json");
    assert_eq!(report["can_run"], output.status.success(), "{report}");
    report["findings"].as_array().expect("a list").clone()
}

/// Level and text of the findings of a check.
pub fn of(findings: &[Value], check: &str) -> Vec<(String, String)> {
    let of_check = findings.iter().filter(|finding| finding["check"] == check);
    let text = |value: &Value| value.as_str().expect("text").to_owned();
    of_check
        .map(|finding| (text(&finding["level"]), text(&finding["text"])))
        .collect()
}

#[test]
fn a_route_by_the_wrong_interface() {
    if !able() {
        return;
    }
    let world = World::joined(2);
    ip(&world.client, "route add default via 10.7.0.2");
    let wrong = "10.7.1.1 (subflow) is on c1, but its packets leave by c0".to_owned();
    // `dev` binds the subflows to the interface, which has no route to distant hosts.
    let unreachable = "10.7.1.1 (subflow) on c1: no route to distant hosts from there; joins fail";
    let found = findings(&world.client);
    assert_eq!(of(&found, "route"), [("warn".into(), unreachable.into())]);
    mptcp(&world.client, "endpoint flush");
    mptcp(&world.client, "endpoint add 10.7.1.1 subflow");
    let found = findings(&world.client);
    assert_eq!(of(&found, "route"), [("warn".into(), wrong)]);
    // What the remedy says.
    ip(
        &world.client,
        "route add default via 10.7.1.2 dev c1 table 100",
    );
    ip(&world.client, "rule add from 10.7.1.1 table 100");
    let found = findings(&world.client);
    assert_eq!(
        of(&found, "route"),
        [("ok".into(), "10.7.1.1 (subflow) on c1".into())]
    );
    mptcp(&world.client, "endpoint add 10.9.9.9 signal");
    let found = findings(&world.client);
    let (level, text) = &of(&found, "address")[0];
    assert!(
        level == "warn" && text.starts_with("10.9.9.9 (signal)"),
        "{text}"
    );
}

#[test]
fn settings_that_prevent_mptcp() {
    if !able() {
        return;
    }
    let host = host();
    for line in good(with_columns(doctor(&host, &[]))).lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    mptcp(&host, "limits set subflows 0 add_addr_accepted 0");
    assert_eq!(of(&findings(&host), "limits")[0].0, "warn");
    host.run(|| fs::write("/proc/sys/net/mptcp/pm_type", "1"))
        .expect("a sysctl");
    let found = findings(&host);
    assert_eq!(of(&found, "path_manager")[0].0, "warn");
    assert_eq!(of(&found, "limits"), []);
    host.run(|| fs::write("/proc/sys/net/mptcp/enabled", "0"))
        .expect("a sysctl");
    assert_eq!(of(&findings(&host), "enabled")[0].0, "fail");
    let line = complaint(&doctor(&host, &[]).output().expect("lisa"), 1);
    assert_eq!(line, "lisa: no algorithm can run here: enabled\n");
}

#[test]
fn receive_buffers() {
    if !able() {
        return;
    }
    let host = host();
    let set = |name: &str, value: &str| {
        let file = format!("/proc/sys/net/ipv4/{name}");
        host.run(|| fs::write(&file, value)).expect("a sysctl");
    };
    let level = |found: &[Value], check| of(found, check)[0].0.clone();
    set("tcp_rmem", "4096 131072 6291456");
    let found = findings(&host);
    assert_eq!(level(&found, "tcp_rmem_first"), "warn");
    assert_eq!(level(&found, "tcp_rmem"), "ok");
    let path = ["--rate", "1Gbit", "--rtt", "80ms"];
    let found = findings_for(&host, &path);
    assert_eq!(level(&found, "tcp_rmem"), "warn");
    let finding = found.iter().find(|finding| finding["check"] == "tcp_rmem");
    let remedy = finding.unwrap()["remedy"].as_str().expect("a remedy");
    // What the remedy says.
    let value = remedy.split('\'').nth(1).expect("a value in quotes");
    set("tcp_rmem", value);
    let found = findings_for(&host, &path);
    assert_eq!(level(&found, "tcp_rmem_first"), "ok");
    assert_eq!(level(&found, "tcp_rmem"), "ok");
    assert_eq!(of(&found, "tcp_moderate_rcvbuf"), []);
    set("tcp_moderate_rcvbuf", "0");
    assert_eq!(level(&findings(&host), "tcp_moderate_rcvbuf"), "warn");
    let alone = doctor(&host, &path[..2]).output().expect("lisa");
    let line = complaint(&alone, 2);
    assert!(line.contains("--rtt"), "{line}");
    let mut wrong = doctor(&host, &["--rate", "fast", "--rtt", "80ms"]);
    let line = complaint(&wrong.output().expect("lisa"), 2);
    assert!(line.contains("a rate, like `500Mbit`"), "{line}");
}

/// What the page says of `load` and `exec` is what a load then does. Another program has the name `lia`.
#[test]
fn what_a_load_does() {
    let Some(turn) = Turn::take() else { return };
    let (host, folder) = (host(), Folder::new());
    let foreign = register(&folder, "-DNAME=\"lia\"");
    let found = findings(&host);
    for algorithm in loadable().map(|algorithm| algorithm.name()) {
        let loads = lisa(&["load", algorithm]).output().expect("lisa");
        let says = of(&found, "load");
        let of_this = says.iter().filter(|(_, text)| {
            let mut words = text.split([',', ' ', ':']);
            words.any(|word| word == algorithm)
        });
        let levels: Vec<&str> = of_this.map(|(level, _)| level.as_str()).collect();
        let expected = if loads.status.success() { "ok" } else { "warn" };
        assert_eq!(levels, [expected], "{algorithm}: {loads:?}, {says:?}");
        assert_eq!(loads.status.success(), algorithm != "lia", "{loads:?}");
        if algorithm == "lisa" {
            let said = String::from_utf8(loads.stdout).expect("text");
            let (level, text) = &of(&found, "exec")[0];
            assert_eq!(level, "ok");
            let helper = "uses a helper process for each command";
            assert_eq!(
                text.contains(helper),
                said.contains(helper),
                "{text}, {said}"
            );
        }
        if loads.status.success() {
            good(lisa(&["unload", algorithm]));
        }
    }
    drop(foreign);
    until("the host is as it was", || Host::now() == turn.before);
}

/// Without the privilege nothing is tried, and nothing is claimed.
#[test]
fn without_privilege() {
    if !able() {
        return;
    }
    let capabilities = ["setpriv", "--bounding-set=-all", "--inh-caps=-all"];
    let container = ["unshare", "--user", "--map-root-user"];
    for [program, arguments @ ..] in [capabilities, container] {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .args([LISA, "kernel", "doctor", "--json"]);
        let output = command.output().expect(program);
        let json = String::from_utf8(output.stdout).expect("text");
        let report = valid(&json, "kernel-doctor.schema.json");
        let found = report["findings"].as_array().expect("a list");
        for check in ["load", "exec"] {
            let texts = of(found, check);
            assert!(
                texts
                    .iter()
                    .all(|(_, text)| text.starts_with("not tried without root")),
                "{texts:?}"
            );
            assert_eq!(texts.len(), 1);
        }
    }
}

fn with_columns(mut command: Command) -> Command {
    command.env("COLUMNS", "80");
    command
}

#[test]
fn peers_and_algorithms() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::joined(2));
    let name = loaded.name();
    let listening = serve(&world, name);
    let (client, server) = open(&world, &listening, name, None);
    exchange(&client, &server, b"established");
    crate::support::until("two subflows", || {
        kernel::status::entries(&loaded) == (2, 4)
    });
    let found = findings(&world.client);
    let ok = |text: &str| vec![("ok".to_owned(), text.to_owned())];
    let opened =
        "of 1 connection opened here with MPTCP, the peers of 1 support it, 0 fell back to TCP";
    assert_eq!(of(&found, "opened"), ok(opened));
    let server_found = findings(&world.server);
    let accepted =
        "of 1 MPTCP connection requested by peers, 1 were established, 0 fell back to TCP";
    assert_eq!(of(&server_found, "accepted"), ok(accepted));
    let joins = "of 1 join requested by peers, 1 were established";
    assert_eq!(of(&server_found, "joins_accepted"), ok(joins));
    let ours = format!("`{name}` is loaded: 2 connections of at most 16384");
    let all = of(&found, "loaded");
    assert!(
        all.contains(&("ok".into(), ours.clone())),
        "{ours}: {all:?}"
    );
    drop((client, server));
    loaded.settled();
}

/// What the test `guest` does: one connection with MPTCP and one that falls back, then the examination.
pub fn in_guest() {
    crate::support::vm::guest(|(): ()| {
        let namespace = Namespace::new().expect("a network namespace");
        namespace.run(|| {
            set_loopback(true);
            let loaded = Loaded::lisa();
            let name = loaded.name();
            let home = |port| SocketAddr::from(([127, 0, 0, 1], port));
            let mptcp = listener(name, PORT).expect("a listener");
            let both = connect(name, None, home(PORT)).expect("a connection");
            let other: TcpStream = mptcp.accept().expect("the other end").0.into();
            exchange(&both, &other, b"MPTCP");
            let plain = TcpListener::bind(home(PORT + 1)).expect("a listener");
            let fallen = connect("reno", None, home(PORT + 1)).expect("a connection");
            exchange(&fallen, &plain.accept().expect("the other end").0, b"TCP");
            let report = kernel::doctor::examine(None, &mut |_| ()).expect("a report");
            let mut storage = Storage::default();
            let mut lister = Lister::new(&mut storage).expect("loads");
            lister.list(Detail::Sockets).expect("a listing");
            exchange(&both, &other, &content(BYTES, 3));
            let mut found = lister.list(Detail::Processes).expect("a listing");
            let status = kernel::status::status(&loaded, found.take(&loaded)).expect("status");
            let netstat = fs::read_to_string("/proc/thread-self/net/netstat").expect("counters");
            drop((both, other, mptcp));
            loaded.settled();
            Answer {
                report: serde_json::to_value(report).expect("plain data"),
                status: serde_json::to_value(status).expect("plain data"),
                netstat,
            }
        })
    });
}

/// Bytes that the guest sends each way between two listings.
const BYTES: usize = 100_000;

/// What the guest found.
#[derive(Serialize, Deserialize)]
struct Answer {
    report: Value,
    status: Value,
    netstat: String,
}

fn in_vm(version: &str) {
    let Some(kernel) = fetched(version) else {
        return;
    };
    let vm = Vm::new(Some(&vmlinuz(&kernel)), Arc::default());
    let report = vm.and_then(|vm| vm.call(GUEST, &(), Duration::from_secs(60)));
    let Some(answer) = answer::<Answer>(version, report) else {
        return;
    };
    eprintln!("{}", answer.netstat);
    let report = valid(&answer.report.to_string(), "kernel-doctor.schema.json");
    let found = report["findings"].as_array().expect("a list");
    assert_eq!(report["can_run"], true, "{found:#?}");
    let opened =
        "of 2 connections opened here with MPTCP, the peers of 1 support it, 1 fell back to TCP";
    assert_eq!(of(found, "opened"), [("ok".into(), opened.into())]);
    let limits = "a connection may have 2 subflows beyond its first, and use 0 announced addresses of the peer";
    assert_eq!(of(found, "limits"), [("ok".into(), limits.into())]);
    let connections = answer.status["connections"].as_array().expect("a list");
    assert_eq!(connections.len(), 2, "both ends: {}", answer.status);
    for connection in connections {
        let subflow = &connection["subflows"][0];
        for bytes in ["bytes_acked", "bytes_received"] {
            let bytes = subflow[bytes].as_u64().expect(bytes);
            assert!(
                (BYTES as u64..2 * BYTES as u64).contains(&bytes),
                "{subflow}"
            );
        }
        for rate in ["sent_bps", "received_bps"] {
            assert!(subflow[rate].as_f64().expect(rate) > 0.0, "{subflow}");
        }
        assert_eq!(connection["process"]["pid"], 1, "{connection}");
    }
}

#[test]
fn linux_6_1() {
    in_vm("6.1");
}

#[test]
fn linux_6_12() {
    in_vm("6.12");
}

#[test]
fn linux_7_3() {
    in_vm("7.3");
}
