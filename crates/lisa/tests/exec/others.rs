//! Programs of other projects beside those of `exec`: their callbacks, sockets and algorithms are as without `lisa kernel load`.

use super::commands::{PORT, unacknowledged};
use super::examine::{Finding, load, over_two_paths, run};
use super::programs::{CGROUPS, named, succeeds, under_exec};
use crate::support::Folder;
use crate::support::bpf::compile;
use crate::support::foreign::{compiled, register_object};
use crate::support::until;
use crate::support::vm::set_loopback;
use kernel::exec::exec;
use kernel::registry::Registered;
use lab::Namespace;
use libbpf_rs::{Iter, Link, MapCore, MapFlags, MapMut, Object, ObjectBuilder, libbpf_sys};
use serde::{Deserialize, Serialize};
use socket2::{Domain, Protocol, Socket, Type};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;

/// The compiled programs, for a guest without a compiler.
#[derive(Serialize, Deserialize)]
pub struct Objects {
    /// others.bpf.c.
    programs: Vec<u8>,
    /// A congestion control with the name `olia`.
    olia: Vec<u8>,
}

impl Objects {
    pub fn compile() -> Self {
        let (folder, other) = (Folder::new(), Folder::new());
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/exec/others.bpf.c");
        let programs = compile(&source, &folder, "-DOTHERS");
        Self {
            programs: fs::read(programs).expect("an object"),
            olia: compiled(&other, "-DNAME=\"olia\""),
        }
    }
}

/// Runs all tests. No algorithm is loaded before and after them.
pub fn examine(objects: &Objects) -> Vec<Finding> {
    vec![
        run("callbacks that another program requested", || {
            callbacks(objects);
        }),
        run("callbacks of a late join", || late_join(objects)),
        run("sockets that another program turns into MPTCP", || {
            sockets(objects);
        }),
        run("another program's algorithm with a name of ours", || {
            algorithm(objects);
        }),
    ]
}

/// A TCP socket: whether calls about its header options are requested.
#[derive(Debug)]
struct Request {
    /// Number of segments with data that it has sent.
    segments: u32,
    requested: bool,
}

/// The attached programs of others.bpf.c, until this is dropped.
struct Others {
    object: Object,
    root: File,
    _socket: Link,
}

/// linux/bpf.h
const BPF_F_ALLOW_MULTI: u32 = 1 << 1;

impl Others {
    fn attach(objects: &Objects) -> Self {
        let object = ObjectBuilder::default().open_memory(&objects.programs);
        let object = object.expect("an object").load().expect("loads");
        let socket = object
            .progs_mut()
            .find(|program| program.name() == "other_socket")
            .map(|program| program.attach().expect("attaches"));
        let root = File::open(CGROUPS).expect("the root cgroup");
        let this = Self {
            object,
            root,
            _socket: socket.expect("a program"),
        };
        let (program, cgroup) = (this.connected(), this.root.as_raw_fd());
        let kind = libbpf_sys::BPF_CGROUP_SOCK_OPS;
        // SAFETY: both descriptors are open.
        let done = unsafe { libbpf_sys::bpf_prog_attach(program, cgroup, kind, BPF_F_ALLOW_MULTI) };
        assert_eq!(done, 0, "attaches");
        this
    }

    fn connected(&self) -> i32 {
        let mut programs = self.object.progs();
        let connected = programs.find(|program| program.name() == "other_connected");
        connected.expect("a program").as_fd().as_raw_fd()
    }

    /// Number of calls about header options of sockets with this local port.
    fn calls_so_far(&self, port: u16) -> u64 {
        let map = self.object.maps().find(|map| map.name() == "calls");
        let value = map
            .expect("a map")
            .lookup(&u32::from(port).to_ne_bytes(), MapFlags::ANY);
        value.expect("a map").map_or(0, |value| number(&value))
    }

    /// The TCP sockets of this network namespace.
    fn requests(&self) -> Vec<Request> {
        let programs = self.object.progs_mut();
        let mut iterators = programs.filter(|program| program.name() == "requests");
        let link = iterators
            .next()
            .expect("a program")
            .attach()
            .expect("attaches");
        let mut bytes = Vec::new();
        let mut iterator = Iter::new(&link).expect("an iterator");
        iterator.read_to_end(&mut bytes).expect("it is read");
        let numbers: Vec<u32> = bytes
            .chunks(4)
            .map(|bytes| u32::from_ne_bytes(bytes.try_into().expect("4 bytes")))
            .collect();
        let request = |found: &[u32]| Request {
            segments: found[0],
            requested: found[1] == 1,
        };
        numbers.chunks(2).map(request).collect()
    }

    fn map_of_sockets(&mut self) -> MapMut<'_> {
        let mut maps = self.object.maps_mut();
        maps.find(|map| map.name() == "sockets").expect("a map")
    }

    /// From now on the TCP sockets of this process, or of all processes, become MPTCP sockets.
    fn turn(&mut self, process: u32) {
        let map = self.map_of_sockets();
        map.update(&process.to_ne_bytes(), &0_u64.to_ne_bytes(), MapFlags::ANY)
            .expect("an entry");
    }

    /// Number of sockets of this process that it turned into MPTCP sockets.
    fn turned(&mut self, process: u32) -> u64 {
        let map = self.map_of_sockets();
        let value = map.lookup(&process.to_ne_bytes(), MapFlags::ANY);
        number(&value.expect("a map").expect("an entry"))
    }
}

fn number(bytes: &[u8]) -> u64 {
    u64::from_ne_bytes(bytes.try_into().expect("8 bytes"))
}

