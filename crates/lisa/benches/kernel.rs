//! Cost of coupling on the running kernel: bulk MPTCP between two namespaces with `lisa` and with the kernel's own
//! Reno, in turn, the duration of each callback of the algorithm, and the cost of an ACK with every algorithm.
//! `cargo bench --bench kernel`; needs root. `-- costs`, `-- throughput`, `-- callbacks`, `-- instructions` or
//! `-- assistance` runs one part.
//!
//! `BENCH_ROUNDS` (30), `BENCH_SECONDS` (1) and `BENCH_COST_ROUNDS` (10) set the duration, `BENCH_ALGORITHM` (lisa) sets
//! the algorithm. An algorithm with CUBIC is compared with Linux's own CUBIC.

#[path = "kernel/assistance.rs"]
mod assistance;
#[path = "kernel/instructions.rs"]
mod instructions;
#[path = "../tests/support/mod.rs"]
mod support;

use kernel::events::{Kinds, Listener};
use kernel::load::Options;
use libbpf_rs::query::ProgInfoIter;
use mpcc::Algorithm;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use socket2::Socket;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};
use support::bpf::Counting;
use support::stream::{exchange, open, serve};
use support::world::World;
use support::{Loaded, able, until};

/// Least throughput, as a share of that of the kernel's own algorithm. The benchmark fails below.
const LEAST: f64 = 0.95;

/// Largest cost of an ACK with any algorithm, as a multiple of the cost with `lisa`. The benchmark fails above.
const MOST: f64 = 1.5;

/// Duration of each connection for the cost of ACKs: a thousand calls or more, because one ACK covers many segments.
const COST_TIME: Duration = Duration::from_millis(300);

/// Initial receive buffers, bytes. With less, a receiver whose window was full opens it without an ACK, and the sender
/// waits 200 ms for MPTCP's own retransmission: by chance, with every algorithm, and for most of a second.
const RECEIVE_BUFFER: usize = 4 << 20;

/// Two-sided 95 % quantiles of Student's t for 1, 2, … degrees of freedom; 1.96 beyond.
const T95: [f64; 15] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
    2.145, 2.131,
];

fn setting(name: &str, usual: usize) -> usize {
    std::env::var(name).map_or(usual, |text| text.parse().expect("a number"))
}

fn main() {
    if std::process::id() == 1 {
        return instructions::measure_in_guest();
    }
    let only: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let wanted = |part: &str| only.is_empty() || only.iter().any(|word| word == part);
    if wanted("instructions") {
        instructions::print();
    }
    let on_this_kernel = ["assistance", "throughput", "callbacks", "costs"];
    if !on_this_kernel.into_iter().any(wanted) || !able() {
        return;
    }
    if wanted("assistance") {
        assistance::print();
        if only == ["assistance"] {
            return;
        }
    }
    let seconds = Duration::from_secs(setting("BENCH_SECONDS", 1) as u64);
    let name = std::env::var("BENCH_ALGORITHM").unwrap_or("lisa".into());
    let algorithm = mpcc::Algorithm::find(&name).expect("an algorithm");
    let own = match algorithm.avoidance() {
        "cubic" => "cubic",
        _ => "reno",
    };
    let loaded = Loaded::with(&name, Options::default());
    println!("{name}, and the kernel's own {own}");
    let ratio = wanted("throughput").then(|| throughput(loaded.name(), own, seconds));
    if wanted("callbacks") {
        callbacks(&loaded, seconds);
    }
    drop(loaded);
    let dear = if wanted("costs") { costs() } else { Vec::new() };
    if let Some(ratio) = ratio.filter(|ratio| *ratio < LEAST) {
        panic!("{ratio:.3} of {own}'s throughput is less than {LEAST}");
    }
    assert!(
        dear.is_empty(),
        "more than {MOST} times what `lisa` costs: {}",
        dear.join(", ")
    );
}

/// Throughput of one connection with this number of subflows, Gbit/s.
fn bulk(world: &World, algorithm: &str, subflows: u32, time: Duration) -> f64 {
    let listener = serve(world, algorithm);
    let (client, server) = pair(world, &listener, algorithm, subflows);
    let reader = thread::spawn(move || {
        pin(1);
        receive(server)
    });
    pin(0);
    let (mut client, block) = (client, vec![0x5a; 1 << 18]);
    let begun = Instant::now();
    while begun.elapsed() < time {
        client.write_all(&block).expect("sent");
    }
    drop(client);
    let bytes = reader.join().expect("received");
    bytes as f64 * 8e-9 / begun.elapsed().as_secs_f64()
}

