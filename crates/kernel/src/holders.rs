//! Holders of an algorithm: network namespaces whose default it is, and sockets that use it.
//!
//! `bpf/holders.bpf.c` lists them in all network namespaces. inet_diag and the iterator of TCP sockets (bpf_iter/tcp) list the
//! sockets of one namespace, which the reader must be able to enter, and list no unconnected sockets.

mod find;
mod throughput;

use crate::namespace::{Namespace, Process};
use schemars::JsonSchema;
use serde::Serialize;
use std::fmt;
use std::net::SocketAddr;

pub use find::{Detail, Found, Lister, Storage, find};

/// A network namespace whose default is an algorithm of this project.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DefaultOf {
    /// The namespace.
    #[serde(flatten)]
    pub netns: Namespace,
    /// The first namespace of the kernel: later namespaces inherit its default.
    pub first: bool,
    /// Without references: the kernel is about to free it.
    #[serde(skip)]
    pub ends: bool,
    /// SO_NETNS_COOKIE.
    #[serde(skip)]
    pub(crate) cookie: u64,
}

/// Timer of a socket without a program.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Timer {
    /// `retransmission`, `window probe`, `FIN_WAIT2 or keepalive` or `close`.
    pub kind: &'static str,
    /// Seconds until it expires.
    pub expires_s: f64,
}

/// A TCP socket that has an algorithm. An MPTCP connection has one for each subflow.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Socket {
    /// Its network namespace.
    pub netns: Namespace,
    /// TCP state, by the names of `ss` and `netstat`.
    pub state: &'static str,
    /// Whether it is a subflow.
    pub mptcp: bool,
    /// Whether it is a backup (RFC 8684, 3.3.8), by a flag of its own endpoint or of the peer's.
    pub backup: bool,
    /// Whether its program, or `lisa kernel exec`, has set TCP_CONGESTION. A listener then gives this load of the algorithm to the sockets
    /// that it accepts; any other gives the present default of its network namespace.
    pub chosen: bool,
    /// Local address.
    pub local: SocketAddr,
    /// Remote address; port 0 if it is not connected.
    pub remote: SocketAddr,
    /// A process that has a file descriptor of it.
    pub process: Option<Process>,
    /// Its program has closed it.
    pub orphan: bool,
    /// Timer of an orphan.
    pub timer: Option<Timer>,
    /// Bytes sent and acknowledged so far.
    pub bytes_acked: u64,
    /// Bytes received in order so far.
    pub bytes_received: u64,
    /// Throughput of sent and acknowledged bytes between two listings, bits/s.
    pub sent_bps: Option<f64>,
    /// Throughput of received bytes between two listings, bits/s.
    pub received_bps: Option<f64>,
    /// Time of the counters: ns, CLOCK_MONOTONIC.
    #[serde(skip)]
    read: u64,
    /// The kernel's address of the socket.
    #[serde(skip)]
    address: u64,
    /// `lisa_key.socket` of its connection; 0 if it is not a subflow.
    #[serde(skip)]
    pub(crate) connection: u32,
}

impl Socket {
    fn is_listener(&self) -> bool {
        self.state == "LISTEN"
    }

    /// Whether it gives its load of the algorithm to the sockets that it accepts.
    pub(crate) fn passes_on(&self) -> bool {
        self.is_listener() && self.chosen
    }

    fn is_unconnected(&self) -> bool {
        self.remote.port() == 0 && !self.is_listener()
    }
}

impl fmt::Display for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, local, remote) = (self.state, self.local, self.remote);
        if self.is_listener() {
            write!(f, "{local}")?;
        } else if !self.is_unconnected() {
            write!(f, "{local} → {remote} {what}")?;
        } else if local.port() != 0 {
            write!(f, "bound to {local}")?;
        } else {
            write!(f, "not bound")?;
        }
        write!(f, " in {}", self.netns.label())?;
        match (&self.timer, &self.process) {
            (Some(timer), _) => write!(f, ", {} in {:.0} s", timer.kind, timer.expires_s),
            (None, Some(process)) => write!(f, ", {process}"),
            (None, None) => Ok(()),
        }
    }
}

/// Holders of one algorithm: they keep it in the kernel.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub struct Holders {
    /// Network namespaces whose default is the algorithm.
    pub defaults: Vec<DefaultOf>,
    /// Sockets that use it.
    pub sockets: Vec<Socket>,
    /// Number of other references: of sockets that the kernel is about to free.
    pub others: u64,
}

