//! The service on a machine with systemd: at boot, reload, stop, upgrade, downgrade, removal, purge.

use super::assistance;
use super::guest::Guest;
use super::packages::{BEFORE, Packages};
use serde_json::Value;
use std::fs;

#[test]
#[ignore = "is run by `make test-packages`"]
fn debian_12() {
    boot_to_purge("debian-12");
}

#[test]
#[ignore = "is run by `make test-packages`"]
fn debian_13() {
    boot_to_purge("debian-13");
}

#[test]
#[ignore = "is run by `make test-packages`"]
fn ubuntu_24_04() {
    boot_to_purge("ubuntu-24.04");
}

/// The file with which the guest boots. Named namespaces have another algorithm. Metrics are served.
const FILE: &str = "default = \"lisa\"\n[namespaces]\n\"red*\" = \"lia\"\n[metrics]\nlisten = \"127.0.0.1:9710\"\n";

/// A service behind a socket unit. It sends the congestion control of the listener, which systemd opened.
const ECHO: &str = "import socket
listener = socket.socket(fileno=3)
connection, _ = listener.accept()
connection.sendall(listener.getsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, 16))
";

/// Units of the guest that start as ordinary ones do: a listener of systemd, and a service that records the default.
const UNITS: [(&str, &str); 3] = [
    (
        "echo.socket",
        "[Socket]\nListenStream=127.0.0.1:7000\n[Install]\nWantedBy=sockets.target\n",
    ),
    (
        "echo.service",
        "[Service]\nExecStart=/usr/bin/python3 /opt/echo.py\n",
    ),
    (
        "early.service",
        "[Unit]\nDefaultDependencies=no\nAfter=network-pre.target\nBefore=network.target\n\
         [Service]\nType=oneshot\nStandardOutput=file:/run/early\n\
         ExecStart=/bin/cat /proc/sys/net/ipv4/tcp_congestion_control\n\
         [Install]\nWantedBy=multi-user.target\n",
    ),
];

/// The kernel's congestion control and the state of the service, as the guest shows them.
#[derive(Debug, PartialEq, Eq)]
struct State {
    default: String,
    /// `ActiveState` of the unit.
    unit: String,
    /// Names of the loaded algorithms.
    loaded: Vec<String>,
}

impl State {
    fn of(guest: &mut Guest) -> Self {
        let line = |text: String| text.trim().to_string();
        let unit = guest.run("systemctl show -p ActiveState --value lisa.service");
        let loaded = match guest.output("test -x /usr/bin/lisa").0 {
            0 => loaded(&guest.json("lisa kernel status --json")),
            _ => registered(guest),
        };
        Self {
            default: line(guest.run("cat /proc/sys/net/ipv4/tcp_congestion_control")),
            unit: line(unit),
            loaded,
        }
    }

    fn with(default: &str, unit: &str, loaded: &[&str]) -> Self {
        Self {
            default: default.into(),
            unit: unit.into(),
            loaded: loaded.iter().map(|name| (*name).into()).collect(),
        }
    }
}

fn loaded(status: &Value) -> Vec<String> {
    let algorithms = status["algorithms"].as_array().expect("algorithms");
    let mut names: Vec<_> = algorithms
        .iter()
        .map(|algorithm| algorithm["name"].as_str().unwrap().to_string())
        .collect();
    names.sort();
    names
}

/// The registered algorithms, but for the kernel's own.
fn registered(guest: &mut Guest) -> Vec<String> {
    let names = guest.run("cat /proc/sys/net/ipv4/tcp_available_congestion_control");
    let own = ["reno", "cubic", "bbr"];
    let others = names.split_whitespace().filter(|name| !own.contains(name));
    others.map(String::from).collect()
}

fn boot_to_purge(release: &str) {
    let Some(packages) = Packages::build() else {
        return;
    };
    let guest = Guest::boot(release, |root| {
        root.copy(&packages.new, "new.deb");
        root.copy(&packages.before, "before.deb");
        fs::write(root.path().join("opt/echo.py"), ECHO).unwrap();
        fs::write(
            root.path().join("opt/set_up_manager.py"),
            assistance::OPERATOR,
        )
        .unwrap();
        for (name, unit) in UNITS {
            fs::write(root.path().join("etc/systemd/system").join(name), unit).unwrap();
        }
        root.run("systemctl enable echo.socket early.service 2>&1");
        root.run("dpkg -i /new.deb && systemctl enable lisa.service 2>&1");
        fs::write(root.path().join("etc/lisa.toml"), FILE).unwrap();
    });
    let Some(mut guest) = guest else {
        return;
    };

    at_boot(&mut guest);
    reload(&mut guest);
    stop_and_start(&mut guest);
    assistance::manager_and_endpoint(&mut guest);
    versions(&mut guest);

    // A boot after all that.
    guest.reboot();
    guest.run("systemctl stop echo.socket");
    assert_eq!(
        State::of(&mut guest),
        State::with("lisa", "active", &["lia", "lisa"])
    );

    // Removal stops the service and keeps the file. Nothing of it is left after the purge.
    guest.run("dpkg -r lisa");
    let gone = State::with("cubic", "inactive", &[]);
    assert_eq!(State::of(&mut guest), gone);
    assert_eq!(guest.run("cat /etc/lisa.toml"), FILE);
    guest.run("dpkg -P lisa");
    let left = "find / -xdev -name '*lisa*' ! -path '/var/lib/dpkg/*' ! -path '/var/log/*'";
    assert_eq!(guest.run(left), "");
    assert_eq!(
        guest.run("ls /sys/fs/bpf; ls -d /run/lisa 2>/dev/null || true"),
        ""
    );

    // Installed again on a running system it changes nothing.
    guest.run("dpkg -i /new.deb");
    assert_eq!(State::of(&mut guest), gone);
    assert_eq!(
        guest.output("systemctl is-enabled lisa.service").1.trim(),
        "disabled"
    );
    // Started with the file of the package it loads nothing.
    guest.run("systemctl start lisa.service");
    assert_eq!(State::of(&mut guest), State::with("cubic", "active", &[]));
}

