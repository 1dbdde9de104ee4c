//! Times, rates, sizes and shares in scenario files: `40ms`, `2.5Mbit`, `300KB`, `10%`.
//!
//! | | units |
//! | --- | --- |
//! | time | `ns`, `us` (`µs`), `ms`, `s`, `min`, `h`, `d` |
//! | rate | `bit`, `kbit`, `Mbit`, `Gbit`, `Tbit`, per second |
//! | size | `B`, `KB` (`kB`), `MB`, `GB`, `TB` of 1000, `KiB`, `MiB`, `GiB`, `TiB` of 1024 |
//! | share | `%`, or a number from 0 to 1 |
//!
//! Arithmetic is exact: a value that is not a whole number of nanoseconds, bits per second or bytes is refused. A displayed
//! value parses to the same value.

use netsim::{Rate, Span};

/// Name of a unit, and its size in base units.
type Unit = (&'static str, u64);

/// Units in the order of their size; a second name follows the displayed one.
const TIMES: &[Unit] = &[
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("min", 60 * 1_000_000_000),
    ("h", 3_600 * 1_000_000_000),
    ("d", 86_400 * 1_000_000_000),
];
const RATES: &[Unit] = &[
    ("bit", 1),
    ("kbit", 1_000),
    ("Mbit", 1_000_000),
    ("Gbit", 1_000_000_000),
    ("Tbit", 1_000_000_000_000),
];
const SIZES: &[Unit] = &[
    ("B", 1),
    ("KB", 1_000),
    ("kB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
];
const BINARY_SIZES: &[Unit] = &[
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
];

/// Longest number that is read, in characters: more digits than any valid value.
const MAX_LENGTH: usize = 40;

/// Parses a time: `40ms`. The error is a text that follows the key.
pub fn parse_time(text: &str) -> Result<Span, String> {
    parse(text, &[TIMES], "a time", "40ms", "nanoseconds").map(Span::from_nanos)
}

/// Parses a rate: `2.5Mbit`.
pub fn parse_rate(text: &str) -> Result<Rate, String> {
    match parse(text, &[RATES], "a rate", "5Mbit", "bits per second")? {
        0 => Err(format!("`{text}`: a rate must be more than 0")),
        bits => Ok(Rate::from_bits_per_second(bits)),
    }
}

/// Parses a size in bytes: `300KB`.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    parse(text, &[SIZES, BINARY_SIZES], "a size", "300KB", "bytes")
}

/// Parses a share: `10%`.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').map(str::trim_end);
    let percent = number.filter(|number| decimal(number).is_some());
    let wrong = || format!("`{text}` is not a share: write `10%` or 0.1");
    let percent: f64 = percent.and_then(|n| n.parse().ok()).ok_or_else(wrong)?;
    check_share(percent / 100.0)
}

/// Checks a share: a number from 0 to 1.
pub fn check_share(share: f64) -> Result<f64, String> {
    // NaN is in no range.
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!("{share} is not a share: 0 to 1, or `0%` to `100%`"))
    }
}

/// Displays a time in the form of [`parse_time`].
#[must_use]
pub fn show_time(time: Span) -> String {
    let nanos = time.as_nanos();
    // Minutes and longer units are used without decimals.
    let whole = |unit: &&Unit| nanos % unit.1 == 0;
    match TIMES[5..].iter().rev().find(whole) {
        _ if nanos == 0 => "0s".into(),
        Some((name, size)) => format!("{}{name}", nanos / size),
        None => show(nanos, &TIMES[..5]),
    }
}

/// Displays a rate in the form of [`parse_rate`].
#[must_use]
pub fn show_rate(rate: Rate) -> String {
    show(rate.bits_per_second(), RATES)
}

/// Displays a size in the form of [`parse_bytes`].
#[must_use]
pub fn show_bytes(bytes: u64) -> String {
    let binary = |unit: &&Unit| bytes >= unit.1 && bytes % unit.1 == 0;
    match BINARY_SIZES.iter().rev().find(binary) {
        Some((name, size)) if bytes % 1000 != 0 => format!("{}{name}", bytes / size),
        _ => show(bytes, SIZES),
    }
}

/// Displays a value in the largest unit that it reaches, with all decimals.
fn show(value: u64, units: &[Unit]) -> String {
    let fits = |unit: &&Unit| unit.1 <= value || unit.1 == 1;
    let largest = units.iter().rev().find(fits);
    // The first of two names is displayed.
    let named = |size: u64| units.iter().find(|unit| unit.1 == size);
    let (name, size) = *largest.and_then(|unit| named(unit.1)).unwrap_or(&units[0]);
    let mut text = (value / size).to_string();
    if value % size > 0 {
        let digits = size.ilog10() as usize;
        let decimals = format!("{:0digits$}", value % size);
        text += ".";
        text += decimals.trim_end_matches('0');
    }
    text + name
}

/// Parses digits, with an optional point and digits: the number without the point, and the number of decimals.
fn decimal(number: &str) -> Option<(u128, u32)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || number.len() > MAX_LENGTH {
        return None;
    }
    let fraction = fraction.trim_end_matches('0');
    let value = format!("{whole}{fraction}").parse().ok()?;
    Some((value, fraction.len() as u32))
}

fn parse(
    text: &str,
    tables: &[&[Unit]],
    what: &str,
    example: &str,
    base: &str,
) -> Result<u64, String> {
    let text = text.trim();
    let shown: String = text.chars().take(MAX_LENGTH).collect();
    if text.starts_with('-') {
        return Err(format!("`{shown}` is negative: {what} must not be"));
    }
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = (&text[..end], text[end..].trim_start());
    let units = || tables.iter().copied().flatten();
    let names = || units().map(|unit| unit.0).collect::<Vec<_>>().join(", ");
    let Some((value, decimals)) = decimal(number) else {
        return Err(format!(
            "`{shown}` is not {}: write it like `{example}`",
            what
        ));
    };
    if unit.is_empty() {
        return Err(format!(
            "`{shown}` has no unit: write it like `{example}`; units are {}",
            names()
        ));
    }
    let Some((_, size)) = units().find(|known| known.0 == unit) else {
        let unit: String = unit.chars().take(MAX_LENGTH).collect();
        let nearest = crate::error::nearest(&unit, units().map(|unit| unit.0));
        return Err(format!(
            "`{shown}`: no unit `{unit}`{nearest}; units are {}",
            names()
        ));
    };
    let too_much = || format!("`{shown}` is too much");
    let scaled = value.checked_mul(u128::from(*size)).ok_or_else(too_much)?;
    let divisor = 10u128.checked_pow(decimals).ok_or_else(too_much)?;
    if scaled % divisor != 0 {
        return Err(format!("`{shown}` is not a whole number of {base}"));
    }
    u64::try_from(scaled / divisor).map_err(|_| too_much())
}

#[cfg(test)]
#[path = "units_tests.rs"]
mod tests;
