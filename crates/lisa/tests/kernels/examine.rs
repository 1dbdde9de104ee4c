//! Tests of an algorithm on the running kernel: the host's, or a guest's.

use crate::support::bpf::{Counting, count_storage};
use crate::support::opens::Clients;
use crate::support::stream::{PORT, listener};
use crate::support::vm::found;
use crate::support::{KernelLog, settled, until};
use kernel::owner::Owner;
use kernel::registry::{self, Registered};
use kernel::requirements;
use lab::{Host, Network, NetworkSpec};
use libbpf_rs::query::ProgInfoIter;
use mpcc::Algorithm;
use mpcc_harness::bpf::Bpf;
use mpcc_harness::{Harness, Machine, Native, instructions, vectors};
use scenario::Scenario;
use scenario::outcome::SubflowOutcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

/// Connections that are opened and closed with each algorithm; `make soak` has a million.
pub const OPENS: u64 = 100;

/// Bytes per path on average: some dozens of segments beyond the initial windows.
const BYTES: u64 = 125_000;

/// The job of the guest.
#[derive(Serialize, Deserialize)]
pub struct Job {
    /// The algorithms, by name.
    pub algorithms: Vec<String>,
    /// The BPF program that counts sockets with storage.
    pub counter: Vec<u8>,
}

/// The findings on a kernel.
#[derive(Debug, Serialize, Deserialize)]
pub struct Findings {
    /// `uname -r`
    pub release: String,
    /// Name in the baseline of instructions.
    pub linux: String,
    pub rows: Vec<Row>,
    /// Faults in the kernel's log.
    pub faults: Vec<String>,
}

/// The findings about an algorithm.
#[derive(Debug, Serialize, Deserialize)]
pub struct Row {
    pub algorithm: String,
    /// Instructions that the verifier processed for each callback; none for Linux's own algorithms.
    pub loads: Found<Vec<u32>>,
    /// Number of worked examples with the same bytes in the BPF machine as in native code, and with the expected results.
    pub examples: Found<usize>,
    /// Number of subflows that carried a transfer.
    pub two: Found<usize>,
    /// Number of subflows that carried a transfer over eight paths.
    pub eight: Found<usize>,
    /// Number of connections that were opened and closed and whose state was freed.
    pub opens: Found<u64>,
}

impl Row {
    /// Failed tests with their errors.
    pub fn failures(&self) -> Vec<String> {
        let why = [
            ("loading", self.loads.as_ref().err()),
            ("the worked examples", self.examples.as_ref().err()),
            ("two subflows", self.two.as_ref().err()),
            ("eight subflows", self.eight.as_ref().err()),
            ("opening and closing", self.opens.as_ref().err()),
        ];
        let failed = why
            .into_iter()
            .filter_map(|(what, why)| why.map(|why| format!("{}, {what}: {why}", self.algorithm)));
        failed.collect()
    }
}

/// A finding, or the error of its test.
pub type Found<T> = Result<T, String>;

/// Runs all tests. Needs root.
pub fn examine(job: &Job) -> Findings {
    let mut log = KernelLog::begin();
    let rows = job.algorithms.iter().map(|name| {
        eprintln!("{name}"); // the last word of a kernel that stops here
        algorithm(name, &job.counter)
    });
    Findings {
        release: requirements::release(),
        linux: instructions::linux(),
        rows: rows.collect(),
        faults: log.faults(),
    }
}

fn algorithm(name: &str, counter: &[u8]) -> Row {
    let examples = found(|| examples(name));
    let mut host = Host::new(0, Arc::default()).expect("a host");
    let _counting = Counting::begin();
    let two = found(|| transfer(&mut host, name, 2));
    let eight = found(|| transfer(&mut host, name, 8));
    // The transfers have loaded the algorithm, unless it is Linux's own.
    let ours = Algorithm::find(name).is_some_and(|algorithm| algorithm.is_loadable());
    let counts = || {
        check_calls(&loaded(name));
        instructions::count(loaded(name).program_ids())
    };
    let loads = found(|| if ours { counts() } else { Vec::new() });
    let opens = found(|| {
        if !ours {
            return opens(name);
        }
        let loaded = loaded(name);
        let opened = opens(loaded.name());
        nothing_is_left(&loaded, opened, counter);
        let (map, programs) = (loaded.map_id(), loaded.program_ids().to_vec());
        drop((loaded, host));
        until("it is unloaded", || {
            let left = registry::find().expect("what is loaded");
            !left.iter().any(|left| left.map_id() == map)
                && !ProgInfoIter::default().any(|left| programs.contains(&left.id))
        });
        opened
    });
    Row {
        algorithm: name.into(),
        loads,
        examples,
        two,
        eight,
        opens,
    }
}

/// Every transfer calls these. Linux 7.1 and later report a start with nothing in flight (CA_EVENT_TX_START) by `tx_start`, which
/// others do not load, and leave to `cwnd_event` what a transfer without loss does not have.
fn check_calls(loaded: &Registered) {
    let programs = ProgInfoIter::default().filter(|p| loaded.program_ids().contains(&p.id));
    let called = programs.filter(|program| program.run_cnt > 0);
    let called: BTreeSet<String> = called
        .map(|program| program.name.to_string_lossy().into_owned())
        .collect();
    let start = match requirements::version(&requirements::release()) {
        (..7, _) | (7, 0) => "cwnd_event",
        _ => "tx_start",
    };
    for callback in ["init", "cong_avoid", "set_state", "release", start] {
        let name = format!("lisa_{callback}");
        assert!(called.contains(&name), "only {called:?} were called");
    }
}

