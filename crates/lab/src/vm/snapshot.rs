//! Snapshots of a paused machine: its memory and its devices, as files without names.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::{Whence, lseek};

/// Size of the guest's memory, bytes: some three times the used size.
pub(crate) const MEMORY: u64 = 512 << 20;

/// State of a machine, from which any number of machines can start: each maps the memory and copies a page when it writes to it.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) memory: File,
    pub(crate) devices: File,
}

impl Snapshot {
    /// An empty snapshot, for a machine that boots.
    pub(crate) fn new() -> io::Result<Self> {
        let file = |name| memfd_create(name, MFdFlags::MFD_CLOEXEC).map(File::from);
        let (memory, devices) = (file(c"lisa-memory")?, file(c"lisa-devices")?);
        memory.set_len(MEMORY)?;
        Ok(Self { memory, devices })
    }

    /// A snapshot with a copy of this memory, for a machine that continues from this one.
    pub(crate) fn successor(&self) -> io::Result<Self> {
        let new = Self::new()?;
        // With its own offset, because other threads may copy at the same time.
        let from = reopen(&self.memory)?;
        let mut end = 0;
        loop {
            let start = match lseek(&from, end, Whence::SeekData) {
                Err(Errno::ENXIO) => return Ok(new), // the rest is zero
                start => start?,
            };
            end = lseek(&from, start, Whence::SeekHole)?;
            lseek(&from, start, Whence::SeekSet)?;
            lseek(&new.memory, start, Whence::SeekSet)?;
            io::copy(&mut (&from).take((end - start) as u64), &mut &new.memory)?;
        }
    }
}

/// Opens the same file with its own offset.
pub(crate) fn reopen(file: &File) -> io::Result<File> {
    File::open(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{FileExt, MetadataExt};

    use super::*;

    #[test]
    fn a_successor_has_the_same_memory_and_no_more() {
        let first = Snapshot::new().unwrap();
        let places = [0, 5 << 20, MEMORY - 3];
        for place in places {
            first.memory.write_all_at(b"abc", place).unwrap();
        }
        let second = first.successor().unwrap();
        first.memory.write_all_at(b"xyz", 0).unwrap();
        for place in places {
            let mut bytes = [0; 3];
            second.memory.read_exact_at(&mut bytes, place).unwrap();
            assert_eq!(&bytes, b"abc", "at {place}");
        }
        let [first, second] = [first, second].map(|one| one.memory.metadata().unwrap());
        assert_eq!(second.len(), MEMORY);
        assert_eq!(first.blocks(), second.blocks());
    }
}
