//! Records of the defaults of network namespaces, in a map of each algorithm.

use crate::contract::{self, LISA_FIRST_NAMESPACE, lisa_default};
use crate::holders::{self, DefaultOf};
use crate::registry::{self, Registered, Registration};
use crate::{Error, Result};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use std::io;
use std::os::fd::AsRawFd;

/// The cookie of this network namespace (socket(7), SO_NETNS_COOKIE). Unlike an inode number it is never used again.
pub(super) fn cookie() -> Result<u64> {
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

/// The default of a network namespace before an algorithm.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Before {
    /// The previous default. Empty: the namespace's default is another algorithm of this project.
    pub previous: String,
    /// The last default that is no algorithm of this project; sockets without MPTCP use it.
    pub plain: String,
}

impl Before {
    fn of(record: &lisa_default) -> Self {
        Self {
            previous: contract::text(&record.previous),
            plain: contract::text(&record.plain),
        }
    }

    pub(super) fn record(&self) -> lisa_default {
        let mut record = lisa_default::default();
        contract::set_text(&mut record.previous, &self.previous);
        contract::set_text(&mut record.plain, &self.plain);
        record
    }
}

/// This network namespace's own record of its default before this algorithm, if there is one.
pub(super) fn own_record(registered: &Registration) -> Result<Option<Before>> {
    let record = registered.default_record(cookie()?)?;
    Ok(record.as_ref().map(Before::of))
}

/// The default of this network namespace before this algorithm. A namespace without a record of its own has inherited the
/// algorithm from the first namespace, and has that namespace's record.
pub fn before(registered: &Registration) -> Result<Option<Before>> {
    if let Some(own) = own_record(registered)? {
        return Ok(Some(own));
    }
    let record = registered.default_record(LISA_FIRST_NAMESPACE.into())?;
    Ok(record.as_ref().map(Before::of))
}

/// The default of this network namespace before its present default, which has this name. `None`: that is no algorithm of this
/// project. `Some(None)`: there is no record.
pub(super) fn before_named(name: &str) -> Result<Option<Option<Before>>> {
    let all = registry::find_registrations()?;
    let mut named: Vec<_> = all.iter().filter(|found| found.name() == name).collect();
    if named.iter().all(|found| found.is_leaving()) && registry::is_taken(name)? {
        // Another program has the name now. The default may be that program's, or a former load.
        let (holders, here) = (holders::find()?, cookie()?);
        let is_here = |default: &DefaultOf| default.cookie == here;
        named.retain(|found| holders.of(found).defaults.iter().any(is_here));
    }
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

/// Copies to a new algorithm the records of namespaces whose default is another algorithm of this project: see
/// [`make`](super::make).
pub(crate) fn copy_records(to: &Registered) -> Result<()> {
    let all = registry::find_registrations()?;
    for other in all.iter().filter(|other| other.map_id() != to.map_id()) {
        for cookie in other.default_cookies() {
            if let Some(record) = other.default_record(cookie)? {
                to.set_plain_record(cookie, &record)?;
            }
        }
    }
    Ok(())
}

/// Copies all records of a registration to the one that replaces it.
pub(crate) fn take_over(old: &Registration, new: &Registered) -> Result<()> {
    for cookie in old.default_cookies() {
        if let Some(record) = old.default_record(cookie)? {
            new.set_default_record(cookie, &record)?;
        }
    }
    Ok(())
}

/// Once half of an algorithm's records are used, deletes those of namespaces that are gone or have another default.
pub(super) fn make_room(registered: &Registration) -> Result<()> {
    let cookies = registered.default_cookies();
    if cookies.len() < registered.max_default_records() / 2 {
        return Ok(());
    }
    let defaults = holders::find()?.of(registered).defaults;
    let needed = |cookie: u64| {
        cookie == u64::from(LISA_FIRST_NAMESPACE) || defaults.iter().any(|d| d.cookie == cookie)
    };
    for cookie in cookies.into_iter().filter(|cookie| !needed(*cookie)) {
        registered.delete_default_record(cookie);
    }
    Ok(())
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
