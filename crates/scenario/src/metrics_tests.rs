use super::*;
use crate::{Scenario, simulate};

/// An outcome with these connections: a name and a completion time each.
fn outcome(connections: &[(&str, Option<f64>)]) -> Outcome {
    let file = "stop = \"1ms\"\n[topology]\nkind = \"shared-bottleneck\"\nrate = \"5Mbit\"\nrtt = \"40ms\"\n\
                queue = 17\n[[connection]]\nbytes = 1000\nalgorithm = \"reno\"";
    let scenario = Scenario::parse(file, "a.toml").unwrap();
    let mut outcome = simulate(&scenario, 1, false).unwrap().outcome;
    let template = outcome.connections.remove(0);
    let connection = |(name, completion_s): &(&str, Option<f64>)| ConnectionOutcome {
        name: (*name).into(),
        completion_s: *completion_s,
        note: completion_s.is_none().then(|| "did not finish".into()),
        ..template.clone()
    };
    outcome.connections = connections.iter().map(connection).collect();
    outcome
}

#[test]
fn a_run_is_one_observation() {
    let mut groups = Groups::default();
    groups.add(&outcome(&[("a", Some(1.0)), ("a", Some(3.0)), ("a", None)]));
    groups.add(&outcome(&[("b", Some(5.0)), ("a", Some(4.0))]));
    let a = groups.find("a").unwrap();
    assert_eq!(a.connections, 3);
    assert_eq!(a.notes["did not finish"], 1);
    assert_eq!(a.values(0), [Some(2.0), Some(4.0)]);
    // Student's t of one degree of freedom is 12.706, the deviation √2, over the root of two runs.
    let mean = a.mean(0).unwrap();
    assert_eq!((mean.n, mean.mean), (2, 3.0));
    assert!((mean.ci95.unwrap() - 12.706).abs() < 1e-3);
    groups.add(&outcome(&[("a", Some(1.0))]));
    assert_eq!(groups.find("b").unwrap().values(0), [None, Some(5.0), None]);
}

#[test]
fn differences_are_of_the_same_run() {
    let (mut base, mut other) = (Groups::default(), Groups::default());
    for (one, two) in [
        (Some(1.0), Some(1.5)),
        (None, Some(9.0)),
        (Some(3.0), Some(3.5)),
    ] {
        base.add(&outcome(&[("a", one)]));
        other.add(&outcome(&[("a", two)]));
    }
    let difference = other.groups[0].difference(&base.groups[0], 0).unwrap();
    assert_eq!(difference.n, 2);
    assert_eq!(difference.mean, 0.5);
    assert_eq!(difference.ci95, Some(0.0));
}
