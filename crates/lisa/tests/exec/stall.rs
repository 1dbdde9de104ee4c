//! A join arrives while a server is in a system call and holds the lock of its MPTCP socket: the server sends from memory
//! that is not mapped yet (userfaultfd(2)).

use super::PORT;
use crate::support::until;
use nix::errno::Errno;
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
use std::fs::{self, File};
use std::io::Write;
use std::net::TcpListener;
use std::num::NonZeroUsize;
use std::os::fd::{AsRawFd, FromRawFd};

const PAGE: usize = 4096;

// linux/userfaultfd.h
const UFFD_API: u64 = 0xaa;
const REGISTER_MODE_MISSING: u64 = 1;
nix::ioctl_readwrite!(uffdio_api, UFFD_API, 0x3f, [u64; 3]);
nix::ioctl_readwrite!(uffdio_register, UFFD_API, 0x00, [u64; 4]);
nix::ioctl_readwrite!(uffdio_zeropage, UFFD_API, 0x04, [u64; 4]);

/// A page that blocks its readers, also in the kernel, until it is filled.
struct AbsentPage {
    faults: File,
    start: u64,
}

impl AbsentPage {
    fn new() -> Self {
        let length = NonZeroUsize::new(PAGE).unwrap();
        let (protection, flags) = (ProtFlags::PROT_READ, MapFlags::MAP_PRIVATE);
        // SAFETY: the mapping is new and is never undone. The kernel reads and writes arrays of that length.
        unsafe {
            let fd = libc::syscall(libc::SYS_userfaultfd, libc::O_CLOEXEC);
            let faults = File::from_raw_fd(Errno::result(fd).expect("userfaultfd") as i32);
            let start = mmap_anonymous(None, length, protection, flags).expect("memory");
            let start = start.as_ptr() as u64;
            uffdio_api(faults.as_raw_fd(), &mut [UFFD_API, 0, 0]).expect("its API");
            let mut range = [start, PAGE as u64, REGISTER_MODE_MISSING, 0];
            uffdio_register(faults.as_raw_fd(), &mut range).expect("registers");
            Self { faults, start }
        }
    }

    fn bytes(&self) -> &'static [u8] {
        // SAFETY: the mapping is never undone.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, PAGE) }
    }

    fn fill(&self) {
        // SAFETY: as above.
        let filled = unsafe {
            uffdio_zeropage(
                self.faults.as_raw_fd(),
                &mut [self.start, PAGE as u64, 0, 0],
            )
        };
        filled.expect("filled");
    }
}

/// A counter of this network namespace, as `nstat` shows it.
fn counter(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/thread-self/net/netstat").expect("proc");
    let mut lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("MPTcpExt:"));
    let (names, values) = (lines.next().expect("names"), lines.next().expect("values"));
    let at = names.split_whitespace().position(|other| other == name);
    let value = values.split_whitespace().nth(at.expect("a counter"));
    value
        .and_then(|value| value.parse().ok())
        .expect("a number")
}

/// Sends to the first client without end.
pub fn serve() {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).expect("a listener");
    let (mut connection, _) = listener.accept().expect("a connection");
    // Any option that subflows inherit.
    connection.set_nodelay(true).expect("an option");
    connection.write_all(&[7]).expect("sent");
    until("the second address is announced", || {
        counter("AddAddrTx") > 0
    });
    let page = AbsentPage::new();
    std::thread::scope(|scope| {
        let mut sender = &connection;
        let bytes = page.bytes();
        scope.spawn(move || sender.write_all(bytes).expect("sent"));
        until("a join", || counter("MPJoinAckRx") > 0);
        page.fill();
    });
    while connection.write_all(&[7; 100_000]).is_ok() {}
}
