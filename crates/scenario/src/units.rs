//! Times, rates, sizes and shares as a file writes them: `40ms`, `2.5Mbit`, `300KB`, `10%`.
//!
//! | | units |
//! | --- | --- |
//! | time | `ns`, `us` (`µs`), `ms`, `s`, `min`, `h`, `d` |
//! | rate | `bit`, `kbit`, `Mbit`, `Gbit`, `Tbit`, all a second |
//! | size | `B`, `KB` (`kB`), `MB`, `GB`, `TB` of 1000, `KiB`, `MiB`, `GiB`, `TiB` of 1024 |
//! | share | `%`, or a number from 0 to 1 |
//!
//! Arithmetic is exact: a value that is not a whole number of nanoseconds, bits a second or bytes is refused. What is
//! displayed parses to the same value.

use netsim::{Rate, Span};

/// A unit's name, and how many of the base unit it is.
type Unit = (&'static str, u64);

/// In the order of their size; a second name of the same size stands after the one that is displayed.
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

/// The longest number that is read, in characters: more digits than any value here has.
const LONGEST: usize = 40;

/// A time: `40ms`. An error is what is wrong, to be put behind a key.
pub fn parse_time(text: &str) -> Result<Span, String> {
    parse(text, &[TIMES], "a time", "40ms", "nanoseconds").map(Span::from_nanos)
}

/// A rate: `2.5Mbit`.
pub fn parse_rate(text: &str) -> Result<Rate, String> {
    match parse(text, &[RATES], "a rate", "5Mbit", "bits a second")? {
        0 => Err(format!("`{text}`: a rate must be more than 0")),
        bits => Ok(Rate::from_bits_per_second(bits)),
    }
}

/// A size in bytes: `300KB`.
pub fn parse_bytes(text: &str) -> Result<u64, String> {
    parse(text, &[SIZES, BINARY_SIZES], "a size", "300KB", "bytes")
}

/// A share: `10%`.
pub fn parse_share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').map(str::trim_end);
    let percent = number.filter(|number| decimal(number).is_some());
    let wrong = || format!("`{text}` is not a share: write `10%` or 0.1");
    let percent: f64 = percent.and_then(|n| n.parse().ok()).ok_or_else(wrong)?;
    check_share(percent / 100.0)
}

/// A share as a number from 0 to 1.
pub fn check_share(share: f64) -> Result<f64, String> {
    // Not a number is in no range.
    if (0.0..=1.0).contains(&share) {
        Ok(share)
    } else {
        Err(format!("{share} is not a share: 0 to 1, or `0%` to `100%`"))
    }
}

/// As [`parse_time`] reads it.
#[must_use]
pub fn show_time(time: Span) -> String {
    let nanos = time.as_nanos();
    // Minutes and more have no decimals; they are shown where none are needed.
    let whole = |unit: &&Unit| nanos % unit.1 == 0;
    match TIMES[5..].iter().rev().find(whole) {
        _ if nanos == 0 => "0s".into(),
        Some((name, size)) => format!("{}{name}", nanos / size),
        None => show(nanos, &TIMES[..5]),
    }
}

/// As [`parse_rate`] reads it.
#[must_use]
pub fn show_rate(rate: Rate) -> String {
    show(rate.bits_per_second(), RATES)
}

/// As [`parse_bytes`] reads it.
#[must_use]
pub fn show_bytes(bytes: u64) -> String {
    let binary = |unit: &&Unit| bytes >= unit.1 && bytes % unit.1 == 0;
    match BINARY_SIZES.iter().rev().find(binary) {
        Some((name, size)) if bytes % 1000 != 0 => format!("{}{name}", bytes / size),
        _ => show(bytes, SIZES),
    }
}

/// In the largest unit of which there is one, with as many decimals as it takes.
fn show(value: u64, units: &[Unit]) -> String {
    let fits = |unit: &&Unit| unit.1 <= value || unit.1 == 1;
    let largest = units.iter().rev().find(fits);
    // The first of two names.
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

/// Digits, and perhaps a point and digits: the digits without the point, and how many follow it.
fn decimal(number: &str) -> Option<(u128, u32)> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(fraction) || number.len() > LONGEST {
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
    let shown: String = text.chars().take(LONGEST).collect();
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
        let unit: String = unit.chars().take(LONGEST).collect();
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
