//! Values of an algorithm's settings.

use crate::algorithm::Algorithm;
use crate::ffi;
use crate::setting::Setting;
use core::fmt;

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

    /// Values in the order of `mpcc_connection.setting`, as [`Settings::values`] returns them.
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
