//! TUN ports: interfaces of a namespace whose packets this process reads and writes.
//!
//! Linux Documentation/networking/tuntap.rst. A port is not persistent: the kernel removes it with its descriptor. Crates for TUN
//! also have addresses, routes and runtimes; one ioctl suffices here.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::errno::Errno;

use crate::error::Error;

/// Largest packet, bytes: that of Ethernet.
pub(crate) const MTU: usize = 1500;

nix::ioctl_write_ptr_bad!(tun_set_iff, libc::TUNSETIFF, libc::ifreq);

/// Checks that the kernel has the TUN driver.
pub(crate) fn check() -> Result<(), Error> {
    open().map(drop)
}

fn open() -> Result<File, Error> {
    let open = OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(libc::O_NONBLOCK)
        .open("/dev/net/tun");
    open.map_err(|error| match error.raw_os_error().map(Errno::from_raw) {
        Some(Errno::ENOENT | Errno::ENXIO | Errno::ENODEV) => Error::NoTun,
        _ => Error::kernel("opening /dev/net/tun")(error),
    })
}

/// A TUN port.
#[derive(Debug)]
pub(crate) struct Tun {
    file: File,
}

impl Tun {
    /// Creates the interface `name` in the namespace of the calling thread. The interface is down.
    pub(crate) fn new(name: &str) -> Result<Self, Error> {
        let file = open()?;
        // SAFETY: all-zero bytes are a valid ifreq: integers, and a union of integers and pointers.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        assert!(
            name.len() < libc::IFNAMSIZ,
            "{name} is too long for an interface"
        );
        for (to, from) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *to = from as libc::c_char;
        }
        // IP packets without the driver's header.
        request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
        // SAFETY: TUNSETIFF reads and writes one ifreq, the type of `request`; the descriptor is open.
        unsafe { tun_set_iff(file.as_raw_fd(), &request) }
            .map_err(Error::kernel(format!("making the TUN port {name}")))?;
        Ok(Self { file })
    }

    /// Reads a packet; `None` if no packet waits.
    pub(crate) fn read(&self, packet: &mut [u8; MTU]) -> io::Result<Option<usize>> {
        loop {
            match (&self.file).read(packet) {
                Ok(bytes) => return Ok(Some(bytes)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Writes a packet. The kernel has received it when this returns.
    pub(crate) fn write(&self, packet: &[u8]) -> io::Result<()> {
        (&self.file).write_all(packet)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}
