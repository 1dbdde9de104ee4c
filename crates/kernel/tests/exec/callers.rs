//! Callers that differ from the command: other users, other network namespaces, many at the same time.

use super::*;
use nix::sched::{CloneFlags, unshare};

#[test]
fn an_ordinary_user_may_exec() {
    if !enter() {
        return;
    }
    let program = format!(
        "{SHOW}
print(os.getuid())
print([l.split()[1] for l in open('/proc/self/status') if l.startswith('NoNewPrivs')])
s = socket.socket(); show(s, os.fstat(s.fileno()).st_uid)"
    );
    let mut nobody = lisa("reno", &[PYTHON, "-c", &program]);
    let seen = text(nobody.uid(65534).gid(65534).output().expect("fork"));
    assert_eq!(seen, "65534\n['1']\n262 reno 65534\n");
    until(NO_HELPER, || helpers().is_empty());

    let allowed =
        fs::read_to_string("/proc/sys/net/ipv4/tcp_allowed_congestion_control").expect("sysctl");
    if allowed.split_whitespace().any(|name| name == "cubic") {
        eprintln!("skipped: here everybody may use `cubic`");
        return;
    }
    let refused = lisa("cubic", &["true"])
        .uid(65534)
        .gid(65534)
        .output()
        .expect("fork");
    assert_eq!(refused.status.code(), Some(1));
    let line = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        line.contains("only root may use `cubic`") && line.lines().count() == 1,
        "{line}"
    );
}

#[test]
fn root_keeps_setuid_programs() {
    if !enter() {
        return;
    }
    assert_eq!(
        under_reno(&["sh", "-c", "grep NoNewPrivs /proc/self/status"]),
        "NoNewPrivs:\t0\n"
    );
}

#[test]
fn a_socket_belongs_to_the_user_of_its_caller() {
    if !enter() {
        return;
    }
    // As a server's worker, which starts as root and drops the privilege.
    let seen = python(
        "
def owned():
    s = socket.socket(); f = os.fstat(s.fileno()); show(s, f.st_uid, f.st_gid)
owned()
if not os.fork():
    os.setgid(1234); os.setuid(4321); owned(); os._exit(0)
os.wait(); owned()",
    );
    assert_eq!(seen, "262 reno 0 0\n262 reno 4321 1234\n262 reno 0 0\n");
}

#[test]
fn a_socket_belongs_to_the_network_of_its_caller() {
    if !enter() {
        return;
    }
    // SO_NETNS_COOKIE (71) identifies a socket's namespace; `exec` does not change UDP sockets. One thread of the program moves to
    // another namespace, the other stays.
    let seen = python(
        "
import ctypes, threading
def same():
    cookie = lambda s: s.getsockopt(socket.SOL_SOCKET, 71, 8)
    s = socket.socket(); show(s, cookie(s) == cookie(socket.socket(type=socket.SOCK_DGRAM)))
    return cookie(s)
home = same()
def moves():
    assert ctypes.CDLL(None).unshare(0x40000000) == 0
    print(same() != home)
t = threading.Thread(target=moves); t.start(); t.join()
print(same() == home)",
    );
    assert_eq!(
        seen,
        "262 reno True\n262 reno True\nTrue\n262 reno True\nTrue\n"
    );
}

/// Prints whether a TCP socket is in the namespace of a UDP socket, which `exec` does not change.
const SAME_NETWORK: &str = "
cookie = lambda s: s.getsockopt(socket.SOL_SOCKET, 71, 8)  # SO_NETNS_COOKIE
s = socket.socket(); show(s, cookie(s) == cookie(socket.socket(type=socket.SOCK_DGRAM)))";

#[test]
fn in_a_pid_namespace_without_its_proc() {
    if !enter() {
        return;
    }
    let program = format!("{SHOW}{SAME_NETWORK}");
    // The first child of this thread is process 1 of the namespace. Numbers from 2 on are kernel threads in the host's /proc.
    unshare(CloneFlags::CLONE_NEWPID).expect("a PID namespace");
    let ten = "for i in 1 2 3 4 5 6 7 8 9 10; do \"$0\" -c \"$1\"; done";
    let command = ["sh", "-c", ten, PYTHON, &program];
    let output = lisa("reno", &command).output().expect("fork");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    // From Linux 6.13 on a pidfd replaces /proc (PIDFD_GET_INFO).
    if lisa_kernel::requirements::version(&lisa_kernel::requirements::release()) >= (6, 13)
        || output.status.success()
    {
        assert_eq!(text(output), "262 reno True\n".repeat(10));
    } else {
        assert!(
            errors.contains("/proc is that of another PID namespace"),
            "{errors}"
        );
    }
}

#[test]
fn without_mptcp_the_call_is_let_through() {
    if !enter() {
        return;
    }
    let seen = python(
        "
show(socket.socket())
open('/proc/sys/net/mptcp/enabled', 'w').write('0')
s = socket.socket(); print(s.getsockopt(1, 38))
import resource
open('/proc/sys/net/mptcp/enabled', 'w').write('1')
resource.setrlimit(resource.RLIMIT_NOFILE, (s.fileno() + 1, 99))
try: socket.socket()
except OSError as e: print(e.strerror)",
    );
    assert_eq!(seen, "262 reno\n6\nToo many open files\n");
}

#[test]
fn many_callers_at_once_and_under_signals() {
    if !enter() {
        return;
    }
    // Eight processes of four threads each, and a timer that interrupts them without SA_RESTART. A few calls are interrupted before
    // they are received (one in fifty here); no call fails otherwise, and none returns a plain TCP socket.
    let seen = python(
        "
import threading, signal
def work(results):
    for i in range(100):
        try:
            with socket.socket() as s: results.append(s.getsockopt(1, 38))
        except InterruptedError: pass
def process():
    signal.signal(signal.SIGALRM, lambda *_: None); signal.siginterrupt(signal.SIGALRM, True)
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    results = []
    threads = [threading.Thread(target=work, args=(results,)) for _ in range(3)]
    for t in threads: t.start()
    work(results)
    for t in threads: t.join()
    os.write(1, b'%d\\n' % len(results))
    os._exit(0 if set(results) == {262} else 1)
for _ in range(8):
    if not os.fork(): process()
assert not any(os.wait()[1] for _ in range(8))",
    );
    let answered: Vec<u32> = seen
        .lines()
        .map(|count| count.parse().expect("count"))
        .collect();
    assert_eq!(answered.len(), 8);
    assert!(
        answered.iter().sum::<u32>() > 8 * 400 * 8 / 10,
        "of 400 each: {answered:?}"
    );
    until(NO_HELPER, || helpers().is_empty());
}
