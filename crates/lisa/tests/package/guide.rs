//! docs/server-guide.md: every command of the page, in its order, in a machine with two uplinks to a client.

use super::guest::Guest;
use super::packages::{Packages, run};
use super::page::{Block, blocks, missing};
use super::roots::cache;
use super::support::Folder;
use std::fs;
use std::process::Command;

/// The uplinks of the page, to a client in a network namespace: 8 Mbit/s, 5 ms and a queue of 100 packets each way.
const UPLINKS: &str = "set -e
ip netns add client
for uplink in 0:192.0.2 1:198.51.100; do
    device=eth${uplink%:*} net=${uplink#*:}
    ip link add $device type veth peer name $device netns client
    ip addr add $net.1/24 dev $device
    ip -n client addr add $net.2/24 dev $device
    ip link set $device up
    ip -n client link set $device up
    tc qdisc add dev $device root netem rate 8mbit delay 5ms limit 100
    tc -n client qdisc add dev $device root netem rate 8mbit delay 5ms limit 100
done
ip route add default via 192.0.2.254
ip -n client link set lo up
";

const UNIT: &str = "[Unit]\nBefore=network.target network-online.target\n[Service]\nType=oneshot\nRemainAfterExit=yes\n\
                    ExecStart=/bin/sh /opt/uplinks.sh\n[Install]\nWantedBy=multi-user.target\n";

/// Number of times that commands which only read may run until their output is the expected one.
const READINGS: u32 = 20;

#[test]
#[ignore = "is run by `make test-packages`"]
fn every_command_of_the_page() {
    let Some(packages) = Packages::build() else {
        return;
    };
    let name = packages.new.file_name().unwrap().to_str().unwrap();
    let guest = Guest::boot("debian-12-server", |root| {
        // The version before, until the page upgrades.
        root.copy(&packages.before, &format!("root/{name}"));
        root.copy(&packages.new, "new.deb");
        let at = |path: &str| root.path().join(path);
        fs::write(at("opt/uplinks.sh"), UPLINKS).unwrap();
        fs::write(at("etc/systemd/system/uplinks.service"), UNIT).unwrap();
        root.run("systemctl enable uplinks.service 2>&1");
    });
    let Some(mut guest) = guest else {
        return;
    };

    let blocks = blocks();
    let mut clients = Vec::new();
    for (index, block) in blocks.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| &blocks[before]);
        if before.is_some_and(|before| before.section != block.section) {
            finish(&mut guest, &mut clients);
            if block.section == "Upgrade" {
                guest.run(&format!("mv /new.deb /root/{name}"));
            }
        }
        match (block.kind.as_str(), blocks.get(index + 1)) {
            ("sh", Some(next)) if next.kind == "text" => read(&mut guest, block, &next.text),
            ("sh", _) if block.text == "systemctl reboot\n" => guest.reboot(),
            ("sh", _) => {
                let output = guest.run(&script(&block.text));
                eprintln!("{}: {}{output}", block.section, block.text);
            }
            ("sh client", _) => {
                let file = format!("/run/client{index}");
                guest.run(&format!(
                    "cat > {file} <<'END OF SCRIPT'\nset -e\n{}END OF SCRIPT\n\
                     (ip netns exec client bash {file}; echo $? > {file}.status) > {file}.out 2>&1 < /dev/null &",
                    block.text
                ));
                clients.push((file, &block.text));
            }
            ("yaml", _) => check_with_promtool(&block.text),
            _ => {}
        }
    }
    assert_eq!(
        guest.run("dmesg -l warn,err,crit | grep -E 'BUG:|WARNING:|Oops|rcu' || true"),
        ""
    );
}

/// Commands as one script in root's folder that ends at the first failure.
fn script(commands: &str) -> String {
    format!("cd /root && set -e -o pipefail\n{commands}")
}

/// Runs commands that only read until their output is the expected one: a service may need a moment.
fn read(guest: &mut Guest, block: &Block, expected: &str) {
    let mut last = String::new();
    for _ in 0..READINGS {
        let (status, output) = guest.output(&script(&block.text));
        if status == 0 && missing(expected, &output).is_none() {
            eprintln!("{}: {}{output}", block.section, block.text);
            return;
        }
        last = output;
    }
    let missing = missing(expected, &last);
    panic!(
        "{}: {}: no line `{missing:?}` in\n{last}",
        block.section, block.text
    );
}

/// Waits until the commands of the client have ended, which must succeed.
fn finish(guest: &mut Guest, clients: &mut Vec<(String, &String)>) {
    for (file, commands) in clients.drain(..) {
        guest.until(&format!("test -e {file}.status"));
        let output = guest.run(&format!("cat {file}.status {file}.out"));
        assert_eq!(output, "0\n", "{commands}");
    }
}

fn check_with_promtool(config: &str) {
    let promtool = cache().join("promtool");
    if !promtool.exists() {
        eprintln!(
            "skipped: no {}; `make setup` fetches it",
            promtool.display()
        );
        return;
    }
    let folder = Folder::new();
    let file = folder.join("prometheus.yml");
    fs::write(&file, config).unwrap();
    run(Command::new(promtool).args(["check", "config"]).arg(file));
}
