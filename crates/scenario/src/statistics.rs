//! Means and their 95 % confidence intervals.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// A sample's mean, and half the width of its 95 % confidence interval (Student's t).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// How many values.
    pub n: usize,
    /// Their mean.
    pub mean: f64,
    /// The interval is mean ± this; none for fewer than two values.
    pub ci95: Option<f64>,
}

impl Mean {
    /// Of these values; none of none.
    pub fn of(values: &[f64]) -> Option<Mean> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let ci95 = (n > 1).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            let error = (squares / (n - 1) as f64 / n as f64).sqrt();
            let t =
                StudentsT::new(0.0, 1.0, (n - 1) as f64).expect("at least one degree of freedom");
            t.inverse_cdf(0.975) * error
        });
        Some(Mean { n, mean, ci95 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(Mean::of(&[]), None);
        assert_eq!(
            Mean::of(&[3.0]),
            Some(Mean {
                n: 1,
                mean: 3.0,
                ci95: None
            })
        );
        // t for 4 degrees of freedom is 2.776; the deviation is √2.5
        let mean = Mean::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((mean.mean - 3.0).abs() < 1e-12);
        assert!((mean.ci95.unwrap() - 2.776 * (2.5f64 / 5.0).sqrt()).abs() < 1e-3);
    }
}
