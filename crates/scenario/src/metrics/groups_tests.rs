use super::*;
use crate::metrics::{choose, summary};
use crate::{Scenario, simulate};

/// The values of a metric in the first `runs` runs.
fn values(samples: &Samples, metric: usize, runs: usize) -> Vec<Option<f64>> {
    let value = |run| samples.series[metric].runs().get(run).copied();
    (0..runs)
        .map(|run| value(run).filter(|value: &f64| !value.is_nan()))
        .collect()
}

/// Groups that keep values.
fn groups() -> Groups {
    Groups::new(summary().collect())
}

/// An outcome with this many connections, each changed.
pub(crate) fn outcome_of(
    connections: usize,
    change: impl Fn(&mut ConnectionOutcome, usize),
) -> Outcome {
    let file = "stop = \"1ms\"\n[topology]\nkind = \"shared-bottleneck\"\nrate = \"5Mbit\"\nrtt = \"40ms\"\n\
                queue = 17\n[[connection]]\nbytes = 1000\nalgorithm = \"reno\"";
    let scenario = Scenario::parse(file, "a.toml").unwrap();
    let mut outcome = simulate(&scenario, 1, false).unwrap().outcome;
    let template = outcome.connections.remove(0);
    outcome.connections = vec![template; connections];
    for (number, connection) in outcome.connections.iter_mut().enumerate() {
        change(connection, number);
    }
    outcome
}

/// An outcome with these connections: a name and a completion time each.
fn outcome(connections: &[(&str, Option<f64>)]) -> Outcome {
    outcome_of(connections.len(), |connection, number| {
        let (name, completion_s) = connections[number];
        connection.name = name.into();
        connection.completion_s = completion_s;
        connection.note = completion_s.is_none().then(|| "did not finish".into());
    })
}

#[test]
fn a_run_is_one_observation() {
    let mut groups = groups();
    groups.add(&outcome(&[("a", Some(1.0)), ("a", Some(3.0)), ("a", None)]));
    groups.add(&outcome(&[("b", Some(5.0)), ("a", Some(4.0))]));
    let a = groups.find("a").unwrap();
    assert_eq!(a.connections, 3);
    assert_eq!(a.notes["did not finish"], 1);
    assert_eq!(values(&a.samples, 0, 2), [Some(2.0), Some(4.0)]);
    // Student's t of one degree of freedom is 12.706; the standard deviation √2 is divided by the root of two runs.
    let mean = a.samples.mean(0).unwrap();
    assert_eq!((mean.n, mean.mean), (2, 3.0));
    assert!((mean.ci95.unwrap() - 12.706).abs() < 1e-3);
    groups.add(&outcome(&[("a", Some(1.0))]));
    let b = groups.samples(Part::Connection("b")).unwrap();
    assert_eq!(values(b, 0, 3), [None, Some(5.0), None]);
}

#[test]
fn differences_are_of_the_same_run() {
    let (mut base, mut other) = (groups(), groups());
    for (one, two) in [
        (Some(1.0), Some(1.5)),
        (None, Some(9.0)),
        (Some(3.0), Some(3.5)),
    ] {
        base.add(&outcome(&[("a", one)]));
        other.add(&outcome(&[("a", two)]));
    }
    let [base, other] = [&base, &other].map(|groups| &groups.groups[0].samples);
    let difference = other.difference(base, 0).unwrap();
    assert_eq!(difference.n, 2);
    assert_eq!(difference.mean, 0.5);
    assert_eq!(difference.ci95, Some(0.0));
}

/// Two connections of one name have the mean of their shares. The index belongs to the run and covers all three.
#[test]
fn fairness_is_of_all_connections() {
    let mut groups = groups();
    let run = |goodputs: [Option<f64>; 3]| {
        outcome_of(3, |connection, number| {
            connection.name = if number == 0 { "a" } else { "b" }.into();
            connection.goodput_mbps = goodputs[number];
        })
    };
    groups.add(&run([Some(6.0), Some(1.0), Some(1.0)]));
    groups.add(&run([Some(6.0), Some(1.0), None]));
    let at = |key: &str| groups.metrics.iter().position(|m| m.key == key).unwrap();
    let (share, index) = (at("share"), at("jain_index"));
    let of = |name| groups.samples(Part::Connection(name)).unwrap();
    assert_eq!(values(of("a"), share, 2), [Some(0.75), None]);
    assert_eq!(values(of("b"), share, 2), [Some(0.125), None]);
    assert_eq!(values(of("a"), index, 2), [None, None]);
    // 8² / (3 (36 + 1 + 1)) = 64 / 114.
    let run = groups.samples(Part::Run).unwrap();
    assert_eq!(values(run, index, 2), [Some(64.0 / 114.0), None]);
    assert_eq!(values(run, share, 2), [None, None]);
}

