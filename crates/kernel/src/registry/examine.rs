//! Reads a registration: the programs, maps and settings of a struct_ops map.

use super::layout::{IN_USE, Layout};
use super::objects::{self, Program};
use super::{Found, Registered, Registration};
use crate::contract::{self, LISA_CONTRACT, lisa_settings};
use crate::{Error, Result, owner::Owner};
use libbpf_rs::btf::{Btf, types};
use libbpf_rs::{MapCore, MapFlags, MapHandle};
use std::collections::HashMap;
use std::ffi::OsStr;

/// The registration that a struct_ops map is; `None` if it is not one of this project, or was freed meanwhile.
///
/// # Errors
/// What cannot be read is neither damaged nor another program's.
pub(super) fn examine(
    map_id: u32,
    layout: &Layout,
    programs: &HashMap<u32, Program>,
) -> Result<Option<Found>> {
    let Some(operations) = objects::map(map_id)? else {
        return Ok(None);
    };
    let reading = |map: &MapHandle| {
        let name = map.name().to_string_lossy().into_owned();
        Error::bpf(format!("reading BPF map {name}"))
    };
    let value = operations.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
    let Some(value) = value.map_err(reading(&operations))? else {
        return Ok(None);
    };
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
    let init = u64_at(layout.init).and_then(|id| programs.get(&(id as u32)));
    let name = value.get(layout.name..layout.name + 16);
    let (Some(init), Some(name)) = (init, name) else {
        return Ok(None);
    };
    if init.name != "lisa_init" {
        return Ok(None);
    }
    let name = objects::name(name);
    let damaged = |what: &str| Error::Damaged {
        name: name.clone(),
        map_id,
        what: what.into(),
    };

    let mut maps = HashMap::new();
    let mut program_ids = Vec::new();
    // Programs of requests.rs use some of its maps, too.
    let is_callback = |p: &&Program| p.is_callback && shares_maps(p, init);
    for program in programs.values().filter(is_callback) {
        program_ids.push(program.id);
        for &id in &program.maps {
            if let Some(map) = objects::map(id)? {
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
        let value = constants.lookup(&0u32.to_ne_bytes(), MapFlags::ANY);
        let constants = value.map_err(reading(&constants))?;
        let at = settings_offset(init.id)?;
        let settings = constants
            .as_deref()
            .zip(at)
            .and_then(|(constants, at)| constants.get(at..))
            .ok_or_else(|| damaged("it has no settings"))?;
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
    match read {
        Err(damaged @ Error::Damaged { .. }) => Ok(Some(Found::Damaged(damaged))),
        read => read.map(Some),
    }
}

/// Offset of the variable `settings` in a program's section `.rodata`, by the program's BTF; `None` if it has none.
fn settings_offset(program: u32) -> Result<Option<usize>> {
    let btf = Btf::from_prog_id(program);
    let btf = btf.map_err(Error::bpf(format!(
        "reading the BTF of BPF program {program}"
    )))?;
    let Some(section) = btf.type_by_name::<types::DataSec<'_>>(".rodata") else {
        return Ok(None);
    };
    let is_settings = |variable: &types::VarSecInfo| {
        let variable = btf.type_by_id::<types::Var<'_>>(variable.ty);
        variable.is_some_and(|v| v.name() == Some(OsStr::new("settings")))
    };
    let settings = section.iter().find(is_settings);
    Ok(settings.map(|settings| settings.offset as usize))
}

/// Whether two programs belong to one load. Each load has its own maps.
fn shares_maps(a: &Program, b: &Program) -> bool {
    a.maps.iter().any(|id| b.maps.contains(id))
}
