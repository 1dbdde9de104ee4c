//! The units of the topology manager and of an endpoint.

use super::guest::Guest;

/// What an operator does, with Python, which every guest has. Prints the token of the endpoint.
pub const OPERATOR: &str = r#"import json, urllib.request
token = open("/var/lib/lisa-manager/operator.token").read().strip()
def put(path, body):
    request = urllib.request.Request("http://127.0.0.1:9720/v1/" + path, json.dumps(body).encode(), method="PUT")
    request.add_header("Authorization", "Bearer " + token)
    return urllib.request.urlopen(request).read()
put("map", {"nodes": [{"name": "a"}, {"name": "b"}], "links": [{"from": "a", "to": "b"}]})
put("prefixes", {"prefixes": [{"prefix": "127.0.0.0/8", "node": "a"}]})
print(json.loads(put("endpoints/guest", {"addresses": ["127.0.0.0/8"]}))["token"])
"#;

const CONNECTED: &str = "journalctl -u lisa-assist --no-pager | grep -c 'connected to http://127.0.0.1:9720 as `guest`'";

/// Both units run with all their restrictions, find each other again after the manager is killed, and leave nothing but the manager's
/// folder.
pub fn manager_and_endpoint(guest: &mut Guest) {
    // Without its files the endpoint does not start, and has not failed.
    guest.run("systemctl start lisa-assist.service");
    assert_eq!(state(guest, "lisa-assist"), "inactive");
    guest.run("systemctl start lisa-manager.service");
    guest.until("test -s /var/lib/lisa-manager/operator.token && python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", 9720))'");
    guest.run(
        "mkdir -p /etc/lisa && umask 077 && python3 /opt/set_up_manager.py > /etc/lisa/assist.token",
    );
    guest.run("echo 'LISA_MANAGER=http://127.0.0.1:9720' > /etc/lisa/assist.env");
    guest.run("systemctl start lisa-assist.service");
    guest.until(&format!("{CONNECTED} | grep -x 1"));
    let network = network_process(guest, "lisa-assist");
    let user = "stat -c %U /proc/$(systemctl show -p MainPID --value lisa-manager)";
    assert_ne!(guest.run(user).trim(), "root");
    let other =
        "setpriv --reuid 1000 --regid 1000 --clear-groups cat /var/lib/lisa-manager/operator.token";
    assert_ne!(guest.output(other).0, 0, "the tokens are the manager's");
    eprintln!(
        "{}",
        guest.run("for unit in lisa-manager lisa-assist; do systemd-analyze security --no-pager $unit.service | tail -n 1; done")
    );
    guest.run("kill -9 $(systemctl show -p MainPID --value lisa-manager)");
    guest.until(&format!("{CONNECTED} | grep -x 2"));
    // Without its child the main process fails, and systemd starts both again.
    guest.run(&format!("kill -9 {network}"));
    guest.until(&format!("{CONNECTED} | grep -x 3"));
    guest.run("systemctl stop lisa-assist.service lisa-manager.service");
    for unit in ["lisa-assist", "lisa-manager"] {
        assert_eq!(state(guest, unit), "inactive");
    }
    guest.until("journalctl -u lisa-assist --no-pager | grep 'all subflows are coupled'");
    guest.run("rm -r /etc/lisa");
}

fn state(guest: &mut Guest, unit: &str) -> String {
    let state = guest.run(&format!(
        "systemctl show -p ActiveState --value {unit}.service"
    ));
    state.trim().into()
}

/// The process that reads input from the network for a unit: the unit permits all that it needs to give up its privileges.
pub fn network_process(guest: &mut Guest, unit: &str) -> String {
    let main = guest.run(&format!("systemctl show -p MainPID --value {unit}"));
    let main = main.trim();
    let network = guest.run(&format!("cat /proc/{main}/task/{main}/children"));
    let network = network.trim().to_owned();
    let status = guest.run(&format!("cat /proc/{network}/status"));
    for expected in [
        "Name:\tlisa-network",
        "Uid:\t65520\t65520\t65520\t65520",
        "CapEff:\t0000000000000000",
        "CapBnd:\t0000000000000000",
        "Seccomp:\t2",
    ] {
        let is_there = status.lines().any(|line| line == expected);
        assert!(is_there, "{unit}: {expected}: {status}");
    }
    network
}