#[test]
fn subflows_and_links_have_metrics_of_their_own() {
    let metrics = choose(&["subflows.srtt_s", "links.drops", "goodput_mbps"]).unwrap();
    let mut groups = Groups::new(metrics);
    let subflow = |subflow, srtt| SubflowOutcome {
        subflow,
        srtt_s: srtt,
        ..SubflowOutcome::default()
    };
    // In the first run, one of two connections has a second subflow; in the second, none has.
    let mut first = outcome_of(2, |connection, number| {
        connection.name = "a".into();
        connection.subflows = vec![subflow(1, 0.1 + 0.1 * number as f64)];
    });
    first.connections[1].subflows.push(subflow(2, 0.5));
    first.links.truncate(2);
    first.links[0].drops = 3;
    let mut second = outcome_of(1, |connection, _| {
        connection.name = "a".into();
        connection.subflows = vec![subflow(1, 0.25)];
    });
    second.links = vec![first.links[1].clone(), first.links[0].clone()];
    second.links[1].drops = 5;
    groups.add(&first);
    groups.add(&second);
    let values = |part, metric| values(groups.samples(part).unwrap(), metric, 2);
    let mean = (0.1 + 0.2) / 2.0;
    assert_eq!(values(Part::Subflow("a", 1), 0), [Some(mean), Some(0.25)]);
    assert_eq!(values(Part::Subflow("a", 2), 0), [Some(0.5), None]);
    assert_eq!(values(Part::Subflow("a", 2), 2), [None, None]);
    assert_eq!(values(Part::Connection("a"), 0), [None, None]);
    let link = Part::Link(&first.links[0].name);
    assert_eq!(values(link, 1), [Some(3.0), Some(5.0)]);
    assert_eq!(groups.links.len(), 2);
    assert!(groups.samples(Part::Subflow("a", 3)).is_none());
    assert!(groups.samples(Part::Link("x")).is_none());
}

/// Moments have the means, the intervals and the differences of the values, with runs that one side does not have.
#[test]
fn moments_are_those_of_the_values() {
    let metrics = || choose(&["completion_s", "subflows.srtt_s", "links.drops"]).unwrap();
    let (mut base, mut other) = (Groups::moments(metrics()), Groups::moments(metrics()));
    let (mut base_values, mut other_values) = (Groups::new(metrics()), Groups::new(metrics()));
    for run in 0..20 {
        let outcome = |factor: f64| {
            let mut outcome = outcome_of(1, |connection, _| {
                let subflow = SubflowOutcome {
                    subflow: 1,
                    srtt_s: factor * f64::from(run * run % 7),
                    ..SubflowOutcome::default()
                };
                connection.name = "a".into();
                connection.completion_s = (run % 5 > 0).then_some(factor * f64::from(run));
                connection.subflows = vec![subflow];
            });
            outcome.links.truncate(1);
            outcome.links[0].drops = factor as u64 * run as u64;
            outcome
        };
        let (of_base, of_other) = (outcome(2.0), outcome(3.0));
        if run % 6 > 0 {
            base.add_paired(run as usize, &of_base, None);
        }
        base_values.add_paired(run as usize, &of_base, None);
        other.add_paired(run as usize, &of_other, Some(&base));
        other_values.add_paired(run as usize, &of_other, None);
    }
    let link = base.links[0].0.clone();
    for (metric, part, pairs) in [
        (0, Part::Connection("a"), 13),
        (1, Part::Subflow("a", 1), 16),
        (2, Part::Link(&link), 16),
    ] {
        let of = |groups: &Groups| groups.samples(part).unwrap().clone();
        let difference = of(&other).difference(&of(&base), metric).unwrap();
        assert_eq!(difference.n, pairs, "{metric}");
        let (is, expected) = (of(&other).mean(metric), of(&other_values).mean(metric));
        let (is, expected) = (is.unwrap(), expected.unwrap());
        assert_eq!(is.n, expected.n);
        assert!((is.mean - expected.mean).abs() < 1e-9);
        assert!((is.ci95.unwrap() - expected.ci95.unwrap()).abs() < 1e-9);
    }
    // Drops: the base has `2 run`, the other `3 run`, and the pairs are the runs that are no multiples of 6.
    let runs: Vec<f64> = (0..20).filter(|run| run % 6 > 0).map(f64::from).collect();
    let of = |groups: &Groups| groups.links[0].1.clone();
    let difference = of(&other).difference(&of(&base), 2).unwrap();
    let expected = Mean::of(&runs).unwrap();
    assert!((difference.mean - expected.mean).abs() < 1e-9);
    assert!((difference.ci95.unwrap() - expected.ci95.unwrap()).abs() < 1e-9);
}

/// Quantiles are of all transfers of all runs. By hand: of 1 to 10 the median is 5.5 and the quantile 0.9 is 9.1.
#[test]
fn quantiles_are_of_all_transfers() {
    let mut groups = groups();
    let at = |key: &str| groups.metrics.iter().position(|m| m.key == key).unwrap();
    let quantiles = ["completion_p50_s", "completion_p90_s", "completion_p99_s"].map(at);
    for run in 0..5 {
        let (one, two) = (f64::from(run) + 1.0, f64::from(run) + 6.0);
        groups.add(&outcome(&[("a", Some(one)), ("a", None), ("a", Some(two))]));
    }
    let group = groups.find("a").unwrap();
    assert_eq!((group.all, group.notes["did not finish"]), (15, 5));
    let values = quantiles.map(|metric| group.samples.mean(metric).map(|m| (m.n, m.mean, m.ci95)));
    assert_eq!(values, [Some((10, 5.5, None)), Some((10, 9.1, None)), None]);
    assert_eq!(group.samples.difference(&group.samples, quantiles[0]), None);
}

#[test]
fn equal_results_have_equal_fingerprints() {
    use crate::metrics::fingerprint;
    let base = fingerprint(&outcome(&[("a", Some(1.0))]));
    let algorithm = outcome_of(1, |connection, _| {
        (connection.completion_s, connection.note) = (Some(1.0), None);
        connection.algorithm = "other".into();
    });
    assert_eq!(fingerprint(&algorithm), base);
    assert_ne!(fingerprint(&outcome(&[("a", Some(1.5))])), base);
    assert_ne!(fingerprint(&outcome(&[("a", None)])), base);
    let mut subflow = algorithm;
    subflow.connections[0].subflows = vec![SubflowOutcome::default()];
    let base = fingerprint(&subflow);
    subflow.connections[0].subflows[0].srtt_s += 1e-9;
    assert_ne!(fingerprint(&subflow), base);
}