/// Two hosts and their links, ready for [`bulk`].
fn world(subflows: u32) -> World {
    let world = World::joined(subflows);
    for host in [&world.client, &world.server] {
        let sizes = format!("4096 {RECEIVE_BUFFER} {}", 8 * RECEIVE_BUFFER);
        host.run(|| std::fs::write("/proc/sys/net/ipv4/tcp_rmem", sizes).expect("tcp_rmem"));
    }
    world
}

/// Keeps the calling thread on one CPU: the CPUs of sender and receiver affect the throughput more than the algorithm.
fn pin(cpu: usize) {
    let cpus = thread::available_parallelism().map_or(1, |n| n.get());
    let mut set = CpuSet::new();
    set.set(cpu % cpus).expect("a CPU");
    sched_setaffinity(Pid::from_raw(0), &set).expect("this CPU");
}

/// A connection with all its subflows.
fn pair(
    world: &World,
    listener: &Socket,
    algorithm: &str,
    subflows: u32,
) -> (TcpStream, TcpStream) {
    let (client, server) = open(world, listener, algorithm, None);
    exchange(&client, &server, b"established");
    until("all subflows", || {
        support::stream::joined(&client) as u32 == subflows - 1
    });
    (client, server)
}

fn receive(mut from: TcpStream) -> u64 {
    let (mut bytes, mut block) = (0, vec![0; 1 << 18]);
    loop {
        match from.read(&mut block) {
            Ok(0) => return bytes,
            Ok(n) => bytes += n as u64,
            // This process was stopped and continued.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => panic!("received: {error}"),
        }
    }
}

/// Runs both in turn. Returns the ratio of the means.
fn throughput(lisa: &str, own: &str, time: Duration) -> f64 {
    let rounds = setting("BENCH_ROUNDS", 30);
    let world = world(2);
    bulk(&world, own, 2, time); // caches
    let mut pairs = Vec::new();
    println!("bulk MPTCP, 2 subflows over veth, {time:?} each, in turn (Gbit/s)");
    println!("{:>6} {:>8} {:>8} {:>8}", "round", "coupled", own, "ratio");
    for round in 1..=rounds {
        // The first one alternates, so that a drift of the machine affects both.
        let both = if round % 2 == 1 {
            [lisa, own]
        } else {
            [own, lisa]
        };
        let both = both.map(|algorithm| (algorithm, bulk(&world, algorithm, 2, time)));
        let of = |name: &str| {
            both.iter()
                .find(|(algorithm, _)| *algorithm == name)
                .expect("it ran")
                .1
        };
        let (ours, theirs) = (of(lisa), of(own));
        println!(
            "{round:>6} {ours:>8.2} {theirs:>8.2} {:>8.3}",
            ours / theirs
        );
        pairs.push(ours / theirs);
    }
    let (mean, half) = mean_and_ci95(&pairs);
    println!(
        "{:>6} {:>8} {:>8} {mean:>8.3} ± {half:.3} (95 %)\n",
        "mean", "", ""
    );
    mean
}

/// Mean, and half of its 95 % confidence interval.
fn mean_and_ci95(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    if values.len() < 2 {
        return (mean, f64::INFINITY);
    }
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let t = T95.get(values.len() - 2).copied().unwrap_or(1.96);
    (mean, t * (variance / n).sqrt())
}

/// Runs and nanoseconds of each program, by its name.
fn counts(ids: &[u32]) -> BTreeMap<String, (u64, u64)> {
    ProgInfoIter::default()
        .filter(|program| ids.contains(&program.id))
        .map(|program| {
            let name = program.name.to_string_lossy().into_owned();
            (name, (program.run_cnt, program.run_time_ns))
        })
        .collect()
}

