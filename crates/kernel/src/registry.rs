//! The registered algorithms of this project, found through the kernel.
//!
//! A registered algorithm is a struct_ops map that the kernel holds. The map has the ids of its programs, and the programs have
//! the ids of the maps that they use, so the registration leads to all of them. Nothing is pinned in a file system, which
//! another mount namespace would hide (`ip netns exec` hides /sys/fs/bpf), and nothing can be stale.

mod examine;
mod layout;
mod objects;

use crate::contract::{self, lisa_default};
use crate::kernel_fs::read_proc;
use crate::requirements::is_denied;
use crate::{Error, Result, owner::Owner};
use layout::Layout;
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::ops::Deref;

/// A registration of this project, by any version of it.
#[derive(Debug)]
pub struct Registration {
    name: String,
    contract: u32,
    owner: Option<Owner>,
    /// Unloaded, and kept in the kernel by sockets that have not closed.
    is_leaving: bool,
    users: u64,
    operations: MapHandle,
    map_id: u32,
    defaults: MapHandle,
    programs: Vec<u32>,
}

/// A registration with the maps of this version.
#[derive(Debug)]
pub struct Registered {
    registration: Registration,
    algorithm: String,
    pub(crate) loaded: u64,
    pub(crate) connections: MapHandle,
    pub(crate) subflows: MapHandle,
    /// The listeners' ring buffers.
    pub(crate) rings: MapHandle,
    pub(crate) control: MapHandle,
    /// Counters by network namespace.
    pub(crate) namespaces: MapHandle,
    /// Counters of the other network namespaces.
    pub(crate) totals: MapHandle,
    pub(crate) limits: MapHandle,
    pub(crate) usage: MapHandle,
    pub(crate) switch: MapHandle,
    /// Hash of the BPF object that it was loaded from.
    pub(crate) object: u64,
    pub(crate) keeps_plain: bool,
}

impl Deref for Registered {
    type Target = Registration;

    fn deref(&self) -> &Registration {
        &self.registration
    }
}

/// What was found under a name of this project.
#[derive(Debug)]
pub enum Found {
    /// A registration that this version can read.
    Current(Box<Registered>),
    /// A registration of another version, which this version can unload and replace.
    Other(Registration),
    /// [`Error::Damaged`].
    Damaged(Error),
}

impl Found {
    /// The registration; `None` if it is damaged.
    pub fn registration(self) -> Option<Registration> {
        match self {
            Self::Current(registered) => Some(registered.registration),
            Self::Other(registration) => Some(registration),
            Self::Damaged(_) => None,
        }
    }

    fn name(&self) -> &str {
        match self {
            Self::Current(registered) => registered.name(),
            Self::Other(registration) => registration.name(),
            Self::Damaged(Error::Damaged { name, .. }) => name,
            Self::Damaged(_) => "",
        }
    }
}

/// Everything that this project has registered, by name.
///
/// # Errors
/// [`Error::NotPermitted`]; the kernel's, if anything cannot be read.
pub fn find_all() -> Result<Vec<Found>> {
    let programs = objects::programs()?;
    let layout = Layout::read()?;
    let mut all = Vec::new();
    for map in objects::struct_ops()? {
        let Some(found) = examine::examine(map, layout, &programs)? else {
            continue;
        };
        // Unloaded and without users: the kernel is about to free it.
        let is_gone = |found: &Registration| found.is_leaving && found.users == 0;
        match &found {
            Found::Current(registered) if is_gone(registered) => {}
            Found::Other(registration) if is_gone(registration) => {}
            _ => all.push(found),
        }
    }
    all.sort_by(|a, b| a.name().cmp(b.name()));
    Ok(all)
}

/// All registrations that this version can read, by name.
pub fn find() -> Result<Vec<Registered>> {
    let current = |found| match found {
        Found::Current(registered) => Some(*registered),
        _ => None,
    };
    Ok(find_all()?.into_iter().filter_map(current).collect())
}

/// All registrations, also of other versions, by name.
pub fn find_registrations() -> Result<Vec<Registration>> {
    let all = find_all()?.into_iter();
    Ok(all.filter_map(Found::registration).collect())
}

/// The registered algorithm of this name, if this version can read it.
///
/// # Errors
/// [`Error::NotLoaded`], [`Error::Foreign`], [`Error::OtherVersion`], [`Error::Damaged`].
pub fn find_one(name: &str) -> Result<Registered> {
    match find_any(name)? {
        Found::Current(registered) => Ok(*registered),
        Found::Other(registration) => Err(registration.other_version()),
        Found::Damaged(error) => Err(error),
    }
}

/// What this project has registered under this name.
///
/// # Errors
/// [`Error::NotLoaded`]; [`Error::Foreign`] if another program has registered the name.
pub fn find_any(name: &str) -> Result<Found> {
    let mut loaded = Vec::new();
    for found in find_all()? {
        let is_leaving = match &found {
            Found::Current(registered) => registered.is_leaving,
            Found::Other(registration) => registration.is_leaving,
            Found::Damaged(_) => false,
        };
        if is_leaving {
            continue;
        }
        if found.name() == name {
            return Ok(found);
        }
        if !matches!(found, Found::Damaged(_)) {
            loaded.push(found.name().into());
        }
    }
    let name = name.to_owned();
    Err(match is_taken(&name)? {
        true => Error::Foreign { name },
        false => Error::NotLoaded { name, loaded },
    })
}

