//! System calls of each process (seccomp(2)).

use libc::{
    AF_INET, AF_INET6, AF_UNIX, CLONE_THREAD, FIONBIO, FIONREAD, PR_SET_NAME, SOCK_DGRAM,
    SOCK_STREAM, SYS_accept4, SYS_brk, SYS_clock_getres, SYS_clock_gettime, SYS_clock_nanosleep,
    SYS_clone, SYS_close, SYS_connect, SYS_dup, SYS_epoll_create1, SYS_epoll_ctl, SYS_epoll_pwait,
    SYS_eventfd2, SYS_exit, SYS_exit_group, SYS_faccessat, SYS_fcntl, SYS_fstat, SYS_futex,
    SYS_getegid, SYS_geteuid, SYS_getgid, SYS_getpeername, SYS_getpid, SYS_getrandom,
    SYS_getsockname, SYS_getsockopt, SYS_gettid, SYS_gettimeofday, SYS_getuid, SYS_ioctl,
    SYS_lseek, SYS_madvise, SYS_membarrier, SYS_mmap, SYS_mprotect, SYS_mremap, SYS_munmap,
    SYS_nanosleep, SYS_newfstatat, SYS_openat, SYS_ppoll, SYS_prctl, SYS_pread64, SYS_prlimit64,
    SYS_read, SYS_readlinkat, SYS_readv, SYS_recvfrom, SYS_recvmmsg, SYS_recvmsg,
    SYS_restart_syscall, SYS_rseq, SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_rt_sigreturn,
    SYS_sched_getaffinity, SYS_sched_yield, SYS_sendmmsg, SYS_sendmsg, SYS_sendto,
    SYS_set_robust_list, SYS_setsockopt, SYS_shutdown, SYS_sigaltstack, SYS_socket, SYS_socketpair,
    SYS_statx, SYS_tgkill, SYS_uname, SYS_write, SYS_writev, c_long,
};
use seccompiler::{
    BackendError, SeccompAction, SeccompCmpArgLen as Length, SeccompCmpOp as Comparison,
    SeccompCondition, SeccompFilter, SeccompRule, apply_filter,
};
use std::collections::BTreeMap;

/// System calls with any arguments, which need neither a privilege nor another process: memory, threads' synchronisation, time, open
/// descriptors, reading files (Landlock and the user decide which), connections.
const ALLOWED: &[c_long] = &[
    SYS_accept4,
    SYS_brk,
    SYS_clock_getres,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_close,
    SYS_connect,
    SYS_dup,
    SYS_epoll_create1,
    SYS_epoll_ctl,
    SYS_epoll_pwait,
    SYS_eventfd2,
    SYS_exit,
    SYS_exit_group,
    SYS_faccessat,
    SYS_fcntl,
    SYS_fstat,
    SYS_futex,
    SYS_getegid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getpeername,
    SYS_getpid,
    SYS_getrandom,
    SYS_getsockname,
    SYS_getsockopt,
    SYS_gettid,
    SYS_gettimeofday,
    SYS_getuid,
    SYS_lseek,
    SYS_madvise,
    SYS_membarrier,
    SYS_mmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_munmap,
    SYS_nanosleep,
    SYS_newfstatat,
    SYS_openat,
    SYS_ppoll,
    SYS_pread64,
    SYS_read,
    SYS_readlinkat,
    SYS_readv,
    SYS_recvfrom,
    SYS_recvmmsg,
    SYS_recvmsg,
    SYS_restart_syscall,
    SYS_rseq,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sched_getaffinity,
    SYS_sched_yield,
    SYS_sendmmsg,
    SYS_sendmsg,
    SYS_sendto,
    SYS_set_robust_list,
    SYS_setsockopt,
    SYS_shutdown,
    SYS_sigaltstack,
    SYS_statx,
    SYS_uname,
    SYS_write,
    SYS_writev,
];

/// Older forms of the above, which x86-64 has beside them.
#[cfg(target_arch = "x86_64")]
const OLDER: &[c_long] = &[
    libc::SYS_access,
    libc::SYS_epoll_wait,
    libc::SYS_open,
    libc::SYS_poll,
    libc::SYS_readlink,
    libc::SYS_stat,
    libc::SYS_time,
];
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[c_long] = &[];

/// Bits of a socket's type; the others are flags (SOCK_TYPE_MASK in include/linux/net.h).
const SOCK_TYPE_MASK: u64 = 0xf;

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// A condition on an argument.
fn argument(
    number: u8,
    length: Length,
    comparison: Comparison,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(number, length, comparison, value)
}