/// Prints the duration of each callback, with 2 and 8 subflows, without a listener and with a listener to all events.
fn callbacks(loaded: &Loaded, time: Duration) {
    const CASES: [(u32, Option<Kinds>, &str); 6] = [
        (2, None, "2"),
        (8, None, "8"),
        (2, Some(Kinds::RARE), "2, rare"),
        (8, Some(Kinds::RARE), "8, rare"),
        (2, Some(Kinds::ALL), "2, all"),
        (8, Some(Kinds::ALL), "8, all"),
    ];
    let _counting = Counting::begin();
    let mut table: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (subflows, kinds, _) in CASES {
        let world = world(subflows);
        let before = counts(loaded.program_ids());
        let mut listener = kinds.map(|kinds| Listener::new(loaded, kinds).expect("listens"));
        thread::scope(|scope| {
            let transfer = scope.spawn(|| bulk(&world, loaded.name(), subflows, time));
            while !transfer.is_finished() {
                match &mut listener {
                    Some(listener) => {
                        drop(listener.poll(Duration::from_millis(50)).expect("events"))
                    }
                    None => thread::sleep(Duration::from_millis(50)),
                }
            }
        });
        drop(listener);
        loaded.settled();
        for (name, (runs, ns)) in counts(loaded.program_ids()) {
            let (runs_before, ns_before) = before.get(&name).copied().unwrap_or_default();
            let (runs, ns) = (runs - runs_before, ns - ns_before);
            let mean = ns.checked_div(runs);
            let cell = mean.map_or("–".into(), |mean| format!("{mean} ({runs})"));
            table.entry(name).or_default().push(cell);
        }
    }
    println!("nanoseconds per callback (and runs), by subflows and events of a listener");
    println!(
        "(the kernel's measurement itself is in them: lisa_undo_cwnd and the like show its floor)"
    );
    print!("{:<18}", "");
    CASES.iter().for_each(|(_, _, title)| print!("{title:>16}"));
    println!();
    for (name, cells) in table {
        print!("{name:<18}");
        cells.iter().for_each(|cell| print!("{cell:>16}"));
        println!();
    }
    println!("{:?} events lost", loaded.totals().events_lost);
}

/// Cost of an ACK: the least mean duration of `cong_avoid` over the rounds, nanoseconds.
#[derive(Clone, Copy)]
struct Cost {
    least: f64,
    calls: u64,
}

/// Prints the cost of an ACK with every algorithm, all loaded and run in turn, and as a multiple of the cost with `lisa` in the
/// same run. Returns the algorithms whose cost is too high.
fn costs() -> Vec<String> {
    const SUBFLOWS: [u32; 2] = [2, 8];
    let ours = Algorithm::all().filter(|algorithm| algorithm.is_loadable());
    let loaded: Vec<(&str, Loaded)> = ours
        .map(|a| (a.name(), Loaded::with(a.name(), Options::default())))
        .collect();
    let worlds = SUBFLOWS.map(|subflows| (subflows, world(subflows)));
    let none = Cost {
        least: f64::INFINITY,
        calls: 0,
    };
    let mut costs = vec![[none; SUBFLOWS.len()]; loaded.len()];
    let _counting = Counting::begin();
    for round in 0..setting("BENCH_COST_ROUNDS", 10) {
        // Each round begins with another algorithm, so that a drift of the machine affects all.
        for turn in 0..loaded.len() {
            let at = (turn + round) % loaded.len();
            let (_, loaded) = &loaded[at];
            for (cost, (subflows, world)) in costs[at].iter_mut().zip(&worlds) {
                let (runs, ns) = acks(loaded);
                bulk(world, loaded.name(), *subflows, COST_TIME);
                loaded.settled();
                let (runs, ns) = (acks(loaded).0 - runs, acks(loaded).1 - ns);
                cost.least = cost.least.min(ns as f64 / runs as f64);
                cost.calls += runs;
            }
        }
    }

    println!(
        "\nnanoseconds an ACK (cong_avoid), the least of the rounds, and as a multiple of lisa's"
    );
    print!("{:<14}", "");
    SUBFLOWS
        .iter()
        .for_each(|n| print!("{:>26}", format!("{n} subflows (calls)")));
    println!();
    let lisa = loaded
        .iter()
        .position(|(name, _)| *name == "lisa")
        .expect("of the table");
    let mut dear = Vec::new();
    for ((name, _), row) in loaded.iter().zip(&costs) {
        print!("{name:<14}");
        for ((cost, lisas), subflows) in row.iter().zip(&costs[lisa]).zip(SUBFLOWS) {
            let times = cost.least / lisas.least;
            print!(
                "{:>26}",
                format!("{:.0}  {times:.2} ({})", cost.least, cost.calls)
            );
            if times > MOST {
                dear.push(format!("{name} {times:.2} with {subflows} subflows"));
            }
        }
        println!();
    }
    dear
}

/// Runs of `cong_avoid`, and the nanoseconds in them.
fn acks(loaded: &Loaded) -> (u64, u64) {
    counts(loaded.program_ids())["lisa_cong_avoid"]
}
