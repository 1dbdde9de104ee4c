//! The commands that the tests run under `exec`: ordinary programs for TCP, in this test program.

#[path = "stall.rs"]
mod stall;

use crate::support::stream::algorithm;
use crate::support::until;
use std::fs;
use std::io::{self, BufRead, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;

use nix::errno::Errno;
use nix::sched::{CloneFlags, unshare};
use nix::unistd::{Gid, Uid, setgid, setuid};
use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// Port that the servers listen on.
pub const PORT: u16 = 7000;

/// Runs the command that the last argument, NAME=ARGUMENT, names. A failure panics, which sets the exit code.
pub fn run() {
    let last = std::env::args().next_back().expect("arguments");
    let (name, argument) = last.split_once('=').expect("NAME=ARGUMENT");
    match name {
        "protocol" => assert_eq!(protocol(), argument.parse::<i32>().expect("a number")),
        "answer" => answer(),
        "serve" => serve(),
        "serve_stalled" => stall::serve(),
        "http" => http(),
        "fetch" => fetch(argument),
        "drop_privileges" => drop_privileges(),
        "move_to_network" => move_to_network(),
        "disable_mptcp" => disable_mptcp(),
        "restrict" => restrict(),
        "privileges" => {
            let status = fs::read_to_string("/proc/self/status").expect("proc");
            assert!(
                status.contains(&format!("NoNewPrivs:\t{argument}")),
                "{status}"
            );
            assert_eq!(protocol(), 262);
        }
        "choose" => choose(),
        "choose_late" => choose_late(argument.parse().expect("a number")),
        "receive" => receive(argument.parse().expect("a number")),
        other => panic!("no command {other}"),
    }
}

/// `SO_PROTOCOL` of a socket made as TCP programs make them: 6 for TCP, 262 for MPTCP.
fn protocol() -> i32 {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    socket
        .protocol()
        .expect("its protocol")
        .map_or(0, i32::from)
}

/// Answers each line of its input with the protocol of a new socket, or the error.
fn answer() {
    println!("ready");
    for line in io::stdin().lock().lines() {
        line.expect("a line");
        match Socket::new(Domain::IPV6, Type::STREAM, Some(Protocol::TCP)) {
            Ok(socket) => println!("answer {}", i32::from(socket.protocol().unwrap().unwrap())),
            Err(error) => println!("answer {error}"),
        }
    }
}

/// Sends to all clients without end, and sets options as servers do.
fn serve() {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).expect("a listener");
    for connection in listener.incoming() {
        let mut connection = connection.expect("a connection");
        connection.set_nodelay(true).expect("an option");
        SockRef::from(&connection)
            .set_keepalive(true)
            .expect("an option");
        std::thread::spawn(move || while connection.write_all(&[7; 100_000]).is_ok() {});
    }
}

/// Answers one request.
fn http() {
    let listener = TcpListener::bind(("0.0.0.0", PORT)).expect("a listener");
    println!("ready");
    let (mut connection, _) = listener.accept().expect("a connection");
    let _ = connection.read(&mut [0; 4096]).expect("a request");
    let answer = format!(
        "HTTP/1.0 200 OK\r\nContent-Length: 100000\r\n\r\n{}",
        "x".repeat(100_000)
    );
    connection.write_all(answer.as_bytes()).expect("it is read");
}

/// Receives over NUMBER connections at once until it is killed.
fn fetch(argument: &str) {
    let (server, connections) = argument.split_once(' ').expect("ADDRESS NUMBER");
    let connections: u32 = connections.parse().expect("a number");
    let connect = || {
        let mut connection = None;
        until("the server listens", || {
            connection = TcpStream::connect((server, PORT)).ok();
            connection.is_some()
        });
        connection.expect("a connection")
    };
    let connections: Vec<_> = (0..connections).map(|_| connect()).collect();
    std::thread::scope(|scope| {
        for mut connection in connections {
            scope.spawn(move || while connection.read(&mut [0; 100_000]).is_ok_and(|n| n > 0) {});
        }
    });
}

/// As the worker of a server: starts as root and drops its privileges.
fn drop_privileges() {
    setgid(Gid::from_raw(1234)).expect("root");
    setuid(Uid::from_raw(4321)).expect("root");
    assert_eq!(protocol(), 262);
}

