//! Lists the holders of all algorithms, by `bpf/holders.bpf.c`.

use super::{DefaultOf, Holders, Socket, Timer};
use crate::contract::{self, LISA_HOLDERS, lisa_default_of, lisa_holder, lisa_timer as timer};
use crate::map::{self, Entry};
use crate::namespace::{Namespaces, Process};
use crate::registry::Registration;
use crate::requirements::is_denied;
use crate::skel::holders::HoldersSkelBuilder;
use crate::{Error, Result, clock, libbpf};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{Iter, MapCore, MapHandle, ProgramInput};
use std::collections::HashMap;
use std::io::Read;
use std::mem::MaybeUninit;

/// Holders of all BPF congestion controls.
#[derive(Debug, Default)]
pub struct Found {
    /// By the id of the struct_ops map.
    holders: HashMap<u32, Holders>,
    /// There may be more sockets than were listed.
    truncated: bool,
}

impl Found {
    /// Holders of this algorithm, with its number of references when it was found.
    pub fn of(&self, registered: &Registration) -> Holders {
        let mut holders = self.holders.get(&registered.map_id()).cloned();
        let holders = holders.get_or_insert_default();
        let listed = (holders.defaults.len() + holders.sockets.len()) as u64;
        holders.others = registered.users().saturating_sub(listed);
        std::mem::take(holders)
    }

    /// Whether every socket was listed.
    pub(crate) fn is_complete(&self) -> bool {
        !self.truncated
    }
}

/// The operation, for errors.
const LISTING: &str = "listing the users of an algorithm";

/// Lists the holders in all network namespaces of this host. Needs root.
pub fn find() -> Result<Found> {
    let failed = |error: libbpf_rs::Error| {
        if is_denied(&error) {
            return Error::not_permitted(LISTING);
        }
        Error::bpf(LISTING)(error)
    };
    libbpf::record_messages();
    let mut object = MaybeUninit::uninit();
    let open = HoldersSkelBuilder::default()
        .open(&mut object)
        .map_err(failed)?;
    let skel = open.load().map_err(failed)?;
    skel.progs
        .walk
        .test_run(ProgramInput::default())
        .map_err(failed)?;
    // After `walk`: `files` adds the process to each socket that `walk` has listed.
    let link = skel.progs.files.attach().map_err(failed)?;
    let mut nothing = Vec::new();
    Iter::new(&link)
        .map_err(failed)?
        .read_to_end(&mut nothing)
        .map_err(Error::io("listing file descriptors"))?;

    let names = Namespaces::find();
    let hz = clock::jiffies_per_second();
    let mut found: HashMap<u32, Holders> = HashMap::new();
    for Entry { value, .. } in entries_of(&skel.maps.namespaces)? {
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
    for Entry { value, .. } in sockets {
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

fn entries_of(map: &libbpf_rs::Map<'_>) -> Result<Vec<Entry>> {
    let handle = MapHandle::try_from(map).map_err(Error::bpf(LISTING))?;
    map::entries(&handle, &map.name().to_string_lossy())
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
        connection: holder.connection,
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
