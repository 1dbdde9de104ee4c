//! The verdict: at which points the simulator agrees with the kernel.

use std::collections::BTreeSet;
use std::fmt;

use scenario::metrics::METRICS;
use scenario::statistics::Mean;

use crate::results::Results;
use crate::suite::{Name, Point};

/// The compared metrics, with their tolerances.
pub const COMPARED: [Compared; 2] = [
    Compared {
        key: "completion_s",
        share: 0.05,
        floor: 0.0,
    },
    Compared {
        key: "retransmits",
        share: 0.15,
        floor: 3.0,
    },
];

/// The algorithms whose difference must have the same sign in the simulator as in the kernel: OF − TO.
const OF: &str = "lisa";
const TO: &str = "lia";

/// A metric with the tolerance for the difference of the means of simulator and kernel: the larger of `share` and
/// `floor`.
#[derive(Debug)]
pub struct Compared {
    pub key: &'static str,
    /// As a share of the kernel's mean.
    pub share: f64,
    /// In the unit of the metric.
    pub floor: f64,
}

impl Compared {
    /// Number of the metric among [`METRICS`].
    pub fn metric(&self) -> usize {
        let at = METRICS.iter().position(|metric| metric.key == self.key);
        at.expect("a metric of this key")
    }

    /// Largest difference from this mean of the kernel that is within the tolerance.
    pub fn tolerance(&self, kernel: f64) -> f64 {
        self.floor.max(self.share * kernel)
    }
}

/// The means of a metric of a connection on both sides.
#[derive(Clone, Copy, Debug)]
pub struct Both {
    pub kernel: Option<Mean>,
    pub simulator: Option<Mean>,
    /// Simulator − kernel, seed by seed.
    pub difference: Option<Mean>,
    /// Whether the difference of the means is within the tolerance.
    pub within: bool,
}

/// A connection of a point.
#[derive(Debug)]
pub struct Line {
    pub name: Name,
    pub connection: String,
    /// The metrics of [`COMPARED`].
    pub metrics: [Both; COMPARED.len()],
}

/// Difference of LISA to LIA with one setting.
#[derive(Debug)]
pub struct Sign {
    /// Point of LISA.
    pub name: Name,
    pub connection: String,
    /// Number among [`METRICS`].
    pub metric: usize,
    pub kernel: Mean,
    pub simulator: Option<Mean>,
}

impl Sign {
    /// Whether the kernel's interval excludes zero.
    pub fn is_clear(&self) -> bool {
        self.kernel.mean.abs() > self.kernel.ci95.unwrap_or(f64::INFINITY)
    }

    /// Whether the simulator's mean has the same sign.
    pub fn is_same(&self) -> bool {
        (self.simulator).is_some_and(|simulator| simulator.mean * self.kernel.mean > 0.0)
    }
}

/// The comparison of the simulator with the kernel.
#[derive(Debug)]
pub struct Verdict {
    /// All connections, in the order of the suite.
    pub lines: Vec<Line>,
    /// The differences between the algorithms.
    pub signs: Vec<Sign>,
}

impl Verdict {
    /// The verdict over the points of which both sides have results.
    pub fn of(points: &[Point], kernel: &Results, simulator: &Results) -> Self {
        let (mut lines, mut signs) = (Vec::new(), Vec::new());
        for point in points {
            for connection in kernel.connections(&point.name) {
                lines.push(Line {
                    metrics: COMPARED.map(|compared| {
                        both(&compared, &point.name, &connection, kernel, simulator)
                    }),
                    name: point.name.clone(),
                    connection: connection.clone(),
                });
                signs.extend(sign(&point.name, &connection, kernel, simulator));
            }
        }
        Self { lines, signs }
    }

    /// Names of the points, and whether all connections are within the tolerances.
    pub fn points(&self) -> Vec<(&Name, bool)> {
        let mut points: Vec<(&Name, bool)> = Vec::new();
        for line in &self.lines {
            let within = line.metrics.iter().all(|both| both.within);
            match points.last_mut() {
                Some((name, all)) if *name == &line.name => *all &= within,
                _ => points.push((&line.name, within)),
            }
        }
        points
    }

    /// Number of points within the tolerances, and of all points.
    pub fn count(&self) -> (usize, usize) {
        let points = self.points();
        let within = points.iter().filter(|(_, within)| *within).count();
        (within, points.len())
    }

