//! The seccomp filter: selects the system calls that the helper answers (seccomp(2), SECCOMP_RET_USER_NOTIF).
//!
//! A filter reads registers, not memory, which suffices: `socket` has three integers. The filter is no sandbox. The kernel carries
//! out every other call as without it, and also the calls of another architecture, which have other numbers (the 32-bit calls of
//! a 64-bit kernel; x32, under the same architecture).

use std::mem::offset_of;
use std::os::fd::{FromRawFd, OwnedFd};

use libc::{c_int, c_long, c_ulong, seccomp_data, sock_filter, sock_fprog};
use nix::errno::Errno;
use nix::sys::prctl::set_no_new_privs;

use crate::exec::Error;

/// The kernel's `AUDIT_ARCH_…` of the architectures that are supported, all little-endian.
pub(super) const ARCHITECTURE: Option<u32> =
    if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
        Some(0xc000_003e) // AUDIT_ARCH_X86_64: EM_X86_64 | 64 bit | little-endian
    } else if cfg!(all(
        target_arch = "aarch64",
        target_pointer_width = "64",
        target_endian = "little"
    )) {
        Some(0xc000_00b7) // AUDIT_ARCH_AARCH64
    } else {
        None
    };

const NR: usize = offset_of!(seccomp_data, nr);
const ARCH: usize = offset_of!(seccomp_data, arch);

/// Offset of the low half of an argument's 64-bit register, from which the kernel takes an `int`.
const fn argument(n: usize) -> usize {
    offset_of!(seccomp_data, args) + n * size_of::<u64>()
}

/// Stops `socket` for TCP and MPTCP, and `landlock_restrict_self`.
fn program(arch: u32) -> [sock_filter; 17] {
    const ALLOW: usize = 15;
    const NOTIFY: usize = 16;
    let statement = |code: u32, k: u32| sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let load = |offset: usize| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset as u32);
    // The instruction `at` compares the loaded word; jumps are relative to the next instruction.
    let is = |at: usize, k: c_int, yes: usize, no: usize| sock_filter {
        code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
        jt: (yes - at - 1) as u8,
        jf: (no - at - 1) as u8,
        k: k as u32,
    };
    [
        load(ARCH),
        is(1, arch as c_int, 2, ALLOW),
        load(NR),
        is(3, libc::SYS_landlock_restrict_self as c_int, NOTIFY, 4),
        is(4, libc::SYS_socket as c_int, 5, ALLOW),
        load(argument(0)),
        is(6, libc::AF_INET, 8, 7),
        is(7, libc::AF_INET6, 8, ALLOW),
        load(argument(1)),
        statement(
            libc::BPF_ALU | libc::BPF_AND | libc::BPF_K,
            !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) as u32,
        ),
        is(10, libc::SOCK_STREAM, 11, ALLOW),
        load(argument(2)),
        is(12, libc::IPPROTO_IP, NOTIFY, 13),
        is(13, libc::IPPROTO_TCP, NOTIFY, 14),
        is(14, libc::IPPROTO_MPTCP, NOTIFY, ALLOW),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF),
    ]
}

/// Installs the filter on the calling thread, irrevocably. Returns the listener that receives its notifications.
pub(super) fn install() -> Result<OwnedFd, Error> {
    let mut program = program(ARCHITECTURE.ok_or(Error::Architecture)?);
    let program = sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SPEC_ALLOW: without it, before Linux 5.16 a filter turns on speculation mitigations, which slow down the whole command.
    let mut flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER
        | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW
        | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    loop {
        match seccomp(flags, &program) {
            Ok(listener) => return Ok(listener),
            // WAIT_KILLABLE_RECV, since Linux 5.19: a signal does not interrupt a call after its notification is received.
            Err(Errno::EINVAL) if flags & libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV != 0 => {
                flags &= !libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
            }
            // Without CAP_SYS_ADMIN the kernel requires no_new_privs, which disables setuid programs: only on demand.
            Err(Errno::EACCES) => set_no_new_privs().map_err(Error::system("set no_new_privs"))?,
            Err(Errno::EBUSY) => return Err(Error::Nested),
            Err(Errno::EINVAL | Errno::ENOSYS) => return Err(Error::NoNotify),
            Err(errno) => {
                return Err(Error::system(
                    "install a seccomp filter (does a container forbid it?)",
                )(errno));
            }
        }
    }
}

fn seccomp(flags: c_ulong, program: &sock_fprog) -> Result<OwnedFd, Errno> {
    // SAFETY: `program` and the instructions that it points to outlive the call; the kernel copies them. The result is a
    // new close-on-exec descriptor without another owner.
    unsafe {
        let fd: c_long = libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            flags,
            program,
        );
        Errno::result(fd).map(|fd| OwnedFd::from_raw_fd(fd as c_int))
    }
}
