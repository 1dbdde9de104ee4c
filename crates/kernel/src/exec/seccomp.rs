//! Makes the command's sockets in a helper process, by seccomp user notification (seccomp_unotify(2)).
//!
//! A filter ([`filter`]) that the command inherits stops the calls of `socket` that ask for a TCP or an MPTCP socket. The helper
//! ([`helper`]) receives each of them, makes an MPTCP socket with the algorithm set on it, and puts it into the caller as
//! the result of the call. It needs no privilege. It ends with the last process under the filter.

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
    // The helper opens its own: this is for the message.
    caller::Inspector::new()?;
    let helper = helper::spawn(algorithm)?;
    let listener = filter::install()?;
    helper.hand_over(listener)
}
