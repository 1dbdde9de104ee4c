use std::collections::BTreeMap;

use netsim::Rate;
use topology::{FatTree, Queue, SharedBottleneck, Spec};

use super::*;
use crate::connection::{Application, Arrivals, Protocol};
use crate::size::Size;

fn connection() -> ConnectionSpec {
    ConnectionSpec {
        name: "a".into(),
        application: Application::Endless,
        ..Default::default()
    }
}

fn scenario(topology: Spec, connections: Vec<ConnectionSpec>) -> Scenario {
    Scenario {
        title: "a".into(),
        stop: Span::from_secs(100),
        warmup: Span::ZERO,
        topology,
        path_names: Vec::new(),
        rtt_spread: 0.0,
        rate_phase: Length::Fixed(Span::ZERO),
        connections,
    }
}

/// All links of a run begin at one time of their recordings, each seed at its own.
#[test]
fn each_seed_has_its_phase_of_recorded_rates() {
    let trace: netsim::Trace = "1000\n60000\n".parse().unwrap();
    let Spec::SharedBottleneck(mut one) = shared(1) else {
        panic!()
    };
    one.bottleneck.rate_trace = Some(trace.clone());
    one.bottleneck.up = Some(Box::new(topology::Up {
        rate: None,
        rate_trace: Some(trace.clone()),
        queue: one.bottleneck.queue.clone(),
        loss: None,
    }));
    let mut scenario = scenario(Spec::SharedBottleneck(one), vec![connection()]);
    let traces = |scenario: &Scenario, seed| {
        let drawn = scenario.draw(seed).unwrap();
        let links = drawn.graph.links().iter();
        let traces = links.filter_map(|link| link.properties.rate_trace.clone());
        traces.collect::<Vec<_>>()
    };
    assert_eq!(traces(&scenario, 1), [trace.clone(), trace.clone()]);
    scenario.rate_phase = Length::Fixed(Span::from_secs(2));
    let later = trace.clone().from_phase(Span::from_secs(2));
    assert_eq!(traces(&scenario, 1), [later.clone(), later]);
    let warns = |scenario: &Scenario| {
        let warning = scenario.warning_of_seeds().unwrap();
        warning.map(|warning| warning.text)
    };
    assert!(warns(&scenario).is_some_and(|text| text.contains("rate_phase")));
    scenario.rate_phase = Length::Uniform {
        from: Span::ZERO,
        to: Span::from_secs(60),
    };
    assert_eq!(warns(&scenario), None);
    let drawn: Vec<Vec<netsim::Trace>> = (1..=20).map(|seed| traces(&scenario, seed)).collect();
    assert!(drawn.iter().all(|both| both[0] == both[1]));
    assert!((1..20).all(|at| drawn[at] != drawn[at - 1]));
}

fn tree(k: u32) -> Spec {
    let rate = Rate::from_bits_per_second(100_000_000);
    let queue = Queue::DropTailPackets(100);
    let link = topology::Properties::shaped(rate, queue, Span::from_micros(100));
    Spec::FatTree(FatTree {
        k,
        core: link.clone(),
        link,
    })
}

fn shared(paths: usize) -> Spec {
    let rate = Rate::from_bits_per_second(5_000_000);
    Spec::SharedBottleneck(SharedBottleneck {
        bottleneck: topology::Properties::shaped(rate, Queue::DropTailPackets(17), Span::ZERO),
        rtts: vec![Span::from_millis(40); paths],
        access: None,
    })
}

/// Hosts of each flow.
fn ends(drawn: &Drawn) -> Vec<(NodeIndex, NodeIndex)> {
    let from = |path: &Path| drawn.graph.link(path.forward[0]).from;
    let to = |path: &Path| drawn.graph.link(path.forward[path.forward.len() - 1]).to;
    let ends = |flow: &Flow| {
        assert!(
            flow.paths
                .iter()
                .all(|path| from(path) == from(&flow.paths[0]))
        );
        (from(&flow.paths[0]), to(&flow.paths[0]))
    };
    drawn.flows.iter().map(ends).collect()
}

