//! Bounds of a loaded algorithm that can change while it is loaded: settings of new connections, numbers of connections, users.

use crate::contract::{
    self, LISA_NAMESPACES, LISA_USER_RANGES, LISA_USERS, lisa_limits, lisa_usage, lisa_user_range,
};
use crate::{Error, Result, registry::Registered};
use libbpf_rs::{MapCore, MapFlags};
use schemars::JsonSchema;
use serde::Serialize;
use std::{fmt, str::FromStr};

/// Bounds on the connections of users, so that one user cannot take the room of all others.
///
/// A connection beyond a bound runs: its first subflow as plain TCP, its further subflows slowly (`cc/no_room.h`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Users {
    /// Users without a bound; `None`: those of the system, [`SYSTEM_USERS`].
    pub unlimited: Option<Vec<UserRange>>,
    /// Largest number of coupled connections of each other user; `None`: an eighth of all. All other users together may have half
    /// of all connections.
    pub connections: Option<u32>,
}

/// User ids of the system: root and services (login.defs(5), SYS_UID_MAX).
pub const SYSTEM_USERS: UserRange = UserRange {
    first: 0,
    last: 999,
};

/// Room for addresses, in subflows of a connection. Most connections have two or three; a subflow without an address entry is
/// coupled all the same.
pub(crate) const SUBFLOWS_A_CONNECTION: u32 = 4;

/// Largest number of ranges of users without a bound.
pub const USER_RANGES: usize = LISA_USER_RANGES as usize;

/// A range of user ids, both inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct UserRange {
    /// The first user id.
    pub first: u32,
    /// The last user id.
    pub last: u32,
}

impl fmt::Display for UserRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.first == self.last {
            true => self.first.fmt(f),
            false => write!(f, "{}-{}", self.first, self.last),
        }
    }
}

impl FromStr for UserRange {
    type Err = String;

    /// `33`, `1000-1999`, or the name of a user of this host.
    fn from_str(text: &str) -> Result<Self, String> {
        let range = || {
            let (first, last) = text.split_once('-').unwrap_or((text, text));
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        if let Some((first, last)) = range() {
            return match first <= last {
                true => Ok(Self { first, last }),
                false => Err(format!("`{text}`: the first user id is above the last")),
            };
        }
        match nix::unistd::User::from_name(text) {
            Ok(Some(user)) => Ok(Self {
                first: user.uid.as_raw(),
                last: user.uid.as_raw(),
            }),
            Ok(None) => Err(format!(
                "`{text}` is no user of this host; a name, an id or a range such as 1000-1999 is needed"
            )),
            Err(error) => Err(format!("`{text}`: {error}")),
        }
    }
}

/// The bounds of a loaded algorithm.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Limits {
    /// Values of the algorithm's settings, for new connections.
    #[serde(skip)]
    pub settings: mpcc::Settings,
    /// Largest number of coupled connections.
    pub connections: u32,
    /// Largest number of coupled connections of one user outside of `unlimited_users`.
    pub user_connections: u32,
    /// Largest number of coupled connections of all users outside of `unlimited_users` together.
    pub other_connections: u32,
    /// Users whose connections are bounded by `connections` alone.
    pub unlimited_users: Vec<UserRange>,
}

impl Limits {
    /// The bounds for a number of connections of all users.
    pub fn new(settings: mpcc::Settings, connections: u32, users: &Users) -> Self {
        let unlimited = users.unlimited.clone();
        Self {
            settings,
            connections,
            user_connections: users.connections.unwrap_or(connections.div_ceil(8)),
            other_connections: connections.div_ceil(2),
            unlimited_users: unlimited.unwrap_or_else(|| vec![SYSTEM_USERS]),
        }
    }

    fn of(raw: &lisa_limits) -> Self {
        let ranges = (raw.ranges as usize).min(USER_RANGES);
        let range = |range: &lisa_user_range| UserRange {
            first: range.first,
            last: range.last,
        };
        Self {
            settings: mpcc::Settings::from_values(raw.setting),
            connections: raw.connections,
            user_connections: raw.user_connections,
            other_connections: raw.other_connections,
            unlimited_users: raw.unlimited[..ranges].iter().map(range).collect(),
        }
    }

    /// # Errors
    /// [`Error::TooManyUsers`].
    pub(crate) fn raw(&self) -> Result<lisa_limits> {
        let mut raw = lisa_limits {
            setting: self.settings.values(),
            connections: self.connections,
            user_connections: self.user_connections,
            other_connections: self.other_connections,
            ranges: self.unlimited_users.len() as u32,
            ..Default::default()
        };
        if self.unlimited_users.len() > USER_RANGES {
            return Err(Error::TooManyUsers);
        }
        for (to, from) in raw.unlimited.iter_mut().zip(&self.unlimited_users) {
            (to.first, to.last) = (from.first, from.last);
        }
        Ok(raw)
    }
}

