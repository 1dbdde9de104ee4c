//! The listener of seccomp notifications (seccomp_unotify(2)): receives a call, answers it with a descriptor or lets it through.
//! Each operation fails if the caller has died or was interrupted; the notification is then void.

use std::collections::VecDeque;
use std::mem::{MaybeUninit, zeroed};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use libc::{c_int, seccomp_notif, seccomp_notif_addfd, seccomp_notif_resp, seccomp_notif_sizes};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

/// A stopped system call without an answer.
pub(super) struct Notification {
    id: u64,
    /// Number of the calling thread, in this process's PID namespace.
    pub(super) thread: u32,
    pub(super) request: Request,
}

/// The system call.
pub(super) enum Request {
    /// `socket`, for TCP or MPTCP.
    Socket {
        /// `AF_INET` or `AF_INET6`.
        family: c_int,
        /// `SOCK_NONBLOCK`, `SOCK_CLOEXEC`.
        flags: c_int,
    },
    /// `landlock_restrict_self`.
    Landlock,
}

/// Receives the calls that the filter stops.
pub(super) struct Listener {
    fd: OwnedFd,
    /// Received and not yet returned by [`Listener::next`].
    received: VecDeque<Notification>,
}

impl Listener {
    /// Fails with `ENOSYS` on a kernel whose seccomp lacks a required operation.
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
        // A kernel with longer structures would write beyond these.
        if usize::from(sizes.seccomp_notif) > size_of::<seccomp_notif>()
            || usize::from(sizes.seccomp_notif_resp) > size_of::<seccomp_notif_resp>()
        {
            return Err(Errno::ENOSYS);
        }
        let listener = Listener {
            fd,
            received: VecDeque::new(),
        };
        // The kernel checks flags before the identifier: EINVAL shows that it lacks SECCOMP_ADDFD_FLAG_SEND (5.14).
        let unknown = Notification {
            id: 0,
            thread: 0,
            request: Request::Landlock,
        };
        if let Err(Errno::EINVAL | Errno::ENOTTY) = listener.answer(&unknown, &listener.fd) {
            return Err(Errno::ENOSYS);
        }
        Ok(listener)
    }

    /// Waits for a notification. `None` after the last process under the filter has ended.
    pub(super) fn next(&mut self) -> Option<Notification> {
        loop {
            // Receive all queued notifications before the next answer: until its notification is received, a signal can
            // interrupt a caller and end its `socket` with EINTR, which programs do not expect.
            let timeout = if self.received.is_empty() {
                PollTimeout::NONE
            } else {
                PollTimeout::ZERO
            };
            let mut events = [PollFd::new(self.fd.as_fd(), PollFlags::POLLIN)];
            match poll(&mut events, timeout) {
                Err(Errno::EINTR) => continue,
                Err(_) => return None,
                Ok(_) => {}
            }
            if events[0]
                .revents()
                .is_some_and(|got| got.contains(PollFlags::POLLIN))
            {
                self.received.extend(self.receive());
            } else {
                return self.received.pop_front();
            }
        }
    }

    fn receive(&self) -> Option<Notification> {
        let mut notification = MaybeUninit::<seccomp_notif>::zeroed();
        // SAFETY: the kernel requires zeros and fills the structure; `new` has checked that it is long enough.
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
        Some(Notification {
            id: notification.id,
            thread: notification.pid,
            request: match i64::from(notification.data.nr) {
                libc::SYS_landlock_restrict_self => Request::Landlock,
                _ => Request::Socket {
                    family: family as c_int,
                    flags: kind as c_int & !libc::SOCK_STREAM,
                },
            },
        })
    }

    /// Whether the caller still waits. If so, a file that was opened by its thread number before this check belongs to the caller,
    /// not to a later thread with the same number.
    pub(super) fn is_pending(&self, notification: &Notification) -> bool {
        // SAFETY: the kernel reads a `u64`.
        unsafe {
            libc::ioctl(
                self.fd.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_ID_VALID,
                &notification.id,
            ) == 0
        }
    }

    /// Installs a descriptor of `socket` in the caller as the result of its call.
    pub(super) fn answer(
        &self,
        notification: &Notification,
        socket: &OwnedFd,
    ) -> Result<(), Errno> {
        let cloexec = matches!(notification.request, Request::Socket { flags, .. }
            if flags & libc::SOCK_CLOEXEC != 0);
        let addition = seccomp_notif_addfd {
            id: notification.id,
            flags: libc::SECCOMP_ADDFD_FLAG_SEND as u32,
            srcfd: socket.as_raw_fd() as u32,
            newfd: 0,
            newfd_flags: if cloexec { libc::O_CLOEXEC as u32 } else { 0 },
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
    pub(super) fn let_through(&self, notification: &Notification) {
        // SAFETY: plain integers, for which zero is a valid value.
        let mut response: seccomp_notif_resp = unsafe { zeroed() };
        response.id = notification.id;
        response.flags = libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32;
        // SAFETY: the kernel reads a `seccomp_notif_resp`. It fails if the caller has gone.
        unsafe {
            libc::ioctl(
                self.fd.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SEND,
                &response,
            )
        };
    }
}
