//! `exec` with its helper process on the running kernel, with the kernel's own `reno` as the algorithm. Every test has its own network
//! namespace, which distinguishes its sockets and its helper from others. `exec` with a cgroup: crates/lisa/tests/exec.rs.

#[path = "exec/world.rs"]
mod world;

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

use world::{PYTHON, SHOW, enter, helpers, lisa, python, text, under_reno, until};

const NO_HELPER: &str = "the helper has gone";

#[test]
fn connections_are_mptcp_with_the_algorithm() {
    if !enter() {
        return;
    }
    // A listener for both families, a client of each family, and the accepted sockets.
    let seen = python(
        "
l = socket.create_server(('::', 5000), family=socket.AF_INET6, dualstack_ipv6=True)
show(l)
for a in ('127.0.0.1', '::1'):
    c = socket.create_connection((a, 5000)); s, _ = l.accept()
    show(c); show(s)
    c.sendall(b'x' * 10000); c.shutdown(1)
    n = 0
    while d := s.recv(9999): n += len(d)
    print(n, flush=True)
    if a == '::1': os.system('ss -tniM | grep -c mptcp >/dev/null; ss -tni dport = 5000')
",
    );
    let lines: Vec<_> = seen.lines().collect();
    let pair = ["262 reno", "262 reno", "10000"];
    assert_eq!(
        lines[..7],
        [&["262 reno"][..], &pair, &pair].concat(),
        "{seen}"
    );
    // The subflow itself, as the kernel reports it: `reno`, under MPTCP's upper layer.
    let subflow = lines[7..].join("\n");
    assert!(
        subflow.contains(" reno ") && subflow.contains("tcp-ulp-mptcp"),
        "{subflow}"
    );
    until(NO_HELPER, || helpers().is_empty());
}

#[test]
fn the_call_is_answered_as_it_was_made() {
    if !enter() {
        return;
    }
    let seen = python(
        "
import fcntl
for family in (socket.AF_INET, socket.AF_INET6):
    for flag in (0, socket.SOCK_NONBLOCK, socket.SOCK_CLOEXEC, socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC):
        import ctypes
        for protocol in (0, 6):
            fd = ctypes.CDLL(None).socket(family, socket.SOCK_STREAM | flag, protocol)
            s = socket.socket(fileno=os.dup(fd))
            show(s, s.family == family, bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_NONBLOCK) == bool(flag & socket.SOCK_NONBLOCK),
                 bool(fcntl.fcntl(fd, fcntl.F_GETFD)) == bool(flag & socket.SOCK_CLOEXEC))
",
    );
    assert_eq!(seen, "262 reno True True True\n".repeat(16));
}