#[test]
fn draws_are_spread_over_the_range_and_the_same_each_time() {
    let draws: Vec<f64> = (0..1000).map(|seed| rtt_factor(seed, 0.1)).collect();
    assert!(draws.iter().all(|factor| (0.9..1.1).contains(factor)));
    let mean = draws.iter().sum::<f64>() / 1000.0;
    assert!((mean - 1.0).abs() < 0.01, "{mean}");
    assert_eq!(rtt_factor(7, 0.1).to_bits(), rtt_factor(7, 0.1).to_bits());
    assert_ne!(rtt_factor(7, 0.1), rtt_factor(8, 0.1));
    assert_eq!(rtt_factor(7, 0.0), 1.0);
    assert_eq!(scaled(Span::from_millis(40), 0.9), Span::from_millis(36));
}

#[test]
fn a_permutation_has_each_host_once_at_either_end() {
    let mut seen = BTreeSet::new();
    for seed in 0..20 {
        let between = Between::Permutation;
        let connection = ConnectionSpec {
            between,
            count: 2,
            ..connection()
        };
        let drawn = scenario(tree(4), vec![connection]).draw(seed).unwrap();
        let ends = ends(&drawn);
        assert_eq!(ends.len(), 32);
        for half in ends.chunks(16) {
            let from: BTreeSet<_> = half.iter().map(|(from, _)| *from).collect();
            let to: BTreeSet<_> = half.iter().map(|(_, to)| *to).collect();
            assert_eq!((from.len(), to.len()), (16, 16));
            assert!(half.iter().all(|(from, to)| from != to));
        }
        assert!(drawn.flows.iter().map(|flow| flow.number).eq(1..=32));
        seen.insert(ends);
    }
    assert_eq!(seen.len(), 20, "each seed draws a different permutation");
}

#[test]
fn random_pairs_are_never_drawn_twice() {
    for seed in 0..20 {
        let between = Between::Random;
        let connection = ConnectionSpec {
            between,
            count: 3,
            ..connection()
        };
        let drawn = scenario(tree(4), vec![connection]).draw(seed).unwrap();
        let pairs: BTreeSet<_> = ends(&drawn)
            .into_iter()
            .map(|(a, b)| (a.min(b), a.max(b)))
            .collect();
        assert_eq!((drawn.flows.len(), pairs.len()), (48, 48));
    }
    // Two hosts have one pair, also for a larger count.
    let connection = ConnectionSpec {
        between: Between::Random,
        count: 3,
        ..connection()
    };
    assert_eq!(
        scenario(shared(1), vec![connection])
            .draw(1)
            .unwrap()
            .flows
            .len(),
        1
    );
}

#[test]
fn subflows_take_paths_in_order_or_at_random() {
    let mptcp = ConnectionSpec {
        protocol: Protocol::Mptcp,
        subflows: 3,
        ..connection()
    };
    let drawn = scenario(shared(2), vec![mptcp.clone()]).draw(1).unwrap();
    let all = drawn.graph.sets()[0].paths.clone();
    assert_eq!(
        drawn.flows[0].paths,
        [all[0].clone(), all[1].clone(), all[0].clone()]
    );
    let chosen = ConnectionSpec {
        between: Between::Set {
            name: None,
            paths: vec![1],
        },
        ..mptcp.clone()
    };
    let drawn = scenario(shared(2), vec![chosen]).draw(1).unwrap();
    assert_eq!(drawn.flows[0].paths, vec![all[1].clone(); 3]);
    assert_eq!(drawn.flows[0].numbers, [1, 1, 1]);
    // Each of four equal paths is drawn about equally often.
    let hosts = ConnectionSpec {
        between: Between::Hosts {
            from: "h1".into(),
            to: "h16".into(),
        },
        path_choice: PathChoice::Random,
        subflows: 8,
        count: 100,
        ..mptcp
    };
    let drawn = scenario(tree(4), vec![hosts]).draw(1).unwrap();
    let [from, to] = ["h1", "h16"].map(|host| drawn.graph.node(host).unwrap());
    let shortest = drawn.graph.shortest_paths(from, to);
    let mut times = BTreeMap::new();
    for flow in &drawn.flows {
        for (path, number) in flow.paths.iter().zip(&flow.numbers) {
            *times.entry(path.forward.clone()).or_insert(0) += 1;
            assert_eq!(shortest.nth(*number).as_ref(), Some(path));
        }
    }
    assert_eq!(times.len(), 4);
    assert!(
        times.values().all(|times| (150..250).contains(times)),
        "{times:?}"
    );
}

