//! What a machine at rest was: its memory and its devices, as files without names.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::unistd::{Whence, lseek};

/// The guest's memory, in bytes: some three times what it uses.
pub(crate) const MEMORY: u64 = 512 << 20;

/// A machine to start others from, as often as one likes: each maps the memory and copies a page when it writes to it.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) memory: File,
    pub(crate) devices: File,
}

impl Snapshot {
    /// One of a machine that is yet to boot.
    pub(crate) fn new() -> io::Result<Self> {
        let file = |name| memfd_create(name, MFdFlags::MFD_CLOEXEC).map(File::from);
        let (memory, devices) = (file(c"lisa-memory")?, file(c"lisa-devices")?);
        memory.set_len(MEMORY)?;
        Ok(Self { memory, devices })
    }

    /// One of a machine that is to go on from this: with a copy of its memory.
    pub(crate) fn successor(&self) -> io::Result<Self> {
        let new = Self::new()?;
        // Others may copy at the same time.
        let from = again(&self.memory)?;
        let mut end = 0;
        loop {
            let start = match lseek(&from, end, Whence::SeekData) {
                Err(Errno::ENXIO) => return Ok(new), // there are only zeros left
                start => start?,
            };
            end = lseek(&from, start, Whence::SeekHole)?;
            lseek(&from, start, Whence::SeekSet)?;
            lseek(&new.memory, start, Whence::SeekSet)?;
            io::copy(&mut (&from).take((end - start) as u64), &mut &new.memory)?;
        }
    }
}

/// The same file, with a place in it of its own.
pub(crate) fn again(file: &File) -> io::Result<File> {
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