#[test]
fn other_sockets_are_untouched() {
    if !enter() {
        return;
    }
    let seen = python(
        "
show(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
show(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
show(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM))
show(socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
show(socket.socket(socket.AF_INET, socket.SOCK_RAW, 1))
for kind in (1 | 0x100, 77):
    try: socket.socket(socket.AF_INET, kind)
    except OSError as e: print(e.errno)
",
    );
    assert_eq!(seen, "17 -\n17 -\n0 -\n0 -\n1 -\n22\n22\n");
    // A program that opens an MPTCP socket itself gets the algorithm, too.
    let own = python("show(socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262))");
    assert_eq!(own, "262 reno\n");
}

#[test]
fn children_follow_and_neighbours_do_not() {
    if !enter() {
        return;
    }
    let program = format!("{SHOW}\nshow(socket.socket())");
    let nested = format!("sh -c 'env -i {PYTHON} -c \"$0\"; true' \"$0\"; true");
    assert_eq!(under_reno(&["sh", "-c", &nested, &program]), "262 reno\n");

    // The helper is no child of the command.
    let alone = "
try: os.wait()
except ChildProcessError: print('none')";
    assert_eq!(python(alone), "none\n");

    // While a command runs, a neighbour in the same namespace has plain TCP with the default.
    let mut command = lisa("reno", &["cat"])
        .stdin(Stdio::piped())
        .spawn()
        .expect("fork");
    assert_eq!(helpers().len(), 1);
    let plain = text(
        Command::new(PYTHON)
            .args(["-c", &program])
            .output()
            .expect("python"),
    );
    assert!(
        plain.starts_with("6 ") && !plain.contains("reno"),
        "{plain}"
    );
    drop(command.stdin.take());
    assert!(command.wait().expect("cat").success());
    until(NO_HELPER, || helpers().is_empty());
}

#[test]
fn static_program_without_libc_calls() {
    if !enter() {
        return;
    }
    let folder = std::env::temp_dir().join(format!("lisa-exec-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("folder");
    let program = folder.join("raw");
    let mut compiler = Command::new("cc")
        .args(["-static", "-x", "c", "-", "-o"])
        .arg(&program)
        .stdin(Stdio::piped())
        .spawn()
        .expect("cc");
    let source = br#"
        #include <stdio.h>
        #include <sys/socket.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        int main(void) {
            long s = syscall(SYS_socket, AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
            int protocol = 0;
            char name[16] = "";
            socklen_t length = sizeof protocol, room = sizeof name;
            syscall(SYS_getsockopt, s, SOL_SOCKET, 38, &protocol, &length);
            syscall(SYS_getsockopt, s, 6, 13, name, &room);
            printf("%d %s\n", protocol, name);
        }"#;
    compiler
        .stdin
        .take()
        .expect("pipe")
        .write_all(source)
        .expect("source");
    assert!(compiler.wait().expect("cc").success());
    let seen = under_reno(&[program.to_str().expect("text")]);
    fs::remove_dir_all(folder).expect("clean");
    assert_eq!(seen, "262 reno\n");
}

#[test]
fn exit_codes_and_signals_pass_through() {
    if !enter() {
        return;
    }
    let run = |command: &[&str]| lisa("reno", command).output().expect("fork");
    assert_eq!(run(&["true"]).status.code(), Some(0));
    assert_eq!(run(&["sh", "-c", "exit 3"]).status.code(), Some(3));
    assert_eq!(
        run(&["sh", "-c", "kill -TERM $$"]).status.signal(),
        Some(libc::SIGTERM)
    );

    let missing = run(&["/no/such/command"]);
    assert_eq!(missing.status.code(), Some(127));
    let line = "lisa: /no/such/command: No such file or directory (os error 2)\n";
    assert_eq!(String::from_utf8_lossy(&missing.stderr), line);
    assert_eq!(run(&["/etc/passwd"]).status.code(), Some(126));
    until(NO_HELPER, || helpers().is_empty());

    // The command is the started process, and SIGPIPE ends it as usual.
    let mut child = lisa("reno", &["sh", "-c", "echo $$; exec yes"]);
    let mut child = child.stdout(Stdio::piped()).spawn().expect("fork");
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("pipe"))
        .read_line(&mut first)
        .expect("line");
    assert_eq!(first.trim(), child.id().to_string());
    assert_eq!(child.wait().expect("yes").signal(), Some(libc::SIGPIPE));
}

#[test]
fn a_daemon_keeps_its_helper_and_the_last_one_ends_it() {
    if !enter() {
        return;
    }
    // The parent ends at once; its orphan opens a socket for each line of its input.
    let program = format!(
        "{SHOW}
if os.fork(): os._exit(0)
os.setsid()
for line in sys.stdin: show(socket.socket())"
    );
    let mut parent = lisa("reno", &[PYTHON, "-c", &program]);
    let mut parent = parent
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("fork");
    let mut orders = parent.stdin.take().expect("pipe");
    let mut answers = BufReader::new(parent.stdout.take().expect("pipe")).lines();
    assert!(parent.wait().expect("parent").success());
    writeln!(orders).expect("order");
    assert_eq!(answers.next().expect("line").expect("text"), "262 reno");

    let [helper] = helpers()[..] else {
        panic!("one helper: {:?}", helpers())
    };
    // The helper has none of the command's descriptors open, so a reader of the command's output reaches its end. (The last socket
    // may still be open.)
    let own = ["/dev/null", "anon_inode:seccomp notify", "net:["];
    until("the helper has only its own open", || {
        let fds = fs::read_dir(format!("/proc/{helper}/fd")).expect("descriptors");
        let mut targets = fds.filter_map(|fd| fs::read_link(fd.ok()?.path()).ok());
        targets.all(|target| {
            own.iter()
                .any(|start| target.to_string_lossy().starts_with(start))
        })
    });
    // The helper blocks these signals.
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
        // SAFETY: sends a signal to a process that this test started.
        assert_eq!(unsafe { libc::kill(helper as i32, signal) }, 0);
    }
    writeln!(orders).expect("order");
    assert_eq!(answers.next().expect("line").expect("text"), "262 reno");
    drop(orders);
    until(NO_HELPER, || helpers().is_empty());
}

#[test]
fn a_killed_command_leaves_nothing() {
    if !enter() {
        return;
    }
    let mut command = lisa("reno", &["sleep", "1000"]).spawn().expect("fork");
    assert_eq!(helpers().len(), 1);
    command.kill().expect("kill -9");
    assert_eq!(command.wait().expect("sleep").signal(), Some(libc::SIGKILL));
    until(NO_HELPER, || helpers().is_empty());
}

#[test]
fn sockets_fail_without_the_helper() {
    if !enter() {
        return;
    }
    let program = format!(
        "{SHOW}
show(socket.socket())
sys.stdin.readline()
try: socket.socket()
except OSError as e: print(e.strerror)
show(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))"
    );
    let mut command = lisa("reno", &[PYTHON, "-c", &program]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut command = command.spawn().expect("fork");
    let mut answers = BufReader::new(command.stdout.take().expect("pipe")).lines();
    assert_eq!(answers.next().expect("line").expect("text"), "262 reno");
    let [helper] = helpers()[..] else {
        panic!("one helper: {:?}", helpers())
    };
    // SAFETY: sends a signal to a process that this test started.
    assert_eq!(unsafe { libc::kill(helper as i32, libc::SIGKILL) }, 0);
    until(NO_HELPER, || helpers().is_empty());
    writeln!(command.stdin.take().expect("pipe")).expect("order");
    let rest: Vec<_> = answers.map(|line| line.expect("text")).collect();
    assert_eq!(rest, ["Function not implemented", "17 -"]);
    assert!(command.wait().expect("python").success());
}

#[test]
fn errors_are_one_line() {
    if !enter() {
        return;
    }
    let fails = |algorithm: &str, command: &[&str], code: i32, words: &str| {
        let output = lisa(algorithm, command).output().expect("fork");
        let line = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{line}");
        assert!(line.contains(words) && line.lines().count() == 1, "{line}");
        until(NO_HELPER, || helpers().is_empty());
    };
    fails(
        "no_such_one",
        &["true"],
        1,
        "`lisa kernel load no_such_one` first",
    );
    fails("sixteen_letters_", &["true"], 2, "1 to 15 characters");
    fails("", &["true"], 2, "1 to 15 characters");
    fails("reno", &[], 2, "no command");
    fs::write("/proc/sys/net/mptcp/enabled", "0").expect("sysctl");
    fails("reno", &["true"], 1, "net.mptcp.enabled=1");
}

#[test]
fn nested_is_refused() {
    if !enter() {
        return;
    }
    // This test, started under `exec` with an environment variable, calls `exec` again.
    if std::env::var_os("LISA_EXEC_NESTED").is_some() {
        let inner = lisa("reno", &["true"]).output().expect("fork");
        let line = String::from_utf8_lossy(&inner.stderr).into_owned();
        assert_eq!(inner.status.code(), Some(1), "{line}");
        assert!(line.contains("already under a seccomp listener"), "{line}");
        return;
    }
    let own = std::env::current_exe().expect("path");
    let own = own.to_str().expect("text");
    let command = [
        "env",
        "LISA_EXEC_NESTED=1",
        own,
        "--exact",
        "nested_is_refused",
    ];
    assert!(under_reno(&command).contains("1 passed"));
    until(NO_HELPER, || helpers().is_empty());
}

#[path = "exec/callers.rs"]
mod callers;
#[path = "exec/landlock.rs"]
mod landlock;
