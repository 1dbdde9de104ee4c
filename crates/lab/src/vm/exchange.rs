//! Memory that host and guest share, for jobs and answers. In the guest it is a PCI device (QEMU's ivshmem-plain). It needs no driver
//! and no interrupt, so every kernel supports it and no virtual time passes.
//!
//! The memory begins with two little-endian numbers of 64 bits: the length of the job, and the length of the answer, which is 0 until
//! there is an answer. The job follows; the answer replaces it.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;
use std::ptr;

use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::mman::{MapFlags, ProtFlags, mmap};

/// Size of the memory, bytes: room for the rows of some minutes, or for 64 MB of packets, at no more than four characters for a byte.
/// Unwritten pages take no memory. A PCI device requires a power of two.
pub(crate) const SIZE: u64 = 256 << 20;

const JOB_LENGTH: usize = 0;
const ANSWER_LENGTH: usize = 8;
const TEXT: usize = 16;

/// Identifiers of the device (QEMU docs/specs/ivshmem-spec): vendor, device, and the region that is the memory.
const VENDOR: &str = "0x1af4";
const DEVICE: &str = "0x1110";
const REGION: &str = "resource2";

/// The host's end: a file without a name.
#[derive(Debug)]
pub(crate) struct HostEnd(pub(crate) File);

impl HostEnd {
    /// The memory, with a job in it.
    pub(crate) fn new(job: &[u8]) -> io::Result<Self> {
        let file = File::from(memfd_create(c"lisa-exchange", MFdFlags::MFD_CLOEXEC)?);
        file.set_len(SIZE)?;
        let end = Self(file);
        end.put(job)?;
        Ok(end)
    }

    /// Replaces the job. The guest must not run meanwhile.
    pub(crate) fn put(&self, job: &[u8]) -> io::Result<()> {
        let length = (job.len() as u64).to_le_bytes();
        self.0.write_all_at(&length, JOB_LENGTH as u64)?;
        self.0.write_all_at(job, TEXT as u64)
    }

    /// The guest's answer, if there is one.
    pub(crate) fn answer(&self) -> io::Result<Option<Vec<u8>>> {
        let length = self.number(ANSWER_LENGTH)?.min(SIZE - TEXT as u64);
        let mut answer = vec![0; length as usize];
        self.0.read_exact_at(&mut answer, TEXT as u64)?;
        Ok((length > 0).then_some(answer))
    }

    fn number(&self, at: usize) -> io::Result<u64> {
        let mut number = [0; 8];
        self.0.read_exact_at(&mut number, at as u64)?;
        Ok(u64::from_le_bytes(number))
    }
}

/// The guest's end: the device's memory, mapped for the lifetime of the guest.
pub(crate) struct GuestEnd {
    memory: *mut u8,
}

impl GuestEnd {
    /// Finds the device.
    pub(crate) fn open() -> io::Result<Self> {
        let is = |path: &std::path::Path, file: &str, id: &str| {
            fs::read_to_string(path.join(file)).is_ok_and(|text| text.trim() == id)
        };
        for entry in fs::read_dir("/sys/bus/pci/devices")? {
            let path = entry?.path();
            if is(&path, "vendor", VENDOR) && is(&path, "device", DEVICE) {
                fs::write(path.join("enable"), "1")?;
                let region = OpenOptions::new()
                    .read(true)
                    .write(true)
                    .open(path.join(REGION))?;
                let size = NonZeroUsize::new(SIZE as usize).expect("some memory");
                let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
                // SAFETY: the mapping is a new one, at an address of the kernel's choice, and is never unmapped.
                let memory =
                    unsafe { mmap(None, size, protection, MapFlags::MAP_SHARED, region, 0)? };
                return Ok(Self {
                    memory: memory.as_ptr().cast(),
                });
            }
        }
        Err(io::Error::other("the host's memory is not there"))
    }

    /// The host's job.
    pub(crate) fn job(&self) -> Vec<u8> {
        // SAFETY: the mapping is SIZE bytes, to which the host writes only while the machine is paused; the length is within them.
        unsafe {
            let place = self.memory.add(JOB_LENGTH).cast::<u64>();
            let length = ptr::read_volatile(place).min(SIZE - TEXT as u64) as usize;
            std::slice::from_raw_parts(self.memory.add(TEXT), length).to_vec()
        }
    }

    /// Stores the answer.
    pub(crate) fn answer(&self, answer: &[u8]) {
        assert!(
            answer.len() <= SIZE as usize - TEXT,
            "the run has too many rows or packets to hand over: {} bytes, of {SIZE}; shorten it",
            answer.len()
        );
        // SAFETY: the mapping is SIZE bytes, the host does not write to it now, and the answer fits.
        unsafe {
            ptr::copy_nonoverlapping(answer.as_ptr(), self.memory.add(TEXT), answer.len());
            let length = self.memory.add(ANSWER_LENGTH).cast::<u64>();
            ptr::write_volatile(length, answer.len() as u64);
        }
    }
}
