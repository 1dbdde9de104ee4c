//! The listener's end of seccomp notifications (seccomp_unotify(2)): receive a call, answer it with a descriptor or let
//! it through. Any of these may find that the caller has died or was interrupted meanwhile: then nobody waits for the
//! answer and there is nothing to do.

use std::collections::VecDeque;
use std::mem::{MaybeUninit, zeroed};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use libc::{c_int, seccomp_notif, seccomp_notif_addfd, seccomp_notif_resp, seccomp_notif_sizes};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// A call of `socket` that waits for its answer.
pub(super) struct Call {
    id: u64,
    /// The calling thread.
    pub(super) thread: u32,
    /// `AF_INET` or `AF_INET6`.
    pub(super) family: c_int,
    /// `SOCK_NONBLOCK`, `SOCK_CLOEXEC`.
    pub(super) flags: c_int,
}

/// Receives the calls that the filter stops.
pub(super) struct Listener {
    fd: OwnedFd,
    /// Received and not yet handed out.
    waiting: VecDeque<Call>,
}

impl Listener {
    /// Fails with `ENOSYS` on a kernel whose seccomp cannot do what is needed here.
    pub(super) fn new(fd: OwnedFd) -> Result<Self, Errno> {
        let mut sizes = seccomp_notif_sizes {
            seccomp_notif: 0,
            seccomp_notif_resp: 0,
            seccomp_data: 0,
        };
        // SAFETY: the kernel writes a `seccomp_notif_sizes`.
        Errno::result(unsafe {
            libc::syscall(
                libc::SYS_seccomp,
                libc::SECCOMP_GET_NOTIF_SIZES,
                0,
                &mut sizes,
            )
        })?;
        // A kernel with longer structures would write past ours.
        if usize::from(sizes.seccomp_notif) > size_of::<seccomp_notif>()
            || usize::from(sizes.seccomp_notif_resp) > size_of::<seccomp_notif_resp>()
        {
            return Err(Errno::ENOSYS);
        }
        let listener = Listener {
            fd,
            waiting: VecDeque::new(),
        };
        // Flags are looked at before the call: one that does not exist tells whether SECCOMP_ADDFD_FLAG_SEND (5.14) does.
        let nobody = Call {
            id: 0,
            thread: 0,
            family: 0,
            flags: 0,
        };
        if let Err(Errno::EINVAL | Errno::ENOTTY) = listener.answer(&nobody, &listener.fd) {
            return Err(Errno::ENOSYS);
        }
        Ok(listener)
    }

    /// Waits for a call. `None` when no process is left that could make one.
    pub(super) fn next(&mut self) -> Option<Call> {
        loop {
            // All that have come are received before the next is answered: a signal can interrupt a caller (and end its
            // `socket` with EINTR, which programs do not expect) until then, and not after.
            let patience = if self.waiting.is_empty() {
                PollTimeout::NONE
            } else {
                PollTimeout::ZERO
            };
            let mut events = [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN)];
            match poll(&mut events, patience) {
                Err(Errno::EINTR) => continue,
                Err(_) => return None,
                Ok(_) => {}
            }
            if events[0]
                .revents()
                .is_some_and(|got| got.contains(PollFlags::POLLIN))
            {
                self.waiting.extend(self.receive());
            } else {
                return self.waiting.pop_front();
            }
        }
    }

    fn receive(&self) -> Option<Call> {
        let mut notification = MaybeUninit::<seccomp_notif>::zeroed();
        // SAFETY: the kernel wants it zeroed and fills it; `new` has checked that it is long enough.
        let notification = unsafe {
            Errno::result(libc::ioctl(
                self.fd.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_RECV,
                notification.as_mut_ptr(),
            ))
            .ok()?;
            notification.assume_init()
        };
        let [family, kind, ..] = notification.data.args;
        Some(Call {
            id: notification.id,
            thread: notification.pid,
            family: family as c_int,
            flags: kind as c_int & !libc::SOCK_STREAM,
        })
    }

    /// Does the caller still wait? If so, what was read under its thread number before was its own, and no later thread's.
    pub(super) fn waits(&self, call: &Call) -> bool {
        // SAFETY: the kernel reads a `u64`.
        unsafe {
            libc::ioctl(
                self.fd.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_ID_VALID,
                &call.id,
            ) == 0
        }
    }

    /// Gives the caller a descriptor of `socket` as the result of its call.
    pub(super) fn answer(&self, call: &Call, socket: &OwnedFd) -> Result<(), Errno> {
        let addition = seccomp_notif_addfd {
            id: call.id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: socket.as_raw_fd() as u32,
            newfd: 0,
            newfd_flags: if call.flags & libc::SOCK_CLOEXEC != 0 {
                libc::O_CLOEXEC as u32
            } else {
                0
            },
        };
        // SAFETY: the kernel reads a `seccomp_notif_addfd`.
        Errno::result(unsafe {
            libc::ioctl(
                self.fd.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_ADDFD,
                &addition,
            )
        })
        .map(drop)
    }

    /// Lets the kernel carry out the call as it was made.
    pub(super) fn let_through(&self, call: &Call) {
        // SAFETY: plain integers, for which zero is a value.
        let mut response: seccomp_notif_resp = unsafe { zeroed() };
        response.id = call.id;
        response.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        // SAFETY: the kernel reads a `seccomp_notif_resp`. An error means that nobody waits any more.
        unsafe {
            libc::ioctl(
                self.fd.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SEND,
                &response,
            )
        };
    }
}
