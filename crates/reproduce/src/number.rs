//! Numbers as reports print them.

use scenario::statistics::Mean;

/// Significant digits of the larger one of a mean and half of its interval.
const DIGITS: i32 = 3;
/// Most digits after the point.
const MOST_DECIMALS: i32 = 5;

/// Digits after the point of a mean and its interval.
fn decimals(mean: &Mean) -> i32 {
    let size = mean.mean.abs().max(mean.ci95.unwrap_or(0.0));
    match size > 0.0 {
        true => (DIGITS - 1 - size.log10().floor() as i32).clamp(0, MOST_DECIMALS),
        false => 0,
    }
}

/// The mean as it is printed.
pub(crate) fn rounded(mean: Mean) -> Mean {
    let factor = 10_f64.powi(decimals(&mean));
    // Without a negative zero.
    let round = |value: f64| (value * factor).round() / factor + 0.0;
    let once = Mean {
        mean: round(mean.mean),
        ci95: mean.ci95.map(round),
        ..mean
    };
    // 9.996 becomes 10.00, which has three digits with one after the point.
    match decimals(&once) < decimals(&mean) {
        true => rounded(once),
        false => once,
    }
}

/// A number with the digits that it has.
pub(crate) fn number(value: f64) -> String {
    value.to_string().replace('-', "−")
}

/// A mean with its interval; an interval of 0 is left out.
#[must_use]
pub fn value(mean: &Mean, unit: &str) -> String {
    let mean = rounded(*mean);
    let decimals = decimals(&mean) as usize;
    let number = |value: f64| format!("{value:.decimals$}").replace('-', "−");
    let unit = match unit {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    match mean.ci95 {
        Some(ci95) if ci95 > 0.0 => format!("{} ± {}{unit}", number(mean.mean), number(ci95)),
        _ => format!("{}{unit}", number(mean.mean)),
    }
}