impl Drop for Others {
    fn drop(&mut self) {
        let kind = libbpf_sys::BPF_CGROUP_SOCK_OPS;
        // SAFETY: both descriptors are open.
        let done =
            unsafe { libbpf_sys::bpf_prog_detach2(self.connected(), self.root.as_raw_fd(), kind) };
        assert_eq!(done, 0, "detaches");
    }
}

/// `lisa`, loaded until this is dropped.
struct Lisa(Registered);

impl Lisa {
    fn load() -> Self {
        Self(load("lisa"))
    }
}

impl Drop for Lisa {
    fn drop(&mut self) {
        // Connections of a killed command may last for a minute.
        let done = self.0.unload(Some(&mut |_| false));
        assert!(done.is_ok() || std::thread::panicking(), "{done:?}");
    }
}

/// Number of segments that an end of a connection acknowledges.
const ROUNDS: u64 = 100;

/// Exchanges segments over connections of no command of `exec`. Returns the number of calls about the acknowledgements of the
/// servers.
fn exchange(others: &Others) -> [u64; 2] {
    let network = Namespace::new().expect("a network");
    network.run(|| {
        set_loopback(true);
        [(Protocol::TCP, PORT), (Protocol::MPTCP, PORT + 1)].map(|(protocol, port)| {
            let before = others.calls_so_far(port);
            exchange_over(protocol, port);
            others.calls_so_far(port) - before
        })
    })
}

/// A client sends, and a server acknowledges each segment alone.
fn exchange_over(protocol: Protocol, port: u16) {
    let make = || Socket::new(Domain::IPV4, Type::STREAM, Some(protocol)).expect("a socket");
    let (listener, client) = (make(), make());
    let address = SocketAddr::from(([127, 0, 0, 1], port)).into();
    listener.bind(&address).expect("a free port");
    listener.listen(1).expect("listens");
    client.connect(&address).expect("connects");
    let (server, _) = listener.accept().expect("a connection");
    let (mut client, mut server) = (TcpStream::from(client), TcpStream::from(server));
    for _ in 0..ROUNDS {
        client.write_all(&[7]).expect("sent");
        server.read_exact(&mut [0]).expect("received");
        until("the acknowledgement", || unacknowledged(&client) == 0);
    }
}

fn callbacks(objects: &Objects) {
    let alone = exchange(&Others::attach(objects));
    let check = |others: &Others, what: &str| {
        let [tcp, mptcp] = exchange(others);
        assert_eq!(tcp, alone[0], "TCP, {what}");
        // MPTCP may acknowledge at the level of the connection in addition.
        assert!(alone[1].min(mptcp) >= ROUNDS, "{mptcp}, {what}");
    };
    let others = Others::attach(objects);
    let _lisa = Lisa::load();
    check(&others, "attached before the load");
    drop(others);
    check(&Others::attach(objects), "attached after the load");
}

/// A join of a command of `exec`, for which its program and the other one request the same callbacks.
fn late_join(objects: &Objects) {
    let before = Others::attach(objects);
    let lisa = Lisa::load();
    let after = Others::attach(objects);
    for others in [before, after] {
        let all_sent = |server: &Namespace| {
            let requests = server.run(|| others.requests());
            let subflows = || requests.iter().filter(|socket| socket.segments > 0);
            let sent = subflows().filter(|socket| socket.segments > 50).count();
            assert!(subflows().all(|socket| socket.requested), "{requests:?}");
            sent == 2
        };
        over_two_paths(&lisa.0, "serve_stalled", 1, all_sent);
    }
}

/// Number of sockets.
const SOCKETS: u64 = 10;

fn sockets(objects: &Objects) {
    let this = std::process::id();
    let mut others = Others::attach(objects);
    others.turn(this);
    let make = |others: &mut Others, what: &str| {
        let before = others.turned(this);
        for _ in 0..SOCKETS {
            let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
            assert_eq!(socket.protocol().unwrap(), Some(Protocol::MPTCP), "{what}");
        }
        assert_eq!(others.turned(this) - before, SOCKETS, "{what}");
    };
    make(&mut others, "without an algorithm");
    let _lisa = Lisa::load();
    make(&mut others, "attached before the load");
    drop(others);
    let mut others = Others::attach(objects);
    others.turn(this);
    make(&mut others, "attached after the load");
    // A command of `exec` has its algorithm where every process has MPTCP.
    others.turn(0);
    let network = Namespace::new().expect("a network");
    network.run(|| {
        set_loopback(true);
        succeeds(under_exec(named("choose", "")));
    });
}

fn algorithm(objects: &Objects) {
    let _olia = register_object(&objects.olia);
    let _lisa = Lisa::load();
    // In a cgroup with its name, without `exec`.
    let cgroup = Path::new(CGROUPS).join("lisa-exec-olia-1");
    fs::create_dir(&cgroup).expect("a cgroup");
    let mut command = named("protocol", "6");
    let place = cgroup.join("cgroup.procs");
    // SAFETY: glibc keeps its allocator usable in the child of a process with threads; nothing else of it is shared.
    unsafe { command.pre_exec(move || fs::write(&place, "0")) };
    let done = command.status().expect("it starts");
    fs::remove_dir(cgroup).expect("an empty cgroup");
    assert!(done.success(), "its sockets are TCP sockets");
    let error = exec("olia", &["/no/such/command".into()]).to_string();
    let words = "another program has registered `olia` with the kernel";
    assert!(error.contains(words), "{error}");
}
