//! The default congestion control of a network namespace.
//!
//! The sysctl net.ipv4.tcp_congestion_control is a setting of each namespace. A new namespace inherits the default of the
//! first namespace. It is the default of every TCP socket, with or without MPTCP. `bpf/plain.h` assigns to sockets without MPTCP
//! the previous default of the namespace, which [`make`] records in a map of the algorithm.

mod record;

use crate::contract::LISA_FIRST_NAMESPACE;
use crate::holders::{self, Found};
use crate::kernel_fs::{proc_error, read_proc};
use crate::namespace::Namespace;
use crate::registry::{self, Registered, Registration};
use crate::{Error, Result, capabilities};
use record::{before_named, cookie, make_room, own_record};
use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

pub use record::{Before, before};
pub(crate) use record::{copy_records, take_over};

const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// The default algorithm of this network namespace.
pub fn get() -> Result<String> {
    read_proc(SYSCTL).map(|name| name.trim().into())
}

/// Makes `name` the default of this network namespace, for sockets that are opened from now on.
pub fn set(name: &str) -> Result<()> {
    fs::write(SYSCTL, name).map_err(Error::io(format!("{SYSCTL} = {name}")))
}

/// The inode number of this network namespace, as `ls -l /proc/self/ns/net` shows it.
pub fn netns() -> Result<u32> {
    let path = "/proc/thread-self/ns/net";
    fs::metadata(path)
        .map(|metadata| metadata.ino() as u32)
        .map_err(proc_error(path))
}

/// Whether this is the first network namespace, whose default later ones inherit. Only the first namespace shows settings of the
/// whole kernel, as TCP's memory.
pub fn is_first() -> bool {
    Path::new("/proc/sys/net/ipv4/tcp_mem").exists()
}

/// Makes a registered algorithm the default of this network namespace. Returns the algorithm of sockets without MPTCP, and whether
/// the default had another name before.
pub fn make(registered: &Registered) -> Result<(String, bool)> {
    let (current, name) = (get()?, registered.name());
    let record = record_for(name, &current)?;
    if let Some(before) = &record {
        let mut cookies = vec![cookie()?];
        if is_first() {
            cookies.push(LISA_FIRST_NAMESPACE.into());
        }
        make_room(registered)?;
        for cookie in &cookies {
            registered.set_default_record(*cookie, &before.record())?;
        }
        // A program may choose another algorithm than the default. Its sockets without MPTCP need the record, too.
        let all = registry::find()?;
        let others = all
            .iter()
            .filter(|found| found.map_id() != registered.map_id() && !found.is_leaving());
        for other in others {
            make_room(other)?;
            for cookie in &cookies {
                other.set_plain_record(*cookie, &before.record())?;
            }
        }
    }
    // Set it even if the name is the same: the default may refer to an earlier registration, which was unloaded.
    set(name)?;
    let plain = record.map_or(UNKNOWN.into(), |before| before.plain);
    Ok((plain, current != name))
}

/// What [`make`] would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The default of this network namespace.
    pub current: String,
    /// The algorithm that sockets without MPTCP would get.
    pub plain: String,
}

/// What [`make`] would change in this network namespace for an algorithm of this name.
pub fn plan(name: &str) -> Result<Planned> {
    let current = get()?;
    let record = record_for(name, &current)?;
    let plain = record.map_or(UNKNOWN.into(), |before| before.plain);
    Ok(Planned { current, plain })
}

/// The record for an algorithm that becomes the default after `current`. `None`: it is the default, and there is no record.
fn record_for(name: &str, current: &str) -> Result<Option<Before>> {
    let known = before_named(current)?;
    if current == name {
        return Ok(known.flatten());
    }
    let plain = match known {
        None => current.into(),
        Some(known) => known.map_or(UNKNOWN.into(), |before| before.plain),
    };
    let previous = current.into();
    Ok(Some(Before { previous, plain }))
}

