//! Settings of algorithms: data in `cc/`, values in a connection.

use crate::{Algorithm, ffi};
use core::fmt;
use core::ops::RangeInclusive;

/// A setting that an algorithm has (`struct mpcc_setting`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name, as in `--set NAME=VALUE`.
    pub name: &'static str,
    /// Unit of the value.
    pub unit: &'static str,
    /// Values that it may have.
    pub range: RangeInclusive<u32>,
    /// Value if none is given.
    pub standard: u32,
    /// Meaning, in one line.
    pub about: &'static str,
    index: usize,
}

impl Setting {
    pub(crate) fn new(raw: &ffi::mpcc_setting, index: usize) -> Option<Self> {
        (!raw.name.is_null()).then(|| Self {
            name: crate::algorithm::text(raw.name),
            unit: crate::algorithm::text(raw.unit),
            range: raw.min..=raw.max,
            standard: raw.standard,
            about: crate::algorithm::text(raw.about),
            index,
        })
    }
}

/// Values of an algorithm's settings, for one connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings([u32; ffi::MPCC_SETTINGS as usize]);

impl Settings {
    /// The standard values of this algorithm.
    pub fn standard(algorithm: Algorithm) -> Self {
        let mut settings = Self::default();
        for setting in algorithm.settings() {
            settings.0[setting.index] = setting.standard;
        }
        settings
    }

    /// The values in the order of `mpcc_connection.setting`, as [`Settings::values`] returns them.
    pub fn from_values(values: [u32; ffi::MPCC_SETTINGS as usize]) -> Self {
        Self(values)
    }

    /// Sets one value.
    ///
    /// # Errors
    /// [`SettingError`] if the algorithm has no such setting, or the value is out of its range.
    pub fn set(
        &mut self,
        algorithm: Algorithm,
        name: &str,
        value: u32,
    ) -> Result<(), SettingError> {
        let found = algorithm.settings().find(|setting| setting.name == name);
        let setting = found.ok_or(SettingError::Unknown(algorithm))?;
        if !setting.range.contains(&value) {
            return Err(SettingError::OutOfRange(setting));
        }
        self.0[setting.index] = value;
        Ok(())
    }

    /// The value of a setting of this algorithm; `None` if it has no such setting.
    pub fn get(&self, algorithm: Algorithm, name: &str) -> Option<u32> {
        let setting = algorithm.settings().find(|setting| setting.name == name)?;
        Some(self.0[setting.index])
    }

    /// The values in the order of `mpcc_connection.setting`.
    pub fn values(&self) -> [u32; ffi::MPCC_SETTINGS as usize] {
        self.0
    }
}

/// Why a setting cannot be set.
#[derive(Clone, Debug)]
pub enum SettingError {
    /// The algorithm has no setting of this name.
    Unknown(Algorithm),
    /// The value is out of range.
    OutOfRange(Setting),
}

impl fmt::Display for SettingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unknown(algorithm) => {
                let mut settings = algorithm.settings();
                match settings.next() {
                    None => write!(f, "`{}` has no settings", algorithm.name()),
                    Some(first) => {
                        write!(
                            f,
                            "`{}` has the settings `{}`",
                            algorithm.name(),
                            first.name
                        )?;
                        settings.try_for_each(|setting| write!(f, ", `{}`", setting.name))
                    }
                }
            }
            Self::OutOfRange(setting) => write!(
                f,
                "`{}` is a number of {} from {} to {}",
                setting.name,
                setting.unit,
                setting.range.start(),
                setting.range.end()
            ),
        }
    }
}

impl core::error::Error for SettingError {}
