//! Whether the simulator agrees with the kernel.

use std::collections::BTreeSet;
use std::fmt;

use scenario::metrics::METRICS;
use scenario::statistics::Mean;

use crate::results::Results;
use crate::suite::{Name, Point};

/// What is held against the kernel, and how far the simulator's mean may lie from the kernel's: by this share of it, or by so
/// much.
pub const HELD: [Held; 2] = [
    Held {
        key: "completion_s",
        share: 0.05,
        floor: 0.0,
    },
    Held {
        key: "retransmits",
        share: 0.15,
        floor: 3.0,
    },
];

/// The algorithms whose difference has to have the kernel's sign.
const OF: &str = "lisa";
const TO: &str = "lia";

/// A metric that is held against the kernel.
#[derive(Debug)]
pub struct Held {
    pub key: &'static str,
    pub share: f64,
    pub floor: f64,
}

impl Held {
    /// Its number among [`METRICS`].
    pub fn metric(&self) -> usize {
        let at = METRICS.iter().position(|metric| metric.key == self.key);
        at.expect("a metric of this key")
    }

    /// How far from the kernel's mean is within.
    pub fn tolerance(&self, kernel: f64) -> f64 {
        self.floor.max(self.share * kernel)
    }
}

/// A metric of a connection on both sides.
#[derive(Clone, Copy, Debug)]
pub struct Both {
    pub kernel: Option<Mean>,
    pub simulator: Option<Mean>,
    /// What the simulator has more, seed by seed.
    pub difference: Option<Mean>,
    pub within: bool,
}

/// A connection of a point, with each metric of [`HELD`].
#[derive(Debug)]
pub struct Line {
    pub name: Name,
    pub connection: String,
    pub held: [Both; HELD.len()],
}

/// LISA − MPTCP with one setting.
#[derive(Debug)]
pub struct Sign {
    /// The point of LISA.
    pub name: Name,
    pub connection: String,
    /// Which of [`METRICS`].
    pub metric: usize,
    pub kernel: Mean,
    pub simulator: Option<Mean>,
}

impl Sign {
    /// Whether the kernel's interval excludes zero.
    pub fn is_clear(&self) -> bool {
        self.kernel.mean.abs() > self.kernel.ci95.unwrap_or(f64::INFINITY)
    }

    /// Whether the simulator's has the same sign.
    pub fn is_same(&self) -> bool {
        (self.simulator).is_some_and(|simulator| simulator.mean * self.kernel.mean > 0.0)
    }
}

/// All of it.
#[derive(Debug)]
pub struct Verdict {
    /// In the order of the suite; connections of a point one after another.
    pub lines: Vec<Line>,
    pub signs: Vec<Sign>,
}

impl Verdict {
    /// Of the points that are in both.
    pub fn of(points: &[Point], kernel: &Results, simulator: &Results) -> Self {
        let (mut lines, mut signs) = (Vec::new(), Vec::new());
        for point in points {
            for connection in kernel.connections(&point.name) {
                lines.push(Line {
                    held: HELD.map(|held| both(&held, &point.name, &connection, kernel, simulator)),
                    name: point.name.clone(),
                    connection: connection.clone(),
                });
                signs.extend(sign(&point.name, &connection, kernel, simulator));
            }
        }
        Self { lines, signs }
    }

    /// The points' names, and whether all connections are within.
    pub fn points(&self) -> Vec<(&Name, bool)> {
        let mut points: Vec<(&Name, bool)> = Vec::new();
        for line in &self.lines {
            let within = line.held.iter().all(|both| both.within);
            match points.last_mut() {
                Some((name, all)) if *name == &line.name => *all &= within,
                _ => points.push((&line.name, within)),
            }
        }
        points
    }

    /// How many points are within, and of how many.
    pub fn count(&self) -> (usize, usize) {
        let points = self.points();
        let within = points.iter().filter(|(_, within)| *within).count();
        (within, points.len())
    }

    /// Where the kernel is clear: whether the simulator has the same sign.
    pub fn clear(&self) -> impl Iterator<Item = &Sign> {
        self.signs.iter().filter(|sign| sign.is_clear())
    }

    /// Differences from what is known: which points miss, how many signs are clear at least, and that these are the same.
    pub fn faults(&self, misses: &BTreeSet<String>, signs: usize) -> Vec<String> {
        let mut faults = Vec::new();
        for (name, within) in self.points() {
            match (within, misses.contains(&name.to_string())) {
                (false, false) => faults.push(format!("`{name}` misses")),
                (true, true) => faults.push(format!(
                    "`{name}` is within again: remove it from `misses` of suite.toml"
                )),
                _ => {}
            }
        }
        let clear = self.clear().count();
        if clear < signs {
            faults.push(format!("{clear} signs are clear, of {signs} at least"));
        }
        let others = self.clear().filter(|sign| !sign.is_same());
        faults.extend(others.map(|sign| format!("another sign at `{}`", sign.name)));
        faults
    }
}

