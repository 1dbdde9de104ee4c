//! Fairness of connections: the share of each, and the fairness index of R. Jain, D. Chiu and W. Hawe, "A
//! Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared Computer Systems", DEC-TR-301, 1984.

use crate::outcome::{ConnectionOutcome, Outcome};

/// Sums over the goodputs of all connections of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Goodputs {
    /// Number of connections.
    connections: usize,
    /// Σx, Mbit/s.
    sum: f64,
    /// Σx².
    squares: f64,
}

impl Goodputs {
    /// Goodputs of a run. None if they cannot be compared: of one connection, of a connection without a goodput (a transfer
    /// that did not finish), or without any data delivered.
    #[must_use]
    pub fn of(outcome: &Outcome) -> Option<Self> {
        let connections = outcome.connections.len();
        let values: Option<Vec<f64>> = outcome.connections.iter().map(|c| c.goodput_mbps).collect();
        let values = values.filter(|_| connections > 1)?;
        let goodputs = Self {
            connections,
            sum: values.iter().sum(),
            squares: values.iter().map(|x| x * x).sum(),
        };
        (goodputs.sum > 0.0).then_some(goodputs)
    }

    /// Share of a connection in the sum.
    #[must_use]
    pub fn share(&self, connection: &ConnectionOutcome) -> Option<f64> {
        Some(connection.goodput_mbps? / self.sum)
    }

    /// (Σx)² / (n Σx²): 1 for equal goodputs, 1/n where one connection has everything.
    #[must_use]
    pub fn jain_index(&self) -> f64 {
        self.sum * self.sum / (self.connections as f64 * self.squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::groups::tests::outcome_of;

    fn goodputs(values: &[Option<f64>]) -> (Outcome, Option<Goodputs>) {
        let outcome = outcome_of(values.len(), |connection, number| {
            connection.goodput_mbps = values[number];
        });
        let goodputs = Goodputs::of(&outcome);
        (outcome, goodputs)
    }

    #[test]
    fn shares_and_the_index() {
        // (1 + 2 + 5)² / (3 (1 + 4 + 25)) = 64 / 90.
        let (outcome, found) = goodputs(&[Some(1.0), Some(2.0), Some(5.0)]);
        let found = found.unwrap();
        let shares: Vec<_> = (outcome.connections.iter())
            .map(|connection| found.share(connection))
            .collect();
        assert_eq!(shares, [Some(0.125), Some(0.25), Some(0.625)]);
        assert!((found.jain_index() - 64.0 / 90.0).abs() < 1e-15);
        let index = |values: &[f64]| {
            let values: Vec<_> = values.iter().copied().map(Some).collect();
            goodputs(&values).1.unwrap().jain_index()
        };
        assert_eq!(index(&[3.0; 4]), 1.0);
        assert_eq!(index(&[0.0, 0.0, 7.0, 0.0]), 0.25);
    }

    #[test]
    fn incomparable_goodputs_are_none() {
        assert_eq!(goodputs(&[Some(1.0)]).1, None);
        assert_eq!(goodputs(&[Some(1.0), None]).1, None);
        assert_eq!(goodputs(&[Some(0.0), Some(0.0)]).1, None);
        assert!(goodputs(&[Some(1.0), Some(0.0)]).1.is_some());
    }
}
