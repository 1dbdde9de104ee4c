//! Extreme networks and transfers.

mod support;

use lisa_transport::{
    Application, Credit, Observer, Quiet, Simulation, SubflowId, SubflowRoutes, View,
};
use mpcc::{Note, Subflow};
use netsim::{DropTail, LinkSpec, PortId, Rate, Span, Time};
use std::hash::{DefaultHasher, Hash, Hasher};
use support::*;

#[test]
fn ten_thousand_connections_on_one_network() {
    let (mut network, _) = separate(&[]);
    let rate = Rate::from_bits_per_second(1_000_000_000);
    let [down, up] =
        [(); 2].map(|()| network.add_link(LinkSpec::shaped(rate, DropTail::new(1000), ms(10))));
    let mut specs = Vec::new();
    for i in 0..10_000u64 {
        let routes = [(); 2].map(|()| SubflowRoutes {
            to_client: network.add_route(&[down], PortId(0)),
            to_server: network.add_route(&[up], PortId(1)),
        });
        let mut spec = file("lisa", i % 2 == 0, routes.to_vec(), 5_000);
        spec.start = Time::ZERO + Span::from_micros(i * 100);
        specs.push(spec);
    }
    let mut simulation = Simulation::new(network, Quiet);
    for spec in specs {
        simulation.add_connection(spec);
    }
    simulation.run(seconds(300));
    for number in 0..10_000 {
        let report = simulation.report(number);
        assert_eq!(report.bytes, 5_000);
        assert!(report.completion.is_some());
    }
}

#[test]
fn a_slow_flow_for_an_hour() {
    let (network, routes) = separate(&[(64, ms(500), 10)]);
    let mut simulation = Simulation::new(network, Quiet);
    let mut spec = file("cubic", false, routes, 0);
    spec.application = Application::Endless;
    simulation.add_connection(spec);
    simulation.run(seconds(3600));
    let bytes = simulation.report(0).bytes as f64;
    let link = 64_000.0 / 8.0 * 3600.0 * 1448.0 / 1500.0;
    assert!((0.95..=1.0).contains(&(bytes / link)), "{}", bytes / link);
}

#[test]
fn rates_round_trips_and_queues_of_any_size() {
    // Rate, kbit/s (to 100 Gbit/s); RTT, µs (to 10 s); queue, packets; bytes; maximum time, s. All but the last of the
    // maxima are computed by hand: 3.5 round trips, slow start, sending.
    let cases = [
        (64, 10, 1, 30_000, 30),
        (64, 10_000_000, 1, 30_000, 1000),
        (64, 10_000_000, 100, 30_000, 60),
        (1_000_000, 10_000_000, 100, 300_000, 90),
        (100_000_000, 10, 1, 1_000_000, 30),
        (100_000_000, 10, 1000, 3_000_000, 1),
        (100_000_000, 100_000, 100_000, 10_000_000, 3),
        (10_000, 40_000, 1, 300_000, 30),
        (10_000, 40_000, 1, 1, 1),
        (10_000, 40_000, 1, 0, 1),
    ];
    for (kbits, rtt_us, queue, bytes, most) in cases {
        for mptcp in [false, true] {
            for algorithm in ["reno", "cubic", "lisa"] {
                let path = (kbits, Span::from_micros(rtt_us), queue);
                let (network, routes) = separate(&[path, path]);
                let mut simulation = Simulation::new(network, Quiet);
                simulation.add_connection(file(algorithm, mptcp, routes, bytes));
                simulation.run(seconds(3600));
                let report = simulation.report(0);
                let what = format!("{algorithm} {mptcp}: {path:?} {bytes}: {report:?}");
                assert_eq!(report.bytes, bytes, "{what}");
                assert!(report.completion.expect(&what) <= seconds(most), "{what}");
            }
        }
    }
}

/// The first timeouts are shorter than the path's RTT: they are found to be spurious, and a sample ends them.
#[test]
fn an_rtt_above_the_first_timeout_does_not_repeat_every_segment() {
    let (network, routes) = separate(&[(10_000, ms(4000), 1000)]);
    let mut simulation = Simulation::new(network, Quiet);
    simulation.add_connection(file("reno", false, routes, 1_000_000));
    simulation.run(seconds(600));
    let report = simulation.report(0);
    let counters = report.subflows[0].counters;
    assert!(counters.retransmits <= 3, "{counters:?}");
    // A handshake of 1.5 round trips, then 10, 20, 40 … segments: 691 segments are seven more round trips.
    assert!(report.completion.unwrap() < seconds(4 * 10), "{report:?}");
}

#[test]
fn twenty_subflows() {
    let paths: Vec<_> = (0..20).map(|i| (2_000, ms(20 + 5 * i), 20)).collect();
    for algorithm in ["lisa", "lia", "cubic"] {
        let (network, routes) = separate(&paths);
        let mut simulation = Simulation::new(network, Quiet);
        simulation.add_connection(file(algorithm, true, routes, 30_000_000));
        simulation.run(seconds(600));
        let report = simulation.report(0);
        assert_eq!(report.bytes, 30_000_000);
        assert!(report.subflows.iter().all(|s| s.counters.bytes > 100_000));
        // 6.3 s at the maximum of 38 Mbit/s of payload.
        assert!(report.completion.unwrap() < seconds(13), "{report:?}");
    }
}

#[derive(Default)]
struct Digest(DefaultHasher, u64);

impl Observer for Digest {
    const ON: bool = true;
    fn window(&mut self, at: Time, who: SubflowId, view: &View) {
        format!("{at:?} {who:?} {view:?}").hash(&mut self.0);
        self.1 += 1;
    }
    fn opened(&mut self, at: Time, who: SubflowId, _: &Subflow, taken: Option<Credit>) {
        format!("{at:?} {who:?} {taken:?}").hash(&mut self.0);
    }
    fn credit(&mut self, at: Time, who: SubflowId, _: &Subflow, _: &Note) {
        format!("{at:?} {who:?}").hash(&mut self.0);
    }
    fn lost(&mut self, at: Time, subflow: SubflowId, _: u32) {
        format!("{at:?} {subflow:?}").hash(&mut self.0);
    }
}

#[test]
fn two_runs_are_equal_with_and_without_an_observer() {
    fn run<O: Observer>(observer: O) -> (Vec<String>, O) {
        let (network, routes) = shared(5_000, &[ms(40), ms(40), ms(55), ms(90)], 12);
        let mut simulation = Simulation::new(network, observer);
        for (i, routes) in routes.chunks(2).enumerate() {
            let algorithm = ["lisa", "cubic"][i];
            simulation.add_connection(file(algorithm, true, routes.to_vec(), 1_000_000));
        }
        simulation.run(seconds(60));
        let mut reports: Vec<_> = (0..2)
            .map(|n| format!("{:?}", simulation.report(n)))
            .collect();
        reports.push(simulation.events().to_string());
        (reports, simulation.into_observer())
    }
    let (first, digest) = run(Digest::default());
    let (second, again) = run(Digest::default());
    assert_eq!(first, second);
    assert_eq!(digest.0.finish(), again.0.finish());
    assert!(digest.1 > 500);
    assert_eq!(run(Quiet).0, first);
}
