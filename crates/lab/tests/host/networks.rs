//! Networks and applications on this host's kernel, beside the simulator.

use scenario::limited::Limited;
use scenario::{Outcome, Scenario};

use super::host;

fn parse(text: &str) -> Scenario {
    Scenario::parse(text, "a.toml").unwrap()
}

/// Users of two kinds, who start at random times. Users of one kind share hosts, and each takes its share of its access point.
#[test]
fn users_of_scenario_c_share_access_points() {
    let Some(mut host) = host(20) else { return };
    let scenario = parse(
        "stop = '5s'\nwarmup = '1s'\n[topology]\nkind = 'scenario-c'\nn1 = 2\nn2 = 2\nc1 = '1Mbit'\nc2 = '1Mbit'\n\
         rtt = '40ms'\nqueue = 30\n\
         [[connection]]\nname = 'multi'\nprotocol = 'mptcp'\nalgorithm = 'lia'\npaths = 'multipath'\n\
         start = { from = '0s', to = '100ms' }\n\
         [[connection]]\nname = 'single'\nalgorithm = 'reno'\npaths = 'single-path'\n",
    );
    let outcome = host.run(&scenario, 1).unwrap().outcome;
    let named: Vec<_> = (outcome.connections.iter())
        .map(|c| (c.name.as_str(), c.number, c.subflows.len()))
        .collect();
    let expected = [
        ("multi", 1, 2),
        ("multi", 2, 2),
        ("single", 1, 1),
        ("single", 2, 1),
    ];
    assert_eq!(named, expected);
    let drawn = scenario.draw(1).unwrap();
    for (connection, flow) in outcome.connections.iter().zip(&drawn.flows) {
        assert!(
            connection.start_s >= flow.start.as_secs_f64(),
            "{connection:?}"
        );
    }
    // Two users an access point of 2 Mbit/s; headers take 4 % and more.
    let carried = |name: &str| -> f64 {
        let users = outcome.connections.iter().filter(|c| c.name == name);
        users.filter_map(|c| c.goodput_mbps).sum()
    };
    let (multi, single) = (carried("multi"), carried("single"));
    assert!(
        multi > 1.0 && single > 0.2 && multi + single < 4.0,
        "{multi} {single}"
    );
}

fn run_both(host: &mut lisa_lab::Host, scenario: &Scenario) -> [Outcome; 2] {
    let simulated = scenario::simulate(scenario, 1, false).unwrap();
    [host.run(scenario, 1).unwrap(), simulated].map(|run| run.outcome)
}

/// The first SYN arrives after the end of the run: at a server that has closed, or not before the client gives up.
#[test]
fn a_connection_that_comes_too_late_does_not_finish() {
    let Some(mut host) = host(24) else { return };
    for (rtt, start) in [("2s", "0s"), ("600ms", "300ms")] {
        let text = format!(
            "stop = '500ms'\n[topology]\nkind = 'shared-bottleneck'\nrate = '5Mbit'\nrtt = '{rtt}'\nqueue = 30\n\
             [[connection]]\nprotocol = 'tcp'\nbytes = '9KB'\nstart = '{start}'\n"
        );
        let [real, simulated] = run_both(&mut host, &parse(&text));
        for outcome in [real, simulated] {
            let connection = &outcome.connections[0];
            assert_eq!(connection.completion_s, None, "{rtt}: {connection:?}");
        }
    }
}

/// On a busy machine less arrives in time: crates/lisa/tests/vm.rs checks the rates in virtual time.
#[test]
fn data_at_a_rate_arrives() {
    let Some(mut host) = host(21) else { return };
    let scenario = parse(
        "stop = '3s'\nwarmup = '1s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '5Mbit'\nrtt = '40ms'\nqueue = 300\n\
         [[connection]]\nname = 'udp'\nprotocol = 'udp'\nrate = '2Mbit'\npacket = 1000\n\
         [[connection]]\nname = 'pace'\nalgorithm = 'reno'\nrate = '1Mbit'\n",
    );
    for outcome in run_both(&mut host, &scenario) {
        let [udp, paced] = &outcome.connections[..] else {
            panic!("{outcome:?}")
        };
        let [udp, paced] = [udp, paced].map(|c| c.goodput_mbps.expect("endless"));
        let paced_or_less = udp > 0.0 && udp < 2.2 && paced > 0.0 && paced < 1.1;
        assert!(paced_or_less, "{:?} {udp} {paced}", outcome.backend);
    }
}

