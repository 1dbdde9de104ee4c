//! Tests of the verdict.

use super::*;

fn name(algorithm: &str) -> Name {
    Name {
        set: "a".into(),
        setting: "queue=9".into(),
        algorithm: algorithm.into(),
    }
}

/// Completion and retransmissions with the seeds 1, 2 …
fn results(all: &[(&str, &[(f64, f64)])]) -> Results {
    let mut results = Results::default();
    for (algorithm, runs) in all {
        for (seed, (completion, retransmits)) in (1..).zip(*runs) {
            let mut values = [None; METRICS.len()];
            values[COMPARED[0].metric()] = Some(*completion).filter(|seconds| *seconds > 0.0);
            values[COMPARED[1].metric()] = Some(*retransmits);
            results.insert(&name(algorithm), seed, "download", values);
        }
    }
    results
}

fn within(kernel: &[(f64, f64)], simulator: &[(f64, f64)]) -> [bool; 2] {
    let sides = [kernel, simulator].map(|side| results(&[("css", side)]));
    let is = |compared| both(compared, &name("css"), "download", &sides[0], &sides[1]).within;
    [is(&COMPARED[0]), is(&COMPARED[1])]
}

#[test]
fn means_are_compared_with_the_tolerance() {
    assert_eq!(within(&[(1.0, 2.0)], &[(1.04, 5.0)]), [true, true]);
    assert_eq!(within(&[(1.0, 2.0)], &[(0.96, 5.1)]), [true, false]);
    assert_eq!(within(&[(1.0, 100.0)], &[(1.06, 114.0)]), [false, true]);
    assert_eq!(within(&[(1.0, 100.0)], &[(0.94, 84.0)]), [false, false]);
    // Means are compared; a transfer that did not finish has no completion.
    let runs = [(1.0, 0.0), (3.0, 9.0)];
    assert_eq!(within(&runs, &[(2.0, 4.0), (2.0, 4.0)]), [true, true]);
    assert_eq!(within(&runs, &[(2.0, 4.0), (0.0, 4.0)]), [false, true]);
}

#[test]
fn a_clear_sign_must_be_the_same() {
    let lia: &[(f64, f64)] = &[(1.0, 10.0), (1.2, 20.0), (1.4, 30.0)];
    let faster: &[(f64, f64)] = &[(0.9, 15.0), (1.11, 15.0), (1.3, 31.0)];
    let slower: &[(f64, f64)] = &[(1.1, 15.0), (1.3, 15.0), (1.5, 31.0)];
    let verdict = |simulated| {
        let kernel = results(&[("lia", lia), ("lisa", faster)]);
        let simulator = results(&[("lia", lia), ("lisa", simulated)]);
        Verdict {
            lines: Vec::new(),
            signs: sign(&name("lisa"), "download", &kernel, &simulator),
        }
    };
    let signs = |verdict: &Verdict| -> Vec<(bool, bool)> {
        let signs = verdict.signs.iter();
        signs
            .map(|sign| (sign.is_clear(), sign.is_same()))
            .collect()
    };
    let (same, other) = (verdict(faster), verdict(slower));
    assert_eq!(signs(&same), [(true, true), (false, true)]);
    assert_eq!(signs(&other)[0], (true, false));
    let faults = |verdict: &Verdict, signs| verdict.faults(&BTreeSet::new(), signs);
    assert!(faults(&same, 1).is_empty());
    assert_eq!(faults(&same, 2), ["1 signs are clear, fewer than 2"]);
    assert_eq!(faults(&other, 0), ["the sign differs at `a queue=9 lisa`"]);
}

#[test]
fn points_miss_by_name() {
    let verdict = |misses: usize| {
        let line = |number: usize| Line {
            name: name(&number.to_string()),
            connection: "download".into(),
            metrics: COMPARED.map(|_| Both {
                kernel: None,
                simulator: None,
                difference: None,
                within: number >= misses,
            }),
        };
        Verdict {
            lines: (0..20).map(line).collect(),
            signs: Vec::new(),
        }
    };
    let known = BTreeSet::from(["a queue=9 0".to_string(), "a queue=9 1".to_string()]);
    assert!(verdict(2).faults(&known, 0).is_empty());
    assert_eq!(
        verdict(3).faults(&known, 0),
        ["`a queue=9 2` is outside of the tolerance"]
    );
    let again = "`a queue=9 1` is within the tolerance: remove it from `misses` of suite.toml";
    assert_eq!(verdict(1).faults(&known, 0), [again]);
    assert_eq!(verdict(3).count(), (17, 20));
}
