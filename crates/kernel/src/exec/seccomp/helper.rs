//! The helper process: makes the command's sockets, with the owner and in the network namespace of the thread that has called
//! `socket`.
//!
//! One thread answers all calls in turn: an answer takes microseconds and never blocks.

use std::fs::File;
use std::io::{IoSlice, IoSliceMut};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};

use libc::{c_int, dev_t, ino_t};
use nix::cmsg_space;
use nix::errno::Errno;
use nix::sched::{CloneFlags, setns};
use nix::sys::socket::{ControlMessage, ControlMessageOwned, MsgFlags, recvmsg, sendmsg};
use nix::sys::stat::fstat;
use nix::unistd::{getegid, geteuid, read, setfsgid, setfsuid, write};

use super::caller::{Inspector, Owner};
use super::listener::{Listener, Notification, Request};
use crate::exec::{Error, detached, io_errno, landlock, socket};

/// A helper that waits for its listener. It ends if this is dropped.
pub(super) struct Helper {
    control: OwnedFd,
}

/// Starts the helper.
pub(super) fn spawn(algorithm: &str) -> Result<Helper, Error> {
    detached::spawn(c"lisa-exec", |control| serve(control, algorithm))
        .map(|control| Helper { control })
        .map_err(Error::system("start the helper process"))
}

impl Helper {
    /// Passes the listener to the helper, and waits until the helper is ready to answer.
    pub(super) fn hand_over(self, listener: OwnedFd) -> Result<(), Error> {
        let failed = Error::system("hand over to the helper process");
        let rights = [listener.as_raw_fd()];
        let control = self.control.as_raw_fd();
        sendmsg::<()>(
            control,
            &[IoSlice::new(&[0])],
            &[ControlMessage::ScmRights(&rights)],
            MsgFlags::MSG_NOSIGNAL,
            None,
        )
        .map_err(&failed)?;
        let mut answer = [0; size_of::<c_int>()];
        match read(&self.control, &mut answer).map_err(&failed)? {
            0 => Err(failed(Errno::EPIPE)),
            _ => match Errno::from_raw(c_int::from_ne_bytes(answer)) {
                Errno::UnknownErrno => Ok(()),
                Errno::ENOSYS => Err(Error::NoNotify),
                errno => Err(failed(errno)),
            },
        }
    }
}

/// Answers calls until the last process under the filter has ended. Returns early if it cannot begin.
fn serve(control: OwnedFd, algorithm: &str) -> Result<(), Errno> {
    let begun = match receive_listener(&control) {
        Ok(None) => return Ok(()),
        Ok(Some(listener)) => Listener::new(listener),
        Err(errno) => Err(errno),
    };
    let begun = begun.and_then(|listener| Ok((listener, Maker::new()?)));
    let errno = begun.as_ref().err().map_or(0, |errno| *errno as c_int);
    write(&control, &errno.to_ne_bytes())?;
    let (mut listener, mut maker) = begun?;
    drop(control);
    while let Some(notification) = listener.next() {
        // After an error the kernel carries out the original call, and returns its own error.
        if maker
            .make_socket(&listener, &notification, algorithm)
            .and_then(|socket| listener.answer(&notification, &socket))
            .is_err()
        {
            listener.let_through(&notification);
        }
    }
    Ok(())
}

/// `None` if the other end has closed.
fn receive_listener(control: &OwnedFd) -> Result<Option<OwnedFd>, Errno> {
    let mut byte = [0];
    let mut iov = [IoSliceMut::new(&mut byte)];
    let mut space = cmsg_space!(RawFd);
    let message = recvmsg::<()>(
        control.as_raw_fd(),
        &mut iov,
        Some(&mut space),
        MsgFlags::MSG_CMSG_CLOEXEC,
    )?;
    if message.flags.contains(MsgFlags::MSG_CTRUNC) {
        return Err(Errno::EMFILE); // no room for its descriptor
    }
    for part in message.cmsgs()? {
        if let ControlMessageOwned::ScmRights(fds) = part {
            // SAFETY: the descriptor is new and has no other owner.
            return Ok(fds.first().map(|fd| unsafe { OwnedFd::from_raw_fd(*fd) }));
        }
    }
    Ok(None)
}

/// Makes sockets. Between two sockets the thread is in its own network namespace, as its own user.
struct Maker {
    inspector: Inspector,
    namespace: File,
    owner: Owner,
    /// Whether a process of the command has restricted itself by Landlock, with rules that do not cover MPTCP sockets.
    restricted: bool,
}

impl Maker {
    fn new() -> Result<Self, Errno> {
        let inspector = Inspector::new().map_err(|error| match error {
            Error::System { source, .. } => io_errno(source),
            _ => Errno::ENOENT,
        })?;
        // Of this thread: the helper has no other.
        let own = inspector.caller(std::process::id())?;
        Ok(Maker {
            namespace: own.network_namespace()?,
            inspector,
            owner: Owner {
                user: geteuid(),
                group: getegid(),
            },
            restricted: false,
        })
    }

    /// The MPTCP socket for `notification`.
    fn make_socket(
        &mut self,
        listener: &Listener,
        notification: &Notification,
        algorithm: &str,
    ) -> Result<OwnedFd, Errno> {
        let (family, flags) = match notification.request {
            Request::Socket { family, flags } => (family, flags),
            Request::Landlock => {
                self.restricted |= landlock::has_ports();
                return Err(Errno::EOPNOTSUPP);
            }
        };
        if self.restricted {
            return Err(Errno::EOPNOTSUPP);
        }
        let caller = self.inspector.caller(notification.thread)?;
        // Only root can act as another user. Without root the command's user is that of the helper.
        let owner = if self.owner.user.is_root() {
            caller.owner()?
        } else {
            self.owner
        };
        let namespace = caller.network_namespace()?;
        if !listener.is_pending(notification) {
            return Err(Errno::ESRCH);
        }
        let make = || {
            let flags = flags & libc::SOCK_NONBLOCK;
            let socket = self.acting_as(owner, || socket::mptcp(family, flags))?;
            socket::set_algorithm(&socket, algorithm)?;
            Ok(socket)
        };
        if identity(&namespace)? == identity(&self.namespace)? {
            return make();
        }
        setns(&namespace, CloneFlags::CLONE_NEWNET)?;
        let socket = make();
        // If this fails, the helper must end: its further sockets would be in the wrong namespace.
        setns(&self.namespace, CloneFlags::CLONE_NEWNET).expect("back to the own namespace");
        socket
    }

    /// Runs `make` with the file-system identity of `owner`, which the kernel copies to a socket; other privileges stay.
    fn acting_as<T>(&self, owner: Owner, make: impl FnOnce() -> T) -> T {
        if owner == self.owner {
            return make();
        }
        setfsgid(owner.group);
        setfsuid(owner.user);
        let made = make();
        setfsuid(self.owner.user);
        setfsgid(self.owner.group);
        made
    }
}

/// Device and inode, which identify a namespace.
fn identity(namespace: &File) -> Result<(dev_t, ino_t), Errno> {
    let status = fstat(namespace)?;
    Ok((status.st_dev, status.st_ino))
}
