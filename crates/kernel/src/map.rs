//! Entries of BPF maps.

use crate::{Error, Result};
use libbpf_rs::libbpf_sys::bpf_map_batch_opts;
use libbpf_rs::{MapCore, MapHandle};
use std::ffi::c_void;
use std::os::fd::{AsFd, AsRawFd};
use std::ptr;

/// An entry of a map, as bytes.
pub(crate) struct Entry {
    pub(crate) key: Vec<u8>,
    pub(crate) value: Vec<u8>,
}

/// All entries of a hash map that BPF programs change meanwhile. One system call reads up to a thousand.
///
/// (The iterator of libbpf-rs 0.27 takes a batch that is not full for the last one, and an error for the end. But the kernel
/// returns whole buckets, and ends a batch before one that does not fit.)
pub(crate) fn entries(map: &MapHandle, name: &str) -> Result<Vec<Entry>> {
    batches(map, name, libbpf_rs::libbpf_sys::bpf_map_lookup_batch)
}

/// As [`entries`], and deletes them.
pub(crate) fn take_entries(map: &MapHandle, name: &str) -> Result<Vec<Entry>> {
    batches(
        map,
        name,
        libbpf_rs::libbpf_sys::bpf_map_lookup_and_delete_batch,
    )
}

/// `bpf_map_lookup_batch` or `bpf_map_lookup_and_delete_batch`.
type Lookup = unsafe extern "C" fn(
    i32,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut c_void,
    *mut u32,
    *const bpf_map_batch_opts,
) -> i32;

fn batches(map: &MapHandle, name: &str, lookup: Lookup) -> Result<Vec<Entry>> {
    const BATCH: usize = 1024;
    let (key, value) = (map.key_size() as usize, map.value_size() as usize);
    let mut keys = vec![0u8; key * BATCH];
    let mut values = vec![0u8; value * BATCH];
    let (mut from, mut to): (Option<u32>, u32) = (None, 0); // buckets
    let options = bpf_map_batch_opts {
        sz: size_of::<bpf_map_batch_opts>() as _,
        ..Default::default()
    };
    let mut entries = Vec::new();
    loop {
        let mut count = BATCH as u32;
        let start = from.as_mut().map_or(ptr::null_mut(), ptr::from_mut);
        // SAFETY: there is room for `count` keys and values, and a hash map's position is a u32.
        let result = unsafe {
            lookup(
                map.as_fd().as_raw_fd(),
                start.cast(),
                (&raw mut to).cast(),
                keys.as_mut_ptr().cast(),
                values.as_mut_ptr().cast(),
                &mut count,
                &options,
            )
        };
        let last = result == -libc::ENOENT;
        if result == -libc::EINTR {
            continue;
        }
        if result < 0 && !last {
            let error = std::io::Error::from_raw_os_error(-result);
            return Err(Error::io(format!("`{name}`: entries"))(error));
        }
        let found = keys.chunks(key).zip(values.chunks(value));
        entries.extend(found.take(count as usize).map(|(key, value)| Entry {
            key: key.to_vec(),
            value: value.to_vec(),
        }));
        if last {
            return Ok(entries);
        }
        from = Some(to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use libbpf_rs::{MapFlags, MapType};

    /// Nearly as many entries as buckets: many buckets have several, and batches end short of them.
    #[test]
    fn all_entries_of_a_large_map() {
        if !nix::unistd::geteuid().is_root() {
            return eprintln!("skipped: making BPF maps needs root");
        }
        const ENTRIES: u32 = 4096;
        let options = libbpf_rs::libbpf_sys::bpf_map_create_opts {
            sz: size_of::<libbpf_rs::libbpf_sys::bpf_map_create_opts>() as _,
            ..Default::default()
        };
        let map = MapHandle::create(MapType::Hash, Some("t_entries"), 4, 4, ENTRIES, &options);
        let map = map.unwrap();
        for size in [0, 1, 1023, 1024, 1025, ENTRIES] {
            for i in 0..size {
                let (key, value) = (i.to_ne_bytes(), (!i).to_ne_bytes());
                map.update(&key, &value, MapFlags::ANY).unwrap();
            }
            let mut found: Vec<u32> = entries(&map, "t")
                .unwrap()
                .iter()
                .map(|Entry { key, value }| {
                    let [key, value]: [u32; 2] =
                        [key, value].map(|bytes| u32::from_ne_bytes(bytes[..].try_into().unwrap()));
                    assert_eq!(value, !key);
                    key
                })
                .collect();
            found.sort_unstable();
            assert_eq!(found, Vec::from_iter(0..size));
        }
        assert_eq!(take_entries(&map, "t").unwrap().len(), ENTRIES as usize);
        assert!(entries(&map, "t").unwrap().is_empty());
    }
}