/// The default is set before the first sockets and services.
fn at_boot(guest: &mut Guest) {
    assert_eq!(
        State::of(guest),
        State::with("lisa", "active", &["lia", "lisa"])
    );
    assert_eq!(guest.run("systemctl --failed --plain --no-legend"), "");
    assert_eq!(guest.run("cat /run/early").trim(), "lisa");
    assistance::network_process(guest, "lisa");
    guest.run("python3 -c 'import urllib.request; urllib.request.urlopen(\"http://127.0.0.1:9710/metrics\")'");
    let listener = "python3 -c 'import socket; print(socket.create_connection((\"127.0.0.1\", 7000)).recv(16).rstrip(b\"\\0\").decode())'";
    assert_eq!(guest.run(listener).trim(), "lisa");
    // A listener keeps its algorithm, and so the kernel's entry of it, until it closes.
    guest.run("systemctl stop echo.socket echo.service");
    let times = guest.run(
        "systemd-analyze; systemd-analyze blame | grep lisa; \
         systemd-analyze security --no-pager lisa.service | tail -n 1",
    );
    eprintln!("{times}");
    // systemd leaves the unit to root.
    for verb in ["stop", "reload", "kill", "disable"] {
        let attempt = format!(
            "setpriv --reuid 1000 --regid 1000 --clear-groups systemctl --no-ask-password {verb} lisa.service"
        );
        assert_ne!(guest.output(&attempt).0, 0, "{verb}");
    }
    // A named namespace gets the algorithm of its pattern, any other one inherits.
    guest.run("ip netns add red1 && ip netns add blue");
    let default =
        |name: &str| format!("ip netns exec {name} cat /proc/sys/net/ipv4/tcp_congestion_control");
    guest.until(&format!("{} | grep -x lia", default("red1")));
    assert_eq!(guest.run(&default("blue")).trim(), "lisa");
    // A namespace without a name, with a process of another user: restored below by the stop.
    guest.run(
        "unshare --net setpriv --reuid 1000 --regid 1000 --clear-groups sleep 10000 >/dev/null 2>&1 & echo $! > /run/unnamed",
    );
    guest.until("nsenter --net=/proc/$(cat /run/unnamed)/ns/net grep -x lisa /proc/sys/net/ipv4/tcp_congestion_control");
}

fn reload(guest: &mut Guest) {
    guest.run("echo 'default = \"olia\"' > /etc/lisa.toml && systemctl reload lisa.service");
    guest.until("grep -x olia /proc/sys/net/ipv4/tcp_congestion_control && ! grep lisa /proc/sys/net/ipv4/tcp_available_congestion_control");
    assert_eq!(State::of(guest), State::with("olia", "active", &["olia"]));
    // A file with an error is refused, and changes nothing.
    guest.run("echo 'defualt = \"lia\"' > /etc/lisa.toml");
    let (status, _) = guest.output("systemctl reload lisa.service");
    assert_ne!(status, 0);
    assert_eq!(State::of(guest), State::with("olia", "active", &["olia"]));
    fs_write(guest, FILE);
    guest.run("systemctl reload lisa.service");
    guest.until("grep -x lisa /proc/sys/net/ipv4/tcp_congestion_control && ! grep olia /proc/sys/net/ipv4/tcp_available_congestion_control");
}

fn fs_write(guest: &mut Guest, text: &str) {
    guest.run(&format!("cat > /etc/lisa.toml <<'END'\n{text}END"));
}

fn stop_and_start(guest: &mut Guest) {
    guest.run("systemctl stop lisa.service");
    assert_eq!(State::of(guest), State::with("cubic", "inactive", &[]));
    assert_eq!(
        guest.run("ls /sys/fs/bpf; ls -d /run/lisa 2>/dev/null || true"),
        ""
    );
    for enter in [
        "ip netns exec red1",
        "ip netns exec blue",
        "nsenter --net=/proc/$(cat /run/unnamed)/ns/net",
    ] {
        let default = guest.run(&format!(
            "{enter} cat /proc/sys/net/ipv4/tcp_congestion_control"
        ));
        assert_eq!(default.trim(), "cubic", "{enter}");
    }
    guest.run("systemctl start lisa.service");
    assert_eq!(
        State::of(guest),
        State::with("lisa", "active", &["lia", "lisa"])
    );
}

/// An upgrade and a downgrade restart the service, with the administrator's file.
fn versions(guest: &mut Guest) {
    let started = "systemctl show -p ExecMainStartTimestampMonotonic --value lisa.service";
    for (package, is_before) in [("before", true), ("new", false)] {
        let first = guest.run(started);
        guest.run(&format!("dpkg -i /{package}.deb"));
        let version = guest.run("dpkg-query -W -f '${Version}' lisa");
        assert_eq!(version == BEFORE, is_before);
        assert_eq!(
            State::of(guest),
            State::with("lisa", "active", &["lia", "lisa"]),
            "{package}"
        );
        assert_ne!(guest.run(started), first, "{package}: it was restarted");
        assert_eq!(guest.run("cat /etc/lisa.toml"), FILE);
    }
}
