//! Reads a registration: the programs, maps and settings of a struct_ops map.

use super::layout::{IN_USE, Layout};
use super::{Found, Registered, Registration};
use crate::contract::{self, LISA_CONTRACT, lisa_settings};
use crate::{Error, Result, owner::Owner};
use libbpf_rs::btf::{Btf, types};
use libbpf_rs::query::{ProgInfoIter, ProgInfoQueryOptions, ProgramInfo};
use libbpf_rs::{MapCore, MapFlags, MapHandle, ProgramType};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// Every loaded BPF program, by id, with the maps that it uses.
pub(super) fn programs() -> Result<HashMap<u32, ProgramInfo>> {
    let options = ProgInfoQueryOptions::default().include_map_ids(true);
    let mut first = 0;
    // The iterator returns nothing both without programs and without permission.
    // SAFETY: the kernel writes one u32.
    let result = unsafe { libbpf_rs::libbpf_sys::bpf_prog_get_next_id(0, &mut first) };
    if result == -libc::EPERM {
        return Err(Error::not_permitted("listing the loaded algorithms"));
    }
    Ok(ProgInfoIter::with_query_opts(options)
        .map(|program| (program.id, program))
        .collect())
}

/// The registration that a struct_ops map is; `None` if it is not one of this project.
pub(super) fn examine(
    map_id: u32,
    layout: &Layout,
    programs: &HashMap<u32, ProgramInfo>,
) -> Option<Found> {
    let operations = MapHandle::from_map_id(map_id).ok()?;
    let value = operations
        .lookup(&0u32.to_ne_bytes(), MapFlags::ANY)
        .ok()??;
    let u64_at = |at: usize| {
        value
            .get(at..at + 8)
            .map(|bytes| u64::from_ne_bytes(bytes.try_into().unwrap()))
    };
    let u32_at = |at: usize| {
        value
            .get(at..at + 4)
            .map(|bytes| u32::from_ne_bytes(bytes.try_into().unwrap()))
    };
    let name = value.get(layout.name..layout.name + 16)?;
    let name: String = name
        .iter()
        .take_while(|&&c| c != 0)
        .map(|&c| char::from(c))
        .collect();
    let init = programs.get(&(u64_at(layout.init)? as u32))?;
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
    // Programs of requests.rs use some of its maps, too.
    let is_callback = |p: &&ProgramInfo| p.ty == ProgramType::StructOps && shares_maps(p, init);
    for program in programs.values().filter(is_callback) {
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
    let read = (|| {
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
        let contract = settings
            .get(..4)
            .map_or(0, |c| u32::from_ne_bytes(c.try_into().unwrap()));
        let in_use = u32_at(layout.state) == Some(IN_USE);
        let references = u32_at(layout.references).unwrap_or(0);
        let mut registration = Registration {
            name: name.clone(),
            contract,
            owner: None,
            is_leaving: !in_use,
            // One reference is that of the registration itself.
            users: references.saturating_sub(in_use.into()).into(),
            operations,
            map_id,
            // Its layout is the same in all versions.
            defaults: take("defaults")?,
            programs: program_ids,
        };
        if contract != LISA_CONTRACT {
            return Ok(Found::Other(registration));
        }
        if settings.len() < size_of::<lisa_settings>() {
            return Err(damaged("its settings are cut short"));
        }
        let settings: lisa_settings = contract::read(settings);
        registration.owner = Owner::of(&settings);
        Ok(Found::Current(Box::new(Registered {
            registration,
            algorithm: contract::text(&settings.algorithm),
            loaded: settings.loaded,
            connections: take("connections")?,
            subflows: take("subflows")?,
            rings: take("rings")?,
            control: take(".control")?,
            namespaces: take("namespaces")?,
            totals: take(".totals")?,
            limits: take(".limits")?,
            usage: take(".usage")?,
            switch: take(".switch")?,
            object: settings.object,
            keeps_plain: settings.keeps_plain != 0,
        })))
    })();
    Some(read.unwrap_or_else(Found::Damaged))
}

/// Offset of the variable `settings` in a program's section `.rodata`, by the program's BTF.
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

/// Whether two programs belong to one load. Each load has its own maps.
fn shares_maps(a: &ProgramInfo, b: &ProgramInfo) -> bool {
    a.map_ids.iter().any(|id| b.map_ids.contains(id))
}
