//! Endpoints of MPTCP in `lisa kernel doctor`, and backups in `lisa kernel status`.

use super::doctor::{findings, of};
use super::valid;
use crate::support::stream::{PORT, carry, exchange, open, serve};
use crate::support::turn::{good, lisa};
use crate::support::world::{World, client_address, mptcp, server_address};
use crate::support::{Loaded, able, content, until};
use kernel::requirements::{release, version};
use lab::Namespace;
use netlink_bindings::mptcp_pm;
use netlink_socket2::{NetlinkSocket, ReplyError};
use serde_json::Value;
use std::net::Ipv4Addr;

/// MPTCP_PM_ADDR_FLAG_LAMINAR (linux/mptcp.h). `ip` before 6.18 does not have its name.
const LAMINAR: u32 = 1 << 5;
/// A flag without a meaning so far.
const UNKNOWN: u32 = 1 << 11;

/// Adds an endpoint. `false`: the kernel refuses it.
fn add(host: &Namespace, address: &str, flags: u32) -> bool {
    let address: Ipv4Addr = address.parse().expect("an address");
    host.run(|| {
        let mut request = mptcp_pm::Request::new().op_add_addr_do();
        request
            .encode()
            .nested_addr()
            .push_family(libc::AF_INET as u16)
            .push_addr4(address.to_bits())
            .push_flags(flags);
        let mut netlink = NetlinkSocket::new();
        let sent = netlink.request(&request).map_err(ReplyError::from);
        sent.and_then(|mut reply| reply.recv_ack()).is_ok()
    })
}

#[test]
fn a_laminar_endpoint_starts_subflows() {
    if !able() {
        return;
    }
    if version(&release()) < (6, 18) {
        eprintln!("skipped: Linux 6.18 and later have laminar endpoints");
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::new(2));
    assert!(add(&world.client, &client_address(1), LAMINAR));
    mptcp(
        &world.server,
        &format!("endpoint add {} signal", server_address(1)),
    );

    // It is used for announced addresses alone.
    mptcp(&world.client, "limits set subflows 2 add_addr_accepted 0");
    let (level, text) = &of(&findings(&world.client), "paths")[0];
    assert!(level == "warn" && text.contains("laminar"), "{text}");
    mptcp(&world.client, "limits set subflows 2 add_addr_accepted 2");
    let found = findings(&world.client);
    let (level, _) = &of(&found, "paths")[0];
    assert_eq!(level, "ok", "{found:#?}");
    let (level, text) = &of(&found, "route")[0];
    let shown = "10.7.1.1 (laminar) on c1";
    assert!(level == "ok" && text.starts_with(shown), "{text}");

    let listening = serve(&world, loaded.name());
    let (client, server) = open(&world, &listening, loaded.name(), None);
    exchange(&client, &server, b"established");
    until("a subflow from the endpoint", || {
        let connections = loaded.status().connections;
        let subflows = connections.iter().flat_map(|c| &c.subflows);
        let mut ends = subflows.filter_map(|s| Some((s.local?.ip(), s.remote?.ip())));
        let (from, to) = (client_address(1), server_address(1));
        ends.any(|(local, remote)| {
            (local.to_string(), remote.to_string()) == (from.clone(), to.clone())
        })
    });
    drop((client, server));
    loaded.settled();
}

/// Flags of later kernels are shown as a number, and nothing is concluded from the absence of others.
#[test]
fn an_endpoint_with_an_unknown_flag() {
    if !able() {
        return;
    }
    let world = World::new(2);
    assert!(add(&world.client, &client_address(1), UNKNOWN));
    mptcp(&world.client, "limits set subflows 2 add_addr_accepted 0");
    let found = findings(&world.client);
    let (_, route) = &of(&found, "route")[0];
    if route.starts_with("10.7.1.1 (no flag) on c1") {
        eprintln!("skipped: this kernel removes unknown flags");
        return;
    }
    assert!(route.starts_with("10.7.1.1 (flag 0x800) on c1"), "{route}");
    let (level, text) = &of(&found, "paths")[0];
    assert!(level == "ok" && text.contains("0x800"), "{text}");
}

/// The subflows of all connections of an algorithm, as `lisa kernel status --json` has them.
fn subflows(name: &str) -> Vec<Value> {
    let json = good(lisa(&["status", "--json", "--algorithm", name]));
    let report = valid(&json, "kernel-status.schema.json");
    let algorithms = report["algorithms"].as_array().expect("a list").clone();
    let of = |value: &Value, key: &str| value[key].as_array().expect("a list").clone();
    let connections = algorithms
        .iter()
        .flat_map(|algorithm| of(algorithm, "connections"));
    connections.flat_map(|c| of(&c, "subflows")).collect()
}

#[test]
fn backups() {
    if !able() {
        return;
    }
    let (loaded, world) = (Loaded::lisa(), World::new(2));
    let listening = serve(&world, loaded.name());
    let (client, server) = open(&world, &listening, loaded.name(), None);
    exchange(&client, &server, b"established");
    mptcp(
        &world.client,
        &format!("endpoint add {} dev c1 subflow backup", client_address(1)),
    );
    until("two subflows", || {
        kernel::status::entries(&loaded) == (2, 4)
    });
    // Both paths have carried data, and both are backups or not, at both ends.
    let wait = |what: &str, is_as_wanted: &dyn Fn(&Value) -> bool| {
        until(what, || {
            let subflows = subflows(loaded.name());
            subflows.len() == 4 && subflows.iter().all(is_as_wanted)
        });
    };
    let is_second = |subflow: &Value| {
        let local = subflow["local"].as_str().expect("an address");
        local.starts_with("10.7.1.1:")
            || subflow["remote"]
                .as_str()
                .expect("one")
                .starts_with("10.7.1.1:")
    };
    wait("a backup in standby", &|s| {
        s["backup"] == is_second(s) && (s["phase"] == "standby") == is_second(s)
    });
    mptcp(&world.client, "endpoint change id 1 nobackup");
    wait("no backup", &|s| s["backup"] == false);
    let bytes = content(3_000_000, 1);
    carry(&client, &server, &bytes);
    mptcp(&world.client, "endpoint change id 1 backup");
    // It has sent data before, and is a backup again.
    wait("a backup that has sent", &|s| s["backup"] == is_second(s));
    let text = good(lisa(&["status", "--port", &PORT.to_string()]));
    assert!(text.lines().any(|line| line == "     1: backup"), "{text}");
    drop((client, server));
    loaded.settled();
}
