//! Makes the command's sockets in a helper process, by seccomp user notification (seccomp_unotify(2)).
//!
//! A filter ([`filter`]) that the command inherits stops the calls of `socket` that request a TCP or an MPTCP socket. The helper
//! ([`helper`]) receives each call, makes an MPTCP socket with the algorithm set on it, and installs it in the caller as the
//! result of the call. The helper needs no privilege. It ends with the last process under the filter.

mod caller;
mod filter;
mod helper;
mod listener;

use super::Error;

/// Stops this thread's calls of `socket`, and those of its children, and starts the helper that answers them.
pub(super) fn install(algorithm: &str) -> Result<(), Error> {
    if filter::ARCHITECTURE.is_none() {
        return Err(Error::Architecture);
    }
    // Only for the error message: the helper opens its own.
    caller::Inspector::new()?;
    let helper = helper::spawn(algorithm)?;
    let listener = filter::install()?;
    helper.hand_over(listener)
}
