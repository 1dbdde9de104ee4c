//! Paths that fail during a transfer, and recover.

use super::*;
use netsim::{DropTail, Rate};

/// Two subflows of one connection over 5 Mbit/s and 40 ms each.
fn two_subflows(bytes: u64, profile: Profile) -> Simulation<Quiet> {
    first_and(Vec::new(), bytes, profile)
}

/// Two subflows of one connection; `backup`: whether each is a backup.
fn first_and(backup: Vec<bool>, bytes: u64, profile: Profile) -> Simulation<Quiet> {
    let mut network = Network::new();
    let mut way = || {
        let rate = Rate::from_bits_per_second(5_000_000);
        let link = LinkSpec::shaped(rate, DropTail::new(30), Span::from_millis(20));
        let link = network.add_link(link);
        network.add_route(&[link], PortId(0))
    };
    let routes = [(); 2].map(|()| SubflowRoutes {
        to_client: way(),
        to_server: way(),
    });
    let mut simulation = Simulation::new(network, Quiet);
    let algorithm = Algorithm::find("lisa").expect("an algorithm");
    simulation.add_connection(ConnectionSpec {
        profile,
        algorithm,
        settings: Settings::standard(algorithm),
        mptcp: true,
        routes: routes.into(),
        start: Time::ZERO,
        application: Application::File(bytes),
        packet: 1500,
        receive_window: None,
        path_manager: PathManager::Announced,
        join_delay: Span::ZERO,
        ecn: false,
        ssthresh: None,
        groups: Vec::new(),
        backup,
        phase: Span::ZERO,
    });
    simulation
}

fn ms(at: Time) -> u64 {
    at.as_nanos() / 1_000_000
}

/// Runs until `stop`, ms, or until completion. Packets for which `dead` returns true at their arrival are lost.
fn run(simulation: &mut Simulation<Quiet>, stop: u64, dead: impl Fn(u64, &Segment) -> bool) {
    let stop = Time::ZERO + Span::from_millis(stop);
    simulation.run_dropping(stop, |at, segment| dead(ms(at), segment));
}

#[test]
fn data_of_a_dead_path_arrives_on_the_other() {
    for profile in Profile::all() {
        for dead in [0, 1] {
            for data_only in [true, false] {
                let mut simulation = two_subflows(3_000_000, profile.clone());
                run(&mut simulation, 60_000, |at, segment| {
                    at > 1000
                        && segment.subflow() == Some(subflow(dead))
                        && (matches!(segment, Segment::Data(_)) || !data_only)
                });
                let report = simulation.report(0);
                assert_eq!(report.bytes, 3_000_000);
                assert_eq!(simulation.received(), 3_000_000);
                // 3 MB at 4.7 Mbit/s of payload are 5.1 s. Half a second uses both paths; a timeout and a recovery
                // follow.
                let took = ms(report.completion.unwrap());
                assert!((4000..9000).contains(&took), "{took} ms, {}", profile.name);
                assert!(report.subflows[dead as usize].counters.timeouts > 2);
            }
        }
    }
}

#[test]
fn a_recovered_path_carries_data_again() {
    let mut simulation = two_subflows(20_000_000, Profile::linux());
    let dead = |at: u64, segment: &Segment| {
        (1000..6000).contains(&at) && segment.subflow() == Some(subflow(1))
    };
    run(&mut simulation, 5900, dead);
    let before = simulation.report(0).subflows[1].counters.bytes;
    assert_eq!(simulation.subflow_state(1), SubflowState::Stalled);
    // The timeout has doubled to at most 7.7 s by then.
    run(&mut simulation, 16_000, dead);
    assert_eq!(simulation.subflow_state(1), SubflowState::Open);
    let after = simulation.report(0).subflows[1].counters.bytes;
    assert!(after > before + 500_000, "{before} {after}");
    run(&mut simulation, 120_000, dead);
    let report = simulation.report(0);
    assert_eq!(report.bytes, 20_000_000);
    // 17 s at 9.4 Mbit/s of payload, of which 6 to 10 s at half of that rate.
    assert!(ms(report.completion.unwrap()) < 26_000, "{report:?}");
}

/// The backup carries no data until the first path fails, all data while it is dead, and no new data after it has
/// recovered.
#[test]
fn a_backup_carries_data_while_the_first_path_is_dead() {
    let backup = vec![false, true];
    let mut simulation = first_and(backup, 12_000_000, Profile::linux());
    let dead = |at: u64, segment: &Segment| {
        (3000..9000).contains(&at) && segment.subflow() == Some(subflow(0))
    };
    let bytes = |simulation: &Simulation<Quiet>| {
        let report = simulation.report(0);
        [0, 1].map(|subflow| report.subflows[subflow].counters.bytes)
    };
    run(&mut simulation, 3000, dead);
    let before = bytes(&simulation);
    assert!(before[0] > 1_300_000, "{before:?}");
    assert_eq!(simulation.tcp_info(1).snd_nxt, 0);
    run(&mut simulation, 9000, dead);
    let after = bytes(&simulation);
    assert!(after[0] - before[0] < 50_000, "only data in flight");
    // 4.7 Mbit/s of payload, after five intervals of the connection's timer of some 0.3 s.
    assert!((2_000_000..3_500_000).contains(&after[1]), "{after:?}");
    // The timeout of the first subflow has doubled to at most 5 s. At most two pieces were queued at the backup before.
    run(&mut simulation, 15_000, dead);
    assert_eq!(simulation.subflow_state(0), SubflowState::Open);
    let back = bytes(&simulation);
    run(&mut simulation, 60_000, dead);
    let report = simulation.report(0);
    assert_eq!(report.bytes, 12_000_000);
    let end = bytes(&simulation);
    assert!(end[0] > back[0] + 1_000_000, "{back:?} {end:?}");
    assert!(end[1] <= back[1] + 130_000, "{back:?} {end:?}");
}

#[test]
fn with_all_paths_dead_the_run_ends_at_its_stop_with_few_retransmissions() {
    let mut simulation = two_subflows(3_000_000, Profile::linux());
    run(&mut simulation, 3_600_000, |at, _| at > 1000);
    let report = simulation.report(0);
    assert_eq!(report.completion, None);
    assert!((200_000..3_000_000).contains(&report.bytes));
    assert_eq!(ms(simulation.now()), 3_600_000);
    // Two minutes between timeouts in the end: some forty timeouts of each subflow.
    assert!(
        report
            .subflows
            .iter()
            .all(|s| (30..50).contains(&s.counters.timeouts))
    );
}

#[test]
fn after_an_outage_of_all_paths_data_resumes_with_the_next_timeout() {
    let mut simulation = two_subflows(3_000_000, Profile::linux());
    run(&mut simulation, 120_000, |at, _| {
        (1000..11_000).contains(&at)
    });
    let report = simulation.report(0);
    assert_eq!(report.bytes, 3_000_000);
    // Timeouts of 0.3, 0.6 … 9.6 s after the last ACK: transmission resumes after 20 s at the latest.
    assert!(ms(report.completion.unwrap()) < 26_000, "{report:?}");
}
