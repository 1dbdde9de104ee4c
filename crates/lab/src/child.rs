//! Children that do not outlive who started them.

use std::io;
use std::os::unix::process::parent_id;

use nix::errno::Errno;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;

/// Between fork and exec: the child is to be killed when the thread that starts it ends (not only when the process
/// does: see `PR_SET_PDEATHSIG`). Makes only system calls.
pub(crate) fn dies_with(parent: u32) -> io::Result<()> {
    set_pdeathsig(Signal::SIGKILL)?;
    // The parent may have died before the line above.
    if parent_id() == parent {
        Ok(())
    } else {
        Err(Errno::ESRCH.into())
    }
}
