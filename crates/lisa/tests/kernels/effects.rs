//! Effects of single programs on the guest's kernel: a quiet lender settles before it sends, a threshold that CUBIC sets at the start
//! stays, and the end of an agent couples.

use crate::support::stream::{PORT, connect, listener};
use crate::support::until;
use kernel::agent_exit::CoupledAtExit;
use kernel::contract::{lisa_event, lisa_event_kind as kind};
use kernel::events::{Kinds, Listener};
use kernel::group;
use kernel::load::{Options, load};
use kernel::registry::Registered;
use kernel::status::{Connection, Subflow};
use lab::{Namespace, Network, NetworkSpec};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, Pid, fork, pause};
use scenario::Scenario;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A connection of an algorithm over two paths in the guest, and the events since its start.
struct Watched<'r> {
    listener: Listener<'r>,
    events: Vec<lisa_event>,
    server: &'r Namespace,
}

impl Watched<'_> {
    fn look(&mut self) {
        let more = self.listener.poll(Duration::from_millis(1));
        self.events.extend(more.expect("events"));
    }

    /// The first event that `matches`. Waits for it.
    fn first(&mut self, what: &str, matches: impl Fn(&lisa_event) -> bool) -> lisa_event {
        until(what, || {
            self.look();
            self.events.iter().any(&matches)
        });
        *self
            .events
            .iter()
            .find(|e| matches(e))
            .expect("it is there")
    }
}

fn is(event: &lisa_event, kind: u32) -> bool {
    u32::from(event.kind) == kind
}

/// Opens a connection of the algorithm over two paths of 200 ms, and calls `test` with its client, its server and its events.
fn with_connection(algorithm: &str, test: impl FnOnce(TcpStream, TcpStream, Watched<'_>)) {
    let scenario = "title = \"effects\"\nstop = \"60s\"\n[topology]\nkind = \"non-shared-bottleneck\"\nrate = \"20Mbit\"\n\
                    rtt = \"200ms\"\nqueue = 1000\npaths = 2\n[[connection]]\nprotocol = \"mptcp\"\nsubflows = 2\n\
                    algorithm = \"reno\"\nbytes = 1\n";
    let scenario = Scenario::parse(scenario, "effects.toml").expect("a scenario");
    let mut network =
        Network::build(&NetworkSpec::client_server(&scenario.topology).expect("a network"))
            .expect("its hosts");
    network.start().expect("it runs");
    let registered = load(algorithm, &Options::default()).expect("it loads");
    let watched = Watched {
        listener: Listener::new(&registered, Kinds::ALL).expect("it listens"),
        events: Vec::new(),
        server: &network.hosts()[0].server,
    };
    let name = registered.name();
    let listening = watched.server.run(|| listener(name, PORT));
    let listening = listening.expect("a listener");
    let to = SocketAddr::from((network.hosts()[0].server_addresses()[0], PORT));
    let client = network.hosts()[0].client.run(|| connect(name, None, to));
    let server = listening.accept().expect("a connection").0;
    test(client.expect("a connection"), server.into(), watched);
    network.stop().expect("it ran");
}

/// The second subflow takes a credit from the first one while that one has nothing in flight. The first one settles when it sends
/// (CA_EVENT_TX_START), an RTT before its next ACK.
pub fn a_quiet_lender_settles_before_it_sends() {
    with_connection("lisa", |mut client, mut server, mut watched| {
        client.write_all(&[1]).expect("sent");
        server.read_exact(&mut [0]).expect("received");
        let join = watched.first("a join that takes a credit", |e| {
            is(e, kind::LISA_EVENT_START) && e.credit > 0
        });
        let of_lender =
            |e: &lisa_event| (e.connection.socket, e.slot) == (join.connection.socket, join.other);
        // The lender's last ACK may come after the join.
        std::thread::scope(|scope| {
            scope.spawn(|| server.read_exact(&mut [0; 100_000]).expect("received"));
            until("quiet", || {
                watched.look();
                watched.events.iter().any(|e| of_lender(e) && e.flight == 0)
            });
            watched.events.clear();
            client.write_all(&[2; 100_000]).expect("sent");
        });
        let first = watched.first("an event of the lender", of_lender);
        assert!(is(&first, kind::LISA_EVENT_SETTLED), "kind {}", first.kind);
        assert_eq!(
            (first.other, first.credit, first.sum_before),
            (join.slot, join.credit, first.sum_after)
        );
    });
}

/// A process in the server's namespace that has separated the subflows is killed: they are in one group again.
pub fn the_end_of_an_agent_couples() {
    with_connection("lia", |mut client, mut server, watched| {
        client.write_all(&[1]).expect("sent");
        server.read_exact(&mut [0]).expect("received");
        let groups = || -> Vec<u8> {
            let asked = |subflow: &Subflow| subflow.group_asked.unwrap_or(subflow.group);
            let (_, connection) = watched.server.run(of_server);
            connection.subflows.iter().map(asked).collect()
        };
        until("two subflows", || groups().len() == 2);
        let agent = watched.server.run(agent);
        until("separate groups", || groups() == [0, 1]);
        kill(agent, Signal::SIGKILL).expect("it runs");
        waitpid(agent, None).expect("a child");
        assert_eq!(groups(), [0, 0]);
    });
}

/// The server's end of the connection, and its algorithm.
fn of_server() -> (Registered, Connection) {
    let is_server = |connection: &Connection| {
        let local = connection.subflows.iter().find_map(|subflow| subflow.local);
        local.is_some_and(|local| local.port() == PORT)
    };
    let ends = group::all()
        .expect("loads")
        .into_iter()
        .find_map(|(registered, connections)| {
            let connection = connections.into_iter().find(is_server)?;
            Some((registered, connection))
        });
    ends.expect("the server's end")
}

/// A child that separates the second subflow, and waits.
fn agent() -> Pid {
    // SAFETY: the child uses nothing that another thread of the parent may hold, but for the allocator, which glibc releases in it.
    if let ForkResult::Parent { child } = unsafe { fork() }.expect("a process") {
        return child;
    }
    let (registered, connection) = of_server();
    let attached = CoupledAtExit::of(&registered);
    let moves = [(&connection.subflows[1], 1)];
    match group::request(&registered, &connection, &moves).and(attached) {
        Ok(_attached) => pause(),
        Err(error) => eprintln!("{error}"),
    }
    std::process::exit(1)
}

/// Linux's CUBIC starts with the threshold of its module's parameter if its HyStart is off (cubictcp_init).
pub fn an_initial_threshold_of_cubic_stays() {
    const THRESHOLD: u32 = 33;
    let parameter = |name| format!("/sys/module/tcp_cubic/parameters/{name}");
    fs::write(parameter("hystart"), "0").expect("a parameter");
    fs::write(parameter("initial_ssthresh"), THRESHOLD.to_string()).expect("a parameter");
    with_connection("lisa_cubic", |_client, _server, mut watched| {
        let start = watched.first("a start", |e| is(e, kind::LISA_EVENT_START));
        assert_eq!(start.ssthresh, THRESHOLD, "segments");
    });
}
