//! Means and their 95 % confidence intervals.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Mean of a sample, with its 95 % confidence interval (Student's t).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Mean {
    /// Number of values.
    pub n: usize,
    /// Mean of the values.
    pub mean: f64,
    /// Half the width of the interval, mean ± `ci95`; none for fewer than two values.
    pub ci95: Option<f64>,
}

impl Mean {
    /// Mean of these values; none without values.
    pub fn of(values: &[f64]) -> Option<Mean> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let square = |value: &f64| (value - mean) * (value - mean);
        Some(Self::with(n, mean, values.iter().map(square).sum()))
    }

    /// The mean with its interval. `squares` is the sum of the squared deviations.
    fn with(n: usize, mean: f64, squares: f64) -> Self {
        let error = |n: usize| (squares / (n - 1) as f64 / n as f64).sqrt();
        let ci95 = (n > 1).then(|| student(n - 1) * error(n));
        Self { n, mean, ci95 }
    }
}

/// Moments of values that are not kept (Welford, "Note on a Method for Calculating Corrected Sums of Squares and Products", 1962).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments {
    n: usize,
    mean: f64,
    /// Sum of the squared deviations from the mean.
    squares: f64,
}

impl Moments {
    /// Adds a value.
    pub fn add(&mut self, value: f64) {
        self.n += 1;
        let deviation = value - self.mean;
        self.mean += deviation / self.n as f64;
        self.squares += deviation * (value - self.mean);
    }

    /// Mean of the values so far, equal to that of [`Mean::of`] except for rounding; none without values.
    #[must_use]
    pub fn mean(&self) -> Option<Mean> {
        (self.n > 0).then(|| Mean::with(self.n, self.mean, self.squares))
    }
}

/// Quantile `p` of sorted values, with linear interpolation between the nearest ones (Hyndman and Fan, "Sample Quantiles in
/// Statistical Packages", 1996, definition 7). None for fewer than 1/(1 − p) values: such a quantile is the largest value.
#[must_use]
pub fn quantile(sorted: &[f64], p: f64) -> Option<f64> {
    let n = sorted.len();
    // 1/(1 − 0.9) is 10.000000000000002.
    if n == 0 || (n as f64) < (1.0 / (1.0 - p)).round() {
        return None;
    }
    let at = p * (n - 1) as f64;
    let (below, rest) = (at.floor() as usize, at.fract());
    let above = sorted[(below + 1).min(n - 1)];
    Some(sorted[below] + rest * (above - sorted[below]))
}

/// Quantile 0.975 of Student's t. Rounded, because the last digits of the system library's logarithms and powers differ
/// between machines.
fn student(freedom: usize) -> f64 {
    const DIGITS: f64 = 1e9;
    let t = StudentsT::new(0.0, 1.0, freedom as f64).expect("at least one degree of freedom");
    (t.inverse_cdf(0.975) * DIGITS).round() / DIGITS
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
        // t of 4 degrees of freedom is 2.776; the standard deviation is √2.5.
        let mean = Mean::of(&[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap();
        assert!((mean.mean - 3.0).abs() < 1e-12);
        assert!((mean.ci95.unwrap() - 2.776 * (2.5f64 / 5.0).sqrt()).abs() < 1e-3);
    }

    /// The values of one magnitude with small differences are those that a difference of sums of squares would lose.
    #[test]
    fn moments_are_those_of_the_values() {
        assert_eq!(Moments::default().mean(), None);
        let values: Vec<f64> = (0..50).map(|n| 1e9 + f64::from(n * n % 17) / 8.0).collect();
        let mut moments = Moments::default();
        for (n, value) in values.iter().enumerate() {
            moments.add(*value);
            let (of, all) = (moments.mean().unwrap(), Mean::of(&values[..=n]).unwrap());
            assert_eq!(of.n, all.n);
            assert!((of.mean - all.mean).abs() < 1e-6);
            let [of, all] = [of, all].map(|mean| mean.ci95.unwrap_or(0.0));
            assert!((of - all).abs() <= 1e-4 * all, "{n}: {of}, not {all}");
        }
    }

    /// By hand: the median of 1 and 2 lies in the middle; of 0 to 100 the quantile p is 100 p.
    #[test]
    fn quantiles() {
        assert_eq!(quantile(&[], 0.5), None);
        assert_eq!(quantile(&[1.0], 0.5), None);
        assert_eq!(quantile(&[1.0, 2.0], 0.5), Some(1.5));
        let values: Vec<f64> = (0..=100).map(f64::from).collect();
        assert_eq!(quantile(&values, 0.9), Some(90.0));
        assert_eq!(quantile(&values, 0.99), Some(99.0));
        assert_eq!(quantile(&values[..99], 0.99), None);
        assert_eq!(quantile(&values[..9], 0.9), None);
        assert_eq!(quantile(&values[..10], 0.9), Some(8.1));
    }

    /// Computed from the closed form of the distribution (Abramowitz and Stegun, 26.7.3 and 26.7.4) with 40 digits.
    #[test]
    fn students_t() {
        for (freedom, t) in [
            (1, 12.706_204_736_174_7),
            (2, 4.302_652_729_749_46),
            (3, 3.182_446_305_283_71),
            (4, 2.776_445_105_197_79),
            (5, 2.570_581_835_636_32),
            (9, 2.262_157_162_798_21),
            (20, 2.085_963_447_265_86),
            (49, 2.009_575_237_129_24),
            (99, 1.984_216_951_586_42),
            (298, 1.967_956_506_496_82),
        ] {
            let is = student(freedom);
            assert!((is - t).abs() < 1e-8, "{freedom}: {is}, expected {t}");
        }
    }
}
