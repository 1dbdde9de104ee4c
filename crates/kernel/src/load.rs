//! Registers an algorithm with the kernel.

use crate::contract::{self, LISA_CONTRACT, lisa_settings};
use crate::registry::{self, Registered};
use crate::requirements::{self, is_denied};
use crate::skel::LisaSkelBuilder;
use crate::{Error, Result, error::check_length, error::loadable, owner::Owner};
use libbpf_rs::ErrorKind;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use nix::time::ClockId;
use std::{mem::MaybeUninit, num::NonZeroU32, sync::Mutex};

/// How to load an algorithm.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name that the kernel shall know it by, at most 15 characters, where it is not the algorithm's.
    pub register_as: Option<String>,
    /// Connections that can be coupled at a time; further ones run uncoupled and are counted.
    pub max_connections: u32,
    /// For CSS: where one TCP would leave slow start (con_ssthresh), segments. `None`: the first subflow's own threshold,
    /// else 65 535 bytes.
    pub con_ssthresh: Option<NonZeroU32>,
    /// Make it the default of this network namespace.
    pub default: bool,
    /// Load it for this process only: [`registry::sweep`] unloads it once the process is gone.
    pub owner: Option<Owner>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            register_as: None,
            max_connections: 16_384,
            con_ssthresh: None,
            default: false,
            owner: None,
        }
    }
}

/// Room for addresses, in subflows a connection: most connections have two or three, and a subflow without it
/// is coupled all the same.
const SUBFLOWS_A_CONNECTION: u32 = 4;

/// 6 500 events of 72 bytes and their headers of 8; the kernel wants a power of two of pages.
const EVENT_BYTES: u32 = 512 * 1024;

/// Registers an algorithm. It stays when this program ends.
///
/// # Errors
/// An unknown or over-long name, one that is loaded already, a host that lacks something: see [`Error`].
pub fn load(name: &str, options: &Options) -> Result<Registered> {
    let algorithm = loadable(name)?;
    let registered_name = options.register_as.as_deref().unwrap_or(name);
    check_length(registered_name)?;
    requirements::check()?;
    if over_cubic(algorithm.pair()) {
        requirements::check_cubic()?;
    }
    match registry::find_one(registered_name) {
        Ok(_) => {
            return Err(Error::AlreadyLoaded {
                name: registered_name.into(),
            });
        }
        Err(Error::NotLoaded { .. }) => {}
        Err(error) => return Err(error),
    }

    let (pair, mut settings) = (algorithm.pair(), lisa_settings::default());
    settings.contract = LISA_CONTRACT;
    contract::set_text(&mut settings.algorithm, name);
    settings.pair = pair;
    settings.con_ssthresh = options.con_ssthresh.map_or(0, NonZeroU32::get);
    settings.loaded = now();
    if let Some(owner) = options.owner {
        (settings.owner_pid, settings.owner_start) = (owner.pid, owner.start);
    }
    let map_id = register(registered_name, &settings, options.max_connections)?;

    let registered = registry::find_one(registered_name)?;
    debug_assert_eq!(registered.map_id(), map_id);
    if options.default {
        if let Err(error) = registered.make_default() {
            registered.unload(None)?;
            return Err(error);
        }
    }
    Ok(registered)
}

/// Nanoseconds of CLOCK_MONOTONIC, which BPF's `bpf_ktime_get_ns` counts too.
pub(crate) fn now() -> u64 {
    let time = nix::time::clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has it");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// What libbpf printed last, and the verifier's verdict where it refused a program: for the one line that an error is.
static SAID: Mutex<(String, Option<String>)> = Mutex::new((String::new(), None));

fn listen_to_libbpf() {
    if let Ok(mut said) = SAID.lock() {
        *said = Default::default();
    }
    libbpf_rs::set_print(Some((libbpf_rs::PrintLevel::Warn, |_, message| {
        if let Ok(mut said) = SAID.lock() {
            said.0 = message.trim().trim_start_matches("libbpf: ").into();
            said.1 = said.1.take().or(verdict(&message));
        }
    })));
}

/// Whether Linux's own CUBIC goes on after slow start.
fn over_cubic(pair: mpcc::Pair) -> bool {
    u32::from(pair.avoidance) == mpcc::ffi::mpcc_avoidances::MPCC_CUBIC
}

/// The verifier's last word in what libbpf prints of its log: the line before its statistics.
fn verdict(message: &str) -> Option<String> {
    let (_, log) = message.split_once("-- BEGIN PROG LOAD LOG --")?;
    let (log, _) = log.split_once("-- END PROG LOAD LOG --")?;
    let line = |line: &&str| !line.trim().is_empty() && !line.starts_with("processed");
    log.lines().rfind(line).map(|line| line.trim().into())
}

/// Loads the object and registers its operations; the id of the map that holds the registration.
fn register(name: &str, settings: &lisa_settings, max_connections: u32) -> Result<u32> {
    use libbpf_rs::{MapCore, skel::Skel};
    listen_to_libbpf();
    let refused = |error: libbpf_rs::Error| {
        let (last, verdict) = SAID.lock().map(|said| said.clone()).unwrap_or_default();
        // The verifier's EACCES is not for want of privilege.
        if is_denied(&error) && verdict.is_none() {
            return Error::NotPermitted {
                what: "loading an algorithm",
            };
        }
        let last = verdict.unwrap_or(last);
        Error::Refused {
            name: name.into(),
            reason: format!("{error:#} ({last})"),
        }
    };
    let mut object = MaybeUninit::uninit();
    let mut open = LisaSkelBuilder::default()
        .open(&mut object)
        .map_err(refused)?;
    let rodata = open
        .maps
        .rodata_data
        .as_deref_mut()
        .expect("the object has settings");
    // SAFETY: both are `struct lisa_settings`, by way of two generators.
    rodata.settings = unsafe { std::mem::transmute_copy(settings) };
    contract::set_text(&mut open.struct_ops.lisa_mut().name, name);
    let connections = max_connections.max(1);
    open.maps
        .connections
        .set_max_entries(connections)
        .map_err(refused)?;
    let subflows = connections.saturating_mul(SUBFLOWS_A_CONNECTION);
    open.maps
        .subflows
        .set_max_entries(subflows)
        .map_err(refused)?;
    open.maps
        .events
        .set_max_entries(EVENT_BYTES)
        .map_err(refused)?;

    let mut skel = open.load().map_err(refused)?;
    let map_id = skel.maps.lisa.info().map_err(refused)?.info.id;
    let mut link = skel
        .maps
        .lisa
        .attach_struct_ops()
        .map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => Error::Foreign { name: name.into() },
            _ => refused(error),
        })?;
    link.disconnect(); // the registration stays
    drop(link);
    let _ = skel.object();
    Ok(map_id)
}

#[cfg(test)]
mod tests {
    use super::verdict;

    #[test]
    fn the_verifiers_last_word() {
        let log = "libbpf: prog 'lisa_init': -- BEGIN PROG LOAD LOG --\n\
                   855: (63) *(u32 *)(r1 +48) = r5\nR1 invalid mem access 'scalar'\n\
                   processed 937 insns (limit 1000000) max_states_per_insn 4\n-- END PROG LOAD LOG --\n";
        assert_eq!(verdict(log).unwrap(), "R1 invalid mem access 'scalar'");
        assert_eq!(verdict("libbpf: failed to load object 'lisa_bpf'\n"), None);
    }
}