/// Checks that all connections have closed, and that maps and sockets have none of their state.
fn nothing_is_left(loaded: &Registered, opened: u64, counter: &[u8]) {
    let totals = settled(loaded);
    until("no storage", || count_storage(loaded, counter) == 0);
    assert_eq!(
        (totals.alone_full, totals.alone_slots),
        (0, 0),
        "{totals:?}"
    );
    assert!(
        totals.connections_opened >= 2 * opened
            && totals.subflows_opened > totals.connections_opened,
        "both ends of each, and some were joined: {totals:?}"
    );
}

/// The loaded algorithm of this name.
fn loaded(name: &str) -> Registered {
    let loaded = registry::find().expect("what is loaded");
    let ours = |found: &Registered| {
        found.algorithm() == name
            && found.owner() == Some(Owner::this())
            && found.name().starts_with("lab")
    };
    loaded.into_iter().find(ours).expect("it is loaded")
}

/// Runs each callback on two machines, and panics if the bytes differ.
struct Both(Bpf);

impl Machine for Both {
    fn step(&mut self, harness: &mut Harness) {
        let mut native = *harness;
        Native.step(&mut native);
        self.0.step(harness);
        assert!(
            mpcc_harness::bytes(&native) == mpcc_harness::bytes(harness),
            "not the bytes of native code: {:?}, and in the kernel {:?}",
            native.note,
            harness.note
        );
    }
}

/// Number of examples that hold.
fn examples(name: &str) -> usize {
    let (mut both, mut held) = (Both(Bpf::default()), 0);
    for vector in vectors::all() {
        let algorithms = vector.algorithms().expect("of the table");
        if let Some(algorithm) = algorithms.into_iter().find(|a| a.name() == name) {
            let run = vector.run_for(algorithm, &mut both);
            run.unwrap_or_else(|difference| panic!("{difference}"));
            held += 1;
        }
    }
    held
}

fn bytes(paths: usize) -> u64 {
    paths as u64 * BYTES
}

/// One connection over this number of paths.
fn scenario(algorithm: &str, paths: usize, network: &str) -> Scenario {
    let text = format!(
        "title = \"A kernel\"\nstop = \"60s\"\n[topology]\nkind = \"shared-bottleneck\"\n{network}\n\
         paths = {paths}\n[[connection]]\nprotocol = \"mptcp\"\nsubflows = {paths}\nalgorithm = \"{algorithm}\"\n\
         bytes = {}\n",
        bytes(paths)
    );
    Scenario::parse(&text, "kernels.toml").expect("a scenario")
}

/// Transfers bytes, which the lab compares one by one, over all paths. Returns the number of subflows.
///
/// MPTCP drops an announced address that arrives while it processes another one, and receives it again after two
/// minutes (`mptcp_pm_add_addr_received`): then the transfer is repeated.
fn transfer(host: &mut Host, name: &str, paths: usize) -> usize {
    const TRIES: u64 = 5; // docs/notes/kernel.md: how often that is
    let all = (1..=TRIES).any(|seed| over(host, name, paths, seed) == paths);
    assert!(all, "fewer subflows, {TRIES} times");
    paths
}

/// Number of subflows of a transfer.
fn over(host: &mut Host, name: &str, paths: usize, seed: u64) -> usize {
    // Slow, so that all subflows join long before the end, without many packets; and without loss, which would affect
    // the announcements too.
    let network = "rate = \"5Mbit\"\nrtt = \"20ms\"\nqueue = 1000";
    let run = host.run(&scenario(name, paths, network), seed);
    let run = run.unwrap_or_else(|error| panic!("{error}"));
    let [download] = &run.outcome.connections[..] else {
        panic!("{:?}", run.outcome)
    };
    assert_eq!(
        (download.bytes, &download.note),
        (bytes(paths), &None),
        "all of it, in time"
    );
    for credit in run.credits.iter().filter_map(|c| c.settled.as_ref()) {
        assert_eq!(credit.sum_before, credit.sum_after, "{credit:?}");
    }
    let linked = Algorithm::find(name).is_some_and(|a| a.slow_start() == "lisa");
    let takes = linked && finds_slow_start(&download.subflows);
    assert!(!takes || !run.credits.is_empty(), "who links takes credits");
    assert!(linked || run.credits.is_empty(), "and nobody else does");
    download.subflows.len()
}

/// Whether a join found another subflow in slow start. wVegas leaves slow start about 2 ms after the join, on a busy host before.
fn finds_slow_start(subflows: &[SubflowOutcome]) -> bool {
    subflows.iter().any(|join| {
        subflows.iter().any(|other| {
            let still = |exit| exit > join.established_s;
            other.established_s < join.established_s && other.slow_start_exit_s.is_none_or(still)
        })
    })
}

/// Opens and closes connections of two subflows. Returns their number.
fn opens(name: &str) -> u64 {
    let scenario = scenario("reno", 2, "rate = \"1Gbit\"\nrtt = \"200us\"\nqueue = 1000");
    let mut network =
        Network::build(&NetworkSpec::client_server(&scenario.topology).expect("a network"))
            .expect("its hosts");
    network.start().expect("it runs");
    let listening = network.hosts()[0].server.run(|| listener(name, PORT));
    let clients = Clients {
        algorithm: name,
        host: &network.hosts()[0].client,
        from: vec![network.hosts()[0].client_address()],
        to: SocketAddr::from((network.hosts()[0].server_addresses()[0], PORT)),
    };
    clients.open_and_close(OPENS, &listening.expect("a listener"), |_| {});
    network.stop().expect("it ran");
    OPENS
}
