//! Filters of connections, for the commands that list them.

use crate::default::netns;
use crate::holders::{DefaultOf, Socket};
use crate::namespace::{Namespace, Process};
use crate::status::{Connection, Status};
use crate::text::printable;
use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

mod peer;
pub use peer::Peer;

/// A choice of connections. Values of one kind are alternatives; a connection must match each kind that has a value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Names of registrations or algorithms.
    pub algorithms: Vec<String>,
    /// Addresses of the peer.
    pub peers: Vec<Peer>,
    /// Ports at either end.
    pub ports: Vec<u16>,
    /// Processes.
    pub processes: Vec<ProcessName>,
    /// Network namespaces.
    pub namespaces: Vec<NamespaceName>,
}

/// A process: its id or its command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProcessName {
    /// Process id.
    Id(u32),
    /// The command (`/proc/PID/comm`), which the kernel cuts to 15 bytes.
    Command(String),
}

/// A network namespace: its inode number or its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamespaceName {
    /// As in `net:[4026531840]`.
    Inode(u32),
    /// In /run/netns, or the path of another mount.
    Name(String),
}

impl FromStr for ProcessName {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse() {
            Ok(id) => Ok(Self::Id(id)),
            Err(_) if text.is_empty() => Err("a process id or a command is needed".into()),
            Err(_) => Ok(Self::Command(text.into())),
        }
    }
}

impl FromStr for NamespaceName {
    type Err = String;

    /// A name, `4026531840`, `net:[4026531840]`, or `.` for the namespace of the caller.
    fn from_str(text: &str) -> Result<Self, String> {
        let inner = text.strip_prefix("net:[").and_then(|t| t.strip_suffix(']'));
        match (text, inner.unwrap_or(text).parse()) {
            (_, Ok(inode)) => Ok(Self::Inode(inode)),
            (".", _) => netns().map(Self::Inode).map_err(|e| e.to_string()),
            ("", _) => Err("a name or an inode number is needed".into()),
            _ => Ok(Self::Name(text.into())),
        }
    }
}

impl ProcessName {
    /// Length of a command's name in the kernel (TASK_COMM_LEN), without the final zero.
    const LENGTH: usize = 15;

    fn matches(&self, process: Option<&Process>) -> bool {
        match (self, process) {
            (_, None) => false,
            (Self::Id(id), Some(process)) => *id == process.pid,
            (Self::Command(name), Some(process)) => {
                let cut = &name.as_bytes()[..name.len().min(Self::LENGTH)];
                [name, &printable(cut)].contains(&&process.command)
            }
        }
    }
}

impl NamespaceName {
    fn matches(&self, inode: u32, name: Option<&str>) -> bool {
        match self {
            Self::Inode(number) => *number == inode,
            Self::Name(wanted) => name.is_some_and(|name| {
                [wanted.as_str(), &printable(wanted.as_bytes())].contains(&name)
            }),
        }
    }

    fn matches_one(&self, netns: &Namespace) -> bool {
        self.matches(netns.inode, netns.name.as_deref())
    }
}

/// Whether a kind of filter has no value, or one that matches.
fn any<T>(alternatives: &[T], matches: impl FnMut(&T) -> bool) -> bool {
    alternatives.is_empty() || alternatives.iter().any(matches)
}

impl Filter {
    /// Whether every connection matches.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether an algorithm can have connections that match.
    pub fn has_algorithm(&self, name: &str, algorithm: &str) -> bool {
        any(&self.algorithms, |a| a == name || a == algorithm)
    }

    /// Removes from a status what does not match: connections, sockets and defaults.
    pub fn apply(&self, status: &mut Status) {
        if self.is_empty() {
            return;
        }
        let known = self.has_algorithm(&status.name, &status.algorithm);
        status
            .connections
            .retain(|connection| known && self.matches(connection));
        let holders = &mut status.holders;
        holders.sockets.retain(|s| known && self.matches_socket(s));
        holders
            .defaults
            .retain(|d| known && self.matches_default(d));
    }

    /// Whether a connection matches; [`Filter::has_algorithm`] checks its algorithm.
    pub fn matches(&self, connection: &Connection) -> bool {
        let ends = connection.subflows.iter().map(|s| (s.local, s.remote));
        let mut ends = ends.filter_map(|(local, remote)| Some((local?, remote?)));
        let name = connection.netns_name.as_deref();
        let (no_ends, process) = (
            self.peers.is_empty() && self.ports.is_empty(),
            &connection.process,
        );
        (no_ends || ends.any(|(local, remote)| self.ends(local, remote)))
            && any(&self.processes, |p| p.matches(process.as_ref()))
            && any(&self.namespaces, |n| n.matches(connection.netns, name))
    }

    fn matches_socket(&self, socket: &Socket) -> bool {
        self.ends(socket.local, socket.remote)
            && any(&self.processes, |p| p.matches(socket.process.as_ref()))
            && any(&self.namespaces, |n| n.matches_one(&socket.netns))
    }

    /// A default has no peer, port or process.
    fn matches_default(&self, default: &DefaultOf) -> bool {
        self.peers.is_empty()
            && self.ports.is_empty()
            && self.processes.is_empty()
            && any(&self.namespaces, |n| n.matches_one(&default.netns))
    }

    /// One subflow must match both a peer and a port.
    fn ends(&self, local: SocketAddr, remote: SocketAddr) -> bool {
        any(&self.peers, |peer| peer.matches(remote))
            && any(&self.ports, |port| {
                [local.port(), remote.port()].contains(port)
            })
    }
}

impl fmt::Display for Filter {
    /// As [`Filter::from_str`] reads it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = Vec::new();
        words.extend(self.algorithms.iter().map(|a| format!("algorithm={a}")));
        words.extend(self.peers.iter().map(|peer| format!("peer={peer}")));
        words.extend(self.ports.iter().map(|port| format!("port={port}")));
        words.extend(self.processes.iter().map(|process| match process {
            ProcessName::Id(id) => format!("process={id}"),
            ProcessName::Command(name) => format!("process={}", shell_words::quote(name)),
        }));
        words.extend(self.namespaces.iter().map(|netns| match netns {
            NamespaceName::Inode(inode) => format!("netns={inode}"),
            NamespaceName::Name(name) => format!("netns={}", shell_words::quote(name)),
        }));
        f.write_str(&words.join(" "))
    }
}

impl FromStr for Filter {
    type Err = String;

    /// `KEY=VALUE` words, as `port=443 process=nginx`, with the quotation marks of a shell. The empty text is a filter that
    /// everything matches.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut filter = Self::default();
        let words = shell_words::split(text).map_err(|_| "a quotation mark is missing")?;
        for word in &words {
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            let wrong = |error: String| format!("`{word}`: {error}");
            match key {
                "algorithm" if !value.is_empty() => filter.algorithms.push(value.into()),
                "peer" => filter.peers.push(value.parse().map_err(wrong)?),
                "port" => {
                    let port = value.parse();
                    let port = port.map_err(|_| wrong("a port from 0 to 65535 is needed".into()));
                    filter.ports.push(port?);
                }
                "process" => filter.processes.push(value.parse().map_err(wrong)?),
                "netns" => filter.namespaces.push(value.parse().map_err(wrong)?),
                _ => {
                    return Err(wrong(
                        "algorithm=, peer=, port=, process= or netns= is needed".into(),
                    ));
                }
            }
        }
        Ok(filter)
    }
}

#[cfg(test)]
mod tests;
