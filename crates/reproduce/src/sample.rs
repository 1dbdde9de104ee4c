//! A part of a figure: for a kernel, whose runs take seconds to minutes, and for pairs of settings, of which there are many.

use std::collections::BTreeSet;

use scenario::Scenario;

use crate::paper::{Claim, Figure, Point};

/// Limits of a part of a figure: what its claims need that have a published value, and not more than these.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Number of seeds of each point.
    pub seeds: u64,
    /// Number of points of each claim.
    pub points: usize,
    /// Longest warm-up, seconds.
    pub warmup: f64,
    /// Longest time that counts after a warm-up, seconds. Scenarios without a warm-up, whose transfers end by themselves, keep their length.
    pub counted: f64,
    /// Scenarios with a warm-up that stop later than this run with one seed, seconds.
    pub long: f64,
}

impl Sample {
    /// The part that `lisa reproduce --on vm` runs without `--full` (times: docs/papers/README.md). Fewer seeds have no useful
    /// interval: with two, half of it is nine standard deviations. Long runs take minutes each; one has no interval at all.
    pub const VM: Self = Self {
        seeds: 3,
        points: 2,
        warmup: 60.0,
        counted: 60.0,
        long: 70.0,
    };

    /// The part with which pairs of settings are tried first: there are dozens for a claim.
    pub(crate) const SCREENING: Self = Self {
        seeds: 5,
        points: 6,
        warmup: f64::INFINITY,
        counted: f64::INFINITY,
        long: f64::INFINITY,
    };

    /// The claims that the part decides.
    pub(crate) fn has(claim: &Claim) -> bool {
        !claim.unpublished
    }

    /// Number of seeds of a scenario.
    pub(crate) fn seeds(self, scenario: &Scenario) -> u64 {
        let [_, stop] = self.lengths(scenario);
        match has_warmup(scenario) && stop > self.long {
            true => 1,
            false => self.seeds,
        }
    }

    /// The changed keys that shorten a scenario; none where it is short enough.
    pub(crate) fn shorter(self, scenario: &Scenario) -> Vec<String> {
        let [warmup, stop] = self.lengths(scenario);
        match has_warmup(scenario) && stop < scenario.stop.as_secs_f64() {
            true => vec![format!("warmup={warmup}s"), format!("stop={stop}s")],
            false => Vec::new(),
        }
    }

    /// Warm-up and stop of a scenario with a warm-up in the part, seconds.
    fn lengths(self, scenario: &Scenario) -> [f64; 2] {
        let (stop, before) = (scenario.stop.as_secs_f64(), scenario.warmup.as_secs_f64());
        let warmup = before.min(self.warmup);
        [warmup, warmup + (stop - before).min(self.counted)]
    }

    /// Points of the claims of a figure: of each claim the first and the last one, and others at equal distances between them.
    pub(crate) fn points(self, figure: &Figure, points: Vec<Point>) -> Vec<Point> {
        let mut kept = BTreeSet::new();
        for claim in figure.claims.iter().filter(|claim| Self::has(claim)) {
            let all = points.iter().enumerate();
            let all: Vec<usize> = all
                .filter(|(_, point)| claim.is_at(point))
                .map(|(number, _)| number)
                .collect();
            kept.extend(spread(all.len(), self.points).map(|place| all[place]));
            let than = claim.than_point.as_ref().and_then(|name| {
                let mut points = points.iter();
                points.position(|point| point.name == *name)
            });
            kept.extend(than);
        }
        let points = points.into_iter().enumerate();
        points
            .filter(|(number, _)| kept.contains(number))
            .map(|(_, point)| point)
            .collect()
    }
}

fn has_warmup(scenario: &Scenario) -> bool {
    scenario.warmup.as_secs_f64() > 0.0
}

/// At most `most` of the numbers below `of`, at equal distances from the first to the last.
fn spread(of: usize, most: usize) -> impl Iterator<Item = usize> {
    let number = of.min(most);
    let last = number.saturating_sub(1).max(1);
    (0..number).map(move |one| (one * (of - 1) + last / 2) / last)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Library;

    #[test]
    fn numbers_at_equal_distances() {
        let spread = |of, most| spread(of, most).collect::<Vec<_>>();
        assert_eq!(spread(0, 4), [0; 0]);
        assert_eq!(spread(3, 4), [0, 1, 2]);
        assert_eq!(spread(34, 4), [0, 11, 22, 33]);
        assert_eq!(spread(6, 4), [0, 2, 3, 5]);
        assert_eq!(spread(9, 1), [0]);
    }

    #[test]
    fn long_flows_are_shortened() {
        let scenario = |set: &[&str]| {
            let text = include_str!("../../../experiments/nmcc/fig5.toml");
            let set: Vec<String> = set.iter().map(|one| one.to_string()).collect();
            Scenario::parse_with(text, "fig5.toml", &set).unwrap()
        };
        for (set, expected, seeds) in [
            // 240 s and 60 s, 20 s and 120 s, 100 s and 10 s.
            (&[][..], &["warmup=60s", "stop=120s"][..], 1),
            (&["warmup=20s", "stop=140s"], &["warmup=20s", "stop=80s"], 1),
            (
                &["warmup=100s", "stop=110s"],
                &["warmup=60s", "stop=70s"],
                3,
            ),
            (&["warmup=40s", "stop=60s"], &[], 3),
            (&["warmup=0s", "connection.*.bytes=10MB"], &[], 3),
        ] {
            let shorter = Sample::VM.shorter(&scenario(set));
            assert_eq!(shorter, expected, "{set:?}");
            assert_eq!(Sample::SCREENING.shorter(&scenario(set)), [""; 0]);
            assert_eq!(Sample::VM.seeds(&scenario(set)), seeds, "{set:?}");
        }
    }

    /// LISA's figure 6a has a claim about queues of 1 to 7 packets, and one about 8 to 34.
    #[test]
    fn each_claim_has_its_points() {
        let library = Library::new().unwrap();
        let figures = library.select(Some("lisa/fig6a")).unwrap();
        let figure = figures[0].1[0];
        let points = Sample::VM.points(figure, figure.points().unwrap());
        let places: Vec<f64> = points.iter().filter_map(|point| point.x).collect();
        assert_eq!(places, [1.0, 7.0, 8.0, 34.0]);
    }
}
