//! Registers an algorithm with the kernel.

use crate::contract::{self, LISA_CONTRACT, lisa_settings};
use crate::owner::Owner;
use crate::registry::{self, Registered};
use crate::requirements::{self, is_denied};
use crate::skel::LisaSkelBuilder;
use crate::{Error, Result, clock, default, exec, holders, left_over, libbpf};
use libbpf_rs::skel::{OpenSkel, SkelBuilder};
use libbpf_rs::{ErrorKind, MapCore};
use mpcc::NAME_MAX;
use std::mem::MaybeUninit;

/// Options of a load.
#[derive(Clone, Debug)]
pub struct Options {
    /// The name of the registration, at most 15 characters; `None`: the algorithm's.
    pub register_as: Option<String>,
    /// Number of connections that can be coupled at a time; further ones run uncoupled and are counted.
    pub max_connections: u32,
    /// Values of settings, by name; the others have their standard values.
    pub settings: Vec<(String, u32)>,
    /// Sockets without MPTCP run this algorithm alone, instead of their namespace's previous default.
    pub keeps_plain: bool,
    /// The process that the algorithm is loaded for: [`registry::sweep`] unloads it after the process has ended.
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

/// Room for addresses, in subflows of a connection. Most connections have two or three; a subflow without an address entry is
/// coupled all the same.
const SUBFLOWS_A_CONNECTION: u32 = 4;

/// 6 500 events of 72 bytes and their headers of 8. The kernel requires a power of two of pages.
const EVENT_BYTES: u32 = 512 * 1024;

/// Registers an algorithm. It stays when this program ends.
///
/// # Errors
/// An unknown or too long name, a name that is loaded already ([`Error::AlreadyLoaded`]), a host without a requirement: see
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
    settings.hz = clock::jiffies_per_second();
    settings.loaded = clock::now();
    if let Some(owner) = options.owner {
        (settings.owner_pid, settings.owner_start) = (owner.pid, owner.start);
    }
    let map_id = register(registered_name, &settings, options.max_connections)?;

    let registered = registry::find_one(registered_name)?;
    debug_assert_eq!(registered.map_id(), map_id);
    if let Err(error) = default::copy_records(&registered) {
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
    /// Whether this call loaded it.
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

/// Checks that an algorithm was loaded with these options of the command line.
fn same_settings(registered: &Registered, options: &Options) -> Result<()> {
    let differ = |loaded: String, requested: String| Error::OtherSettings {
        name: registered.name().into(),
        loaded,
        requested,
    };
    if registered.max_connections() != options.max_connections {
        let text = |n: u32| format!("--max-connections {n}");
        let requested = options.max_connections;
        return Err(differ(text(registered.max_connections()), text(requested)));
    }
    let algorithm = loadable(registered.algorithm())?;
    let requested = setting_values(algorithm, &options.settings)?;
    for setting in algorithm.settings() {
        let value = |settings: &mpcc::Settings| {
            let value = settings.get(algorithm, setting.name).unwrap_or_default();
            format!("--set {}={value}", setting.name)
        };
        let (loaded, requested) = (value(registered.settings()), value(&requested));
        if loaded != requested {
            return Err(differ(loaded, requested));
        }
    }
    Ok(())
}

/// Whether Linux's own CUBIC follows slow start.
fn over_cubic(algorithm: mpcc::Algorithm) -> bool {
    algorithm.avoidance() == "cubic"
}

/// Values of an algorithm's settings: `given`, and the standard values of the others.
///
/// # Errors
/// [`Error::Setting`] if the algorithm has no such setting, or a value is out of range.
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

/// Loads the object and registers its operations. Returns the id of the struct_ops map.
fn register(name: &str, settings: &lisa_settings, max_connections: u32) -> Result<u32> {
    libbpf::record_messages();
    let refused = |error: libbpf_rs::Error| {
        // EACCES with a verdict comes from the verifier, not from missing privilege.
        if is_denied(&error) && !libbpf::has_verdict() {
            return Error::NotPermitted {
                what: "loading an algorithm",
            };
        }
        Error::Refused {
            name: name.into(),
            reason: format!("{error:#} ({})", libbpf::last_message()),
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

fn check_length(name: &str) -> Result<()> {
    if name.len() > NAME_MAX {
        return Err(Error::NameTooLong { name: name.into() });
    }
    Ok(())
}

/// The algorithm of this name, if it can be loaded.
///
/// # Errors
/// [`Error::NameTooLong`], [`Error::Unknown`], [`Error::InLinux`].
pub fn loadable(name: &str) -> Result<mpcc::Algorithm> {
    check_length(name)?;
    let algorithm =
        mpcc::Algorithm::find(name).ok_or_else(|| Error::Unknown { name: name.into() })?;
    if algorithm.in_linux() {
        return Err(Error::InLinux { name: name.into() });
    }
    Ok(algorithm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert!(loadable("lisa").is_ok());
        let message = |name| loadable(name).unwrap_err().to_string();
        assert!(
            message("lissa").contains("do you mean `lisa`?"),
            "{}",
            message("lissa")
        );
        assert!(
            !message("bananas").contains("do you mean"),
            "{}",
            message("bananas")
        );
        assert!(message("a_name_of_sixteen").contains("at most 15"));
        assert!(message("reno").contains("Linux's own"));
        assert!(message("cubic").contains("Linux's own"));
        for algorithm in mpcc::Algorithm::all() {
            assert!(algorithm.name().len() <= NAME_MAX);
        }
    }
}
