//! The cost of `status`, `top` and `doctor` with many connections. Prints figures; asserts no time.

use crate::support::stream::{connect, listener};
use crate::support::turn::{good, lisa};
use crate::support::world::{SERVER, World, client_address};
use crate::support::{LISA, Loaded, able, until};
use kernel::holders::{Detail, Lister, Storage};
use kernel::load::Options;
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage, setrlimit};
use socket2::Socket;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Connections between two hosts of this machine. `status` lists both ends.
const CONNECTIONS: usize = 200;
const PORTS: u16 = 4;

/// Prints the wall and CPU time of some work.
fn measure<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let cpu = || {
        let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("usage");
        let time = |t: nix::sys::time::TimeVal| {
            Duration::new(t.tv_sec() as u64, t.tv_usec() as u32 * 1000)
        };
        time(usage.user_time()) + time(usage.system_time())
    };
    let (begin, before) = (Instant::now(), cpu());
    let done = work();
    let (wall, used) = (begin.elapsed(), cpu() - before);
    eprintln!("{what}: {wall:.1?}, of this thread's CPU {used:.1?}");
    done
}

/// `WATCHING_CONNECTIONS=N` opens another number, such as 5 000. `WATCHING_HOLD=SECONDS` keeps the connections open, for `lisa kernel top` in another terminal.
#[test]
fn many_connections() {
    if !able() {
        return;
    }
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE).expect("a limit");
    setrlimit(Resource::RLIMIT_NOFILE, most, most).expect("descriptors");
    let connections = std::env::var("WATCHING_CONNECTIONS").map(|n| n.parse().expect("a number"));
    let connections: usize = connections.unwrap_or(CONNECTIONS);
    let options = Options {
        max_connections: 32_768,
        ..Options::default()
    };
    let (loaded, world) = (Loaded::with("lisa", options), World::joined(2));
    let name = loaded.name();
    let listeners: Vec<Socket> = (0..PORTS)
        .map(|i| world.server.run(|| listener(name, 7000 + i)))
        .collect::<Result<_, _>>()
        .expect("listeners");
    let ends: Vec<(Vec<TcpStream>, Vec<Socket>)> = thread::scope(|scope| {
        let opened = listeners.iter().zip(0..PORTS).map(|(listener, i)| {
            let world = &world;
            scope.spawn(move || {
                let from: IpAddr = client_address(0).parse().expect("an address");
                let to = SocketAddr::from((SERVER, 7000 + i));
                let mut ends = (Vec::new(), Vec::new());
                for _ in 0..connections / usize::from(PORTS) {
                    let client = world.client.run(|| connect(name, Some(from), to));
                    let mut client = client.expect("a connection");
                    std::io::Write::write_all(&mut client, b"1").expect("sent");
                    ends.0.push(client);
                    ends.1.push(listener.accept().expect("the other end").0);
                }
                ends
            })
        });
        let opened: Vec<_> = opened.collect();
        opened
            .into_iter()
            .map(|t| t.join().expect("no panic"))
            .collect()
    });
    until("two subflows of each end", || {
        kernel::status::entries(&loaded) == (2 * connections, 4 * connections)
    });

    let mut storage = Storage::default();
    let mut lister =
        measure("loading the listing programs", || Lister::new(&mut storage)).expect("loads");
    for detail in [Detail::Processes, Detail::Sockets, Detail::Sockets] {
        let what = format!("a listing of {detail:?}");
        let mut found = measure(&what, || lister.list(detail)).expect("a listing");
        let holders = found.take(&loaded);
        eprintln!("{} sockets", holders.sockets.len());
        let status = measure("status", || kernel::status::status(&loaded, holders));
        measure("drop", || drop(status));
    }
    measure("registry::find", kernel::registry::find).expect("found");
    let json = measure("lisa kernel status --json", || {
        good(lisa(&["status", "--json"]))
    });
    eprintln!("{} bytes", json.len());
    let text = measure("lisa kernel status", || good(lisa(&["status"])));
    eprintln!("{} lines", text.lines().count());
    measure("lisa kernel status --port 7001", || {
        good(lisa(&["status", "--port", "7001"]))
    });
    measure("lisa kernel doctor", || good(lisa(&["doctor"])));
    if let Ok(seconds) = std::env::var("WATCHING_HOLD") {
        eprintln!("{LISA} kernel top");
        thread::sleep(Duration::from_secs(seconds.parse().expect("seconds")));
    }
    drop((ends, listeners));
    loaded.settled();
}