    /// The signs that are clear in the kernel.
    pub fn clear(&self) -> impl Iterator<Item = &Sign> {
        self.signs.iter().filter(|sign| sign.is_clear())
    }

    /// Deviations from the expectation: that exactly the points of `misses` are outside of the tolerances, and that at least
    /// `signs` signs are clear, all of them the same in the simulator.
    pub fn faults(&self, misses: &BTreeSet<String>, signs: usize) -> Vec<String> {
        let mut faults = Vec::new();
        for (name, within) in self.points() {
            match (within, misses.contains(&name.to_string())) {
                (false, false) => faults.push(format!("`{name}` is outside of the tolerance")),
                (true, true) => faults.push(format!(
                    "`{name}` is within the tolerance: remove it from `misses` of suite.toml"
                )),
                _ => {}
            }
        }
        let clear = self.clear().count();
        if clear < signs {
            faults.push(format!("{clear} signs are clear, fewer than {signs}"));
        }
        let different = self.clear().filter(|sign| !sign.is_same());
        faults.extend(different.map(|sign| format!("the sign differs at `{}`", sign.name)));
        faults
    }
}

/// A line for each deviation, and the number of points and signs that agree.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.lines {
            for (compared, both) in COMPARED.iter().zip(&line.metrics) {
                if both.within {
                    continue;
                }
                let metric = &METRICS[compared.metric()];
                let mean = |mean: Option<Mean>| match mean {
                    Some(mean) => format!("{:.*}", metric.decimals, mean.mean),
                    None => "none".into(),
                };
                let (title, unit) = (metric.title, metric.unit);
                let (kernel, simulator) = (mean(both.kernel), mean(both.simulator));
                let (name, connection) = (&line.name, &line.connection);
                writeln!(
                    f,
                    "{name}, {connection}: {title} {simulator} {unit} in the simulator, {kernel} {unit} in the kernel"
                )?;
            }
        }
        for sign in self.clear().filter(|sign| !sign.is_same()) {
            let metric = &METRICS[sign.metric];
            let (set, setting) = (&sign.name.set, &sign.name.setting);
            let simulator = sign.simulator.map_or(0.0, |mean| mean.mean);
            writeln!(
                f,
                "{set} {setting}, {}: {OF} − {TO}: {} {simulator:+.*} {unit} in the simulator, {:+.*} {unit} in the kernel",
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
            "{within} of {of} points are within the tolerances; {same} of {signs} clear signs are the same in the simulator"
        )
    }
}

fn both(
    compared: &Compared,
    name: &Name,
    connection: &str,
    kernel: &Results,
    simulator: &Results,
) -> Both {
    let metric = compared.metric();
    let means = [kernel, simulator].map(|side| side.mean(name, connection, metric));
    let near = |kernel_mean: Mean, simulator_mean: Mean| {
        // If a transfer did not finish with some seed, the means are of different seeds.
        let all = [kernel, simulator].map(|side| side.all_have(name, connection, metric));
        let difference = (simulator_mean.mean - kernel_mean.mean).abs();
        all == [true; 2] && difference <= compared.tolerance(kernel_mean.mean)
    };
    Both {
        kernel: means[0],
        simulator: means[1],
        difference: simulator.difference(name, (kernel, name), connection, metric),
        within: match means {
            [None, None] => true,
            [Some(kernel), Some(simulator)] => near(kernel, simulator),
            _ => false,
        },
    }
}

/// The signs of a point of [`OF`]; none of another point.
fn sign(name: &Name, connection: &str, kernel: &Results, simulator: &Results) -> Vec<Sign> {
    if name.algorithm != OF {
        return Vec::new();
    }
    let to = Name {
        algorithm: TO.into(),
        ..name.clone()
    };
    let sign = |compared: &Compared| {
        let metric = compared.metric();
        let difference = |side: &Results| side.difference(name, (side, &to), connection, metric);
        Some(Sign {
            name: name.clone(),
            connection: connection.into(),
            metric,
            kernel: difference(kernel)?,
            simulator: difference(simulator),
        })
    };
    COMPARED.iter().filter_map(sign).collect()
}

#[cfg(test)]
#[path = "judge_tests.rs"]
mod tests;
