//! The loaded BPF programs and struct_ops maps, by their ids (bpf(2)). An object that is freed meanwhile is left out; every other
//! failure is an error, because a list that lacks an object looks like a list of a kernel that does not have it. (The iterators of
//! libbpf-rs end at the first failure.)

use crate::{Error, Result};
use libbpf_rs::libbpf_sys::{
    BPF_MAP_TYPE_STRUCT_OPS, BPF_PROG_TYPE_STRUCT_OPS, bpf_map_get_fd_by_id, bpf_map_get_next_id,
    bpf_map_info, bpf_obj_get_info_by_fd, bpf_prog_get_fd_by_id, bpf_prog_get_next_id,
    bpf_prog_info,
};
use libbpf_rs::{ErrorKind, MapHandle};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};

/// A loaded program.
pub(super) struct Program {
    pub(super) id: u32,
    pub(super) name: String,
    /// A callback of a struct_ops.
    pub(super) is_callback: bool,
    /// The maps that it uses.
    pub(super) maps: Vec<u32>,
}

/// Every loaded program, by its id.
pub(super) fn programs() -> Result<HashMap<u32, Program>> {
    let mut found = HashMap::new();
    let mut at = 0;
    // SAFETY: the kernel writes one u32.
    while let Some(id) = next(&mut at, |at, to| unsafe { bpf_prog_get_next_id(at, to) })? {
        // SAFETY: the kernel returns a new descriptor.
        if let Some(program) = by_id("program", id, |id| unsafe { bpf_prog_get_fd_by_id(id) })? {
            found.insert(id, read_program(id, &program)?);
        }
    }
    Ok(found)
}

fn read_program(id: u32, program: &OwnedFd) -> Result<Program> {
    let mut info = bpf_prog_info::default();
    read_info(program, &mut info, "program", id)?;
    // As many as the first call reports: a program's maps do not change.
    let mut maps = vec![0u32; info.nr_map_ids as usize];
    let mut with_maps = bpf_prog_info {
        nr_map_ids: maps.len() as u32,
        map_ids: maps.as_mut_ptr() as u64,
        ..Default::default()
    };
    read_info(program, &mut with_maps, "program", id)?;
    Ok(Program {
        id,
        name: name(&info.name.map(|c| c as u8)),
        is_callback: info.type_ == BPF_PROG_TYPE_STRUCT_OPS,
        maps,
    })
}

/// Ids of all struct_ops maps.
pub(super) fn struct_ops() -> Result<Vec<u32>> {
    let mut found = Vec::new();
    let mut at = 0;
    // SAFETY: the kernel writes one u32.
    while let Some(id) = next(&mut at, |at, to| unsafe { bpf_map_get_next_id(at, to) })? {
        // SAFETY: the kernel returns a new descriptor.
        if let Some(map) = by_id("map", id, |id| unsafe { bpf_map_get_fd_by_id(id) })? {
            let mut info = bpf_map_info::default();
            read_info(&map, &mut info, "map", id)?;
            if info.type_ == BPF_MAP_TYPE_STRUCT_OPS {
                found.push(id);
            }
        }
    }
    Ok(found)
}

/// The map of this id; `None` if it was freed.
pub(super) fn map(id: u32) -> Result<Option<MapHandle>> {
    match MapHandle::from_map_id(id) {
        Ok(map) => Ok(Some(map)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::bpf(format!("opening BPF map {id}"))(error)),
    }
}

/// The id after `at`, which it replaces; `None` after the last one.
fn next(at: &mut u32, get: impl FnOnce(u32, &mut u32) -> i32) -> Result<Option<u32>> {
    let mut id = 0;
    match -get(*at, &mut id) {
        0 => {
            *at = id;
            Ok(Some(id))
        }
        libc::ENOENT => Ok(None),
        errno => Err(failed("listing the loaded algorithms".into(), errno)),
    }
}

/// A descriptor of the object of this id; `None` if it was freed.
fn by_id(kind: &str, id: u32, open: impl FnOnce(u32) -> i32) -> Result<Option<OwnedFd>> {
    match open(id) {
        // SAFETY: the descriptor is new and has no other owner.
        fd @ 0.. => Ok(Some(unsafe { OwnedFd::from_raw_fd(fd) })),
        error if error == -libc::ENOENT => Ok(None),
        error => Err(failed(format!("opening BPF {kind} {id}"), -error)),
    }
}

/// Fills in a `bpf_prog_info` or a `bpf_map_info`.
fn read_info<I>(object: &OwnedFd, info: &mut I, kind: &str, id: u32) -> Result<()> {
    let mut size = size_of::<I>() as u32;
    // SAFETY: the kernel writes at most `size` bytes to `info`, which has as many.
    let result = unsafe {
        bpf_obj_get_info_by_fd(
            object.as_raw_fd(),
            std::ptr::from_mut(info).cast(),
            &raw mut size,
        )
    };
    match result {
        0.. => Ok(()),
        error => Err(failed(format!("reading BPF {kind} {id}"), -error)),
    }
}

fn failed(what: String, errno: i32) -> Error {
    match errno {
        libc::EPERM => Error::not_permitted("listing the loaded algorithms"),
        _ => Error::io(what)(io::Error::from_raw_os_error(errno)),
    }
}

/// The text before the first zero.
pub(super) fn name(bytes: &[u8]) -> String {
    let text = bytes.iter().take_while(|&&c| c != 0);
    text.map(|&c| char::from(c)).collect()
}
