//! Holders of an algorithm: network namespaces whose default it is, and sockets that use it.
//!
//! In all network namespaces, by `bpf/holders.bpf.c`: inet_diag and the iterator of TCP sockets (bpf_iter/tcp) list those of one
//! namespace, which the reader must be able to enter, and neither lists sockets that are not connected.

use crate::contract::{self, LISA_HOLDERS, lisa_default_of, lisa_holder, lisa_timer as timer};
use crate::namespace::{Namespace, Namespaces, Process};
use crate::registry::Registered;
use crate::requirements::is_denied;
use crate::skel::holders::HoldersSkelBuilder;
use crate::status::{Connection, address, all_entries};
use crate::{Error, Result, load};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Iter, MapCore, MapHandle, ProgramInput};
use serde::Serialize;
use std::collections::HashMap;
use std::fmt;
use std::io::Read;
use std::mem::MaybeUninit;
use std::net::SocketAddr;

/// A network namespace whose default an algorithm is.
#[derive(Clone, Debug, Serialize)]
pub struct DefaultOf {
    /// The namespace.
    #[serde(flatten)]
    pub netns: Namespace,
    /// The first namespace of the kernel: those that are made later inherit its default.
    pub first: bool,
    /// Nothing refers to it any more: the kernel is about to free it.
    #[serde(skip)]
    pub ends: bool,
    /// SO_NETNS_COOKIE.
    #[serde(skip)]
    pub(crate) cookie: u64,
}

/// What a socket without a program waits for.
#[derive(Clone, Debug, Serialize)]
pub struct Timer {
    /// `retransmission`, `window probe`, `FIN_WAIT2 or keepalive` or `close`.
    pub kind: &'static str,
    /// Seconds until it expires.
    pub expires_s: f64,
}

/// A TCP socket that has an algorithm. An MPTCP connection has one for each subflow.
#[derive(Clone, Debug, Serialize)]
pub struct Socket {
    /// The network namespace that it is in.
    pub netns: Namespace,
    /// The state of TCP, as `ss` and `netstat` call it.
    pub state: &'static str,
    /// Whether it is a subflow.
    pub mptcp: bool,
    /// Local address.
    pub local: SocketAddr,
    /// Remote address; port 0 where it is not connected.
    pub remote: SocketAddr,
    /// A process that has a file descriptor of it.
    pub process: Option<Process>,
    /// Its program has closed it.
    pub orphan: bool,
    /// What an orphan waits for.
    pub timer: Option<Timer>,
    /// Address of its MPTCP socket, as in `lisa_key`; 0: it is not a subflow.
    #[serde(skip)]
    pub(crate) connection: u64,
}

