//! Shares of long flows: at which points the simulator has the share of the kernel.
//!
//! The share of a point is the goodput of the scenario's first connection among the goodputs of all connections, after the warm-up.

use std::collections::BTreeSet;
use std::fmt::{self, Write};

use scenario::statistics::Mean;

use crate::results::Results;
use crate::suite::{Name, Point};

/// Largest difference of the simulator's mean share from the kernel's.
pub const TOLERANCE: f64 = 0.03;

/// Largest half-width of the kernel's 95 % interval with which a point counts: half of the tolerance.
pub const CLEAR: f64 = 0.015;

/// Least number of seeds of the kernel with which a point counts.
pub const SEEDS: usize = 5;

/// Seeds of the simulator at each point. These runs take milliseconds, and their chance should not decide.
pub const SIMULATED: u64 = 40;

/// A point with its shares.
#[derive(Debug)]
pub struct Line {
    pub name: Name,
    pub kernel: Mean,
    pub simulator: Mean,
}

impl Line {
    /// Whether the kernel's share is known well enough to count.
    pub fn is_clear(&self) -> bool {
        self.kernel.n >= SEEDS && self.kernel.ci95.is_some_and(|half| half <= CLEAR)
    }

    /// Simulator − kernel.
    pub fn difference(&self) -> f64 {
        self.simulator.mean - self.kernel.mean
    }

    pub fn is_within(&self) -> bool {
        self.difference().abs() <= TOLERANCE
    }
}

/// The comparison of all points, in the order of the suite.
#[derive(Debug)]
pub struct Shares(pub Vec<Line>);

impl Shares {
    /// The points of which both sides have results.
    pub fn of(points: &[Point], kernel: &Results, simulator: &Results) -> Self {
        let line = |point: &Point| {
            let first = &point.scenario.connections.first()?.name;
            let share = |side: &Results| Mean::of(&side.shares(&point.name, first));
            Some(Line {
                name: point.name.clone(),
                kernel: share(kernel)?,
                simulator: share(simulator)?,
            })
        };
        Self(points.iter().filter_map(line).collect())
    }

    /// Number of points within the tolerance, and of all points, among those with a clear share or among all.
    pub fn count(&self, only_clear: bool) -> (usize, usize) {
        let lines = || (self.0.iter()).filter(|line| line.is_clear() || !only_clear);
        (
            lines().filter(|line| line.is_within()).count(),
            lines().count(),
        )
    }

    /// Deviations from the expectation: that of the points that count those of `misses` alone are outside of the tolerance.
    pub fn faults(&self, misses: &BTreeSet<String>) -> Vec<String> {
        let mut faults = Vec::new();
        for line in &self.0 {
            let (name, is_miss) = (&line.name, misses.contains(&line.name.to_string()));
            match line.is_clear() && !line.is_within() {
                true if !is_miss => faults.push(format!("`{name}` is outside of the tolerance")),
                false if is_miss => faults.push(format!(
                    "`{name}` is within the tolerance or unclear: remove it from `misses` of long.toml"
                )),
                _ => {}
            }
        }
        faults
    }

    /// The table of docs/fairness.md.
    pub fn table(&self) -> String {
        let mut text = String::from(
            "| setting | algorithm | kernel | simulator | difference |\n| --- | --- | --: | --: | --: |\n",
        );
        for line in &self.0 {
            let Name {
                set,
                setting,
                algorithm,
            } = &line.name;
            let difference = format!("{:+.3}", line.difference());
            let difference = match (line.is_within(), line.is_clear()) {
                (true, _) => difference,
                (false, true) => format!("**{difference}**"),
                (false, false) => format!("*{difference}*"),
            };
            let (kernel, simulator) = (mean(line.kernel), mean(line.simulator));
            let _ = writeln!(
                text,
                "| {set} {setting} | {algorithm} | {kernel} | {simulator} | {difference} |"
            );
        }
        text
    }
}

fn mean(mean: Mean) -> String {
    let half = mean
        .ci95
        .map_or(String::new(), |half| format!(" ± {half:.3}"));
    format!("{:.3}{half}", mean.mean)
}

/// A line for each point outside of the tolerance, and the number of points within.
impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in self.0.iter().filter(|line| !line.is_within()) {
            let (kernel, simulator) = (mean(line.kernel), mean(line.simulator));
            let note = if line.is_clear() { "" } else { " (unclear)" };
            let name = &line.name;
            writeln!(
                f,
                "{name}: share {simulator} in the simulator, {kernel} in the kernel{note}"
            )?;
        }
        let ((within, of), (all_within, all)) = (self.count(true), self.count(false));
        writeln!(
            f,
            "{within} of {of} clear shares of long flows are within {TOLERANCE} of the kernel's; of all shares {all_within} of {all}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{folder, suite::Suite, suite_in};

    /// One point with these shares on each side.
    fn shares(kernel: &[f64], simulator: &[f64]) -> Shares {
        let suite: Suite = suite_in("long.toml").unwrap();
        let point = &suite.points[0];
        let side = |shares: &[f64]| {
            let mut results = Results::default();
            for (seed, share) in (1..).zip(shares) {
                for (connection, goodput) in [("multipath", *share), ("reno", 1.0 - share)] {
                    let mut values = [None; scenario::metrics::METRICS.len()];
                    values[1] = Some(7.0 * goodput);
                    results.insert(&point.name, seed, connection, values);
                }
            }
            results
        };
        Shares::of(std::slice::from_ref(point), &side(kernel), &side(simulator))
    }

    #[test]
    fn a_share_counts_if_the_kernels_interval_is_narrow() {
        let same = [0.5; 5];
        let (none, first) = (
            BTreeSet::new(),
            BTreeSet::from(["droptail subflows=2 lia".into()]),
        );
        let within = shares(&same, &[0.52, 0.53]);
        assert_eq!(
            (within.count(true), within.faults(&none).len()),
            ((1, 1), 0)
        );
        assert!(within.faults(&first)[0].contains("remove it from `misses`"));
        let outside = shares(&same, &[0.54]);
        assert_eq!(outside.count(true), (0, 1));
        assert_eq!(outside.faults(&none).len(), 1);
        assert!(outside.faults(&first).is_empty());
        // A half-width of 2.776 · 0.0158/√5 = 0.0196.
        let wide = shares(&[0.48, 0.49, 0.50, 0.51, 0.52], &[0.6]);
        assert_eq!((wide.count(true), wide.count(false)), ((0, 0), (0, 1)));
        assert!(wide.faults(&none).is_empty());
        // Four seeds are too few.
        assert_eq!(shares(&same[1..], &[0.5]).count(true), (0, 0));
    }

    #[test]
    fn the_scenarios_of_long_flows_run_in_the_lab() {
        let suite = suite_in("long.toml").unwrap();
        assert!(suite.points.len() >= 20 && folder().exists());
        for point in suite.points {
            let reasons = lab::unsupported(&point.scenario);
            assert!(reasons.is_empty(), "{}: {reasons:?}", point.name);
        }
    }
}