fn move_to_network() {
    let inode = |path: &str| fs::metadata(path).map(|m| std::os::unix::fs::MetadataExt::ino(&m));
    let before = inode("/proc/thread-self/ns/net").unwrap();
    unshare(CloneFlags::CLONE_NEWNET).expect("root");
    assert_ne!(inode("/proc/thread-self/ns/net").unwrap(), before);
    assert_eq!(protocol(), 262);
}

fn disable_mptcp() {
    unshare(CloneFlags::CLONE_NEWNET).expect("root");
    fs::write("/proc/sys/net/mptcp/enabled", "0").expect("sysctl");
    assert_eq!(protocol(), 6);
    fs::write("/proc/sys/net/mptcp/enabled", "1").expect("sysctl");
    assert_eq!(protocol(), 262);
}

/// struct landlock_ruleset_attr of ABI 4.
#[repr(C)]
struct Ruleset {
    fs: u64,
    net: u64,
}

/// Restricts this thread by Landlock, with rights about files, or about TCP ports.
fn restrict_self(ruleset: Ruleset) {
    // SAFETY: the kernel reads a Ruleset.
    let restricted = unsafe {
        let ruleset = libc::syscall(444, &ruleset, size_of::<Ruleset>(), 0);
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
        Errno::result(ruleset).and_then(|fd| Errno::result(libc::syscall(446, fd, 0)))
    };
    restricted.expect("Landlock");
}

/// In threads, each with a Landlock domain of its own.
fn restrict() {
    const MAKE_SOCKETS: u64 = 1 << 9; // LANDLOCK_ACCESS_FS_MAKE_SOCK
    const CONNECT: u64 = 2; // LANDLOCK_ACCESS_NET_CONNECT_TCP
    std::thread::scope(|scope| {
        let files = scope.spawn(|| {
            restrict_self(Ruleset {
                fs: MAKE_SOCKETS,
                net: 0,
            });
            protocol()
        });
        assert_eq!(files.join().unwrap(), 262);
        let ports = scope.spawn(|| {
            restrict_self(Ruleset {
                fs: 0,
                net: CONNECT,
            });
            // A domain nested in the first.
            restrict_self(Ruleset {
                fs: MAKE_SOCKETS,
                net: 0,
            });
            let denied = TcpStream::connect(("127.0.0.1", 9)).expect_err("denied");
            assert_eq!(denied.kind(), io::ErrorKind::PermissionDenied);
            std::thread::spawn(protocol).join().unwrap()
        });
        assert_eq!(ports.join().unwrap(), 6);
    });
    assert_eq!(protocol(), 262);
}

/// A server chooses its congestion control after the connection was accepted, and then sends ARGUMENT times.
fn choose_late(times: u32) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).expect("connects");
    let (mut server, _) = listener.accept().expect("a connection");
    SockRef::from(&server)
        .set_tcp_congestion(b"reno")
        .expect("reno");
    server.set_nodelay(true).expect("an option");
    for _ in 0..times {
        server.write_all(&[7]).expect("sent");
        client.read_exact(&mut [0]).expect("received");
    }
    assert_eq!(algorithm(&server), "reno");
}

/// An accepted connection that only receives: it acknowledges a quarter of this number of segments, which may take 40 ms each.
fn receive(times: u32) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let mut client = TcpStream::connect(listener.local_addr().unwrap()).expect("connects");
    let (mut server, _) = listener.accept().expect("a connection");
    for _ in 0..times / 4 {
        client.write_all(&[7]).expect("sent");
        server.read_exact(&mut [0]).expect("received");
        until("the acknowledgement", || unacknowledged(&client) == 0);
    }
}

/// Number of bytes that the other end has not acknowledged (SIOCOUTQ).
pub fn unacknowledged(connection: &TcpStream) -> i32 {
    let mut bytes = 0;
    // SAFETY: the kernel writes an int.
    let result = unsafe { libc::ioctl(connection.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    assert_eq!(result, 0, "{}", io::Error::last_os_error());
    bytes
}

/// A program that chooses its congestion control keeps its choice.
fn choose() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
    SockRef::from(&listener)
        .set_tcp_congestion(b"reno")
        .expect("reno");
    let address = listener.local_addr().unwrap();
    let client = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
    client.connect(&address.into()).expect("connects");
    let (server, _) = listener.accept().expect("a connection");
    assert_eq!(algorithm(&server), "reno");
    assert_eq!(algorithm(&client), "lisa");
    client.set_tcp_congestion(b"reno").expect("reno");
    assert_eq!(algorithm(&client), "reno");
}
