//! Begins of reductions of a window.

use scenario::trace::Phase;

use super::State;

/// Finds the begins of reductions in the states of a subflow: a recovery begins, or the threshold changes to less than the window.
/// The first threshold is no reduction. Neither is the end of slow start without a loss: the threshold is then the window, to
/// which the same ACK may have added a segment. A kernel reports the new threshold first and the recovery after it: both together
/// are one reduction.
#[derive(Debug, Default)]
pub struct Reductions {
    before: Option<Before>,
}

#[derive(Debug)]
struct Before {
    ssthresh: Option<f64>,
    /// The state began or continued a reduction.
    reducing: bool,
}

impl Reductions {
    /// Whether a reduction begins with this state.
    pub fn begins(&mut self, state: State) -> bool {
        let recovery = state.phase == Phase::Recovery;
        let below = state
            .ssthresh
            .is_some_and(|ssthresh| ssthresh + 1.0 < state.cwnd);
        let (changed, reducing) = match &self.before {
            None => (false, true),
            Some(before) => (below && before.ssthresh != state.ssthresh, before.reducing),
        };
        self.before = Some(Before {
            ssthresh: state.ssthresh,
            reducing: recovery || changed,
        });
        (changed || recovery && !reducing) && state.ssthresh.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marks(rows: &[(f64, u32, Option<u32>, Phase)]) -> Vec<(f64, u32)> {
        let mut finder = Reductions::default();
        let begins = |&(time, cwnd, ssthresh, phase): &(f64, u32, Option<u32>, Phase)| {
            let state = State {
                time,
                cwnd: cwnd.into(),
                ssthresh: ssthresh.map(f64::from),
                phase,
            };
            finder.begins(state).then_some((time, cwnd))
        };
        rows.iter().filter_map(begins).collect()
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
    fn an_end_of_slow_start_without_a_loss_is_no_reduction() {
        let rows = [
            (0.1, 50, None, Phase::SlowStart),
            (0.2, 51, Some(51), Phase::Avoidance),
            (0.3, 52, Some(51), Phase::Avoidance),
            (0.4, 52, Some(36), Phase::Recovery),
        ];
        assert_eq!(marks(&rows), [(0.4, 52)]);
        let grown = [
            (0.1, 50, None, Phase::SlowStart),
            (0.2, 52, Some(51), Phase::Avoidance),
        ];
        assert_eq!(marks(&grown), []);
        // From 3 to 2: the recovery tells.
        let small = [
            (0.1, 3, Some(9), Phase::Avoidance),
            (0.2, 3, Some(2), Phase::Recovery),
        ];
        assert_eq!(marks(&small), [(0.2, 3)]);
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