/// Algorithm of plain TCP if no record has the previous default (`bpf/plain.h`). On a kernel without CUBIC it is Reno.
const UNKNOWN: &str = "cubic";

/// Restores the previous default of this network namespace, if it has a record and this algorithm is its default.
/// Returns the restored default.
///
/// # Errors
/// [`Error::PreviousGone`].
pub(crate) fn restore(registered: &Registration) -> Result<Option<String>> {
    if get()? != registered.name() {
        return Ok(None);
    }
    let Some(before) = own_record(registered)?.filter(|before| !before.previous.is_empty()) else {
        return Ok(None);
    };
    match set_first_of(&[&before.previous, &before.plain])? {
        Some(name) => Ok(Some(name)),
        None => Err(Error::PreviousGone {
            name: registered.name().into(),
            previous: before.previous,
        }),
    }
}

/// Sets the first of these algorithms that the kernel has and allows in this namespace. Returns its name.
fn set_first_of(names: &[&str]) -> Result<Option<String>> {
    for name in names {
        match set(name) {
            Ok(()) => return Ok(Some((*name).into())),
            Err(Error::Io { source, .. })
                if matches!(
                    source.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied
                ) && is_writable() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

/// Whether this process may change the default. If so, EPERM means that only the first namespace may use the algorithm
/// (net.ipv4.tcp_allowed_congestion_control).
fn is_writable() -> bool {
    fs::OpenOptions::new().write(true).open(SYSCTL).is_ok()
}

/// A network namespace whose default was one of this project's algorithms, and its new default.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The namespace.
    pub netns: Namespace,
    /// The algorithm of this project that was the default.
    pub from: String,
    /// The new default, or why the default could not be changed.
    pub to: std::result::Result<String, String>,
}

/// Makes the algorithm of plain TCP the default of this network namespace, if its default is an algorithm of this project.
/// Returns that algorithm and the new default.
pub fn off() -> Result<Option<(String, String)>> {
    let current = get()?;
    let Some(known) = before_named(&current)? else {
        return Ok(None);
    };
    let plain = known.map(|before| before.plain);
    let plain = plain.as_deref().unwrap_or(UNKNOWN);
    let name = set_first_of(&[plain, UNKNOWN, "reno"])?;
    let name = name.ok_or_else(|| Error::PreviousGone {
        name: current.clone(),
        previous: plain.into(),
    })?;
    Ok(Some((current, name)))
}

/// As [`off`], in every network namespace, the first namespace before others.
pub fn off_everywhere() -> Result<Vec<Restored>> {
    let (found, mut restored) = (holders::find()?, Vec::new());
    for registered in registry::find_registrations()? {
        restored.extend(replace(&registered, &found, None));
    }
    Ok(restored)
}

/// Replaces an algorithm in every network namespace whose default it is in `found`: by `to`, or as [`off`] does.
pub(crate) fn replace(
    from: &Registration,
    found: &Found,
    to: Option<&Registered>,
) -> Vec<Restored> {
    let change = || match to {
        None => Ok(off()?.map(|(_, to)| to)),
        Some(to) if get()? == from.name() => make(to).map(|_| Some(to.name().into())),
        Some(_) => Ok(None),
    };
    let mut replaced = Vec::new();
    let defaults = found.of(from).defaults.into_iter();
    for default in defaults.filter(|default| !default.ends) {
        let to = if default.netns.can_be_entered() {
            match default.netns.run(change) {
                Ok(Some(to)) => Ok(to),
                Ok(None) => continue, // changed meanwhile
                Err(error) => Err(error.to_string()),
            }
        } else {
            let why = match capabilities::sees_all_processes() {
                true => {
                    "nothing leads into it, and its sockets keep it until they close, or until the next boot"
                }
                false => "without CAP_SYS_PTRACE no process leads into it",
            };
            Err(why.into())
        };
        replaced.push(Restored {
            netns: default.netns,
            from: from.name().into(),
            to,
        });
    }
    replaced
}