/// Whether the kernel has a congestion control of this name, of this project or of another program.
pub(crate) fn is_taken(name: &str) -> Result<bool> {
    const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let available = read_proc(AVAILABLE)?;
    Ok(available.split_whitespace().any(|taken| taken == name))
}

/// Algorithms of this name that are unloaded and that sockets or namespaces still have: one for each load.
pub fn find_leaving(name: &str) -> Result<Vec<Registered>> {
    let found = find()?.into_iter();
    Ok(found
        .filter(|found| found.name() == name && found.is_leaving())
        .collect())
}

/// Unregisters the algorithms that were loaded for processes which have ended. Returns the names.
pub fn sweep() -> Result<Vec<String>> {
    let mut swept = Vec::new();
    for registered in find()? {
        let Some(owner) = registered.owner else {
            continue;
        };
        if !registered.is_leaving() && !owner.is_alive()? {
            match registered.unregister() {
                Err(Error::NotLoaded { .. } | Error::Foreign { .. }) => {} // unregistered by another process
                result => result.map(|()| swept.push(registered.name().into()))?,
            }
        }
    }
    Ok(swept)
}

impl Registered {
    /// The algorithm: the name in the table.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }
}

impl Registration {
    /// The name of its registration.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The process that it was loaded for, if it is to be unloaded when that process has ended.
    pub fn owner(&self) -> Option<Owner> {
        self.owner
    }

    /// The error of what this version cannot do with a registration of another version.
    pub fn other_version(&self) -> Error {
        Error::OtherVersion {
            name: self.name.clone(),
            found: self.contract,
        }
    }

    /// The id of the struct_ops map, as `bpftool struct_ops` shows it.
    pub fn map_id(&self) -> u32 {
        self.map_id
    }

    /// The ids of its programs, as `bpftool prog` shows them.
    pub fn program_ids(&self) -> &[u32] {
        &self.programs
    }

    /// Whether it was unloaded, and only sockets that have not closed keep it in the kernel.
    pub fn is_leaving(&self) -> bool {
        self.is_leaving
    }

    /// Number of sockets (listeners included) and default settings of network namespaces that used it when it was found.
    pub fn users(&self) -> u64 {
        self.users
    }

    /// The record of a network namespace's default before this algorithm.
    pub(crate) fn default_record(&self, cookie: u64) -> Result<Option<lisa_default>> {
        let value = self.defaults.lookup(&cookie.to_ne_bytes(), MapFlags::ANY);
        let value = value.map_err(Error::bpf(format!("`{}`: defaults", self.name)))?;
        Ok(value.map(|value| contract::read(&value)))
    }

    /// Records the default of a network namespace before this algorithm replaces it.
    pub(crate) fn set_default_record(&self, cookie: u64, record: &lisa_default) -> Result<()> {
        let record = contract::bytes(record);
        self.defaults
            .update(&cookie.to_ne_bytes(), record, MapFlags::ANY)
            .map_err(Error::bpf(format!("`{}`: defaults", self.name)))
    }

    /// Records the algorithm of plain TCP in a network namespace whose default is another algorithm. An existing record keeps its
    /// `previous`.
    pub(crate) fn set_plain_record(&self, cookie: u64, of: &lisa_default) -> Result<()> {
        let mut record = self.default_record(cookie)?.unwrap_or_default();
        record.plain = of.plain;
        self.set_default_record(cookie, &record)
    }

    /// Cookies of the network namespaces that have a record.
    pub(crate) fn default_cookies(&self) -> Vec<u64> {
        let cookie = |key: Vec<u8>| u64::from_ne_bytes(key.try_into().expect("8 bytes"));
        self.defaults.keys().map(cookie).collect()
    }

    /// Number of network namespaces that there is room for in the records.
    pub(crate) fn max_default_records(&self) -> usize {
        self.defaults.max_entries() as usize
    }

    /// Deletes a record. Another process may have deleted it.
    pub(crate) fn delete_default_record(&self, cookie: u64) {
        let _ = self.defaults.delete(&cookie.to_ne_bytes());
    }

    /// Unregisters it, whatever holds it. [`Registration::unload`] checks the holders first.
    ///
    /// # Errors
    /// [`Error::NotLoaded`] or [`Error::Foreign`] if another process has unregistered it in the meantime.
    pub fn unregister(&self) -> Result<()> {
        let Err(error) = self.operations.delete(&0u32.to_ne_bytes()) else {
            return Ok(());
        };
        if is_denied(&error) {
            let what = "unloading an algorithm";
            return Err(Error::not_permitted(what));
        }
        find_any(&self.name)?;
        Err(Error::bpf(format!("unloading `{}`", self.name))(error))
    }
}
