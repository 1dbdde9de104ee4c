//! Start, reload, upgrade and stop of the service in the middle of MPTCP transfers: every byte arrives.

use super::guest::Guest;
use super::packages::Packages;
use std::fs;

/// Number of connections at once.
const CONNECTIONS: usize = 200;

/// Two hosts in network namespaces with two paths between them: 40 Mbit/s, 5 ms, a queue of 500 packets and
/// a loss of 0.2 % each way.
const NETWORK: &str = "set -e
ip netns add client; ip netns add server
for path in 1 2; do
    ip link add c$path netns client type veth peer name s$path netns server
    for end in client:c server:s; do
        space=${end%:*} device=${end#*:}$path
        [ $space = client ] && host=2 || host=1
        ip -n $space addr add 10.0.$path.$host/24 dev $device
        ip -n $space link set $device up
        ip netns exec $space tc qdisc add dev $device root netem rate 40mbit delay 5ms limit 500 loss 0.2%
    done
done
for space in client server; do
    ip -n $space link set lo up
    ip netns exec $space ip mptcp limits set subflows 2 add_addr_accepted 2
done
ip netns exec server ip mptcp endpoint add 10.0.2.1 dev s2 signal
";

#[test]
#[ignore = "is run by `make test-packages`"]
fn changes_in_the_middle() {
    let Some(packages) = Packages::build() else {
        return;
    };
    let guest = Guest::boot("debian-12", |root| {
        root.copy(&packages.new, "new.deb");
        root.copy(&packages.before, "before.deb");
        root.run("dpkg -i /before.deb");
        fs::write(root.path().join("etc/lisa.toml"), "default = \"lisa\"\n").unwrap();
    });
    let Some(mut guest) = guest else {
        return;
    };
    guest.run(NETWORK);

    // Transfers that began before the service keep their algorithm.
    begin(&mut guest, 1);
    guest.run("systemctl start lisa.service");
    end(&mut guest, 1);

    // The namespaces exist already, so they do not inherit: the file names them.
    write(
        &mut guest,
        "default = \"lisa\"\n[namespaces]\n\"*\" = \"lisa\"\n",
    );
    guest.run("systemctl reload lisa.service");
    for space in ["client", "server"] {
        guest.until(&format!(
            "ip netns exec {space} grep -x lisa /proc/sys/net/ipv4/tcp_congestion_control"
        ));
    }
    begin(&mut guest, 2);
    // Each connection has an entry at both of its ends, and two subflows.
    let open = |guest: &mut Guest| {
        let status = guest.json("lisa kernel status --json");
        let algorithms = status["algorithms"].as_array().unwrap().clone();
        let of_lisa = algorithms
            .iter()
            .filter(|algorithm| algorithm["name"] == "lisa");
        let connections =
            of_lisa.flat_map(|algorithm| algorithm["connections"].as_array().unwrap());
        connections
            .map(|connection| connection["subflows"].as_array().unwrap().len())
            .collect::<Vec<_>>()
    };
    let subflows = open(&mut guest);
    assert_eq!(subflows.len(), 2 * CONNECTIONS);
    eprintln!(
        "{} connections with {} subflows",
        subflows.len(),
        subflows.iter().sum::<usize>()
    );

    write(
        &mut guest,
        "default = \"olia\"\n[namespaces]\n\"*\" = \"olia\"\n[algorithm.lisa]\nmax_connections = 4096\n",
    );
    guest.run("systemctl reload lisa.service");
    guest.until("ip netns exec client grep -x olia /proc/sys/net/ipv4/tcp_congestion_control");
    assert_eq!(open(&mut guest).len(), 2 * CONNECTIONS, "after the reload");
    guest.run("dpkg -i /new.deb");
    assert_eq!(
        guest.run("systemctl is-active lisa.service").trim(),
        "active"
    );
    guest.run("systemctl stop lisa.service");
    end(&mut guest, 2);

    // Nothing is left once the sockets are closed.
    guest.until("test \"$(lisa kernel status --json | grep -c '\"algorithms\":\\[\\]')\" = 1");
    assert_eq!(
        guest.run("dmesg -l warn,err,crit | grep -iE 'bug|warning|oops|rcu' || true"),
        ""
    );
}

fn write(guest: &mut Guest, text: &str) {
    guest.run(&format!("cat > /etc/lisa.toml <<'END'\n{text}END"));
}

/// Starts the transfers, and waits until each has received data.
fn begin(guest: &mut Guest, round: u32) {
    let port = 5000 + round;
    guest.run(&format!(
        "cd /run; ip netns exec server python3 /opt/traffic.py serve 0.0.0.0 {port} {CONNECTIONS} /run/stop{round} /run/sent{round} \
         >serve{round}.log 2>&1 </dev/null &"
    ));
    guest.until(&format!("grep listening /run/serve{round}.log"));
    guest.run(&format!(
        "cd /run; ip netns exec client python3 /opt/traffic.py fetch 10.0.1.1 {port} {CONNECTIONS} /run/received{round} \
         >fetch{round}.log 2>&1 </dev/null &"
    ));
    guest.until(&format!("grep open /run/fetch{round}.log"));
}

/// Ends the transfers, and compares what was sent and received.
fn end(guest: &mut Guest, round: u32) {
    assert_eq!(
        guest.output(&format!("test -e /run/received{round}")).0,
        1,
        "they run until now"
    );
    guest.run(&format!("touch /run/stop{round}"));
    guest.until(&format!(
        "test -e /run/sent{round} -a -e /run/received{round}"
    ));
    let [sent, received] =
        ["sent", "received"].map(|end| guest.run(&format!("cat /run/{end}{round}")));
    assert_eq!(sent, received, "round {round}");
    let lengths = sent
        .lines()
        .map(|line| line.split(' ').nth(1).unwrap().parse::<u64>().unwrap());
    let lengths: Vec<u64> = lengths.collect();
    assert_eq!(lengths.len(), CONNECTIONS);
    eprintln!(
        "round {round}: {CONNECTIONS} transfers, {} bytes in all, {} to {} each",
        lengths.iter().sum::<u64>(),
        lengths.iter().min().unwrap(),
        lengths.iter().max().unwrap()
    );
}