/// What misses, a line each, and how many do not.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            for (held, both) in HELD.iter().zip(&line.held) {
                if both.within {
                    continue;
                }
                let metric = &METRICS[held.metric()];
                let mean = |mean: Option<Mean>| match mean {
                    Some(mean) => format!("{:.*}", metric.decimals, mean.mean),
                    None => "none".into(),
                };
                let (title, unit) = (metric.title, metric.unit);
                let (kernel, simulator) = (mean(both.kernel), mean(both.simulator));
                let (name, connection) = (&line.name, &line.connection);
                writeln!(
                    f,
                    "{name}, {connection}: {title} {simulator} {unit}, in the kernel {kernel} {unit}"
                )?;
            }
        }
        for sign in self.clear().filter(|sign| !sign.is_same()) {
            let metric = &METRICS[sign.metric];
            let (set, setting) = (&sign.name.set, &sign.name.setting);
            let simulator = sign.simulator.map_or(0.0, |mean| mean.mean);
            writeln!(
                f,
                "{set} {setting}, {}: {OF} − {TO}: {} {simulator:+.*} {unit}, in the kernel {:+.*} {unit}",
                sign.connection,
                metric.title,
                metric.decimals,
                metric.decimals,
                sign.kernel.mean,
                unit = metric.unit,
            )?;
        }
        let (within, of) = self.count();
        let signs = self.clear().count();
        let same = self.clear().filter(|sign| sign.is_same()).count();
        writeln!(
            f,
            "{within} of {of} points are within, {same} of {signs} signs are the kernel's"
        )
    }
}

fn both(held: &Held, name: &Name, connection: &str, kernel: &Results, simulator: &Results) -> Both {
    let metric = held.metric();
    let theirs = kernel.mean(name, connection, metric);
    let ours = simulator.mean(name, connection, metric);
    let near = |(theirs, ours): (Mean, Mean)| {
        // What did not finish with some seed has no mean that can be compared.
        let all = [kernel, simulator].map(|side| side.all_have(name, connection, metric));
        all == [true; 2] && (ours.mean - theirs.mean).abs() <= held.tolerance(theirs.mean)
    };
    Both {
        kernel: theirs,
        simulator: ours,
        difference: simulator.difference(name, (kernel, name), connection, metric),
        within: match (theirs, ours) {
            (None, None) => true,
            _ => theirs.zip(ours).is_some_and(near),
        },
    }
}

fn sign(name: &Name, connection: &str, kernel: &Results, simulator: &Results) -> Vec<Sign> {
    if name.algorithm != OF {
        return Vec::new();
    }
    let to = Name {
        algorithm: TO.into(),
        ..name.clone()
    };
    let sign = |held: &Held| {
        let metric = held.metric();
        let more = |side: &Results| side.difference(name, (side, &to), connection, metric);
        Some(Sign {
            name: name.clone(),
            connection: connection.into(),
            metric,
            kernel: more(kernel)?,
            simulator: more(simulator),
        })
    };
    HELD.iter().filter_map(sign).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(algorithm: &str) -> Name {
        Name {
            set: "a".into(),
            setting: "queue=9".into(),
            algorithm: algorithm.into(),
        }
    }

    /// Completion and retransmissions with seeds 1, 2 …
    fn results(all: &[(&str, &[(f64, f64)])]) -> Results {
        let mut results = Results::default();
        for (algorithm, runs) in all {
            for (seed, (completion, retransmits)) in (1..).zip(*runs) {
                let mut values = [None; METRICS.len()];
                values[HELD[0].metric()] = Some(*completion).filter(|seconds| *seconds > 0.0);
                values[HELD[1].metric()] = Some(*retransmits);
                results.insert(&name(algorithm), seed, "download", values);
            }
        }
        results
    }

    fn within(kernel: &[(f64, f64)], simulator: &[(f64, f64)]) -> [bool; 2] {
        let sides = [kernel, simulator].map(|side| results(&[("css", side)]));
        let held = |held: &Held| both(held, &name("css"), "download", &sides[0], &sides[1]).within;
        [held(&HELD[0]), held(&HELD[1])]
    }

    #[test]
    fn what_is_within() {
        assert_eq!(within(&[(1.0, 2.0)], &[(1.04, 5.0)]), [true, true]);
        assert_eq!(within(&[(1.0, 2.0)], &[(0.96, 5.1)]), [true, false]);
        assert_eq!(within(&[(1.0, 100.0)], &[(1.06, 114.0)]), [false, true]);
        assert_eq!(within(&[(1.0, 100.0)], &[(0.94, 84.0)]), [false, false]);
        // The means count, and what did not finish has none.
        let runs = [(1.0, 0.0), (3.0, 9.0)];
        assert_eq!(within(&runs, &[(2.0, 4.0), (2.0, 4.0)]), [true, true]);
        assert_eq!(within(&runs, &[(2.0, 4.0), (0.0, 4.0)]), [false, true]);
    }

    #[test]
    fn a_clear_sign_has_to_be_the_same() {
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
        let told = |verdict: &Verdict| -> Vec<(bool, bool)> {
            let signs = verdict.signs.iter();
            signs
                .map(|sign| (sign.is_clear(), sign.is_same()))
                .collect()
        };
        let (same, other) = (verdict(faster), verdict(slower));
        assert_eq!(told(&same), [(true, true), (false, true)]);
        assert_eq!(told(&other)[0], (true, false));
        let faults = |verdict: &Verdict, signs| verdict.faults(&BTreeSet::new(), signs);
        assert!(faults(&same, 1).is_empty());
        assert_eq!(faults(&same, 2), ["1 signs are clear, of 2 at least"]);
        assert_eq!(faults(&other, 0), ["another sign at `a queue=9 lisa`"]);
    }

    #[test]
    fn points_miss_by_name() {
        let verdict = |misses: usize| {
            let line = |number: usize| Line {
                name: name(&number.to_string()),
                connection: "download".into(),
                held: HELD.map(|_| Both {
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
        assert_eq!(verdict(3).faults(&known, 0), ["`a queue=9 2` misses"]);
        let again = "`a queue=9 1` is within again: remove it from `misses` of suite.toml";
        assert_eq!(verdict(1).faults(&known, 0), [again]);
        assert_eq!(verdict(3).count(), (17, 20));
    }
}
