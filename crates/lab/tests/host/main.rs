//! Scenarios on this host's kernel. The tests need root; without root they print that they are skipped.

mod capture;
mod networks;
#[path = "../../../scenario/tests/support/tshark.rs"]
mod tshark;

use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kernel::{registry, status};
use lisa_lab::{Error, Host};
use netsim::{Rate, Span};
use scenario::{Application, ConnectionSpec, Length, Protocol, Run, Scenario, Size};
use topology::{Properties, Queue, SharedBottleneck, Spec};

/// A host; `None` if the test cannot run here.
fn host(number: usize) -> Option<Host> {
    match Host::new(number, Arc::default()) {
        Ok(host) => Some(host),
        Err(Error::Algorithm(error @ kernel::Error::NotPermitted { .. })) => {
            eprintln!("skipped: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn connection(protocol: Protocol, algorithm: &str, bytes: u64) -> ConnectionSpec {
    ConnectionSpec {
        name: algorithm.into(),
        protocol,
        algorithm: algorithm.into(),
        application: Application::Bytes(Size::Fixed(bytes)),
        receive_window: Some(4 << 20),
        ..Default::default()
    }
}

/// A scenario in which MPTCP has a subflow on each path.
fn shared(paths: u32, mut connections: Vec<ConnectionSpec>) -> Scenario {
    for connection in &mut connections {
        if connection.protocol == Protocol::Mptcp {
            connection.subflows = paths;
        }
    }
    let rate = Rate::from_bits_per_second(5_000_000);
    Scenario {
        title: "a test".into(),
        topology: Spec::SharedBottleneck(SharedBottleneck {
            bottleneck: Properties::shaped(rate, Queue::DropTailPackets(30), Span::ZERO),
            rtts: vec![Span::from_millis(40); paths as usize],
            access: None,
        }),
        stop: Span::from_secs(30),
        warmup: Span::ZERO,
        path_names: Vec::new(),
        rtt_spread: 0.1,
        rate_phase: Length::Fixed(Span::ZERO),
        connections,
    }
}

/// The registrations of this process.
fn registered() -> Vec<String> {
    let owner = kernel::owner::Owner::this();
    let ours = |found: &registry::Registered| found.owner() == Some(owner) && !found.is_leaving();
    registry::find()
        .unwrap()
        .into_iter()
        .filter(ours)
        .map(|found| found.name().into())
        .collect()
}

/// Runs with up to five seeds until a run is as `wanted`: on a busy machine a join may arrive after the last byte, or after a loss of
/// the lender.
fn run_until(host: &mut Host, scenario: &Scenario, wanted: impl Fn(&Run) -> bool) -> Run {
    (1..=5)
        .map(|seed| host.run(scenario, seed).unwrap())
        .find(wanted)
        .expect("one of five seeds")
}

#[test]
fn lisa_lends_segments_to_a_new_subflow() {
    let Some(mut host) = host(1) else { return };
    let scenario = shared(2, vec![connection(Protocol::Mptcp, "lisa", 200_000)]);
    let settled = |run: &Run| run.credits.iter().any(|credit| credit.settled.is_some());
    let run = run_until(&mut host, &scenario, settled);
    let outcome = &run.outcome.connections[0];
    assert!(outcome.completion_s.is_some_and(|s| s > 0.3), "{outcome:?}");
    assert_eq!(outcome.subflows.len(), 2);
    let [credit] = &run.credits[..] else {
        panic!("{:?}", run.credits)
    };
    assert_eq!((credit.from, credit.to), (0, 1));
    assert!((3..=10).contains(&credit.segments));
    let settled = credit.settled.as_ref().unwrap();
    assert_eq!(settled.sum_before, settled.sum_after);
    // The new subflow's first window is the credit.
    let first = run.rows.iter().find(|row| row.subflow == 1).unwrap();
    assert_eq!(first.cwnd, credit.segments);
}

/// One TCP and a queue that never fills: slow start would last until the last byte, but HyStart++ detects the growing queue.
#[test]
fn hystartpp_ends_slow_start_without_a_loss() {
    let Some(mut host) = host(13) else { return };
    let mut scenario = shared(
        1,
        vec![connection(Protocol::Tcp, "hystartpp_cubic", 1_500_000)],
    );
    let Spec::SharedBottleneck(bottleneck) = &mut scenario.topology else {
        unreachable!()
    };
    bottleneck.bottleneck = Properties::shaped(
        Rate::from_bits_per_second(5_000_000),
        Queue::DropTailPackets(3000),
        Span::ZERO,
    );
    let simulated = scenario::simulate(&scenario, 1, false).unwrap();
    let windows = [host.run(&scenario, 1).unwrap(), simulated].map(|run| {
        let subflow = &run.outcome.connections[0].subflows[0];
        assert_eq!(subflow.losses, 0, "{subflow:?}");
        f64::from(subflow.cwnd_at_slow_start_exit_segments.expect("it left"))
    });
    let [kernel, simulated] = windows;
    assert!((kernel / simulated - 1.0).abs() < 0.3, "{windows:?}");
    eprintln!("windows at the end of slow start: {windows:?}");
}

#[test]
fn uncoupled_joins_start_at_ten_and_take_nothing() {
    let Some(mut host) = host(2) else { return };
    for algorithm in ["lia", "cubic", "reno"] {
        let scenario = shared(2, vec![connection(Protocol::Mptcp, algorithm, 200_000)]);
        let joined = |run: &Run| run.outcome.connections[0].subflows.len() == 2;
        let run = run_until(&mut host, &scenario, joined);
        assert!(run.credits.is_empty());
        assert_eq!(
            run.rows.iter().find(|row| row.subflow == 1).unwrap().cwnd,
            10,
            "{algorithm}"
        );
    }
}

/// The first path carries all data while it is up; after its failure, the backup carries the rest. Each scenario also runs in the
/// simulator.
#[test]
fn a_backup_carries_nothing_until_the_first_path_fails() {
    let Some(mut host) = host(14) else { return };
    let scenario = |down: &str| {
        let text = format!(
            "stop = '30s'\n[topology]\nkind = 'non-shared-bottleneck'\nrate = '5Mbit'\nrtt = '40ms'\nqueue = 300\n\
             down = [{down}, []]\n[[connection]]\nprotocol = 'mptcp'\nalgorithm = 'reno'\nbytes = '1500KB'\n\
             backup = [false, true]"
        );
        Scenario::parse(&text, "a.toml").unwrap()
    };
    let mut bytes = |scenario: &Scenario| {
        let simulated = scenario::simulate(scenario, 1, false).unwrap();
        [host.run(scenario, 1).unwrap(), simulated].map(|run| {
            let outcome = &run.outcome.connections[0];
            assert!(outcome.completion_s.is_some(), "{outcome:?}");
            let [first, second] = &outcome.subflows[..] else {
                panic!("{outcome:?}")
            };
            assert!(!first.backup && second.backup);
            [first, second].map(|subflow| subflow.bytes.unwrap())
        })
    };
    assert_eq!(bytes(&scenario("[]")), [[1_500_000, 0]; 2]);
    for [first, backup] in bytes(&scenario("{ from = '1s' }")) {
        // A second at 5 Mbit/s is 600 KB.
        assert!((200_000..650_000).contains(&first), "{first}");
        // Bytes of the first path whose ACKs were on the way at its failure count for neither: at most a round trip of 40 ms.
        assert!(first + backup >= 1_475_000, "{first} {backup}");
    }
}

#[test]
fn connections_share_a_network() {
    let Some(mut host) = host(3) else { return };
    let connections = vec![
        connection(Protocol::Mptcp, "lisa", 100_000),
        connection(Protocol::Tcp, "reno", 100_000),
    ];
    let run = host.run(&shared(2, connections), 3).unwrap();
    let [lisa, tcp] = &run.outcome.connections[..] else {
        panic!("{:?}", run.outcome)
    };
    let last = lisa.completion_s.unwrap().max(tcp.completion_s.unwrap());
    assert_eq!((lisa.subflows.len(), tcp.subflows.len()), (2, 1));
    // 5 Mbit/s for both connections, headers included.
    let bits = 2.0 * 100_000.0 * 8.0;
    assert!(last > bits / 5e6);
}

#[test]
fn one_connection_begins_during_another() {
    let Some(mut host) = host(7) else { return };
    let late = ConnectionSpec {
        start: Length::Fixed(Span::from_millis(150)),
        ..connection(Protocol::Mptcp, "lisa", 100_000)
    };
    let mut scenario = shared(2, vec![connection(Protocol::Tcp, "reno", 200_000), late]);
    // Room for all data: a join that finds a full queue is repeated a second later, after the end, or is reset.
    if let Spec::SharedBottleneck(spec) = &mut scenario.topology {
        spec.bottleneck.queue = Queue::DropTailPackets(300);
    }
    let joined = |run: &Run| run.outcome.connections[1].subflows.len() == 2;
    let run = run_until(&mut host, &scenario, joined);
    let [early, late] = &run.outcome.connections[..] else {
        panic!("{:?}", run.outcome)
    };
    assert!(early.start_s < late.start_s && late.start_s >= 0.15);
    assert!(late.completion_s.is_some(), "{late:?}");
    let mut rows = run.rows.iter().filter(|row| *row.connection == *late.name);
    assert!(rows.all(|row| row.time >= 0.15), "since the run began");
}

#[test]
fn losses_are_counted_where_the_queue_is_short() {
    let Some(mut host) = host(4) else { return };
    let mut scenario = shared(2, vec![connection(Protocol::Mptcp, "lia", 200_000)]);
    if let Spec::SharedBottleneck(spec) = &mut scenario.topology {
        spec.bottleneck.queue = Queue::DropTailPackets(5);
    }
    let run = host.run(&scenario, 4).unwrap();
    let connection = &run.outcome.connections[0];
    assert!(connection.retransmits > 0);
    assert!(connection.retransmits >= connection.retransmits_slow_start);
    assert!(
        connection
            .subflows
            .iter()
            .any(|s| s.losses > 0 && s.first_loss_s.is_some())
    );
    assert!(run.outcome.links.iter().any(|link| link.drops > 0));
}

#[test]
fn a_run_ends_at_its_stop_time() {
    let Some(mut host) = host(5) else { return };
    let mut scenario = shared(1, vec![connection(Protocol::Mptcp, "lisa", 10_000_000)]);
    scenario.stop = Span::from_millis(500);
    let run = host.run(&scenario, 5).unwrap();
    assert_eq!(run.outcome.connections[0].completion_s, None);
    assert!(run.outcome.sim_seconds < 5.0);
}

#[test]
fn endless_connections_and_links_count_from_the_warm_up() {
    let Some(mut host) = host(9) else { return };
    let endless = |protocol, algorithm| ConnectionSpec {
        application: Application::Endless,
        ..connection(protocol, algorithm, 0)
    };
    let connections = vec![
        endless(Protocol::Mptcp, "lia"),
        endless(Protocol::Tcp, "reno"),
    ];
    let mut scenario = shared(2, connections);
    (scenario.warmup, scenario.stop) = (Span::from_millis(1500), Span::from_secs(2));
    let run = host.run(&scenario, 9).unwrap();
    let connections = &run.outcome.connections;
    for connection in connections {
        assert_eq!(
            (connection.completion_s, &connection.note),
            (None, &None),
            "{connection:?}"
        );
        let subflows = connection.subflows.iter().map(|s| s.bytes.unwrap());
        let subflows: u64 = subflows.sum();
        // Bytes of the connection may be acknowledged on two subflows, or not yet in order.
        assert!(
            subflows.abs_diff(connection.bytes) < 200_000,
            "{connection:?}"
        );
    }
    // Half a second at 5 Mbit/s is 312 KB and 215 packets, the whole run four times as much. A busy machine takes samples late.
    let bytes: u64 = connections.iter().map(|connection| connection.bytes).sum();
    assert!((50_000..800_000).contains(&bytes), "{bytes}");
    let down = (run.outcome.links.iter()).find(|link| link.name == "bottleneck down");
    let packets = down.expect("the bottleneck").packets;
    assert!((50..600).contains(&packets), "{packets}");
}

#[test]
fn an_interrupt_ends_a_run_and_nothing_stays() {
    let cancelled = Arc::new(AtomicBool::new(false));
    let Some(_) = host(6) else { return };
    let mut host = Host::new(7, cancelled.clone()).unwrap();
    let scenario = shared(
        2,
        vec![connection(Protocol::Mptcp, "lisa_reno", 100_000_000)],
    );
    let has_lost = |c: &status::Connection| c.subflows.iter().any(|subflow| subflow.losses > 0);
    let start = Instant::now();
    let result = std::thread::scope(|scope| {
        let run = scope.spawn(|| host.run(&scenario, 6));
        let connected = |found: &registry::Registered| {
            let connections = status::status(found, Default::default())
                .unwrap()
                .connections;
            found.name().contains("_7_") && connections.iter().any(has_lost)
        };
        while !registry::find().unwrap().iter().any(connected) {
            assert!(start.elapsed() < Duration::from_secs(20) && !run.is_finished());
            std::thread::yield_now();
        }
        cancelled.store(true, Ordering::SeqCst);
        run.join().unwrap()
    });
    assert!(matches!(result, Err(Error::Interrupted)), "{result:?}");
    drop(host);
    assert!(!registered().iter().any(|name| name.contains("_7_")));
    // Sockets that wait for a vanished peer would keep the algorithm for minutes.
    let kept = |found: &registry::Registered| found.name().contains("_7_");
    let start = Instant::now();
    while registry::find().unwrap().iter().any(kept) {
        assert!(start.elapsed() < Duration::from_secs(10), "sockets stay");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_unknown_algorithm_is_named() {
    let Some(mut host) = host(8) else { return };
    let error = host
        .run(&shared(2, vec![connection(Protocol::Mptcp, "lissa", 1)]), 8)
        .unwrap_err();
    assert!(error.to_string().contains("`lissa`"), "{error}");
}

/// A new host unloads the algorithms of a killed process.
#[test]
fn algorithms_of_a_killed_process_are_swept() {
    const VICTIM: &str = "LISA_TEST_VICTIM";
    if std::env::var_os(VICTIM).is_some() {
        let mut host = host(9).unwrap();
        let _ = host.run(
            &shared(2, vec![connection(Protocol::Mptcp, "lisa", 1 << 40)]),
            9,
        );
        unreachable!("it is killed before");
    }
    let Some(_) = host(10) else { return };
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "algorithms_of_a_killed_process_are_swept",
            "--nocapture",
        ])
        .env(VICTIM, "1")
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let left = |pid: u32| {
        let of = |found: &registry::Registered| found.owner().is_some_and(|owner| owner.pid == pid);
        registry::find()
            .unwrap()
            .into_iter()
            .filter(|found| of(found) && !found.is_leaving())
            .count()
    };
    let start = Instant::now();
    while left(victim.id()) == 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "it never loaded");
        assert!(victim.try_wait().unwrap().is_none(), "it ended");
    }
    victim.kill().unwrap();
    victim.wait().unwrap();
    assert_eq!(left(victim.id()), 1, "a registration outlives its process");
    drop(host(11));
    assert_eq!(left(victim.id()), 0);
}
