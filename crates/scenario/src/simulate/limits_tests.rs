//! Runs beyond the limits, which are lower in tests.

use super::*;
use crate::{Watch, simulate, simulate_watched, simulate_within};

/// The error of a run of this file.
fn problem(text: &str, trace: bool) -> String {
    let scenario = Scenario::parse(text, "a.toml").unwrap_or_else(|error| panic!("{error}"));
    match simulate(&scenario, 1, trace) {
        Err(error) => error.to_string(),
        Ok(run) => panic!("it ended: {:?}", run.outcome),
    }
}

/// A file with a connection over one link.
fn over(link: &str, stop: &str, connection: &str) -> String {
    format!(
        "stop = '{stop}'\n[topology]\nkind = 'graph'\nhosts = ['a', 'b']\n[[topology.link]]\nfrom = 'a'\nto = 'b'\n{link}\n\
         [[connection]]\nfrom = 'a'\nto = 'b'\n{connection}"
    )
}

#[test]
fn too_many_packets_in_flight() {
    let udp = "protocol = 'udp'\nrate = '100Gbit'";
    // 8.3 million packets a second on a line of an hour; a queue of 10⁸ packets.
    for link in ["delay = '1h'", "rate = '1Mbit'\nqueue = 100000000"] {
        let problem = problem(&over(link, "365d", udp), false);
        let end = " packets are in flight: shorten queues and delays, or lower rates";
        assert!(
            problem.starts_with("after 0.") && problem.ends_with(end),
            "{problem}"
        );
    }
}

#[test]
fn too_many_rows() {
    let text = over("rate = '1Gbit'\ndelay = '1ms'\nqueue = 100", "365d", "");
    let problem = problem(&text, true);
    let end = format!(
        "a trace has more than {MAX_RECORDS} rows: trace a shorter run, or fewer connections"
    );
    assert!(problem.ends_with(&end), "{problem}");
}

#[test]
fn too_many_captured_packets() {
    let text = over("rate = '1Gbit'\ndelay = '1ms'\nqueue = 100", "365d", "");
    let scenario = Scenario::parse(&text, "a.toml").unwrap();
    let watch = Watch {
        capture: true,
        ..Watch::default()
    };
    let problem = simulate_watched(&scenario, 1, watch).unwrap_err();
    let end = format!(
        "a capture has more than {MAX_RECORDS} packets: capture a shorter run, or fewer connections"
    );
    assert!(problem.to_string().ends_with(&end), "{problem}");
}

#[test]
fn time_that_does_not_advance() {
    let end = "after 0.000923173s time does not advance: give each path a delay or a rate";
    assert_eq!(problem(&over("delay = '0s'", "1s", ""), false), end);
}

/// A queue of 10⁸ packets of 1500 bytes at 1 bit/s is empty after 38 000 years. A clock of 64 bits with two links has 292.
#[test]
fn packets_after_the_end_of_the_clock() {
    let link = "rate = '1bit'\nqueue = 100000000";
    let udp = "protocol = 'udp'\nrate = '1Mbit'";
    assert_eq!(
        problem(&over(link, "1s", udp), false),
        "a packet might leave `a b up` after 2562048 h, where the clock of 2 links ends: lower `stop`, or shorten the \
         queue"
    );
    // A fat tree of 49 152 links leaves 78 hours.
    let tree = "stop = '4d'\n[topology]\nkind = 'fat-tree'\nk = 32\nrate = '1Gbit'\ndelay = '1ms'\nqueue = 10\n\
                [[connection]]\nfrom = 'h1'\nto = 'h2'\nstart = '95h'\nbytes = 1\n";
    let problem = problem(tree, false);
    assert!(
        problem.contains("after 78 h, where the clock of 49152 links ends"),
        "{problem}"
    );
}

/// A reordered packet leaves the link later.
#[test]
fn reordered_packets_after_the_end_of_the_clock() {
    let link = "delay = '2s'\nreorder = { share = 1, delay = '10s' }";
    let scenario = Scenario::parse(&over(link, "5s", "bytes = 1"), "a.toml").unwrap();
    let graph = scenario.topology.build().unwrap();
    let until = |seconds| check_horizon(&scenario, &graph, Time::ZERO + Span::from_secs(seconds));
    assert!(until(17).is_err());
    assert_eq!(until(18), Ok(()));
}

#[test]
fn jitter_and_policers_near_the_end_of_the_clock() {
    let until = |link: &str, seconds| {
        let scenario = Scenario::parse(&over(link, "5s", "bytes = 1"), "a.toml").unwrap();
        let graph = scenario.topology.build().unwrap();
        check_horizon(&scenario, &graph, Time::ZERO + Span::from_secs(seconds))
    };
    let link = "delay = '2s'\njitter = '10s'";
    assert!(until(link, 17).is_err());
    assert_eq!(until(link, 18), Ok(()));
    // The burst takes 80 s on the link, and two more packets of 1500 bytes 24 s.
    let link = "rate = '1kbit'\nqueue = { kind = 'policer', rate = '1kbit', burst = 10000 }";
    assert!(until(link, 109).is_err());
    assert_eq!(until(link, 110), Ok(()));
}

#[test]
fn more_events_than_the_limit() {
    let text = over("rate = '1Gbit'\ndelay = '1ms'\nqueue = 100", "365d", "");
    let scenario = Scenario::parse(&text, "a.toml").unwrap();
    for events in [0, 1, 1000, 5000] {
        let error = simulate_within(&scenario, 1, false, events)
            .unwrap_err()
            .to_string();
        assert!(
            error.ends_with(&format!("more than {events} events")),
            "{error}"
        );
    }
    let text = text.replace("365d", "10ms");
    let scenario = Scenario::parse(&text, "a.toml").unwrap();
    let run = |events| simulate_within(&scenario, 1, false, events).map(|run| run.outcome.events);
    let all = run(u64::MAX).unwrap();
    assert_eq!(run(all + 1), Ok(all));
}
