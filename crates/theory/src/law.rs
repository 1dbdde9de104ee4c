//! Rules of congestion avoidance as functions of windows and loss rates ([`Law`]).

use std::fmt;

/// A congestion avoidance in equilibrium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// RFC 5681 on each path.
    Reno,
    /// RFC 6356.
    Lia,
    /// draft-khalili-mptcp-congestion-control-05.
    Olia,
    /// draft-walid-mptcp-congestion-control-04.
    Balia,
    /// Thomas et al., "Normalized Multiflow Congestion Control", with the RTTs of congestion avoidance (equation 4).
    Nmcc,
}

/// State of one path.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PathState {
    /// Window, segments.
    pub(crate) window: f64,
    /// Round-trip time, seconds.
    pub(crate) rtt_s: f64,
    /// Probability that a segment is lost.
    pub(crate) loss: f64,
}

impl PathState {
    fn rate(&self) -> f64 {
        self.window / self.rtt_s
    }
}

/// Change of a window: growth for each acknowledged segment, and reduction for each loss, segments.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Change {
    pub(crate) increase: f64,
    pub(crate) decrease: f64,
}

impl Law {
    /// All laws.
    pub const ALL: [Law; 5] = [Law::Reno, Law::Lia, Law::Olia, Law::Balia, Law::Nmcc];

    /// Name of the congestion avoidance, as `lisa algorithms` has it.
    pub fn name(self) -> &'static str {
        match self {
            Law::Reno => "reno",
            Law::Lia => "lia",
            Law::Olia => "olia",
            Law::Balia => "balia",
            Law::Nmcc => "nmcc",
        }
    }

    /// The law of this name.
    pub fn named(name: &str) -> Option<Law> {
        Law::ALL.into_iter().find(|law| law.name() == name)
    }

    /// Changes of the windows of one connection.
    pub(crate) fn changes(self, paths: &[PathState], changes: &mut [Change]) {
        let total: f64 = paths.iter().map(|path| path.window).sum();
        let rate: f64 = paths.iter().map(PathState::rate).sum();
        let greatest =
            |value: &dyn Fn(&PathState) -> f64| paths.iter().map(value).fold(0.0, f64::max);
        match self {
            Law::Reno => {
                for (path, change) in paths.iter().zip(changes) {
                    change.increase = 1.0 / path.window;
                    change.decrease = path.window / 2.0;
                }
            }
            Law::Lia => {
                let alpha = total * greatest(&|path| path.rate() / path.rtt_s) / (rate * rate);
                for (path, change) in paths.iter().zip(changes) {
                    change.increase = f64::min(alpha / total, 1.0 / path.window);
                    change.decrease = path.window / 2.0;
                }
            }
            Law::Olia => {
                // The number of segments between two losses is 1/p.
                let quality = |path: &PathState| 1.0 / (path.loss * path.rtt_s * path.rtt_s);
                let (best, largest) = (greatest(&quality), greatest(&|path| path.window));
                let is_best = |path: &PathState| quality(path) >= best * (1.0 - TIE);
                let is_largest = |path: &PathState| path.window >= largest * (1.0 - TIE);
                let collected = paths
                    .iter()
                    .filter(|path| is_best(path) && !is_largest(path))
                    .count();
                let at_the_top = paths.iter().filter(|path| is_largest(path)).count();
                let n = paths.len() as f64;
                for (path, change) in paths.iter().zip(changes) {
                    let alpha = match (is_best(path), is_largest(path)) {
                        _ if collected == 0 => 0.0,
                        (true, false) => 1.0 / (n * collected as f64),
                        (_, true) => -1.0 / (n * at_the_top as f64),
                        (false, false) => 0.0,
                    };
                    change.increase =
                        path.rate() / path.rtt_s / (rate * rate) + alpha / path.window;
                    change.decrease = path.window / 2.0;
                }
            }
            Law::Balia => {
                let fastest = greatest(&PathState::rate);
                for (path, change) in paths.iter().zip(changes) {
                    let alpha = fastest / path.rate();
                    let coupled = path.rate() / path.rtt_s / (rate * rate);
                    change.increase = coupled * (1.0 + alpha) / 2.0 * (4.0 + alpha) / 5.0;
                    change.decrease = path.window / 2.0 * alpha.min(1.5);
                }
            }
            Law::Nmcc => {
                let growth = |path: &PathState| 1.0 / (path.rtt_s * path.rtt_s);
                let sum: f64 = paths.iter().map(growth).sum();
                let friendliness = sum / greatest(&growth);
                for (path, change) in paths.iter().zip(changes) {
                    change.increase = 1.0 / (path.window * friendliness);
                    change.decrease = path.window / 2.0;
                }
            }
        }
    }
}

/// Relative difference below which OLIA takes two paths for equally good or two windows for equally large. Measured loss rates and
/// windows vary by more.
const TIE: f64 = 0.01;

impl fmt::Display for Law {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