impl Socket {
    fn is_listener(&self) -> bool {
        self.state == "LISTEN"
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

/// What keeps one algorithm in the kernel.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Holders {
    /// Network namespaces whose default it is.
    pub defaults: Vec<DefaultOf>,
    /// Sockets that have it.
    pub sockets: Vec<Socket>,
    /// References that belong to neither: of sockets that the kernel is about to free.
    pub others: u64,
}

/// How many holders of a kind a line names.
const NAMED: usize = 3;

/// `a, b and 5 more`.
fn some<T: fmt::Display>(items: impl ExactSizeIterator<Item = T>) -> String {
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
    /// These and those of another one: of an algorithm that was loaded again before it had gone.
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

    /// The namespaces whose default it is, by name.
    pub fn default_names(&self) -> String {
        let lasting: Vec<_> = self.defaults.iter().filter(|d| !d.ends).collect();
        some(lasting.iter().map(|default| &default.netns))
    }

    /// Its sockets by kind, with the name of the kind. Kinds without a socket are left out.
    fn kinds(&self) -> Vec<(&'static str, Vec<&Socket>)> {
        let mut kinds = [
            ("listener", Vec::new()),
            ("connected socket", Vec::new()),
            ("unconnected socket", Vec::new()),
            ("socket without a program", Vec::new()),
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

    /// A line for each holder that has none in this table of connections: namespaces, listeners, unconnected sockets, those
    /// without a program.
    pub fn lines(&self, connections: &[Connection]) -> Vec<String> {
        let lasting = self.defaults.iter().filter(|default| !default.ends);
        let mut lines: Vec<_> = lasting
            .map(|default| format!("default of {}", default.netns))
            .collect();
        let in_table = |socket: &Socket| {
            let mut subflows = connections.iter().flat_map(|c| &c.subflows);
            subflows.any(|s| (s.local, s.remote) == (Some(socket.local), Some(socket.remote)))
        };
        for (what, sockets) in self.kinds() {
            let others = sockets.iter().filter(|s| s.orphan || !in_table(s));
            lines.extend(others.map(|socket| format!("{what} {socket}")));
        }
        lines
    }

    /// All of it in one line.
    pub fn summary(&self) -> String {
        let mut parts = Vec::new();
        let names = self.default_names();
        if !names.is_empty() {
            parts.push(format!("it is the default of {names}"));
        }
        for (what, sockets) in self.kinds() {
            let plural = if sockets.len() == 1 { "" } else { "s" };
            let number = sockets.len();
            parts.push(format!("{number} {what}{plural}: {}", some(sockets.iter())));
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

/// What keeps BPF congestion controls in the kernel.
#[derive(Debug, Default)]
pub struct Found {
    /// By the id of the struct_ops map.
    holders: HashMap<u32, Holders>,
    /// There may be more sockets than were listed.
    truncated: bool,
}

impl Found {
    /// What keeps this one, of those that it had when it was found.
    pub fn of(&self, registered: &Registered) -> Holders {
        let mut holders = self.holders.get(&registered.map_id()).cloned();
        let holders = holders.get_or_insert_default();
        let known = (holders.defaults.len() + holders.sockets.len()) as u64;
        holders.others = registered.users().saturating_sub(known);
        std::mem::take(holders)
    }

    /// Whether every socket was listed.
    pub(crate) fn is_complete(&self) -> bool {
        !self.truncated
    }
}

/// Looks at all network namespaces and sockets of this host. Needs root.
pub fn find() -> Result<Found> {
    let failed = |error: libbpf_rs::Error| {
        if is_denied(&error) {
            let what = "listing who uses an algorithm";
            return Error::NotPermitted { what };
        }
        Error::bpf("listing who uses an algorithm")(error)
    };
    load::record_libbpf_messages();
    let mut object = MaybeUninit::uninit();
    let open = HoldersSkelBuilder::default()
        .open(&mut object)
        .map_err(failed)?;
    let skel = open.load().map_err(failed)?;
    skel.progs
        .walk
        .test_run(ProgramInput::default())
        .map_err(failed)?;
    // Afterwards: it writes the process into what `walk` has listed.
    let link = skel.progs.files.attach().map_err(failed)?;
    let mut nothing = Vec::new();
    Iter::new(&link)
        .map_err(failed)?
        .read_to_end(&mut nothing)
        .map_err(Error::io("listing file descriptors"))?;

    let names = Namespaces::find();
    let hz = load::jiffies_per_second();
    let mut found: HashMap<u32, Holders> = HashMap::new();
    for (_, value) in entries_of(&skel.maps.namespaces)? {
        let default: lisa_default_of = contract::read(&value);
        let holders = found.entry(default.map).or_default();
        holders.defaults.push(DefaultOf {
            netns: names.get(default.netns),
            first: default.first != 0,
            ends: default.ends != 0,
            cookie: default.cookie,
        });
    }
    let sockets = entries_of(&skel.maps.sockets)?;
    let truncated = sockets.len() >= LISA_HOLDERS as usize;
    for (_, value) in sockets {
        let holder: lisa_holder = contract::read(&value);
        let holders = found.entry(holder.map).or_default();
        holders.sockets.push(socket(&holder, &names, hz));
    }
    for holders in found.values_mut() {
        holders
            .defaults
            .sort_by_key(|default| (!default.first, default.netns.inode));
        holders
            .sockets
            .sort_by_key(|s| (s.netns.inode, s.local.port(), s.remote));
    }
    Ok(Found {
        holders: found,
        truncated,
    })
}

fn entries_of(map: &libbpf_rs::Map<'_>) -> Result<Vec<(Vec<u8>, Vec<u8>)>> {
    let handle = MapHandle::try_from(map).map_err(Error::bpf("listing who uses an algorithm"))?;
    all_entries(&handle, &map.name().to_string_lossy())
}

fn socket(holder: &lisa_holder, names: &Namespaces, hz: u32) -> Socket {
    let kind = match holder.timer.into() {
        timer::LISA_TIMER_RETRANSMIT => Some("retransmission"),
        timer::LISA_TIMER_PROBE => Some("window probe"),
        timer::LISA_TIMER_KEEPALIVE => Some("FIN_WAIT2 or keepalive"),
        timer::LISA_TIMER_CLOSE => Some("close"),
        _ => None,
    };
    Socket {
        netns: names.get(holder.netns),
        state: state(holder.state),
        mptcp: holder.mptcp != 0,
        local: address(holder.family, &holder.local, holder.local_port),
        remote: address(holder.family, &holder.remote, holder.remote_port),
        process: (holder.process != 0).then(|| Process {
            pid: holder.process,
            command: contract::text(&holder.command),
        }),
        orphan: holder.orphan != 0,
        timer: kind.map(|kind| Timer {
            kind,
            expires_s: f64::from(holder.timer_jiffies) / f64::from(hz),
        }),
        connection: holder.connection,
    }
}

/// A state of TCP by its number (net/tcp_states.h).
fn state(number: u8) -> &'static str {
    const STATES: [&str; 13] = [
        "UNKNOWN",
        "ESTABLISHED",
        "SYN_SENT",
        "SYN_RECV",
        "FIN_WAIT1",
        "FIN_WAIT2",
        "TIME_WAIT",
        "CLOSE",
        "CLOSE_WAIT",
        "LAST_ACK",
        "LISTEN",
        "CLOSING",
        "NEW_SYN_RECV",
    ];
    STATES
        .get(usize::from(number))
        .copied()
        .unwrap_or(STATES[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_a_few() {
        assert_eq!(some([1, 2].iter()), "1, 2");
        assert_eq!(some([1, 2, 3].iter()), "1, 2, 3");
        assert_eq!(some([1, 2, 3, 4, 5].iter()), "1, 2, 3 and 2 more");
    }
}
