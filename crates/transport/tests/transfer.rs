//! Whole transfers.

mod support;

use lisa_transport::{Quiet, Simulation};
use support::*;

/// A transfer takes the time of its packets at the bottleneck and two round trips of 40 ms, of the handshake and of the
/// last data, and at most a quarter more, except with a queue of one packet.
#[test]
fn a_file_over_the_bottleneck_of_the_paper() {
    const BYTES: u64 = 300_000;
    for algorithm in ["reno", "cubic", "lia", "lisa"] {
        for queue in [1, 9, 17, 30] {
            for mptcp in [false, true] {
                let (network, routes) = shared(5_000, &[ms(40); 2], queue);
                let mut simulation = Simulation::new(network, Quiet);
                simulation.add_connection(file(algorithm, mptcp, routes, BYTES));
                simulation.run(seconds(60));
                let report = simulation.report(0);
                assert_eq!(report.bytes, BYTES);
                let payload = if mptcp { 1424 } else { 1448 };
                let packets = BYTES.div_ceil(payload) * (1500 - payload) + BYTES;
                let least = packets as f64 * 8.0 / 5e6 + 0.08;
                let took = report.completion.map(|at| at.as_secs_f64() / least);
                let most = if queue == 1 { 4.0 } else { 1.25 };
                let as_expected = took.is_some_and(|took| (1.0..most).contains(&took));
                assert!(as_expected, "{algorithm} {mptcp} {queue}: {took:?}");
            }
        }
    }
}

/// Losses at the end of slow start are retransmitted after it: a single flow has retransmitted nothing before.
#[test]
fn a_single_flow_retransmits_nothing_in_slow_start() {
    let (network, routes) = shared(5_000, &[ms(40)], 9);
    let mut simulation = Simulation::new(network, Quiet);
    simulation.add_connection(file("reno", false, routes, 300_000));
    simulation.run(seconds(60));
    let report = simulation.report(0);
    assert!(report.subflows[0].counters.retransmits > 0);
    assert_eq!(report.slow_start_exit.unwrap().retransmits, 0);
}

/// Random draws of one connection do not affect another.
#[test]
fn connections_on_disjoint_links_are_independent() {
    let completion = |connections: usize| {
        let (network, routes) = separate(&[(100_000, ms(40), 60); 2]);
        let mut simulation = Simulation::new(network, Quiet);
        for route in &routes[..connections] {
            simulation.add_connection(file("reno", false, vec![*route], 3_000_000));
        }
        simulation.run(seconds(60));
        let report = simulation.report(0);
        assert!(report.subflows[0].counters.losses > 0);
        report.completion.expect("the connection completes")
    };
    assert_eq!(completion(1), completion(2));
}
