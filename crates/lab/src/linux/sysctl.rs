//! Sysctls of a network namespace: /proc/sys/net shows the settings of the opening thread's namespace.

use std::fs;
use std::io::ErrorKind;

use crate::error::Error;

/// Sets `name` (with dots) in the namespace of the calling thread.
pub(crate) fn set(name: &str, value: impl ToString) -> Result<(), Error> {
    let value = value.to_string();
    fs::write(path(name), &value).map_err(|source| Error::Sysctl {
        name: name.into(),
        value,
        source,
    })
}

/// As [`set`]; a kernel without the sysctl is no error.
pub(crate) fn set_if_exists(name: &str, value: impl ToString) -> Result<(), Error> {
    match set(name, value) {
        Err(Error::Sysctl { source, .. }) if source.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// The numbers of a sysctl.
pub(crate) fn get(name: &str) -> Result<Vec<u64>, Error> {
    let text =
        fs::read_to_string(path(name)).map_err(Error::kernel(format!("reading sysctl {name}")))?;
    Ok(text
        .split_whitespace()
        .filter_map(|number| number.parse().ok())
        .collect())
}

fn path(name: &str) -> String {
    format!("/proc/sys/{}", name.replace('.', "/"))
}
