//! Lists the holders of all algorithms, by `bpf/holders.bpf.c`.

use super::throughput::{Readings, SocketId};
use super::{DefaultOf, Holders, Socket, Timer};
use crate::contract::{self, LISA_HOLDERS, lisa_default_of, lisa_holder, lisa_timer as timer};
use crate::map::{self, Entry};
use crate::namespace::{Namespaces, Process};
use crate::registry::Registration;
use crate::requirements::{check_btf, is_denied};
use crate::skel::holders::{HoldersSkel, HoldersSkelBuilder};
use crate::{Error, Result, clock, libbpf};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Iter, Map, MapCore, MapHandle, OpenObject, ProgramInput};
use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::mem::MaybeUninit;

/// Holders of all BPF congestion controls.
#[derive(Debug, Default)]
pub struct Found {
    /// By the id of the struct_ops map.
    pub(super) holders: HashMap<u32, Holders>,
    /// There may be more sockets than were listed.
    truncated: bool,
}

impl Found {
    /// Holders of this algorithm, with its number of references when it was found.
    pub fn of(&self, registered: &Registration) -> Holders {
        let holders = self.holders.get(&registered.map_id()).cloned();
        with_others(holders.unwrap_or_default(), registered)
    }

    /// As [`Found::of`], and removes them from this list.
    pub fn take(&mut self, registered: &Registration) -> Holders {
        let holders = self.holders.remove(&registered.map_id());
        with_others(holders.unwrap_or_default(), registered)
    }

    /// Whether every socket was listed.
    pub(crate) fn is_complete(&self) -> bool {
        !self.truncated
    }

    /// Sockets that use this algorithm.
    pub(crate) fn sockets(&self, registered: &Registration) -> impl Iterator<Item = &Socket> {
        let holders = self.holders.get(&registered.map_id());
        holders.into_iter().flat_map(|holders| &holders.sockets)
    }
}

fn with_others(mut holders: Holders, registered: &Registration) -> Holders {
    let listed = (holders.defaults.len() + holders.sockets.len()) as u64;
    holders.others = registered.users().saturating_sub(listed);
    holders
}

/// The operation, for errors.
const LISTING: &str = "listing the users of an algorithm";

/// Lists the holders in all network namespaces of this host. Needs root.
pub fn find() -> Result<Found> {
    Lister::new(&mut Storage::default())?.list(Detail::Processes)
}

/// Memory for a [`Lister`].
pub struct Storage(MaybeUninit<OpenObject>);

impl Default for Storage {
    fn default() -> Self {
        Self(MaybeUninit::uninit())
    }
}

/// What a listing reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Defaults, and sockets that listen or are connected. Processes are those of earlier listings.
    Sockets,
    /// Also unconnected sockets, and the process of each socket. Reads all file descriptors of the host.
    Processes,
}

/// Lists the holders again and again. From its second listing on the sockets have throughputs.
pub struct Lister<'o> {
    skel: HoldersSkel<'o>,
    names: Namespaces,
    processes: HashMap<SocketId, Process>,
    before: Readings,
}

impl<'o> Lister<'o> {
    /// Loads the programs that list. Needs root.
    pub fn new(storage: &'o mut Storage) -> Result<Self> {
        check_btf()?;
        libbpf::prepare()?;
        let open = HoldersSkelBuilder::default()
            .open(&mut storage.0)
            .map_err(failed)?;
        Ok(Self {
            skel: open.load().map_err(failed)?,
            names: Namespaces::default(),
            processes: HashMap::new(),
            before: Readings::default(),
        })
    }

