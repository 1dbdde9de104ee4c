//! Settings of algorithms: data in `cc/`.

use crate::ffi;
use core::ops::RangeInclusive;

/// A setting of an algorithm (`struct mpcc_setting`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name, as in `--set NAME=VALUE`.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Allowed values.
    pub range: RangeInclusive<u32>,
    /// Value if none is given.
    pub standard: u32,
    /// Meaning, in one line.
    pub about: &'static str,
    /// Index in `mpcc_connection.setting`.
    pub(crate) index: usize,
}

impl Setting {
    pub(crate) fn new(raw: &ffi::mpcc_setting, index: usize) -> Option<Self> {
        (!raw.name.is_null()).then(|| Self {
            name: ffi::text(raw.name),
            unit: ffi::text(raw.unit),
            range: raw.min..=raw.max,
            standard: raw.standard,
            about: ffi::text(raw.about),
            index,
        })
    }
}
