//! The points of a panel's lines and marks, from the rows of a trace.

use scenario::trace::{Phase, Row};

/// Number of subflows in these rows.
pub fn subflows(rows: &[&Row]) -> usize {
    let subflows = rows.iter().map(|row| row.subflow + 1).max();
    subflows.unwrap_or(0)
}

/// A line that is level between its points.
pub fn steps(points: impl Iterator<Item = (f64, u32)>) -> Vec<(f64, u32)> {
    let mut line: Vec<(f64, u32)> = Vec::new();
    for (time, cwnd) in points {
        if let Some(&(_, last)) = line.last() {
            line.push((time, last));
        }
        line.push((time, cwnd));
    }
    line
}

/// Sum of the windows of all subflows over time.
pub fn sums(rows: &[&Row]) -> Vec<(f64, u32)> {
    let mut windows = Vec::new();
    steps(rows.iter().map(|row| {
        if windows.len() <= row.subflow {
            windows.resize(row.subflow + 1, 0);
        }
        windows[row.subflow] = row.cwnd;
        (row.time, windows.iter().sum())
    }))
}

/// Time and window at each begin of a reduction of a subflow: a recovery begins, or the threshold changes. The first threshold
/// is no reduction. A kernel reports the new threshold first and the recovery after it: both together are one reduction.
pub fn reductions<'r>(rows: impl Iterator<Item = &'r Row>) -> impl Iterator<Item = (f64, u32)> {
    struct Before {
        ssthresh: Option<u32>,
        /// The row began or continued a reduction.
        reducing: bool,
    }
    let mut before: Option<Before> = None;
    rows.filter_map(move |row| {
        let recovery = row.phase == Phase::Recovery;
        let (changed, reducing) = match &before {
            None => (false, true),
            Some(before) => (before.ssthresh != row.ssthresh, before.reducing),
        };
        before = Some(Before {
            ssthresh: row.ssthresh,
            reducing: recovery || changed,
        });
        let begins = changed || recovery && !reducing;
        (begins && row.ssthresh.is_some()).then_some((row.time, row.cwnd))
    })
}

/// Window of a subflow at this time.
pub fn cwnd_before(rows: &[&Row], subflow: usize, time: f64) -> u32 {
    let earlier = rows
        .iter()
        .rfind(|row| row.subflow == subflow && row.time <= time);
    earlier.map_or(0, |row| row.cwnd)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(rows: &[(f64, u32, Option<u32>, Phase)]) -> Vec<(f64, u32)> {
        let row = |&(time, cwnd, ssthresh, phase)| Row {
            time,
            connection: "".into(),
            subflow: 0,
            cwnd,
            ssthresh,
            srtt: 0.0,
            flight: 0,
            phase,
        };
        let rows: Vec<Row> = rows.iter().map(row).collect();
        reductions(rows.iter()).collect()
    }

    #[test]
    fn the_first_threshold_is_no_reduction() {
        for first in [None, Some(64)] {
            let rows = [
                (0.0, 10, first, Phase::SlowStart),
                (0.1, 20, first, Phase::SlowStart),
                (0.2, 19, Some(10), Phase::Recovery),
                (0.3, 18, Some(10), Phase::Recovery),
            ];
            assert_eq!(marks(&rows), [(0.2, 19)]);
        }
    }

    #[test]
    fn a_recovery_to_the_same_threshold_is_a_reduction() {
        let rows = [
            (0.1, 20, Some(10), Phase::Avoidance),
            (0.2, 19, Some(10), Phase::Recovery),
            (0.3, 10, Some(10), Phase::Avoidance),
        ];
        assert_eq!(marks(&rows), [(0.2, 19)]);
        let of_a_kernel = [
            (0.1, 20, None, Phase::SlowStart),
            (0.2, 20, Some(10), Phase::SlowStart),
            (0.201, 20, Some(10), Phase::Recovery),
            (0.3, 10, Some(10), Phase::Avoidance),
            (0.4, 12, Some(6), Phase::Avoidance),
            (0.401, 12, Some(6), Phase::Recovery),
        ];
        assert_eq!(marks(&of_a_kernel), [(0.2, 20), (0.4, 12)]);
    }
}
