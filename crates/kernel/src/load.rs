//! Registers an algorithm with the kernel.

use crate::contract::{self, LISA_CONTRACT, lisa_settings};
use crate::registry::{self, Registered};
use crate::requirements::{self, is_denied};
use crate::skel::LisaSkelBuilder;
use crate::{
    Error, Result, error::check_length, error::loadable, exec, holders, left_over, owner::Owner,
};
use libbpf_rs::ErrorKind;
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use nix::time::ClockId;
use std::{mem::MaybeUninit, sync::Mutex};

/// How to load an algorithm.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name that the kernel shall know it by, at most 15 characters, where it is not the algorithm's.
    pub register_as: Option<String>,
    /// Connections that can be coupled at a time; further ones run uncoupled and are counted.
    pub max_connections: u32,
    /// Values of settings, by name; the others have their standard values.
    pub settings: Vec<(String, u32)>,
    /// Sockets without MPTCP run it alone, and do not get the algorithm that their namespace would give them without it.
    pub keeps_plain: bool,
    /// Load it for this process only: [`registry::sweep`] unloads it once the process is gone.
    pub owner: Option<Owner>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            register_as: None,
            max_connections: 16_384,
            settings: Vec::new(),
            keeps_plain: false,
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
/// An unknown or over-long name, one that is loaded already ([`Error::AlreadyLoaded`]), a host that lacks something: see
/// [`Error`].
pub fn load(name: &str, options: &Options) -> Result<Registered> {
    register_and_attach(name, options).map(|(registered, _)| registered)
}