    /// Lists the holders in all network namespaces of this host.
    pub fn list(&mut self, detail: Detail) -> Result<Found> {
        let walk = &self.skel.progs.walk;
        walk.test_run(ProgramInput::default()).map_err(failed)?;
        if detail == Detail::Processes {
            // After `walk`: `files` adds the process to each socket that `walk` has listed.
            let link = self.skel.progs.files.attach().map_err(failed)?;
            let mut nothing = Vec::new();
            Iter::new(&link)
                .map_err(failed)?
                .read_to_end(&mut nothing)
                .map_err(Error::io("listing file descriptors"))?;
        }
        let maps = &self.skel.maps;
        take_all(&maps.tables)?;
        let (defaults, sockets) = (take_all(&maps.namespaces)?, take_all(&maps.sockets)?);
        let truncated = sockets.len() >= LISA_HOLDERS as usize;
        let defaults: Vec<lisa_default_of> = defaults.iter().map(value).collect();
        let sockets: Vec<(u64, lisa_holder)> = sockets
            .iter()
            .map(|entry| (address_of(entry), value(entry)))
            .collect();
        let inodes = defaults.iter().map(|default| default.netns);
        let inodes: HashSet<u32> = inodes
            .chain(sockets.iter().map(|(_, socket)| socket.netns))
            .collect();
        if detail == Detail::Processes || !inodes.iter().all(|inode| self.names.has(*inode)) {
            self.names = Namespaces::find()?;
            inodes.iter().for_each(|inode| self.names.note(*inode));
        }
        let holders = self.holders(&defaults, &sockets);
        let mut found = Found { holders, truncated };
        self.processes = processes(&found);
        found.add_throughputs(&self.before);
        self.before = Readings::of(&found);
        Ok(found)
    }

    fn holders(
        &self,
        defaults: &[lisa_default_of],
        sockets: &[(u64, lisa_holder)],
    ) -> HashMap<u32, Holders> {
        let hz = clock::jiffies_per_second();
        let mut found: HashMap<u32, Holders> = HashMap::new();
        for default in defaults {
            let holders = found.entry(default.map).or_default();
            holders.defaults.push(DefaultOf {
                netns: self.names.get(default.netns),
                first: default.first != 0,
                ends: default.ends != 0,
                cookie: default.cookie,
            });
        }
        for (address, holder) in sockets {
            let mut socket = socket(*address, holder, &self.names, hz);
            if socket.process.is_none() && !socket.orphan {
                socket.process = self.processes.get(&socket.id()).cloned();
            }
            let holders = found.entry(holder.map).or_default();
            holders.sockets.push(socket);
        }
        for holders in found.values_mut() {
            holders
                .defaults
                .sort_by_key(|default| (!default.first, default.netns.inode));
            holders
                .sockets
                .sort_by_key(|s| (s.netns.inode, s.local.port(), s.remote));
        }
        found
    }
}

fn failed(error: libbpf_rs::Error) -> Error {
    if is_denied(&error) {
        return Error::not_permitted(LISTING);
    }
    Error::bpf(LISTING)(error)
}

fn take_all(map: &Map<'_>) -> Result<Vec<Entry>> {
    let handle = MapHandle::try_from(map).map_err(Error::bpf(LISTING))?;
    map::take_entries(&handle, &map.name().to_string_lossy())
}

fn value<T: contract::Plain>(entry: &Entry) -> T {
    contract::read(&entry.value)
}

/// The key: the kernel's address of the socket.
fn address_of(entry: &Entry) -> u64 {
    let bytes = entry.key.as_slice().try_into();
    u64::from_ne_bytes(bytes.expect("8 bytes"))
}

/// The known processes of the listed sockets.
fn processes(found: &Found) -> HashMap<SocketId, Process> {
    let sockets = found.holders.values().flat_map(|holders| &holders.sockets);
    sockets
        .filter_map(|socket| Some((socket.id(), socket.process.clone()?)))
        .collect()
}

fn socket(address: u64, holder: &lisa_holder, names: &Namespaces, hz: u32) -> Socket {
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
        backup: holder.backup != 0,
        chosen: holder.chosen != 0,
        local: contract::address(holder.family, &holder.local, holder.local_port),
        remote: contract::address(holder.family, &holder.remote, holder.remote_port),
        process: (holder.process != 0).then(|| Process {
            pid: holder.process,
            command: contract::text(&holder.command),
        }),
        orphan: holder.orphan != 0,
        timer: kind.map(|kind| Timer {
            kind,
            expires_s: f64::from(holder.timer_jiffies) / f64::from(hz),
        }),
        bytes_acked: holder.bytes_acked,
        bytes_received: holder.bytes_received,
        sent_bps: None,
        received_bps: None,
        read: holder.read,
        address,
        connection: (holder.connection >> contract::LISA_ADDRESS_SHIFT) as u32,
    }
}

/// Name of a TCP state (net/tcp_states.h).
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
