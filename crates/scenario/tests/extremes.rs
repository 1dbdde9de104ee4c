//! Extreme values of a file.

use lisa_scenario::outcome::Outcome;
use lisa_scenario::{Scenario, simulate};

fn run(text: &str) -> Outcome {
    let scenario =
        Scenario::parse(text, "a.toml").unwrap_or_else(|error| panic!("{error}\n{text}"));
    simulate(&scenario, 1, false)
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
        .outcome
}

/// Two equal paths with a connection.
fn paths(rate: &str, rtt: &str, queue: u32, connection: &str) -> Outcome {
    run(&format!(
        "stop = '1h'\n[topology]\nkind = 'non-shared-bottleneck'\npaths = 2\nrate = '{rate}'\nrtt = '{rtt}'\nqueue = {queue}\n\
         [[connection]]\n{connection}"
    ))
}

#[test]
fn ten_thousand_connections() {
    let outcome = run(
        "stop = '60s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '1Gbit'\nrtt = '20ms'\nqueue = 1000\n[[connection]]\n\
         count = 10000\nbytes = 2000\nstart = { from = '0s', to = '1s' }",
    );
    assert_eq!(outcome.connections.len(), 10_000);
    for connection in outcome.connections {
        assert_eq!((connection.bytes, connection.note), (2000, None));
        assert!(connection.completion_s.is_some());
    }
}

/// 64 kbit/s for an hour, of which 1448 bytes of 1500 are payload.
#[test]
fn an_hour() {
    let outcome = paths("64kbit", "1s", 10, "algorithm = 'cubic'\npath = 1");
    assert_eq!(outcome.sim_seconds, 3600.0);
    let share = outcome.connections[0].bytes as f64 / (64_000.0 / 8.0 * 3600.0 * 1448.0 / 1500.0);
    assert!((0.95..=1.0).contains(&share), "{share}");
}

/// A transfer of no bytes takes the three one-way delays of a handshake and the server's wake-up. One byte takes a further round
/// trip, and the 200 ms for which ns-3 delays the ACK of a single segment.
#[test]
fn no_byte_and_one_byte() {
    for profile in ["linux", "linux-3.14", "ns3-newreno"] {
        for connection in [
            "protocol = 'tcp'\nalgorithm = 'reno'",
            "protocol = 'mptcp'\nalgorithm = 'lisa'",
        ] {
            for (bytes, most) in [(0, 0.062), (1, 0.31)] {
                let connection = format!("{connection}\nprofile = '{profile}'\nbytes = {bytes}");
                let outcome = paths("100Mbit", "40ms", 1, &connection);
                let one = &outcome.connections[0];
                assert_eq!(one.bytes, bytes, "{connection}");
                assert!((0.06..most).contains(&one.completion_s.unwrap()), "{one:?}");
                // With ns-3 the ACK arrives at the sender's timeout, both after 200 ms and a round trip.
                assert!(one.retransmits == 0 || profile == "ns3-newreno", "{one:?}");
            }
        }
    }
}

/// From 64 kbit/s to 100 Gbit/s, from 10 µs to 10 s, with queues of one packet or many: each transfer completes.
#[test]
fn rates_round_trips_and_queues() {
    for rate in ["64kbit", "10Mbit", "100Gbit"] {
        for rtt in ["10us", "40ms", "10s"] {
            for queue in [1, 1000] {
                for algorithm in ["cubic", "lisa"] {
                    let connection =
                        format!("protocol = 'mptcp'\nalgorithm = '{algorithm}'\nbytes = '30KB'");
                    let outcome = paths(rate, rtt, queue, &connection);
                    let one = &outcome.connections[0];
                    let what = format!("{rate}, {rtt}, {queue}: {one:?}");
                    assert!(one.bytes == 30_000 && one.completion_s.is_some(), "{what}");
                }
            }
        }
    }
}

/// `queue = 0`: a packet that would have to wait is lost.
#[test]
fn no_queue_at_all() {
    let outcome = paths(
        "10Mbit",
        "40ms",
        0,
        "protocol = 'mptcp'\nalgorithm = 'lisa'\nbytes = '100KB'",
    );
    assert_eq!(outcome.connections[0].bytes, 100_000);
    assert!(outcome.links.iter().any(|link| link.drops > 0));
    assert!(outcome.links.iter().all(|link| link.queue_max_packets == 0));
}
