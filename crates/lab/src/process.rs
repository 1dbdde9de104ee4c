//! Child processes that do not outlive their parent.

use std::io;
use std::os::unix::process::parent_id;

use nix::errno::Errno;
use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::Signal;

/// To be called between fork and exec: the child is killed when the thread that started it ends, which may be before the process
/// `parent` ends (see `PR_SET_PDEATHSIG`). Makes only system calls.
pub(crate) fn die_with_parent(parent: u32) -> io::Result<()> {
    set_pdeathsig(Signal::SIGKILL)?;
    // The parent may have died before the line above.
    if parent_id() == parent {
        Ok(())
    } else {
        Err(Errno::ESRCH.into())
    }
}
