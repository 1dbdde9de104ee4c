//! Time series of a run.

use lisa_scenario::sample::Samples;
use lisa_scenario::{Run, Scenario, Watch, simulate_watched};
use netsim::Span;

const FILE: &str = "stop = '10s'\nwarmup = '1s'\n[topology]\nkind = 'non-shared-bottleneck'\nrate = ['5Mbit', '8Mbit']
    rtt = ['40ms', '20ms']\nqueue = 30
    [[connection]]\nname = 'long'\nprotocol = 'mptcp'\nalgorithm = 'lisa'
    regroup = { at = '3.005s', groups = [0, 1] }
    [[connection]]\nname = 'short'\nbytes = '300KB'\nstart = '2s'\npath = 1
    [[connection]]\nname = 'noise'\nprotocol = 'udp'\nrate = '1Mbit'\npath = 2\n";

fn run(text: &str, interval: Option<u64>) -> Run {
    let scenario = Scenario::parse(text, "a.toml").unwrap();
    let watch = Watch {
        sample: interval.map(Span::from_millis),
        ..Watch::default()
    };
    simulate_watched(&scenario, 1, watch).unwrap()
}

/// The outcome without the elapsed time.
fn json(run: &Run) -> String {
    let mut outcome = run.outcome.clone();
    outcome.wall_seconds = None;
    serde_json::to_string(&outcome).unwrap()
}

#[test]
fn sampling_changes_no_outcome() {
    let plain = run(FILE, None);
    assert_eq!(plain.samples, Samples::default());
    for interval in [1, 7, 100, 60_000] {
        assert_eq!(
            json(&run(FILE, Some(interval))),
            json(&plain),
            "{interval} ms"
        );
    }
}

/// The intervals cover the run, and their sums are the counters of the outcome.
#[test]
fn samples_sum_up_to_the_outcome() {
    // With a warm-up the run does not end with the transfer.
    let text = FILE.replace("warmup = '1s'", "warmup = '1ns'");
    let Run {
        outcome, samples, ..
    } = run(&text, Some(70));
    for link in &outcome.links {
        let all: Vec<_> = samples
            .links
            .iter()
            .filter(|s| *s.link == link.name)
            .collect();
        assert_eq!(all.len(), 143, "142 intervals of 70 ms, and 60 ms");
        assert!(all.windows(2).all(|pair| pair[0].time_s < pair[1].time_s));
        assert_eq!(all[142].time_s, 10.0);
        assert_eq!(all.iter().map(|s| s.drops).sum::<u64>(), link.drops);
        let seconds = |at: usize| if at == 142 { 0.06 } else { 0.07 };
        let utilisation: f64 = (all.iter().enumerate())
            .map(|(at, s)| s.utilisation.unwrap() * seconds(at))
            .sum();
        assert!((utilisation / 10.0 - link.utilisation.unwrap()).abs() < 1e-6);
        let queue: f64 = (all.iter().enumerate())
            .map(|(at, s)| s.queue_mean_packets * seconds(at))
            .sum();
        assert!(
            (queue / 10.0 - link.queue_mean_packets).abs() < 1e-6,
            "{}",
            link.name
        );
    }
    let long = &outcome.connections[0];
    for subflow in &long.subflows {
        let of = |s: &&lisa_scenario::sample::SubflowSample| {
            &*s.connection == "long" && s.subflow as usize == subflow.subflow
        };
        let all: Vec<_> = samples.subflows.iter().filter(of).collect();
        let retransmits: u64 = all.iter().map(|s| s.retransmits).sum();
        assert_eq!(retransmits, subflow.retransmits);
        assert_eq!(
            all[all.len() - 1].cwnd_segments,
            subflow.cwnd_at_end_segments
        );
        let bytes: f64 = (all.iter())
            .map(|s| s.goodput_mbps * if s.time_s == 10.0 { 0.06 } else { 0.07 } * 1e6 / 8.0)
            .sum();
        assert!(
            (bytes - subflow.bytes.unwrap() as f64).abs() < 1.0,
            "{bytes}"
        );
        assert!(
            all.iter()
                .all(|s| s.in_flight_segments <= s.cwnd_segments.max(10) * 2)
        );
    }
    // A transfer has samples from its establishment to the interval of its completion.
    let short = &outcome.connections[1];
    let all: Vec<_> = (samples.subflows.iter())
        .filter(|s| &*s.connection == "short")
        .collect();
    let (first, last) = (all[0].time_s, all[all.len() - 1].time_s);
    let end = short.start_s + short.completion_s.unwrap();
    assert!(
        first > 2.0 && last >= end && last < end + 0.07,
        "{first} {last}"
    );
    let megabits: f64 = all.iter().map(|s| s.goodput_mbps * 0.07).sum();
    assert!((megabits - 2.4).abs() < 1e-9, "{megabits}");
}

#[test]
fn too_many_samples_are_refused() {
    let scenario = Scenario::parse(FILE, "a.toml").unwrap();
    let watch = Watch {
        sample: Some(Span::from_nanos(100)),
        ..Watch::default()
    };
    let error = simulate_watched(&scenario, 1, watch)
        .unwrap_err()
        .to_string();
    assert!(error.contains("use a longer interval"), "{error}");
}
