//! Processes, as /proc shows them.

use std::fs;

/// A line of /proc/PID/status: the text behind `key:`.
pub fn status(process: u32, key: &str) -> String {
    let text = fs::read_to_string(format!("/proc/{process}/status")).expect("it runs");
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    let line = lines.find(|(name, _)| *name == key).expect(key);
    line.1.trim().to_owned()
}

/// Processes that this process has started.
pub fn children(process: u32) -> Vec<u32> {
    let file = format!("/proc/{process}/task/{process}/children");
    let text = fs::read_to_string(file).expect("it runs");
    text.split_whitespace()
        .map(|id| id.parse().expect("a number"))
        .collect()
}

/// Whether a process is gone, or has ended and was not waited for.
pub fn has_ended(process: u32) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/status"));
    status.map_or(true, |text| text.contains("\nState:\tZ"))
}

/// The targets of its descriptors.
fn descriptors(process: u32) -> Vec<String> {
    let entries = fs::read_dir(format!("/proc/{process}/fd")).expect("it runs");
    let targets = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    targets
        .map(|target| target.to_string_lossy().into_owned())
        .collect()
}

/// Its descriptors of BPF objects, and its mappings of BPF maps.
fn bpf_objects(process: u32) -> Vec<String> {
    let mappings = fs::read_to_string(format!("/proc/{process}/maps")).expect("it runs");
    let mut found = descriptors(process);
    found.extend(mappings.lines().map(str::to_owned));
    found.retain(|what| what.contains("bpf"));
    found
}

/// Whether it has an established TCP connection to a port.
pub fn holds_connection_to(process: u32, port: u16) -> bool {
    has_tcp_socket(process, |_, remote, state| {
        state == ESTABLISHED && remote == port
    })
}

/// Whether it listens on a TCP port.
pub fn listens_on(process: u32, port: u16) -> bool {
    has_tcp_socket(process, |local, _, state| {
        state == LISTENING && local == port
    })
}

/// States in /proc/PID/net/tcp (include/net/tcp_states.h).
const ESTABLISHED: &str = "01";
const LISTENING: &str = "0A";

/// Whether it has a TCP socket over IPv4 or IPv6 with such a local port, remote port and state.
fn has_tcp_socket(process: u32, is_it: impl Fn(u16, u16, &str) -> bool) -> bool {
    let descriptors = descriptors(process);
    let table = |name: &str| fs::read_to_string(format!("/proc/{process}/net/{name}"));
    let tables = table("tcp").expect("IPv4") + &table("tcp6").unwrap_or_default();
    let port = |end: &str| u16::from_str_radix(end.rsplit(':').next()?, 16).ok();
    tables.lines().any(|line| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        // Local address, remote address, state, …, inode (proc_pid_net(5)).
        let [_, local, remote, state, _, _, _, _, _, inode, ..] = fields[..] else {
            return false;
        };
        let ports = port(local).zip(port(remote));
        ports.is_some_and(|(local, remote)| is_it(local, remote, state))
            && descriptors.contains(&format!("socket:[{inode}]"))
    })
}

/// Panics unless a process that reads input of the network has no privilege.
pub fn has_no_privilege(process: u32) {
    for set in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] {
        assert_eq!(capabilities(process, set), 0, "{set}");
    }
    assert_eq!(status(process, "NoNewPrivs"), "1");
    assert_eq!(status(process, "Seccomp"), "2", "SECCOMP_MODE_FILTER");
    assert_eq!(status(process, "Groups"), "");
    let ours = nix::unistd::getuid().to_string();
    for ids in ["Uid", "Gid"] {
        let ids = status(process, ids);
        assert!(ids.split_whitespace().all(|id| id != ours), "{ids}");
    }
    assert_eq!(bpf_objects(process), [""; 0]);
}

/// A set of its capabilities.
pub fn capabilities(process: u32, set: &str) -> u64 {
    u64::from_str_radix(&status(process, set), 16).expect("hexadecimal")
}
