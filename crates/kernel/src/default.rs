//! The default congestion control of a network namespace.
//!
//! The sysctl net.ipv4.tcp_congestion_control is a setting of each namespace. A namespace that is made inherits that of the
//! first one. It is the default for every TCP socket, MPTCP or not: `bpf/plain.h` gives sockets without MPTCP the
//! previous default of the namespace, which [`make`] records in a map of the algorithm.

use crate::contract::{self, LISA_FIRST_NAMESPACE, lisa_default};
use crate::namespace::Namespace;
use crate::registry::{self, Registered};
use crate::{Error, Result, holders};
use std::os::fd::AsRawFd;
use std::{fs, io, os::unix::fs::MetadataExt, path::Path};

const SYSCTL: &str = "/proc/sys/net/ipv4/tcp_congestion_control";

/// The default algorithm of this network namespace.
pub fn get() -> Result<String> {
    fs::read_to_string(SYSCTL)
        .map(|name| name.trim().into())
        .map_err(Error::io(SYSCTL))
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
        .map_err(Error::io(path))
}

/// Whether this is the first network namespace, whose default later ones inherit. Settings of the whole kernel, as TCP's
/// memory, are shown in the first namespace only.
pub fn is_first() -> bool {
    Path::new("/proc/sys/net/ipv4/tcp_mem").exists()
}

/// The cookie of this network namespace (socket(7), SO_NETNS_COOKIE): unlike the inode number no other ever has it.
fn cookie() -> Result<u64> {
    use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
    let failed = |error: io::Error| Error::io("SO_NETNS_COOKIE")(error);
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Unix, SockType::Datagram, flags, None)
        .map_err(|error| failed(error.into()))?;
    let (mut cookie, mut length) = (0u64, size_of::<u64>() as libc::socklen_t);
    // SAFETY: the kernel writes at most `length` bytes to `cookie`, which has as many.
    let result = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            libc::SO_NETNS_COOKIE,
            (&raw mut cookie).cast(),
            &mut length,
        )
    };
    if result < 0 {
        return Err(failed(io::Error::last_os_error()));
    }
    Ok(cookie)
}

/// What a network namespace had as default before an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// The default before it. Empty: the namespace's default is another algorithm of this project.
    pub previous: String,
    /// The last default before it that is no algorithm of this project, which sockets without MPTCP get.
    pub plain: String,
}

impl Before {
    fn of(record: &lisa_default) -> Self {
        Self {
            previous: contract::text(&record.previous),
            plain: contract::text(&record.plain),
        }
    }

    fn record(&self) -> lisa_default {
        let mut record = lisa_default::default();
        contract::set_text(&mut record.previous, &self.previous);
        contract::set_text(&mut record.plain, &self.plain);
        record
    }
}

/// What this network namespace had before this algorithm: its own record, if it has one.
fn own_record(registered: &Registered) -> Result<Option<Before>> {
    let record = registered.default_record(cookie()?)?;
    Ok(record.as_ref().map(Before::of))
}

/// The default of this network namespace before this algorithm. Without a record it is that of the first namespace, from which this
/// one has then inherited the algorithm.
pub fn before(registered: &Registered) -> Result<Option<Before>> {
    if let Some(own) = own_record(registered)? {
        return Ok(Some(own));
    }
    let record = registered.default_record(LISA_FIRST_NAMESPACE.into())?;
    Ok(record.as_ref().map(Before::of))
}

/// What this network namespace had before the algorithm of this name, of those that are loaded or leaving. `None`: no
/// algorithm of this project has the name.
fn before_named(name: &str) -> Result<Option<Option<Before>>> {
    let all = registry::find()?;
    let mut named: Vec<_> = all.iter().filter(|found| found.name() == name).collect();
    named.sort_by_key(|found| found.is_leaving());
    if named.is_empty() {
        return Ok(None);
    }
    let mut plain_only = None;
    for registered in named {
        match before(registered)? {
            Some(before) if before.previous.is_empty() => plain_only = plain_only.or(Some(before)),
            Some(before) => return Ok(Some(Some(before))),
            None => {}
        }
    }
    Ok(Some(plain_only))
}

