//! Finds what this project has registered with the kernel, by asking the kernel.
//!
//! A registered algorithm is a struct_ops map that the kernel holds. It names its programs, which name the maps that
//! they use, so all of it is reached from the registration itself. Nothing is pinned in a file system that another
//! mount namespace would not see (`ip netns exec` hides /sys/fs/bpf), and nothing can be stale.

use crate::contract::{
    self, LISA_CONTRACT, LISA_FIRST_NAMESPACE, lisa_control, lisa_default, lisa_settings,
};
use crate::holders::{self, DefaultOf};
use crate::requirements::{is_denied, no_struct_ops};
use crate::{Error, Result, default, exec, owner::Owner};
use libbpf_rs::btf::{Btf, types};
use libbpf_rs::query::{MapInfoIter, ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use std::os::unix::ffi::OsStrExt;
use std::{
    collections::HashMap,
    ffi::OsStr,
    thread,
    time::{Duration, Instant},
};

/// An algorithm that this project has registered with the kernel.
#[derive(Debug)]
pub struct Registered {
    name: String,
    algorithm: String,
    owner: Option<Owner>,
    pub(crate) loaded: u64,
    /// Registered still; else unloaded, and kept by sockets that have not closed.
    in_use_only: bool,
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

/// A struct_ops map's value as the kernel shows it: where things are comes from the kernel's BTF.
struct Layout {
    references: usize,
    state: usize,
    name: usize,
    init: usize,
}

/// enum bpf_struct_ops_state: registered.
const IN_USE: u32 = 1;

impl Layout {
    fn read() -> Result<Self> {
        let btf = Btf::from_vmlinux().map_err(Error::bpf("/sys/kernel/btf/vmlinux"))?;
        Self::of(&btf).ok_or_else(no_struct_ops)
    }

    fn of(btf: &Btf<'_>) -> Option<Self> {
        let value = btf.type_by_name::<types::Struct<'_>>("bpf_struct_ops_tcp_congestion_ops")?;
        let operations = btf.type_by_name::<types::Struct<'_>>("tcp_congestion_ops")?;
        let data = offset(&value, "data")?;
        // Before 6.9 refcnt and state stand in the value itself, since then in its member `common`.
        let (at, common) = match offset(&value, "common") {
            Some(at) => (at, btf.type_by_name("bpf_struct_ops_common_value")?),
            None => (0, value),
        };
        Some(Self {
            references: at + offset(&common, "refcnt")?,
            state: at + offset(&common, "state")?,
            name: data + offset(&operations, "name")?,
            init: data + offset(&operations, "init")?,
        })
    }
}

/// The offset of a member, in bytes.
fn offset(structure: &types::Struct<'_>, member: &str) -> Option<usize> {
    let found = structure
        .iter()
        .find(|m| m.name == Some(OsStr::new(member)))?;
    match found.attr {
        types::MemberAttr::Normal { offset } => Some(offset as usize / 8),
        types::MemberAttr::BitField { .. } => None,
    }
}

/// All registrations of this project, by name. One of another contract, or a damaged one, is an `Err`.
pub fn find_all() -> Result<Vec<Result<Registered>>> {
    let layout = Layout::read()?;
    let programs = programs()?;
    let mut found = Vec::new();
    for map in MapInfoIter::default() {
        if map.ty != MapType::StructOps {
            continue;
        }
        match examine(map.id, &layout, &programs) {
            // Unloaded and without users: the kernel is about to free it.
            Some(Ok(registered)) if registered.in_use_only && registered.users == 0 => {}
            // Unloaded, and of another version: it keeps no name, and goes when its sockets close.
            Some(Err(Error::OtherContract { .. })) if !is_registered(map.id, &layout) => {}
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
            Ok(registered) if registered.name == name && !registered.in_use_only => {
                return Ok(registered);
            }
            Ok(registered) => {
                if !registered.in_use_only {
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

/// Algorithms of this name that are unloaded and that sockets or namespaces still have: one for each time that it was loaded.
pub fn find_leaving(name: &str) -> Result<Vec<Registered>> {
    let found = find()?.into_iter();
    Ok(found
        .filter(|found| found.name == name && found.in_use_only)
        .collect())
}

/// Unloads what was loaded for processes that are gone. Returns the names.
pub fn sweep() -> Result<Vec<String>> {
    let mut swept = Vec::new();
    for registered in find()? {
        if !registered.in_use_only && registered.owner.is_some_and(|owner| !owner.is_alive()) {
            match registered.unregister() {
                Err(Error::NotLoaded { .. }) => {} // swept by another
                result => result.map(|()| swept.push(registered.name))?,
            }
        }
    }
    Ok(swept)
}

/// Every BPF program that is loaded, by id, with the maps that it uses.
fn programs() -> Result<HashMap<u32, ProgramInfo>> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let mut first = 0;
    // The iterator returns nothing both without programs and without permission. SAFETY: the kernel writes one u32.
    let asked = unsafe { libbpf_rs::libbpf_sys::bpf_prog_get_next_id(0, &mut first) };
    if asked == -libc::EPERM {
        return Err(Error::NotPermitted {
            what: "looking at loaded algorithms",
        });
    }
    Ok(ProgInfoIter::with_query_opts(options)
        .map(|program| (program.id, program))
        .collect())
}

/// Whether a struct_ops map holds a registration: no other algorithm can have its name.
fn is_registered(map_id: u32, layout: &Layout) -> bool {
    let map = MapHandle::from_map_id(map_id).ok();
    let value = map.and_then(|map| {
        map.lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
            .ok()
            .flatten()
    });
    let state = value
        .as_deref()
        .and_then(|value| value.get(layout.state..layout.state + 4));
    state.is_some_and(|state| state == IN_USE.to_ne_bytes())
}

/// What a struct_ops map is: ours, or `None`.
fn examine(
    map_id: u32,
    layout: &Layout,
    programs: &HashMap<u32, ProgramInfo>,
) -> Option<Result<Registered>> {
    let operations = MapHandle::from_map_id(map_id).ok()?;
    let value = operations
        .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
        .ok()??;
    let word = |at: usize| {
        value
            .get(at..at + 8)
            .map(|w| u64::from_ne_bytes(w.try_into().unwrap()))
    };
    let half = |at: usize| {
        value
            .get(at..at + 4)
            .map(|w| u32::from_ne_bytes(w.try_into().unwrap()))
    };
    let name = value.get(layout.name..layout.name + 16)?;
    let name: String = name
        .iter()
        .take_while(|&&c| c != 0)
        .map(|&c| char::from(c))
        .collect();
    let init = programs.get(&(word(layout.init)? as u32))?;
    if init.name.as_bytes() != b"lisa_init" {
        return None;
    }
    let damaged = |what: &str| Error::Damaged {
        name: name.clone(),
        map_id,
        what: what.into(),
    };

    let mut maps = HashMap::new();
    let mut program_ids = Vec::new();
    for program in programs.values().filter(|p| shares_maps(p, init)) {
        program_ids.push(program.id);
        for &id in &program.map_ids {
            if let Ok(map) = MapHandle::from_map_id(id) {
                maps.insert(map.name().to_string_lossy().into_owned(), map);
            }
        }
    }
    program_ids.sort_unstable();
    let mut take = |suffix: &str| {
        let key = maps.keys().find(|name| name.ends_with(suffix)).cloned();
        key.and_then(|key| maps.remove(&key))
            .ok_or_else(|| damaged(&format!("no map `{suffix}`")))
    };
    Some((|| {
        let constants = take(".rodata")?;
        let constants = constants
            .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
            .ok()
            .flatten();
        let at = settings_offset(init.id);
        let settings = constants
            .as_deref()
            .zip(at)
            .and_then(|(constants, at)| constants.get(at..))
            .ok_or_else(|| damaged("its settings cannot be read"))?;
        let found = settings
            .get(..4)
            .map_or(0, |c| u32::from_ne_bytes(c.try_into().unwrap()));
        if found != LISA_CONTRACT {
            return Err(Error::OtherContract {
                name: name.clone(),
                found,
                map_id,
            });
        }
        if settings.len() < size_of::<lisa_settings>() {
            return Err(damaged("its settings are cut short"));
        }
        let settings: lisa_settings = contract::read(settings);
        let in_use = half(layout.state) == Some(IN_USE);
        let references = half(layout.references).unwrap_or(0);
        Ok(Registered {
            algorithm: contract::text(&settings.algorithm),
            owner: Owner::of(&settings),
            loaded: settings.loaded,
            in_use_only: !in_use,
            // While it is registered, one is the registration's own.
            users: references.saturating_sub(in_use.into()).into(),
            map_id,
            connections: take("connections")?,
            subflows: take("subflows")?,
            events: take("events")?,
            totals: take(".bss")?,
            control: take(".control")?,
            defaults: take("defaults")?,
            settings: mpcc::Settings::from_values(settings.setting),
            programs: program_ids,
            operations,
            name: name.clone(),
        })
    })())
}

/// Where a program's constants have its settings, by its BTF: the offset of the variable `settings` in the section `.rodata`.
fn settings_offset(program: u32) -> Option<usize> {
    let btf = Btf::from_prog_id(program).ok()?;
    let section = btf.type_by_name::<types::DataSec<'_>>(".rodata")?;
    let is_settings = |variable: &types::VarSecInfo| {
        let variable = btf.type_by_id::<types::Var<'_>>(variable.ty);
        variable.is_some_and(|v| v.name() == Some(OsStr::new("settings")))
    };
    let settings = section.iter().find(is_settings)?;
    Some(settings.offset as usize)
}

/// Whether two programs belong to one load: each load has its own maps.
fn shares_maps(a: &ProgramInfo, b: &ProgramInfo) -> bool {
    a.map_ids.iter().any(|id| b.map_ids.contains(id))
}

/// Result of [`Registered::unload`].
#[derive(Debug)]
pub struct Unloaded {
    /// Whether the programs of `lisa kernel exec` agree with the loaded algorithms again.
    pub exec: Result<()>,
    /// The default that this network namespace has again.
    pub restored: Option<String>,
    /// Sockets and namespaces that still had it when the waiting ended.
    pub left: u64,
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

    /// The process with whose end it is to be unloaded, if there is one.
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

    /// Whether it was unloaded, and only sockets that have not closed keep it.
    pub fn is_leaving(&self) -> bool {
        self.in_use_only
    }

    /// Sockets (listening ones too) and default settings of network namespaces that used it when it was found.
    pub fn users(&self) -> u64 {
        self.users
    }

    /// Connections that can be coupled at a time.
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

    /// What a network namespace had as default before.
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

    /// Records what plain TCP has in a network namespace whose default is another algorithm. `previous` of a record that is there
    /// stays.
    pub(crate) fn set_plain_record(&self, cookie: u64, of: &lisa_default) -> Result<()> {
        let mut record = self.default_record(cookie)?.unwrap_or_default();
        record.plain = of.plain;
        self.set_default_record(cookie, &record)
    }

    /// Copies the records of namespaces whose default is another algorithm of this project: see [`default::make`].
    pub(crate) fn copy_default_records(&self) -> Result<()> {
        for other in find()?.iter().filter(|other| other.map_id != self.map_id) {
            for cookie in other.defaults.keys().collect::<Vec<_>>() {
                let cookie = u64::from_ne_bytes(cookie.try_into().expect("8 bytes"));
                if let Some(record) = other.default_record(cookie)? {
                    self.set_plain_record(cookie, &record)?;
                }
            }
        }
        Ok(())
    }

    /// Once half of the records are used, deletes those of namespaces that do not have it as default, or are gone.
    pub(crate) fn make_room_for_a_record(&self) -> Result<()> {
        let keys: Vec<Vec<u8>> = self.defaults.keys().collect();
        if keys.len() < self.defaults.max_entries() as usize / 2 {
            return Ok(());
        }
        let defaults = holders::find()?.of(self).defaults;
        let needed = |key: &[u8]| {
            let cookie = u64::from_ne_bytes(key.try_into().expect("8 bytes"));
            cookie == LISA_FIRST_NAMESPACE.into() || defaults.iter().any(|d| d.cookie == cookie)
        };
        for key in keys.iter().filter(|key| !needed(key)) {
            let _ = self.defaults.delete(key); // another command may have done it
        }
        Ok(())
    }

    /// Unregisters it: no socket can choose it any more, and those that have it keep it until they close. Where it is this
    /// namespace's default by [`default::make`], the default from before is set again.
    ///
    /// Nothing is changed and [`Error::InUse`] says why where it is the default of another namespace, which would hand it to
    /// new sockets all the same; or where sockets have it, unless `wait` is given. `wait` is then called about ten times a
    /// second with the number of references, until there are none or it returns false.
    pub fn unload(&self, wait: Option<&mut dyn FnMut(u64) -> bool>) -> Result<Unloaded> {
        let restored = default::restore(self)?;
        if let Err(error) = self.check_holders(wait.is_some()) {
            if restored.is_some() {
                default::set(&self.name)?;
            }
            return Err(error);
        }
        self.unregister()?;
        let exec = match self.owner {
            None => exec::cgroup::programs::after_unload(),
            Some(_) => Ok(()),
        };
        let left = match wait {
            Some(wait) => self.wait(wait)?,
            None => 0,
        };
        Ok(Unloaded {
            exec,
            restored,
            left,
        })
    }

    /// Waits for the last socket of an algorithm that is not registered any more, as [`Registered::unload`] does. Returns the
    /// references that are left.
    pub fn wait(&self, wait: &mut dyn FnMut(u64) -> bool) -> Result<u64> {
        loop {
            let next = Instant::now() + Duration::from_millis(100);
            let left = self.references_now()?;
            if left == 0 || !wait(left) {
                return Ok(left);
            }
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }

    /// Sockets and namespaces that have it at this moment.
    fn references_now(&self) -> Result<u64> {
        let all = find()?;
        let this = all.iter().find(|found| found.map_id == self.map_id);
        Ok(this.map_or(0, Registered::users))
    }

    /// Whether it may be unregistered: see [`Registered::unload`]. A socket that was just closed, and a namespace that was just
    /// deleted, are given the moment that the kernel takes to free them.
    fn check_holders(&self, waits: bool) -> Result<()> {
        let deadline = Instant::now() + Duration::from_secs(2);
        loop {
            let this = find_one(&self.name)?;
            if this.users == 0 {
                return Ok(());
            }
            let holders = holders::find()?.of(&this);
            let lasting = |default: &&DefaultOf| !default.ends;
            // One that nothing leads into gets no new sockets, and no command can change its default.
            let assigns_it = |default: &DefaultOf| default.netns.can_be_entered() || !waits;
            if !holders.defaults.iter().filter(lasting).any(assigns_it) && waits {
                return Ok(());
            }
            if !holders.are_passing() || Instant::now() > deadline {
                return Err(Error::InUse {
                    name: self.name.clone(),
                    holders: Box::new(holders),
                });
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Unregisters it, whatever holds it: see [`Registered::unload`], which looks first.
    ///
    /// # Errors
    /// [`Error::NotLoaded`] where another has done it in the meantime.
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
