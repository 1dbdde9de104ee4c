//! Reports changes of the named network namespaces.
//!
//! `ip netns add` creates a file and mounts the namespace on it. The change of the mounts is therefore the event, not the file.
//! A namespace that is deleted and made again between two looks has the same name and may have the same inode number. Only
//! the deletion of the file tells the two apart.

use crate::namespace::{MOUNTS, NETNS};
use crate::text::printable;
use crate::{Error, Result};
use nix::errno::Errno;
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

/// Descriptors that report changes.
pub(super) struct Watch {
    mounts: File,
    files: Inotify,
    /// Whether [`NETNS`] existed when it was last added to `files`.
    watches: bool,
}

/// Deleted names.
pub(super) enum Deleted {
    /// These.
    Names(Vec<String>),
    /// Any: the kernel's queue of events was full.
    Any,
}

impl Watch {
    pub(super) fn begin() -> Result<Self> {
        let flags = InitFlags::IN_CLOEXEC | InitFlags::IN_NONBLOCK;
        let inotify = Inotify::init(flags).map_err(|errno| Error::io("inotify")(errno.into()))?;
        let mut watch = Self {
            mounts: File::open(MOUNTS).map_err(Error::io(MOUNTS))?,
            files: inotify,
            watches: false,
        };
        watch.watch_directory();
        Ok(watch)
    }

    /// Readable (POLLPRI) after a change of the mounts.
    pub(super) fn mounts(&self) -> BorrowedFd<'_> {
        self.mounts.as_fd()
    }

    /// Readable (POLLIN) after a deletion.
    pub(super) fn files(&self) -> BorrowedFd<'_> {
        self.files.as_fd()
    }

    /// Names that were deleted since the last call. To be called before the mounts are read: a namespace of which the deletion is
    /// reported later is read as it was before.
    pub(super) fn deleted(&mut self) -> Deleted {
        let mut names = Vec::new();
        while let Ok(events) = self.files.read_events() {
            for event in events {
                if event.mask.contains(AddWatchFlags::IN_Q_OVERFLOW) {
                    self.watch_directory();
                    return Deleted::Any;
                }
                if event.mask.contains(AddWatchFlags::IN_IGNORED) {
                    self.watches = false; // the directory itself was deleted
                }
                if let Some(name) = event.name {
                    names.push(printable(name.as_bytes()));
                }
            }
        }
        if !self.watches {
            self.watch_directory();
        }
        Deleted::Names(names)
    }

    /// Begins to watch the directory, which the first `ip netns add` creates and mounts before the first namespace.
    fn watch_directory(&mut self) {
        let flags = AddWatchFlags::IN_DELETE | AddWatchFlags::IN_MOVED_FROM;
        let added = self
            .files
            .add_watch(NETNS, flags | AddWatchFlags::IN_ONLYDIR);
        self.watches = !matches!(added, Err(Errno::ENOENT));
    }
}