#[test]
fn algorithms_and_further_connections_change_no_draw() {
    let between = Between::Random;
    let start = Length::Uniform {
        from: Span::from_secs(2),
        to: Span::from_secs(5),
    };
    let one = ConnectionSpec {
        between,
        start,
        ..connection()
    };
    let other = ConnectionSpec {
        algorithm: "lisa".into(),
        ..one.clone()
    };
    let draw = |connections| scenario(tree(4), connections).draw(9).unwrap().flows;
    let flows = draw(vec![one.clone()]);
    assert_eq!(flows, draw(vec![one.clone()]));
    assert_eq!(flows, draw(vec![other.clone()]));
    let both = draw(vec![one, other]);
    assert_eq!(flows[..], both[..16]);
    assert!(
        flows
            .iter()
            .zip(&both[16..])
            .all(|(a, b)| a.start != b.start && a.seed != b.seed)
    );
}

#[test]
fn arrivals_follow_each_other_until_the_end() {
    let gap = Length::Exponential {
        mean: Span::from_millis(100),
    };
    let poisson = ConnectionSpec {
        start: Length::Fixed(Span::from_secs(1)),
        arrivals: Some(Arrivals {
            count: 10_000,
            spacing: Spacing::Gap(gap),
        }),
        ..connection()
    };
    let scenario = scenario(shared(1), vec![poisson]);
    let flows = scenario.draw(1).unwrap().flows;
    assert_eq!(flows[0].start, Span::from_secs(1));
    assert!(flows.windows(2).all(|pair| pair[0].start <= pair[1].start));
    assert!(flows.iter().all(|flow| flow.start < scenario.stop));
    // 99 s at 10 a second; the standard deviation of a Poisson count is its square root, about 31.
    assert!((890..1090).contains(&flows.len()), "{}", flows.len());
}

#[test]
fn lengths_have_their_mean() {
    let mean = |length: Length| {
        let mut generator = Pcg64Mcg::seed_from_u64(1);
        let draws = (0..10_000).map(|_| length.draw(&mut generator).as_secs_f64());
        draws.sum::<f64>() / 10_000.0
    };
    let [from, to] = [400, 2000].map(Span::from_millis);
    assert!((mean(Length::Uniform { from, to }) - 1.2).abs() < 0.02);
    assert!((mean(Length::Exponential { mean: to }) - 2.0).abs() < 0.06);
    assert_eq!(Length::Fixed(to).draw(&mut Pcg64Mcg::seed_from_u64(1)), to);
    let ends = Length::Uniform { from, to: from };
    assert_eq!(ends.draw(&mut Pcg64Mcg::seed_from_u64(1)), from);
}

#[test]
fn a_seed_draws_the_round_trip_times() {
    let mut scenario = scenario(shared(2), vec![connection()]);
    let rtt = |scenario: &Scenario, seed| {
        let drawn = scenario.draw(seed).unwrap();
        drawn.graph.rtt(&drawn.flows[0].paths[0])
    };
    assert_eq!(rtt(&scenario, 7), Span::from_millis(40));
    scenario.rtt_spread = 0.1;
    assert_eq!(
        rtt(&scenario, 7),
        scaled(Span::from_millis(40), rtt_factor(7, 0.1))
    );
}

