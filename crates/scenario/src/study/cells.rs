//! Numbers as the cells of tables show them.

use crate::statistics::Mean;

/// Cell of a number that is missing.
pub const NONE: &str = "–";

/// Cell of a difference that is zero in each run.
const SAME: &str = "the same in each run";

/// A mean with its 95 % confidence interval, if it has one.
#[must_use]
pub fn mean(mean: Option<Mean>, decimals: usize) -> String {
    match mean {
        None => NONE.into(),
        Some(Mean {
            mean, ci95: None, ..
        }) => format!("{mean:.decimals$}"),
        Some(Mean {
            mean,
            ci95: Some(half),
            ..
        }) => format!("{mean:.decimals$} ± {half:.decimals$}"),
    }
}

/// A difference with its sign, and, if its interval excludes zero, in per cent of the baseline's mean.
#[must_use]
pub fn difference(difference: Option<Mean>, base: Option<Mean>, decimals: usize) -> String {
    let Some(Mean { mean, ci95, .. }) = difference else {
        return String::new();
    };
    let Some(half) = ci95 else {
        return format!("{mean:+.decimals$}");
    };
    if mean == 0.0 && half == 0.0 {
        return SAME.into();
    }
    let shown = format!("{mean:+.decimals$} ± {half:.decimals$}");
    if mean.abs() <= half {
        return format!("{shown}\nno clear difference");
    }
    match base.map_or(0.0, |mean| mean.mean) {
        of if of > 0.0 => format!("{shown} ({:+.0} %)", 100.0 * mean / of),
        _ => shown,
    }
}

/// A difference between backends, which is expected to be small: in per cent also if its interval includes zero.
#[must_use]
pub fn measured(difference: Option<Mean>, base: Option<Mean>, decimals: usize) -> String {
    let Some(Mean { mean, ci95, .. }) = difference else {
        return String::new();
    };
    let half = ci95.unwrap_or(0.0);
    if mean == 0.0 && half == 0.0 {
        return SAME.into();
    }
    let with = |value: f64, half: f64, decimals: usize| match ci95 {
        Some(_) => format!("{value:+.decimals$} ± {half:.decimals$}"),
        None => format!("{value:+.decimals$}"),
    };
    let shown = with(mean, half, decimals);
    match base.map_or(0.0, |mean| mean.mean) {
        of if of > 0.0 => {
            let share = with(100.0 * mean / of, 100.0 * half / of, 1);
            format!("{shown} ({share} %)")
        }
        _ => shown,
    }
}

/// The line below a table that explains the second lines of its cells.
#[must_use]
pub fn differences_to(baseline: &str) -> String {
    format!("Second lines: the difference to {baseline}, seed by seed.\n")
}

/// A large number with a prefix: 12345678 as `12.3 M`.
#[must_use]
pub fn large(number: f64) -> String {
    match number {
        n if n >= 1e9 => format!("{:.2} G", n / 1e9),
        n if n >= 1e6 => format!("{:.2} M", n / 1e6),
        n if n >= 1e4 => format!("{:.1} k", n / 1e3),
        n => format!("{n:.0}"),
    }
}