/// The 32 bits of an argument are one of these values.
fn one_of(number: u8, values: &[u64]) -> Result<Vec<SeccompRule>, BackendError> {
    let rule = |value: &u64| {
        let is = argument(number, Length::Dword, Comparison::Eq, *value)?;
        SeccompRule::new(vec![is])
    };
    values.iter().map(rule).collect()
}

/// Allows the calling thread and threads that it will start only what reading, parsing and answering needs, and resolving names.
///
/// Every other system call returns ENOSYS, as on a kernel without it: a C library that tries a new call falls back to an old one. Among these
/// calls are `bpf`, `ptrace`, `process_vm_readv`, `mount`, `setns`, `unshare`, `execve`, `kill`, `fork`, `bind`, `listen`, and `clone3`, whose
/// flags a filter cannot read (glibc falls back to `clone`).
pub(super) fn restrict_system_calls() -> Result<(), String> {
    let failed = |error: BackendError| format!("seccomp: {error}");
    install(allowed().map_err(failed)?, Action::AllowOnly)
}

fn allowed() -> Result<Rules, BackendError> {
    let mut rules: Rules = (ALLOWED.iter().chain(OLDER))
        .map(|call| (*call, Vec::new()))
        .collect();
    // Only a thread. The kernel refuses CLONE_THREAD with new namespaces of users or processes.
    let thread = Comparison::MaskedEq(CLONE_THREAD as u64);
    let thread = argument(0, Length::Dword, thread, CLONE_THREAD as u64)?;
    rules.insert(SYS_clone, vec![SeccompRule::new(vec![thread])?]);
    rules.insert(SYS_socket, sockets()?);
    rules.insert(SYS_socketpair, one_of(0, &[AF_UNIX as u64])?);
    // Not TIOCSTI, which types into the terminal.
    rules.insert(SYS_ioctl, one_of(1, &[FIONBIO, FIONREAD])?);
    rules.insert(SYS_prctl, one_of(0, &[PR_SET_NAME as u64])?);
    // `abort` of this process.
    rules.insert(SYS_tgkill, one_of(0, &[std::process::id().into()])?);
    // Reads limits of this process.
    let reads = [
        argument(0, Length::Dword, Comparison::Eq, 0)?,
        argument(2, Length::Qword, Comparison::Eq, 0)?,
    ];
    rules.insert(SYS_prlimit64, vec![SeccompRule::new(reads.into())?]);
    Ok(rules)
}

/// Streams and datagrams with their usual protocol. Not MPTCP, whose connections Landlock does not cover. Not AF_NETLINK: getaddrinfo then
/// sorts addresses without the flags of the host's own.
fn sockets() -> Result<Vec<SeccompRule>, BackendError> {
    let mut rules = Vec::new();
    for family in [AF_INET, AF_INET6, AF_UNIX] {
        for kind in [SOCK_STREAM, SOCK_DGRAM] {
            let kinds = Comparison::MaskedEq(SOCK_TYPE_MASK);
            rules.push(SeccompRule::new(vec![
                argument(0, Length::Dword, Comparison::Eq, family as u64)?,
                argument(1, Length::Dword, kinds, kind as u64)?,
                argument(2, Length::Dword, Comparison::Eq, 0)?,
            ])?);
        }
    }
    Ok(rules)
}

/// Forbids the calling thread, and threads that it will start, to open sockets and to start programs: a privileged process that has its
/// channel needs neither.
///
/// # Errors
/// A line, if the kernel refuses.
pub fn forbid_sockets() -> Result<(), String> {
    let forbidden = [
        SYS_socket,
        SYS_socketpair,
        SYS_connect,
        libc::SYS_bind,
        libc::SYS_listen,
        SYS_accept4,
        libc::SYS_execve,
        libc::SYS_execveat,
    ];
    let rules = forbidden.iter().map(|call| (*call, Vec::new())).collect();
    install(rules, Action::Forbid)
}

/// What a filter does with its calls.
enum Action {
    AllowOnly,
    Forbid,
}

fn install(rules: Rules, action: Action) -> Result<(), String> {
    let (others, these) = match action {
        Action::AllowOnly => (
            SeccompAction::Errno(libc::ENOSYS as u32),
            SeccompAction::Allow,
        ),
        Action::Forbid => (
            SeccompAction::Allow,
            SeccompAction::Errno(libc::EPERM as u32),
        ),
    };
    let architecture = std::env::consts::ARCH.try_into();
    let program = architecture
        .and_then(|architecture| SeccompFilter::new(rules, others, these, architecture))
        .and_then(TryInto::try_into)
        .map_err(|error: BackendError| format!("seccomp: {error}"))?;
    let program: seccompiler::BpfProgram = program;
    apply_filter(&program).map_err(|error| format!("seccomp: {error}"))
}
