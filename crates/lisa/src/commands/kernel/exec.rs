//! `lisa kernel exec`: a command whose TCP connections use MPTCP.

use std::ffi::OsString;

use crate::output::Failure;

/// Becomes the command. Returns only if the command cannot be started.
pub fn exec(name: &str, command: &[OsString]) -> Failure {
    let error = kernel::exec::exec(name, command);
    if matches!(error, kernel::exec::Error::NotLoaded(_)) {
        if let Err(unknown) = kernel::load::loadable(name) {
            // No algorithm has this name, so that `load` would fail too.
            return unknown.into();
        }
    }
    Failure {
        code: error.exit_code(),
        message: error.to_string(),
    }
}
