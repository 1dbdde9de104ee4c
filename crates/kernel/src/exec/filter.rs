//! The seccomp filter: which system calls go to the helper (seccomp(2), "SECCOMP_RET_USER_NOTIF").
//!
//! A filter sees registers, not memory, which is enough: `socket` has three integers. It is no sandbox. A call that it
//! does not recognise runs as it would without it, and so do the calls of another architecture, whose numbers mean
//! something else (the 32-bit calls of a 64-bit kernel; x32 has other numbers under the same architecture).

use std::mem::offset_of;
use std::os::fd::{FromRawFd, OwnedFd};

use libc::{c_int, c_long, c_ulong, seccomp_data, sock_filter, sock_fprog};
use nix::errno::Errno;
use nix::sys::prctl::set_no_new_privs;

use super::Error;

/// The kernel's `AUDIT_ARCH_…` of the system calls we know, all little-endian.
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
/// The kernel takes `int`s from these 64-bit registers: their low halves, which come first.
const fn argument(n: usize) -> usize {
    offset_of!(seccomp_data, args) + n * size_of::<u64>()
}

/// A system call's number and first three arguments.
fn program(arch: u32) -> [sock_filter; 15] {
    const ALLOW: usize = 13;
    const NOTIFY: usize = 14;
    let statement = |code: u32, k: u32| sock_filter {
        code: code as u16,
        jt: 0,
        jf: 0,
        k,
    };
    let load = |offset: usize| statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, offset as u32);
    // Compares the loaded word at instruction `at`; jumps are relative to the next.
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
        is(3, libc::SYS_socket as c_int, 4, ALLOW),
        load(argument(0)),
        is(5, libc::AF_INET, 7, 6),
        is(6, libc::AF_INET6, 7, ALLOW),
        load(argument(1)),
        statement(
            libc::BPF_ALU | libc::BPF_AND | libc::BPF_K,
            !(libc::SOCK_NONBLOCK | libc::SOCK_CLOEXEC) as u32,
        ),
        is(9, libc::SOCK_STREAM, 10, ALLOW),
        load(argument(2)),
        is(11, libc::IPPROTO_IP, NOTIFY, 12),
        is(12, libc::IPPROTO_TCP, NOTIFY, ALLOW),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW),
        statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_USER_NOTIF),
    ]
}

/// Puts the filter on the calling thread, for good, and returns the listener that its notifications come to.
pub(super) fn install() -> Result<OwnedFd, Error> {
    let mut program = program(ARCHITECTURE.ok_or(Error::Architecture)?);
    let program = sock_fprog {
        len: program.len() as u16,
        filter: program.as_mut_ptr(),
    };
    // SPEC_ALLOW: before Linux 5.16 a filter otherwise slows all of the command by mitigations that a sandbox wants.
    let mut flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER
        | libc::SECCOMP_FILTER_FLAG_SPEC_ALLOW
        | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
    loop {
        match seccomp(flags, &program) {
            Ok(listener) => return Ok(listener),
            // WAIT_KILLABLE_RECV came with 5.19: from then on a signal does not interrupt a call that is being answered.
            Err(Errno::EINVAL) if flags & libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV != 0 => {
                flags &= !libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV;
            }
            // Without CAP_SYS_ADMIN, and only then, the kernel wants this first. It stops setuid programs: never unasked.
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
    // new descriptor, close-on-exec, ours alone.
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