/// Three replies of 30 KB with 200 ms between them take two gaps and at least three round trips. The connection beside them ends with
/// the last reply, as in a simulation.
#[test]
fn replies_follow_each_other() {
    let Some(mut host) = host(22) else { return };
    let scenario = parse(
        "stop = '60s'\n[topology]\nkind = 'non-shared-bottleneck'\nrate = '5Mbit'\nrtt = '40ms'\nqueue = 300\npaths = 2\n\
         [[connection]]\nname = 'replies'\nprotocol = 'mptcp'\nalgorithm = 'lia'\n\
         requests = { count = 3, bytes = '30KB', gap = '200ms' }\n\
         [[connection]]\nname = 'beside'\nalgorithm = 'reno'\npath = 2\n",
    );
    for outcome in run_both(&mut host, &scenario) {
        let [replies, beside] = &outcome.connections[..] else {
            panic!("{outcome:?}")
        };
        assert_eq!((replies.bytes, &replies.note), (90_000, &None));
        let took = replies.completion_s.expect("it ends");
        assert!((0.5..3.0).contains(&took), "{:?} {took}", outcome.backend);
        assert_eq!(beside.subflows[0].path, 2);
        assert!(outcome.sim_seconds < 10.0, "{}", outcome.sim_seconds);
    }
}

/// A queue that marks: with ECN the sender reduces its window without a loss.
#[test]
fn connections_use_ecn_if_they_are_to() {
    let Some(mut host) = host(23) else { return };
    let scenario = parse(
        "stop = '2s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '5Mbit'\nrtt = '40ms'\n\
         queue = { kind = 'codel', limit = 300, ecn = true }\n\
         [[connection]]\nname = 'ecn'\nalgorithm = 'reno'\necn = true\nreceive_window = '1MiB'\n\
         [[connection]]\nname = 'none'\nalgorithm = 'reno'\n",
    );
    let outcome = host.run(&scenario, 1).unwrap().outcome;
    let down = outcome
        .links
        .iter()
        .find(|link| link.name == "bottleneck down");
    let down = down.expect("the bottleneck");
    assert!(down.marks > 0 && down.drops > 0, "{down:?}");
    assert_eq!(outcome.connections[0].retransmits, 0, "{outcome:?}");
}

/// 10 Mbit/s and 100 ms are 125 KB in flight. One limit holds a connection back for most of its time, on both backends the same, and
/// the send buffer is kept.
#[test]
fn what_held_a_connection_back() {
    let Some(mut host) = host(25) else { return };
    type Share = fn(&Limited) -> Option<f64>;
    let cases: [(&str, Share); 4] = [
        ("receive_window = '1MiB'", |l| l.limited_congestion_window),
        ("receive_window = '64KiB'", |l| l.limited_receive_window),
        ("receive_window = '1MiB'\nsend_buffer = '64KiB'", |l| {
            l.limited_send_buffer
        }),
        ("rate = '1Mbit'", |l| l.limited_application),
    ];
    for (keys, share) in cases {
        let scenario = parse(&format!(
            "stop = '4s'\nwarmup = '2s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '10Mbit'\nrtt = '100ms'\nqueue = 80\n\
             [[connection]]\nprotocol = 'tcp'\nalgorithm = 'cubic'\n{keys}\n"
        ));
        for outcome in run_both(&mut host, &scenario) {
            let limited = &outcome.connections[0].limited;
            let share = share(limited);
            assert!(
                share > Some(0.5),
                "{keys}: {:?} {limited:?}",
                outcome.backend
            );
        }
    }
}
