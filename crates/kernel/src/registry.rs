//! Finds what this project has registered with the kernel, by asking the kernel.
//!
//! A registered algorithm is a struct_ops map that the kernel holds. It names its programs, which name the maps that
//! they use, so all of it is reached from the registration itself. Nothing is pinned in a file system that another
//! mount namespace would not see (`ip netns exec` hides /sys/fs/bpf), and nothing can be stale.

use crate::contract::{self, LISA_CONTRACT, lisa_control, lisa_settings};
use crate::requirements::{is_denied, no_struct_ops};
use crate::{Error, Result, default, owner::Owner};
use libbpf_rs::btf::{Btf, types};
use libbpf_rs::query::{MapInfoIter, ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{MapCore, MapFlags, MapHandle, MapType};
use std::os::unix::ffi::OsStrExt;
use std::{
    collections::HashMap,
    ffi::OsStr,
    io, thread,
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

/// Everything of ours that is registered, by name. What is of another contract or damaged is an error of its own.
pub fn find_all() -> Result<Vec<Result<Registered>>> {
    let layout = Layout::read()?;
    let programs = programs()?;
    let mut found = Vec::new();
    for map in MapInfoIter::default() {
        if map.ty != MapType::StructOps {
            continue;
        }
        match examine(map.id, &layout, &programs) {
            // Unloaded, and nobody keeps it: the kernel is about to free it.
            Some(Ok(registered)) if registered.in_use_only && registered.users == 0 => {}
            Some(registered) => found.push(registered),
            None => {}
        }
    }
    found.sort_by_key(|found| found.as_ref().map_or(String::new(), |r| r.name.clone()));
    Ok(found)
}

/// What of ours is registered and readable, by name.
pub fn find() -> Result<Vec<Registered>> {
    Ok(find_all()?.into_iter().flatten().collect())
}

/// The registered algorithm of this name.
///
/// # Errors
/// [`Error::NotLoaded`] where there is none; what is of another contract or damaged says so.
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
    // The iterator does not tell "none" from "not for you". SAFETY: the kernel writes one u32.
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
        let settings = take(".rodata")?;
        let settings = settings
            .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
            .ok()
            .flatten()
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
        let settings: lisa_settings = contract::read(&settings);
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
            programs: program_ids,
            operations,
            name: name.clone(),
        })
    })())
}

/// Whether two programs belong to one load: each load has its own maps.
fn shares_maps(a: &ProgramInfo, b: &ProgramInfo) -> bool {
    a.map_ids.iter().any(|id| b.map_ids.contains(id))
}

impl Registered {
    /// The name that the kernel knows it by.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The algorithm: the name in the table.
    pub fn algorithm(&self) -> &str {
        &self.algorithm
    }

    /// The process for whose lifetime it was loaded, if for one.
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

    pub(crate) fn control(&self) -> Result<lisa_control> {
        let value = self.control.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        match value.map_err(Error::bpf(format!("`{}`: control", self.name)))? {
            Some(value) if value.len() >= size_of::<lisa_control>() => Ok(contract::read(&value)),
            _ => Err(Error::Damaged {
                name: self.name.clone(),
                map_id: self.map_id,
                what: "its control cannot be read".into(),
            }),
        }
    }

    pub(crate) fn set_control(&self, control: &lisa_control) -> Result<()> {
        self.control
            .update(&0u32.to_ne_bytes(), contract::bytes(control), MapFlags::ANY)
            .map_err(Error::bpf(format!("`{}`: control", self.name)))
    }

    /// Makes it the default of this network namespace, and remembers what was.
    pub(crate) fn make_default(&self) -> Result<()> {
        let mut control = self.control()?;
        let previous = default::get()?;
        control.default_netns = default::netns()?;
        contract::set_text(&mut control.previous_default, &previous);
        self.set_control(&control)?;
        default::set(&self.name)
    }

    /// The network namespace whose default it was made when it was loaded, and what was before it there.
    pub fn made_default(&self) -> Result<Option<(u32, String)>> {
        let control = self.control()?;
        let previous = contract::text(&control.previous_default);
        Ok((control.default_netns != 0).then_some((control.default_netns, previous)))
    }

    /// Gives this network namespace the default that it had before, if it still has this one. True if it did.
    fn restore_default(&self) -> Result<bool> {
        let Some((netns, previous)) = self.made_default()? else {
            return Ok(false);
        };
        if netns != default::netns()? {
            // Still so there, or long changed? That namespace's reference says.
            return Err(Error::DefaultElsewhere {
                name: self.name.clone(),
                netns,
            });
        }
        if default::get()? != self.name {
            return Ok(false);
        }
        match default::set(&previous) {
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Err(Error::PreviousGone {
                    name: self.name.clone(),
                    previous,
                })
            }
            set => set.map(|()| true),
        }
    }

    /// Unregisters it: no socket can choose it any more, and those that have it keep it until they close.
    ///
    /// Where sockets use it, nothing is changed and [`Error::InUse`] says how many; unless `wait` is given, which
    /// is then called about ten times a second with their number, until there are none or it returns false.
    pub fn unload(self, wait: Option<&mut dyn FnMut(u64) -> bool>) -> Result<()> {
        let restored = match self.restore_default() {
            Err(Error::DefaultElsewhere { .. }) if self.users() == 0 => false,
            restored => restored?,
        };
        let users = find_one(&self.name)?.users();
        let Some(wait) = wait else {
            if users > 0 {
                if restored {
                    default::set(&self.name)?;
                }
                return Err(Error::InUse {
                    name: self.name,
                    users,
                });
            }
            return self.unregister();
        };
        self.unregister()?;
        let mut left = users;
        while left > 0 && wait(left) {
            let next = Instant::now() + Duration::from_millis(100);
            left = find()?
                .iter()
                .find(|found| found.map_id == self.map_id)
                .map_or(0, Registered::users);
            thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        Ok(())
    }

    /// # Errors
    /// [`Error::NotLoaded`] where another has done it in the meantime.
    fn unregister(&self) -> Result<()> {
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
