//! Two hosts in network namespaces, connected by veth pairs, and the programs on them.

use super::{LISA, until};
use lab::Namespace;
use std::fs;
use std::io::Write;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Child, Command, Output, Stdio};

/// Two hosts with a number of links between them.
pub struct World {
    pub client: Namespace,
    pub server: Namespace,
}

/// The client's address on a link.
pub fn client_address(link: u32) -> String {
    format!("10.7.{link}.1")
}

/// The server's address on a link.
pub fn server_address(link: u32) -> String {
    format!("10.7.{link}.2")
}

/// The server's first address.
pub const SERVER: [u8; 4] = [10, 7, 0, 2];

/// An empty host: a loopback that is up, MPTCP with the most subflows that Linux allows.
pub fn host() -> Namespace {
    let host = Namespace::new().expect("a network namespace");
    host.run(|| {
        for (name, value) in [
            ("net/mptcp/enabled", "1"),
            // A reply may leave on another link than its request arrived on.
            ("net/ipv4/conf/all/rp_filter", "0"),
            ("net/ipv4/conf/default/rp_filter", "0"),
            // Connections start without saved metrics, and idle periods do not reduce windows.
            ("net/ipv4/tcp_no_metrics_save", "1"),
            ("net/ipv4/tcp_slow_start_after_idle", "0"),
        ] {
            fs::write(format!("/proc/sys/{name}"), value).expect(name);
        }
        // A default other than the algorithm, so that the default cannot be mistaken for it.
        fs::write("/proc/sys/net/ipv4/tcp_congestion_control", "reno").expect("reno");
    });
    ip(&host, "link set lo up");
    mptcp(&host, "limits set subflows 8 add_addr_accepted 8");
    host
}

impl World {
    /// Two hosts and `links` links.
    pub fn new(links: u32) -> Self {
        let world = Self {
            client: host(),
            server: host(),
        };
        let there = format!(
            "/proc/{}/fd/{}",
            std::process::id(),
            world.server.as_fd().as_raw_fd()
        );
        for link in 0..links {
            let peer = format!("type veth peer name s{link} netns {there}");
            ip(&world.client, &format!("link add c{link} {peer}"));
            for (host, device, address) in [
                (&world.client, format!("c{link}"), client_address(link)),
                (&world.server, format!("s{link}"), server_address(link)),
            ] {
                ip(host, &format!("addr add {address}/24 dev {device}"));
                ip(host, &format!("link set {device} up"));
            }
        }
        world
    }

    /// Hosts with short timeouts: subflows end after four retransmissions, connections without a program after a second.
    pub fn impatient(links: u32) -> Self {
        let world = Self::new(links);
        for host in [&world.client, &world.server] {
            host.run(|| {
                for (name, value) in [
                    ("ipv4/tcp_retries2", "4"),
                    ("ipv4/tcp_orphan_retries", "2"),
                    ("ipv4/tcp_syn_retries", "1"),
                    ("mptcp/close_timeout", "1"),
                ] {
                    fs::write(format!("/proc/sys/net/{name}"), value).expect(name);
                }
            });
        }
        world
    }

    /// Like [`World::new`], but the client uses all links as soon as a connection is established.
    pub fn joined(links: u32) -> Self {
        let world = Self::new(links);
        world.join(1..links);
        world
    }

    /// Adds these links to the client's connections; open connections use them at once.
    pub fn join(&self, links: impl Iterator<Item = u32>) {
        let endpoint = |link| {
            format!(
                "endpoint add {} dev c{link} subflow\n",
                client_address(link)
            )
        };
        let endpoints: String = links.map(endpoint).collect();
        batch(&self.client, "mptcp", &endpoints);
    }
}

/// `ip …` on a host.
pub fn ip(host: &Namespace, arguments: &str) {
    run(host.command("ip").args(arguments.split_whitespace()));
}

/// `ip mptcp …` on a host.
pub fn mptcp(host: &Namespace, arguments: &str) {
    ip(host, &format!("mptcp {arguments}"));
}

/// Lines of `ip OBJECT …`, in one process.
fn batch(host: &Namespace, object: &str, lines: &str) {
    let mut command = host.command("ip");
    let mut child = command
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("ip");
    let lines: String = lines
        .lines()
        .map(|line| format!("{object} {line}\n"))
        .collect();
    child
        .stdin
        .take()
        .expect("pipe")
        .write_all(lines.as_bytes())
        .expect("ip reads");
    assert!(child.wait().expect("ip").success(), "{lines}");
}

/// Output of a command that must succeed.
pub fn run(command: &mut Command) -> Output {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}: {}\n{errors}",
        output.status
    );
    output
}

/// `lisa kernel exec ALGORITHM -- …` on a host, without the arguments of the command.
pub fn exec(host: &Namespace, algorithm: &str, program: &str) -> Command {
    let mut command = host.command(LISA);
    command.args(["kernel", "exec", algorithm, "--", program]);
    command.stdin(Stdio::null());
    command
}

/// A running program, which is killed when this is dropped.
pub struct Running(Child);

impl Running {
    /// Starts it.
    pub fn start(command: &mut Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        Self(
            command
                .spawn()
                .unwrap_or_else(|error| panic!("{command:?}: {error}")),
        )
    }

    /// Its process id.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Whether it still runs.
    pub fn runs(&mut self) -> bool {
        self.0.try_wait().expect("a child of ours").is_none()
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: nix::sys::signal::Signal) {
        let id = nix::unistd::Pid::from_raw(self.0.id() as i32);
        nix::sys::signal::kill(id, signal).expect("a child of ours");
    }

    /// Waits for its end.
    pub fn end(mut self) -> Output {
        use std::io::Read;
        until("the program's end", || !self.runs());
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        self.0
            .stdout
            .take()
            .expect("pipe")
            .read_to_end(&mut stdout)
            .expect("its output");
        self.0
            .stderr
            .take()
            .expect("pipe")
            .read_to_end(&mut stderr)
            .expect("its errors");
        Output {
            status: self.0.wait().expect("ended"),
            stdout,
            stderr,
        }
    }

    /// Waits for its end, and panics if it failed.
    pub fn succeed(self) -> Output {
        let output = self.end();
        let (out, errors) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert!(
            output.status.success(),
            "{}\n{out}\n{errors}",
            output.status
        );
        output
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a program on this host listens on a TCP port.
pub fn listens(host: &Namespace, port: u16) {
    let listener = format!(":{port:04X} ");
    until(&format!("a listener on port {port}"), || {
        host.run(|| {
            ["tcp", "tcp6"].iter().any(|family| {
                let path = format!("/proc/thread-self/net/{family}");
                // sl, local address, remote address, state (0A: LISTEN)
                fs::read_to_string(path).is_ok_and(|table| {
                    table.lines().any(|line| {
                        line.contains(&listener) && line.split_whitespace().nth(3) == Some("0A")
                    })
                })
            })
        })
    });
}
