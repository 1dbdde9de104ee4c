//! Layout of a struct_ops map's value, by the kernel's BTF.

use crate::Result;
use crate::requirements::{kernel_btf, no_struct_ops};
use libbpf_rs::btf::{Btf, types};
use std::{ffi::OsStr, sync::OnceLock};

/// Offsets of fields in the value of a struct_ops map, bytes.
pub(super) struct Layout {
    pub(super) references: usize,
    pub(super) state: usize,
    pub(super) name: usize,
    pub(super) init: usize,
}

/// BPF_STRUCT_OPS_STATE_INUSE (enum bpf_struct_ops_state): registered.
pub(super) const IN_USE: u32 = 1;

impl Layout {
    /// The running kernel's. Reading its BTF takes milliseconds, and it cannot change.
    pub(super) fn read() -> Result<&'static Self> {
        static LAYOUT: OnceLock<Layout> = OnceLock::new();
        if let Some(layout) = LAYOUT.get() {
            return Ok(layout);
        }
        let btf = kernel_btf()?;
        let layout = Self::of(&btf).ok_or_else(no_struct_ops)?;
        Ok(LAYOUT.get_or_init(|| layout))
    }

    fn of(btf: &Btf<'_>) -> Option<Self> {
        let value = btf.type_by_name::<types::Struct<'_>>("bpf_struct_ops_tcp_congestion_ops")?;
        let operations = btf.type_by_name::<types::Struct<'_>>("tcp_congestion_ops")?;
        let data = offset(&value, "data")?;
        // Before Linux 6.9 `refcnt` and `state` are members of the value, since then of its member `common`.
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
