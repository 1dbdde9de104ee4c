//! What a network process can do, tried by one.

use super::*;
use nix::errno::Errno;
use std::net::{TcpListener, TcpStream};
use std::os::fd::IntoRawFd;

/// Runs `work` in a network process, and returns the text that it sends.
fn tried(sandbox: &Sandbox<'_>, work: impl FnOnce() -> String) -> String {
    let network = spawn(sandbox, |channel| {
        let _ = channel.request(work().as_bytes(), |_| ());
        0
    });
    let network = network.expect("a process");
    let mut text = String::new();
    let end = network.serve(None, |request, _| {
        text = String::from_utf8_lossy(request).into_owned();
        Ok(())
    });
    assert_eq!(end, End::Ended);
    let exit = network.wait().expect("it has ended").to_string();
    assert_eq!(exit, "exit code 0", "{text}");
    text
}

/// The error of a system call with these arguments.
fn error(call: libc::c_long, arguments: [usize; 4]) -> Option<Errno> {
    let [a, b, c, d] = arguments;
    // SAFETY: the calls of the tests either fail before the kernel reads an argument, or take integers.
    Errno::result(unsafe { libc::syscall(call, a, b, c, d) }).err()
}

const NOTHING: Sandbox<'_> = Sandbox {
    descriptors: &[],
    readable: &[],
    connect: &[],
};

#[test]
fn system_calls_that_parsing_does_not_need_do_not_exist() {
    let own = std::process::id() as usize;
    let wrong = tried(&NOTHING, || {
        let calls = [
            ("bpf", libc::SYS_bpf, [0; 4]),
            ("ptrace", libc::SYS_ptrace, [16, own, 0, 0]),
            (
                "process_vm_readv",
                libc::SYS_process_vm_readv,
                [own, 0, 0, 0],
            ),
            (
                "process_vm_writev",
                libc::SYS_process_vm_writev,
                [own, 0, 0, 0],
            ),
            ("mount", libc::SYS_mount, [0; 4]),
            ("setns", libc::SYS_setns, [0; 4]),
            ("unshare", libc::SYS_unshare, [0; 4]),
            ("execve", libc::SYS_execve, [0; 4]),
            ("kill", libc::SYS_kill, [own, 0, 0, 0]),
            (
                "a process",
                libc::SYS_clone,
                [libc::SIGCHLD as usize, 0, 0, 0],
            ),
            ("a file of a process", libc::SYS_pidfd_open, [own, 0, 0, 0]),
            (
                "AF_NETLINK",
                libc::SYS_socket,
                [libc::AF_NETLINK as usize, 3, 16, 0],
            ),
            (
                "MPTCP",
                libc::SYS_socket,
                [libc::AF_INET as usize, 1, libc::IPPROTO_MPTCP as usize, 0],
            ),
            (
                "SCTP",
                libc::SYS_socket,
                [libc::AF_INET as usize, libc::SOCK_SEQPACKET as usize, 0, 0],
            ),
            (
                "AF_PACKET",
                libc::SYS_socket,
                [libc::AF_PACKET as usize, 3, 0, 0],
            ),
            (
                "TIOCSTI",
                libc::SYS_ioctl,
                [0, libc::TIOCSTI as usize, 0, 0],
            ),
            ("PR_SET_PDEATHSIG", libc::SYS_prctl, [1, 0, 0, 0]),
            (
                "a signal to another process",
                libc::SYS_tgkill,
                [own, own, 0, 0],
            ),
        ];
        let allowed = calls
            .iter()
            .filter(|(_, call, arguments)| error(*call, *arguments) != Some(Errno::ENOSYS));
        let allowed: Vec<&str> = allowed.map(|(name, ..)| *name).collect();
        format!("allowed: {allowed:?}")
    });
    assert_eq!(wrong, "allowed: []");
}

#[test]
fn files_and_ports() {
    let open = |path: &str| std::fs::File::open(path).map_err(|error| error.kind());
    let sandbox = Sandbox {
        descriptors: &[],
        readable: &["/etc"],
        connect: &[9],
    };
    // Port 9 has no server; 10 is forbidden.
    let connect = |port: u16| TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.kind());
    let listed = tried(&sandbox, || {
        format!(
            "{:?} {:?} {:?} {:?}",
            open("/etc/hosts").err(),
            open("/bin/true").err(),
            connect(9).err(),
            connect(10).err(),
        )
    });
    let has_landlock = {
        // LANDLOCK_CREATE_RULESET_VERSION; rules about ports are of version 4.
        // SAFETY: with this flag the kernel takes no attributes.
        let version = unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, 0, 0, 1) };
        version >= 4
    };
    if !has_landlock {
        eprintln!("skipped: the kernel has no Landlock with rules about ports");
        return;
    }
    assert_eq!(
        listed,
        "None Some(PermissionDenied) Some(ConnectionRefused) Some(PermissionDenied)"
    );
}

#[test]
fn threads_names_and_descriptors() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let kept = listener.into_raw_fd();
    let other = std::fs::File::open("/dev/null")
        .expect("it exists")
        .into_raw_fd();
    let sandbox = Sandbox {
        descriptors: &[kept],
        readable: &["/etc", "/run", "/usr", "/lib", "/lib64"],
        connect: &[],
    };
    let done = tried(&sandbox, || {
        let resolve = || std::net::ToSocketAddrs::to_socket_addrs(&("localhost", 1)).is_ok();
        let resolved = std::thread::spawn(resolve).join().expect("no panic");
        let is_open = |fd: i32| error(libc::SYS_fcntl, [fd as usize, libc::F_GETFD as usize, 0, 0]);
        format!("{resolved} {:?} {:?}", is_open(kept), is_open(other))
    });
    assert_eq!(done, "true None Some(EBADF)");
}

/// The process ends with its channel, however long it would run.
#[test]
fn it_ends_with_the_channel() {
    let network = spawn(&NOTHING, |channel| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        runtime.expect("a runtime").block_on(channel.closed());
        7
    });
    let network = network.expect("a process");
    network.stop();
    assert_eq!(
        network.wait().expect("it has ended").to_string(),
        "exit code 7"
    );
}

/// An oversized request, a panic and a kill are reported as different ends.
#[test]
fn ends() {
    let too_long = spawn(&NOTHING, |channel| {
        let _ = channel.request(&[0; MESSAGE + 1], |_| ());
        0
    });
    let too_long = too_long.expect("a process");
    assert_eq!(too_long.serve(None, |_, _| Ok(())), End::Invalid);
    too_long.stop();
    assert!(too_long.wait().is_some());

    let killed = spawn(&NOTHING, |channel| {
        let _ = channel.request(&[0], |_| ());
        0
    });
    let killed = killed.expect("a process");
    let end = killed.serve(None, |_, _| {
        nix::sys::signal::kill(killed.id, nix::sys::signal::Signal::SIGKILL).expect("it runs");
        Ok(())
    });
    assert_eq!(end, End::Ended);
    assert_eq!(killed.wait().expect("it has ended").to_string(), "SIGKILL");
}