/// As [`load`]. The second result is that of attaching the programs of `lisa kernel exec`.
fn register_and_attach(name: &str, options: &Options) -> Result<(Registered, Result<()>)> {
    let algorithm = loadable(name)?;
    let values = setting_values(algorithm, &options.settings)?;
    let registered_name = options.register_as.as_deref().unwrap_or(name);
    check_length(registered_name)?;
    requirements::check()?;
    if over_cubic(algorithm) {
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
    settings.pair = contract::mpcc_pair {
        slow_start: pair.slow_start,
        avoidance: pair.avoidance,
    };
    settings.setting = values.values();
    settings.keeps_plain = options.keeps_plain.into();
    settings.hz = jiffies_per_second();
    settings.loaded = now();
    if let Some(owner) = options.owner {
        (settings.owner_pid, settings.owner_start) = (owner.pid, owner.start);
    }
    let map_id = register(registered_name, &settings, options.max_connections)?;

    let registered = registry::find_one(registered_name)?;
    debug_assert_eq!(registered.map_id(), map_id);
    if let Err(error) = registered.copy_default_records() {
        let _ = registered.unregister();
        return Err(error);
    }
    let exec = match options.owner {
        None => exec::cgroup::programs::after_load(),
        Some(_) => Ok(()),
    };
    Ok((registered, exec))
}

/// Result of [`ensure`].
#[derive(Debug)]
pub struct Ensured {
    /// The algorithm.
    pub registered: Registered,
    /// Whether this call has loaded it.
    pub new: bool,
    /// Why `lisa kernel exec` uses a helper process for each command instead of BPF programs.
    pub exec: Result<()>,
}

/// As [`load`], unless the algorithm is loaded already with the same options.
///
/// # Errors
/// [`Error::OtherSettings`].
pub fn ensure(name: &str, options: &Options) -> Result<Ensured> {
    match register_and_attach(name, options) {
        Err(Error::AlreadyLoaded { name }) => {
            let registered = registry::find_one(&name)?;
            same_settings(&registered, options)?;
            left_over::delete(&registered, &holders::find()?)?;
            Ok(Ensured {
                registered,
                new: false,
                exec: exec::cgroup::programs::after_load(),
            })
        }
        loaded => loaded.map(|(registered, exec)| Ensured {
            registered,
            new: true,
            exec,
        }),
    }
}

/// Compares the options of the command line.
fn same_settings(there: &Registered, options: &Options) -> Result<()> {
    let differ = |there_is: String, asked: String| Error::OtherSettings {
        name: there.name().into(),
        there: there_is,
        asked,
    };
    if there.max_connections() != options.max_connections {
        let text = |n: u32| format!("--max-connections {n}");
        let asked = options.max_connections;
        return Err(differ(text(there.max_connections()), text(asked)));
    }
    let algorithm = loadable(there.algorithm())?;
    let asked = setting_values(algorithm, &options.settings)?;
    for setting in algorithm.settings() {
        let value = |settings: &mpcc::Settings| {
            let value = settings.get(algorithm, setting.name).unwrap_or_default();
            format!("--set {}={value}", setting.name)
        };
        let (there, asked) = (value(there.settings()), value(&asked));
        if there != asked {
            return Err(differ(there, asked));
        }
    }
    Ok(())
}

/// Nanoseconds of CLOCK_MONOTONIC, which BPF's `bpf_ktime_get_ns` counts too.
pub(crate) fn now() -> u64 {
    let time = nix::time::clock_gettime(ClockId::CLOCK_MONOTONIC).expect("every Linux has it");
    time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64
}

/// The kernel's CONFIG_HZ: its coarse clocks advance once a jiffy.
pub(crate) fn jiffies_per_second() -> u32 {
    let tick =
        nix::time::clock_getres(ClockId::CLOCK_MONOTONIC_COARSE).expect("every Linux has it");
    let tick_ns = tick.tv_nsec().max(1) as u64;
    ((1_000_000_000 + tick_ns / 2) / tick_ns) as u32
}

/// Last message of libbpf, and the verifier's verdict on a refused program, for the error.
static LAST_MESSAGE: Mutex<(String, Option<String>)> = Mutex::new((String::new(), None));

pub(crate) fn record_libbpf_messages() {
    if let Ok(mut said) = LAST_MESSAGE.lock() {
        *said = Default::default();
    }
    libbpf_rs::set_print(Some((libbpf_rs::PrintLevel::Warn, |_, message| {
        if let Ok(mut said) = LAST_MESSAGE.lock() {
            said.0 = message.trim().trim_start_matches("libbpf: ").into();
            said.1 = said.1.take().or(verdict(&message));
        }
    })));
}

fn messages() -> (String, Option<String>) {
    let said = LAST_MESSAGE.lock();
    said.map(|said| said.clone()).unwrap_or_default()
}

/// The verifier's verdict on a refused program, or else the last message of libbpf.
pub(crate) fn last_message() -> String {
    let (last, verdict) = messages();
    verdict.unwrap_or(last)
}

/// Whether Linux's own CUBIC follows slow start.
fn over_cubic(algorithm: mpcc::Algorithm) -> bool {
    algorithm.avoidance() == "cubic"
}

/// The values of an algorithm's settings.
///
/// # Errors
/// [`Error::Setting`] for a name that the algorithm does not have, or a value out of range.
fn setting_values(algorithm: mpcc::Algorithm, given: &[(String, u32)]) -> Result<mpcc::Settings> {
    let mut values = mpcc::Settings::standard(algorithm);
    for (name, value) in given {
        values
            .set(algorithm, name, *value)
            .map_err(|error| Error::Setting {
                what: format!("{name}={value}"),
                reason: error.to_string(),
            })?;
    }
    Ok(values)
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
    use libbpf_rs::MapCore;
    record_libbpf_messages();
    let refused = |error: libbpf_rs::Error| {
        // EACCES with a verdict comes from the verifier, not from missing privilege.
        if is_denied(&error) && messages().1.is_none() {
            return Error::NotPermitted {
                what: "loading an algorithm",
            };
        }
        Error::Refused {
            name: name.into(),
            reason: format!("{error:#} ({})", last_message()),
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
    if !requirements::has_tx_start_callback()? {
        open.struct_ops.lisa_mut().cwnd_event_tx_start = std::ptr::null_mut();
    }
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