/// Use of the room of a loaded algorithm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Usage {
    /// Number of coupled connections.
    pub connections: u32,
    /// Number of coupled connections of users that are not unlimited.
    pub other_connections: u32,
}

impl Registered {
    /// Its bounds.
    pub fn limits(&self) -> Result<Limits> {
        Ok(Limits::of(&self.value(&self.limits, "limits")?))
    }

    /// Replaces its bounds, for connections that open from now on. Connections beyond lower bounds stay coupled.
    pub fn set_limits(&self, limits: &Limits) -> Result<()> {
        let raw = limits.raw()?;
        self.set_value(&self.limits, "limits", contract::bytes(&raw))
    }

    /// The use of its room.
    pub fn usage(&self) -> Result<Usage> {
        let raw: lisa_usage = self.value(&self.usage, "usage")?;
        Ok(Usage {
            connections: raw.connections,
            other_connections: raw.others,
        })
    }

    /// Largest number of connections for which a change of the bounds suffices; more need a new load.
    pub fn capacity(&self) -> u32 {
        self.connections.max_entries()
    }

    /// Whether coupling is switched off: each subflow runs as the only one of its connection.
    pub fn is_off(&self) -> Result<bool> {
        Ok(self.value::<u32>(&self.switch, "switch")? != 0)
    }

    /// Switches coupling off or on. A subflow follows on its next ACK outside of a recovery, in an RTT or two.
    pub fn switch(&self, off: bool) -> Result<()> {
        let word = u32::from(off).to_ne_bytes();
        self.set_value(&self.switch, "switch", &word)
    }

    /// The value of a map with one entry.
    fn value<T: contract::Plain>(&self, map: &impl MapCore, what: &str) -> Result<T> {
        let value = map
            .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
            .map_err(Error::bpf(format!("`{}`: {what}", self.name())))?;
        Ok(contract::read(&value.unwrap_or_default()))
    }

    fn set_value(&self, map: &impl MapCore, what: &str, value: &[u8]) -> Result<()> {
        map.update(&0u32.to_ne_bytes(), value, MapFlags::ANY)
            .map_err(Error::bpf(format!("`{}`: {what}", self.name())))
    }
}

/// Memory of the maps of a loaded algorithm, bytes: without connections, and at most. Both are computed from the sizes of the maps;
/// `docs/notes/kernel.md` has what a kernel took.
pub fn memory(connections: u32) -> (u64, u64) {
    use crate::contract::{
        lisa_connection, lisa_key, lisa_namespace, lisa_subflow, lisa_subflow_key,
    };
    /// Bytes of a hash table's bucket and of an entry's own fields (struct bucket, struct htab_elem).
    const BUCKET: u64 = 16;
    const ENTRY: u64 = 48;
    let buckets = |entries: u32| u64::from(entries.next_power_of_two()) * BUCKET;
    let subflows = connections.saturating_mul(SUBFLOWS_A_CONNECTION);
    let fixed = buckets(connections)
        + buckets(subflows)
        + buckets(LISA_NAMESPACES)
        + buckets(contract::LISA_DEFAULTS)
        + u64::from(LISA_USERS) * 4;
    let entry = |key: usize, value: usize| ENTRY + (key + value) as u64;
    let connection = entry(size_of::<lisa_key>(), size_of::<lisa_connection>());
    let subflow = entry(size_of::<lisa_subflow_key>(), size_of::<lisa_subflow>());
    let namespaces = u64::from(LISA_NAMESPACES) * entry(8, size_of::<lisa_namespace>())
        + u64::from(contract::LISA_DEFAULTS) * entry(8, size_of::<contract::lisa_default>());
    let most =
        fixed + u64::from(connections) * connection + u64::from(subflows) * subflow + namespaces;
    (fixed, most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_users() {
        let parse = |text: &str| text.parse::<UserRange>();
        let range = |first, last| Ok(UserRange { first, last });
        assert_eq!(parse("33"), range(33, 33));
        assert_eq!(parse("1000-1999"), range(1000, 1999));
        assert_eq!(parse("root"), range(0, 0));
        for (text, words) in [
            ("9-3", "the first user id is above the last"),
            ("no_such_user", "is no user of this host"),
            ("-3", "is no user of this host"),
            ("", "is no user of this host"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(words), "{text}: {error}");
        }
    }

    #[test]
    fn limits_are_stored_and_read() {
        let users = Users {
            unlimited: Some(vec!["0".parse().unwrap(), "7-9".parse().unwrap()]),
            connections: None,
        };
        let limits = Limits::new(mpcc::Settings::default(), 100, &users);
        assert_eq!(
            (limits.user_connections, limits.other_connections),
            (13, 50)
        );
        assert_eq!(Limits::of(&limits.raw().unwrap()), limits);
        let many = vec![SYSTEM_USERS; USER_RANGES + 1];
        let users = Users {
            unlimited: Some(many),
            ..Users::default()
        };
        let limits = Limits::new(mpcc::Settings::default(), 100, &users);
        assert!(matches!(limits.raw(), Err(Error::TooManyUsers)));
    }
}