/// Number of holders of a kind that a line names.
const NAMED: usize = 3;

/// The first items and the number of the others: `a, b and 5 more`.
pub fn abbreviated<T: fmt::Display>(items: impl ExactSizeIterator<Item = T>) -> String {
    let (count, mut text) = (items.len(), String::new());
    for (i, item) in items.take(NAMED).enumerate() {
        text += if i > 0 { ", " } else { "" };
        text += &item.to_string();
    }
    if count > NAMED {
        text += &format!(" and {} more", count - NAMED);
    }
    text
}

impl Holders {
    /// These holders and the holders of an earlier load of the same algorithm.
    pub fn and(mut self, other: Self) -> Self {
        self.defaults.extend(other.defaults);
        self.sockets.extend(other.sockets);
        self.others += other.others;
        self
    }

    /// Whether the kernel is about to free all of them.
    pub fn are_passing(&self) -> bool {
        self.sockets.is_empty() && self.defaults.iter().all(|default| default.ends)
    }

    /// Names of the namespaces whose default is the algorithm.
    pub fn default_names(&self) -> String {
        let lasting: Vec<_> = self.defaults.iter().filter(|d| !d.ends).collect();
        abbreviated(lasting.iter().map(|default| &default.netns))
    }

    /// The sockets by kind, with the name of one and of several of the kind. Kinds without a socket are left out.
    pub(crate) fn kinds(&self) -> Vec<([&'static str; 2], Vec<&Socket>)> {
        let mut kinds = [
            (["listener", "listeners"], Vec::new()),
            (["connected socket", "connected sockets"], Vec::new()),
            (["unconnected socket", "unconnected sockets"], Vec::new()),
            (
                ["socket without a program", "sockets without a program"],
                Vec::new(),
            ),
        ];
        for socket in &self.sockets {
            let kind = match socket {
                orphan if orphan.orphan => 3,
                listener if listener.is_listener() => 0,
                unconnected if unconnected.is_unconnected() => 2,
                _ => 1,
            };
            kinds[kind].1.push(socket);
        }
        let kinds = kinds.into_iter();
        kinds.filter(|(_, sockets)| !sockets.is_empty()).collect()
    }

    /// All holders in one line.
    pub fn summary(&self) -> String {
        let mut parts = Vec::new();
        let names = self.default_names();
        if !names.is_empty() {
            parts.push(format!("it is the default of {names}"));
        }
        for ([one, several], sockets) in self.kinds() {
            let number = sockets.len();
            let what = if number == 1 { one } else { several };
            parts.push(format!("{number} {what}: {}", abbreviated(sockets.iter())));
        }
        let ends = self.defaults.iter().filter(|default| default.ends).count() as u64;
        match ends + self.others {
            0 => {}
            1 => parts.push("1 socket or namespace that the kernel is about to free".into()),
            n => parts.push(format!(
                "{n} sockets or namespaces that the kernel is about to free"
            )),
        }
        parts.join("; ")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A subflow between two addresses.
    pub(crate) fn socket(local: &str, remote: &str) -> Socket {
        Socket {
            netns: Namespace::unknown(1),
            state: "ESTABLISHED",
            mptcp: true,
            backup: false,
            chosen: false,
            local: local.parse().unwrap(),
            remote: remote.parse().unwrap(),
            process: None,
            orphan: false,
            timer: None,
            bytes_acked: 10,
            bytes_received: 10,
            sent_bps: None,
            received_bps: None,
            read: 0,
            address: 1,
            connection: 1,
        }
    }

    #[test]
    fn kinds_have_their_plurals() {
        let orphan = || Socket {
            orphan: true,
            ..socket("10.0.0.1:1", "10.0.0.2:2")
        };
        let several = Holders {
            sockets: vec![orphan(), orphan()],
            ..Holders::default()
        };
        let summary = several.summary();
        assert!(
            summary.starts_with("2 sockets without a program: "),
            "{summary}"
        );
    }

    #[test]
    fn a_line_names_a_few() {
        assert_eq!(abbreviated([1, 2].iter()), "1, 2");
        assert_eq!(abbreviated([1, 2, 3].iter()), "1, 2, 3");
        assert_eq!(abbreviated([1, 2, 3, 4, 5].iter()), "1, 2, 3 and 2 more");
    }
}
