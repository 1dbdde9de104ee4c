//! Reads a scenario from TOML.

use std::path::Path;

use crate::{Error, Scenario};

pub(crate) fn parse(
    _text: &str,
    _file: &str,
    _overrides: &[impl AsRef<str>],
) -> Result<Scenario, Error> {
    todo!()
}

pub(crate) fn read(_path: &Path) -> Result<String, Error> {
    todo!()
}
