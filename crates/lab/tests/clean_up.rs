//! A network leaves nothing in the kernel, whether it is dropped or its process is killed.
//!
//! The test is alone in its binary, because it examines all processes.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use lisa_lab::{Namespace, Network, NetworkSpec};
use netsim::{Rate, Span};
use topology::{Properties, Queue, SharedBottleneck, Spec};

/// Longest time that the kernel may take to clean up.
const TIMEOUT: Duration = Duration::from_secs(10);

fn network() -> Network {
    let rate = Rate::from_bits_per_second(5_000_000);
    let topology = Spec::SharedBottleneck(SharedBottleneck {
        bottleneck: Properties::shaped(rate, Queue::DropTailPackets(17), Span::ZERO),
        rtts: vec![Span::from_millis(40); 2],
        access: None,
    });
    let mut network = NetworkSpec::client_server(&topology)
        .and_then(|spec| Network::build(&spec))
        .unwrap_or_else(|error| panic!("{error}"));
    network.start().unwrap();
    network
}

/// Inode number of a namespace in nsfs.
fn number(namespace: &Namespace) -> u64 {
    namespace.run(|| fs::metadata("/proc/thread-self/ns/net").unwrap().ino())
}

/// Inode numbers of the namespaces of all threads and descriptors.
fn namespaces() -> BTreeSet<u64> {
    let entries = |dir: &str| fs::read_dir(dir).into_iter().flatten().flatten();
    let mut found = BTreeSet::new();
    for process in entries("/proc") {
        let process = process.path().display().to_string();
        let tasks = entries(&format!("{process}/task")).map(|task| task.path().join("ns/net"));
        for link in tasks.chain(entries(&format!("{process}/fd")).map(|fd| fd.path())) {
            let target = fs::read_link(link).unwrap_or_default();
            let number = target.to_str().and_then(|name| name.strip_prefix("net:["));
            found.extend(number.and_then(|number| number.strip_suffix(']')?.parse::<u64>().ok()));
        }
    }
    found
}

/// Number of interfaces in this process's namespace with a name of the lab.
fn ports() -> usize {
    let text = fs::read_to_string("/proc/net/dev").unwrap();
    text.lines()
        .filter(|line| line.trim_start().starts_with("port"))
        .count()
}

fn lab_threads() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    tasks
        .filter(|task| {
            fs::read_to_string(task.path().join("comm")).is_ok_and(|n| n.starts_with("lisa"))
        })
        .count()
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < TIMEOUT, "{what}");
        sleep(Duration::from_millis(20));
    }
}

/// The process that the test below kills. It prints its namespaces and a process in one of them, and waits.
#[test]
#[ignore = "is run by the other test"]
fn holder() {
    let network = network();
    let mut sleeper = network.hosts()[0]
        .client
        .command("sleep")
        .arg("1000")
        .spawn()
        .unwrap();
    println!(
        "\nholds {} {} {}",
        number(&network.hosts()[0].client),
        number(&network.hosts()[0].server),
        sleeper.id()
    );
    sleeper.wait().unwrap();
}

#[test]
fn nothing_stays() {
    // SAFETY: the call takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        eprintln!("skipped: needs root");
        return;
    }
    // Dropped.
    let network = network();
    let ours = [
        number(&network.hosts()[0].client),
        number(&network.hosts()[0].server),
    ];
    assert!(
        ours.iter()
            .all(|namespace| namespaces().contains(namespace))
    );
    assert_eq!(ports(), 0);
    drop(network);
    eventually("the namespaces of a dropped network stay", || {
        ours.iter()
            .all(|namespace| !namespaces().contains(namespace))
    });
    assert_eq!(lab_threads(), 0);

    // Killed, with a process of its own inside.
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holder", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(holder.stdout.take().unwrap());
    let line = output
        .lines()
        .map_while(Result::ok)
        .find(|line| line.starts_with("holds"));
    let numbers: Vec<u64> = line
        .unwrap()
        .split(' ')
        .skip(1)
        .map(|number| number.parse().unwrap())
        .collect();
    let [client, server, sleeper] = numbers[..] else {
        panic!("{numbers:?}")
    };
    assert!(namespaces().is_superset(&[client, server].into()));
    holder.kill().unwrap();
    holder.wait().unwrap();
    eventually("a process outlives the network", || {
        let stat = fs::read_to_string(format!("/proc/{sleeper}/stat")).unwrap_or_default();
        stat.is_empty() || stat.contains(") Z ")
    });
    eventually("the namespaces of a killed process stay", || {
        namespaces().is_disjoint(&[client, server].into())
    });
    assert_eq!(ports(), 0);
}
