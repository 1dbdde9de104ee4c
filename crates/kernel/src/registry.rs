//! The registered algorithms of this project, found through the kernel.
//!
//! A registered algorithm is a struct_ops map that the kernel holds. The map has the ids of its programs, and the programs have
//! the ids of the maps that they use, so the registration leads to all of them. Nothing is pinned in a file system, which
//! another mount namespace would hide (`ip netns exec` hides /sys/fs/bpf), and nothing can be stale.

mod examine;
mod layout;

use crate::contract::{self, lisa_control, lisa_default};
use crate::requirements::is_denied;
use crate::{Error, Result, owner::Owner};
use layout::Layout;
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};

/// An algorithm that this project has registered with the kernel.
#[derive(Debug)]
pub struct Registered {
    name: String,
    algorithm: String,
    owner: Option<Owner>,
    pub(crate) loaded: u64,
    /// Unloaded, and kept in the kernel by sockets that have not closed.
    is_leaving: bool,
    users: u64,
    operations: MapHandle,
    map_id: u32,
    pub(crate) connections: MapHandle,
    pub(crate) subflows: MapHandle,
    pub(crate) events: MapHandle,
    pub(crate) totals: MapHandle,
    control: MapHandle,
    defaults: MapHandle,
    settings: mpcc::Settings,
    programs: Vec<u32>,
}

/// All registrations of this project, by name. A registration of another contract, or a damaged one, is an `Err`.
pub fn find_all() -> Result<Vec<Result<Registered>>> {
    let layout = Layout::read()?;
    let programs = examine::programs()?;
    let mut found = Vec::new();
    for map in MapInfoIter::default() {
        if map.ty != MapType::StructOps {
            continue;
        }
        match examine::examine(map.id, &layout, &programs) {
            // Unloaded and without users: the kernel is about to free it.
            Some(Ok(registered)) if registered.is_leaving && registered.users == 0 => {}
            // Unloaded, and of another version: it occupies no name, and the kernel frees it when its sockets close.
            Some(Err(Error::OtherContract { .. })) if !layout.is_registered(map.id) => {}
            Some(registered) => found.push(registered),
            None => {}
        }
    }
    found.sort_by_key(|found| found.as_ref().map_or(String::new(), |r| r.name.clone()));
    Ok(found)
}

/// All readable registrations of this project, by name.
pub fn find() -> Result<Vec<Registered>> {
    Ok(find_all()?.into_iter().flatten().collect())
}

/// The registered algorithm of this name.
///
/// # Errors
/// [`Error::NotLoaded`] if there is none; other errors if it has another contract or is damaged.
pub fn find_one(name: &str) -> Result<Registered> {
    let mut loaded = Vec::new();
    for found in find_all()? {
        match found {
            Ok(registered) if registered.name == name && !registered.is_leaving => {
                return Ok(registered);
            }
            Ok(registered) => {
                if !registered.is_leaving {
                    loaded.push(registered.name);
                }
            }
            Err(error) => match &error {
                Error::OtherContract { name: other, .. } | Error::Damaged { name: other, .. }
                    if other == name =>
                {
                    return Err(error);
                }
                _ => {}
            },
        }
    }
    Err(Error::NotLoaded {
        name: name.into(),
        loaded,
    })
}

/// Algorithms of this name that are unloaded and that sockets or namespaces still have: one for each load.
pub fn find_leaving(name: &str) -> Result<Vec<Registered>> {
    let found = find()?.into_iter();
    Ok(found
        .filter(|found| found.name == name && found.is_leaving)
        .collect())
}

/// Unregisters the algorithms that were loaded for processes which have ended. Returns the names.
pub fn sweep() -> Result<Vec<String>> {
    let mut swept = Vec::new();
    for registered in find()? {
        if !registered.is_leaving && registered.owner.is_some_and(|owner| !owner.is_alive()) {
            match registered.unregister() {
                Err(Error::NotLoaded { .. }) => {} // unregistered by another process
                result => result.map(|()| swept.push(registered.name))?,
            }
        }
    }
    Ok(swept)
}

impl Registered {
    /// The name of its registration.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The algorithm: the name in the table.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// The process that it was loaded for, if it is to be unloaded when that process has ended.
    pub fn owner(&self) -> Option<Owner> {
        self.owner
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

    /// Number of connections that can be coupled at a time.
    pub fn max_connections(&self) -> u32 {
        self.connections.max_entries()
    }

    /// Values of the algorithm's settings.
    pub fn settings(&self) -> &mpcc::Settings {
        &self.settings
    }

    /// Replaces the listener's request. The listener is the only writer.
    pub(crate) fn set_control(&self, control: &lisa_control) -> Result<()> {
        self.control
            .update(&0u32.to_ne_bytes(), contract::bytes(control), MapFlags::ANY)
            .map_err(Error::bpf(format!("`{}`: control", self.name)))
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

    /// Unregisters it, whatever holds it. [`Registered::unload`] checks the holders first.
    ///
    /// # Errors
    /// [`Error::NotLoaded`] if another process has unregistered it in the meantime.
    pub fn unregister(&self) -> Result<()> {
        let Err(error) = self.operations.delete(&0u32.to_ne_bytes()) else {
            return Ok(());
        };
        if is_denied(&error) {
            let what = "unloading an algorithm";
            return Err(Error::NotPermitted { what });
        }
        find_one(&self.name)?;
        Err(Error::bpf(format!("unloading `{}`", self.name))(error))
    }
}