/// Makes a registered algorithm the default of this network namespace. Returns what sockets without MPTCP get, and whether
/// the default had another name before.
pub fn make(registered: &Registered) -> Result<(String, bool)> {
    let (current, name) = (get()?, registered.name());
    let known = before_named(&current)?;
    let record = if current == name {
        known.flatten()
    } else {
        let plain = match known {
            None => current.clone(),
            Some(known) => known.map_or(UNKNOWN.into(), |before| before.plain),
        };
        let previous = current.clone();
        Some(Before { previous, plain })
    };
    if let Some(before) = &record {
        let mut cookies = vec![cookie()?];
        if is_first() {
            cookies.push(LISA_FIRST_NAMESPACE.into());
        }
        registered.make_room_for_a_record()?;
        for cookie in &cookies {
            registered.set_default_record(*cookie, &before.record())?;
        }
        // A program may choose another algorithm than the default. Its sockets without MPTCP need the record, too.
        let all = registry::find()?;
        let others = all
            .iter()
            .filter(|found| found.map_id() != registered.map_id() && !found.is_leaving());
        for other in others {
            other.make_room_for_a_record()?;
            for cookie in &cookies {
                other.set_plain_record(*cookie, &before.record())?;
            }
        }
    }
    // Also where the name is the same: it may be that of an earlier registration, which was unloaded.
    set(name)?;
    let plain = record.map_or(UNKNOWN.into(), |before| before.plain);
    Ok((plain, current != name))
}

/// The algorithm of plain TCP if no record has the previous default (`bpf/plain.h`). On a kernel without CUBIC it is Reno.
const UNKNOWN: &str = "cubic";

/// Restores the previous default of this network namespace, if it has a record and this algorithm is its default.
/// Returns the restored default.
///
/// # Errors
/// [`Error::PreviousGone`].
pub(crate) fn restore(registered: &Registered) -> Result<Option<String>> {
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

/// Sets the first of these that the kernel has, and allows in this namespace.
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

/// Whether this process may change the default at all: EPERM else means that the algorithm is for the first namespace only
/// (net.ipv4.tcp_allowed_congestion_control).
fn is_writable() -> bool {
    fs::OpenOptions::new().write(true).open(SYSCTL).is_ok()
}

/// A network namespace whose default was one of this project's algorithms, and its new default.
#[derive(Clone, Debug)]
pub struct Restored {
    /// The namespace.
    pub netns: Namespace,
    /// The algorithm of this project.
    pub from: String,
    /// The default now, or why the default could not be changed.
    pub to: std::result::Result<String, String>,
}

/// Gives this network namespace the default that plain TCP has in it, if an algorithm of this project is its default. Returns
/// that algorithm and the new default.
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

/// The same in every network namespace, the first one before others.
pub fn off_everywhere() -> Result<Vec<Restored>> {
    let (found, mut restored) = (holders::find()?, Vec::new());
    for registered in registry::find()? {
        let defaults = found.of(&registered).defaults;
        for default in defaults.into_iter().filter(|default| !default.ends) {
            let to = if default.netns.can_be_entered() {
                match default.netns.run(off) {
                    Ok(Some((_, to))) => Ok(to),
                    Ok(None) => continue, // changed meanwhile
                    Err(error) => Err(error.to_string()),
                }
            } else {
                let why = "only sockets of the kernel keep it, and nothing leads into it";
                Err(format!(
                    "{}: {why}; it stays until the next boot",
                    default.netns
                ))
            };
            restored.push(Restored {
                netns: default.netns,
                from: registered.name().into(),
                to,
            });
        }
    }
    Ok(restored)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_keeps_both_names() {
        let before = Before {
            previous: "lisa_olia".into(),
            plain: "fifteen_letters".into(),
        };
        assert_eq!(Before::of(&before.record()), before);
    }

    #[test]
    fn a_namespace_has_one_cookie() {
        let here = cookie().unwrap();
        assert!(here != u64::from(LISA_FIRST_NAMESPACE));
        assert_eq!(here, cookie().unwrap());
    }
}
