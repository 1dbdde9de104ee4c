//! Commands under Landlock, whose rules about TCP ports do not cover MPTCP sockets.

use super::*;

/// `restrict(fs, net)` enters a Landlock domain that forbids these rights; `landlock` is the version of Landlock here.
const LANDLOCK: &str = "
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
landlock = libc.syscall(444, 0, 0, 1)
def restrict(fs, net):
    attributes = struct.pack('QQ', fs, net)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
    assert libc.syscall(446, libc.syscall(444, attributes, 16, 0), 0) == 0
def connect(s):
    try: s.connect(('127.0.0.1', 9))
    except OSError as e: return e.strerror
";

/// Whether this kernel has rules about TCP ports.
fn has_ports() -> bool {
    let version = format!("{LANDLOCK}print(landlock)");
    let version = Command::new(PYTHON).args(["-c", &version]).output();
    let version = text(version.expect("python"));
    let has = version.trim().parse::<i32>().expect("a number") >= 4;
    if !has {
        eprintln!("skipped: Landlock of this kernel has no rules about TCP ports (Linux 6.7 has)");
    }
    has
}

#[test]
fn rules_about_ports_hold() {
    if !enter() || !has_ports() {
        return;
    }
    let seen = python(&format!(
        "{LANDLOCK}
s = socket.socket(); show(s); print(connect(s))
restrict(0, 2)  # LANDLOCK_ACCESS_NET_CONNECT_TCP
s = socket.socket(); print(s.getsockopt(1, 38)); print(connect(s))"
    ));
    assert_eq!(seen, "262 reno\nConnection refused\n6\nPermission denied\n");
}

#[test]
fn a_restricted_process_is_refused() {
    if !enter() || !has_ports() {
        return;
    }
    // This test, started by a process that has restricted itself.
    if std::env::var_os("LISA_EXEC_RESTRICTED").is_some() {
        let output = lisa("reno", &["true"]).output().expect("fork");
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{line}");
        assert!(
            line.contains("Landlock restricts") && line.lines().count() == 1,
            "{line}"
        );
        return;
    }
    for net in [1, 2] {
        let restrict = format!(
            "{LANDLOCK}
import os, sys
restrict(0, {net})
os.execv(sys.argv[1], sys.argv[1:])"
        );
        let own = std::env::current_exe().expect("path");
        let test = "landlock::a_restricted_process_is_refused";
        let mut command = Command::new(PYTHON);
        command
            .args(["-c", &restrict])
            .arg(own)
            .args(["--exact", test]);
        let output = command.env("LISA_EXEC_RESTRICTED", "1").output();
        assert!(text(output.expect("python")).contains("1 passed"));
    }
}
