//! What held a connection back: of each limit a scenario in which it is the only one.

use lisa_scenario::{Outcome, Scenario, WarningKind, simulate};

/// An endless connection over 50 Mbit/s and 100 ms, 625 KB in flight, with a queue of the same size.
const SCENARIO: &str = "stop = '20s'\nwarmup = '5s'\n[topology]\nkind = 'shared-bottleneck'\nrate = '50Mbit'\nrtt = '100ms'\n\
    queue = 400\n[[connection]]\nname = 'a'\nalgorithm = 'cubic'\nprotocol = 'tcp'\n";

fn run(change: &[&str]) -> Outcome {
    let scenario = Scenario::parse_with(SCENARIO, "a.toml", change).unwrap();
    simulate(&scenario, 1, false).unwrap().outcome
}

/// Shares in the order congestion window, receive window, send buffer, scheduler, application.
fn shares(outcome: &Outcome) -> [f64; 5] {
    let limited = &outcome.connections[0].limited;
    let shares = [
        limited.limited_congestion_window,
        limited.limited_receive_window,
        limited.limited_send_buffer,
        limited.limited_scheduler,
        limited.limited_application,
    ]
    .map(Option::unwrap);
    let sum: f64 = shares.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "{shares:?}");
    shares
}

fn kinds(outcome: &Outcome) -> Vec<WarningKind> {
    outcome
        .warnings
        .iter()
        .map(|warning| warning.kind)
        .collect()
}

#[test]
fn the_congestion_window() {
    let outcome = run(&["connection.a.receive_window=4MiB"]);
    assert!(shares(&outcome)[0] > 0.95, "{:?}", shares(&outcome));
    assert_eq!(outcome.connections[0].limited.line(), None);
    assert_eq!(kinds(&outcome), []);
}

/// By hand: 160 of 256 parts of 256 KiB are 164 KB a round trip, 13 Mbit/s.
#[test]
fn the_receive_window() {
    for profile in ["linux", "linux-3.14"] {
        let profile = format!("connection.a.profile={profile}");
        let outcome = run(&["connection.a.receive_window=256KiB", &profile]);
        assert!(shares(&outcome)[1] > 0.9, "{:?}", shares(&outcome));
        assert_eq!(kinds(&outcome), [WarningKind::SmallReceiveBuffer]);
        let text = &outcome.warnings[0].text;
        assert!(
            text.contains("receive window") && text.contains("`receive_window`"),
            "{text}"
        );
    }
}

/// By hand: 256 KiB a round trip and no more, 21 Mbit/s, of which struct sk_buff takes up to a quarter.
#[test]
fn the_send_buffer() {
    for profile in ["linux", "linux-3.14"] {
        let profile = format!("connection.a.profile={profile}");
        let window = "connection.a.receive_window=4MiB";
        let outcome = run(&["connection.a.send_buffer=256KiB", window, &profile]);
        assert!(shares(&outcome)[2] > 0.9, "{:?}", shares(&outcome));
        assert_eq!(kinds(&outcome), [WarningKind::SmallSendBuffer]);
        let goodput = outcome.connections[0].goodput_mbps.unwrap();
        assert!((15.0..=21.0).contains(&goodput), "{goodput}");
        let text = &outcome.warnings[0].text;
        assert!(
            text.contains("send buffer") && text.contains("`send_buffer`"),
            "{text}"
        );
    }
}

#[test]
fn the_application() {
    let outcome = run(&["connection.a.rate=5Mbit"]);
    assert!(shares(&outcome)[4] > 0.9, "{:?}", shares(&outcome));
    let line = outcome.connections[0].limited.line().unwrap();
    assert!(
        line.starts_with("held back by the application in "),
        "{line}"
    );
    assert_eq!(kinds(&outcome), []);
}

/// The pieces of a path of 300 kbit/s wait for its small window, and the fast path waits for them.
#[test]
fn the_scheduler() {
    let outcome = run(&[
        "topology.kind=non-shared-bottleneck",
        "topology.rate=['50Mbit','300kbit']",
        "topology.rtt=['20ms','200ms']",
        "topology.queue=[400,5]",
        "connection.a.protocol=mptcp",
        "connection.a.algorithm=reno",
        "connection.a.subflows=2",
        "connection.a.receive_window=64MiB",
    ]);
    let fast = &outcome.connections[0].subflows[0].limited;
    assert!(fast.limited_scheduler.unwrap() > 0.1, "{fast:?}");
}

/// The buffer is a limit of memory: what is in flight and what waits to be sent never takes more, but for one sk_buff.
#[test]
fn a_send_buffer_bounds_what_is_in_flight() {
    for bytes in [1u32 << 20, 4 << 20] {
        let scenario = Scenario::parse_with(
            SCENARIO,
            "a.toml",
            &[
                "topology.queue=20000",
                "connection.a.receive_window=64MiB",
                &format!("connection.a.send_buffer={bytes}"),
            ],
        )
        .unwrap();
        let rows = simulate(&scenario, 1, true).unwrap().rows;
        let most = rows.iter().map(|row| row.flight).max().unwrap();
        let most = u64::from(most) * 1448;
        assert!(most < u64::from(bytes) + 65_536, "{most} of {bytes}");
        assert!(most > u64::from(bytes) * 3 / 4, "{most} of {bytes}");
    }
}