#[test]
fn unknown_paths_and_hosts_are_errors() {
    let set = |name: Option<&str>, path| Between::Set {
        name: name.map(Into::into),
        paths: vec![path],
    };
    let hosts = Between::Hosts {
        from: "client".into(),
        to: "h2".into(),
    };
    for between in [set(None, 1), set(Some("blue"), 0), hosts] {
        let connection = ConnectionSpec {
            between,
            ..connection()
        };
        let error = scenario(shared(1), vec![connection]).draw(1).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("`connection.a`: the topology has no "),
            "{error}"
        );
    }
    let error = scenario(tree(5), vec![connection()]).draw(1).unwrap_err();
    assert!(
        error.to_string().starts_with("`topology.k`: 5: "),
        "{error}"
    );
}

/// Mean gap between the arrivals of each sender, seconds.
fn mean_gap(topology: Spec, change: impl FnOnce(&mut ConnectionSpec)) -> f64 {
    let mut spec = ConnectionSpec {
        application: Application::Bytes(Size::Fixed(100_000)),
        arrivals: Some(Arrivals {
            count: 4000,
            spacing: Spacing::Load(0.6),
        }),
        ..connection()
    };
    change(&mut spec);
    let mut scenario = scenario(topology, vec![spec]);
    scenario.stop = Span::from_secs(1_000_000);
    let drawn = scenario.draw(1).unwrap();
    let starts = |first: usize| drawn.flows[first..first + 4000].iter().map(|f| f.start);
    let (first, last) = (starts(0).next().unwrap(), starts(0).next_back().unwrap());
    (last.as_secs_f64() - first.as_secs_f64()) / 3999.0
}

/// 100 KB each at 60 % of 5 Mbit/s: one every 0.267 s.
#[test]
fn a_load_is_a_share_of_the_paths_rate() {
    let expected = 100_000.0 * 8.0 / (0.6 * 5e6);
    let close = |gap: f64, expected: f64| {
        // Four standard deviations of the mean of 4000 exponential gaps.
        assert!(
            (gap / expected - 1.0).abs() < 0.064,
            "{gap}, not {expected}"
        );
    };
    close(mean_gap(shared(1), |_| {}), expected);
    // Paths over one bottleneck have its rate together, separate ones the sum.
    let two = |spec: &mut ConnectionSpec| {
        spec.protocol = Protocol::Mptcp;
        spec.subflows = 2;
    };
    close(mean_gap(shared(2), two), expected);
    let Spec::SharedBottleneck(one) = shared(1) else {
        unreachable!()
    };
    let path = topology::PathSpec {
        bottleneck: one.bottleneck,
        rtt: one.rtts[0],
    };
    let separate = Spec::NonSharedBottleneck(topology::NonSharedBottleneck {
        paths: vec![path.clone(), path],
        access: None,
    });
    close(mean_gap(separate, two), expected / 2.0);
    // In a fat tree the link of the host limits all paths together: 100 Mbit/s.
    let permutation = |spec: &mut ConnectionSpec| spec.between = Between::Permutation;
    close(mean_gap(tree(4), permutation), expected / 20.0);
    // Without a rate there is no load.
    let mut endless = shared(1);
    let Spec::SharedBottleneck(spec) = &mut endless else {
        unreachable!()
    };
    spec.bottleneck.rate = None;
    let spec = ConnectionSpec {
        application: Application::Bytes(Size::Fixed(1)),
        arrivals: Some(Arrivals {
            count: 2,
            spacing: Spacing::Load(0.6),
        }),
        ..connection()
    };
    let error = scenario(endless, vec![spec]).draw(1).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`load` needs a link with a `rate`")
    );
}
