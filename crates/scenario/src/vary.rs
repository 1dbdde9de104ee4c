//! Grids of values for keys: `topology.queue.packets=1..34`, `connection.*.bytes=50KB,300KB`.
//!
//! | form | values |
//! | --- | --- |
//! | `9,17,30` | 9, 17, 30 |
//! | `1..34` | 1, 2 … 34 |
//! | `1..34/3` | 1, 4 … 34 |
//! | `0.5Mbit..2.5Mbit/0.5Mbit` | 0.5Mbit, 1Mbit … 2.5Mbit; all three numbers have one unit |
//! | `1..9,20..40/10` | 1, 2 … 9, 20, 30, 40 |
//!
//! Arithmetic is decimal: `0.1..0.3/0.1` ends with 0.3. A value that is not a range is used unchanged.

mod draw;

use std::io::Read;

use crate::file::overrides::parts;
use crate::units;

pub use draw::Design;

/// Largest number of values of a key.
const MAX_VALUES: u64 = 100_000;
/// Largest number of decimals in a range: a nanosecond in seconds.
const MAX_DECIMALS: usize = 9;

/// A key of a scenario with its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vary {
    /// Key, in the form of [`crate::Scenario::parse_with`].
    pub key: String,
    /// Values, in the given order.
    pub values: Vec<String>,
}

/// Values of a key as numbers, for a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Numbers {
    /// Whole numbers; sizes in bytes, rates in bit/s.
    Integers(Vec<i64>),
    /// Other numbers; times in seconds.
    Floats(Vec<f64>),
    /// At least one value is not a number.
    Texts,
}

impl Vary {
    /// Parses `KEY=VALUES`. The error is a text with the correct form.
    pub fn parse(text: &str) -> Result<Self, String> {
        let example = "write it as KEY=VALUES, like topology.queue.packets=1..34";
        let (key, values) = text.split_once('=').ok_or(example)?;
        let key = key.trim();
        if key.is_empty() || values.trim().is_empty() {
            return Err(example.into());
        }
        let mut all = Vec::new();
        for item in items(values) {
            match range(item)? {
                Some(range) => all.extend(range),
                None if item.is_empty() => return Err("no value between two commas".into()),
                None => all.push(item.to_string()),
            }
            if all.len() as u64 > MAX_VALUES {
                return Err(format!("at most {MAX_VALUES} values are possible"));
            }
        }
        Ok(Self {
            key: key.into(),
            values: all,
        })
    }

    /// A key with one value, from an override `KEY=VALUE`. An empty value removes the key.
    #[must_use]
    pub fn fixed(set: &str) -> Self {
        let (key, value) = set.split_once('=').unwrap_or((set, ""));
        Self {
            key: key.trim().into(),
            values: vec![value.trim().into()],
        }
    }

    /// Whether both change the same key: `bottleneck.rate` and `topology.rate` are one.
    #[must_use]
    pub fn replaces(&self, other: &Self) -> bool {
        parts(&self.key) == parts(&other.key)
    }

    /// The override of a value, by its index.
    #[must_use]
    pub fn set(&self, value: usize) -> String {
        format!("{}={}", self.key, self.values[value])
    }

    /// The values as numbers, if all of them are.
    #[must_use]
    pub fn numbers(&self) -> Numbers {
        fn all<T>(values: &[String], of: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
            values.iter().map(|value| of(value)).collect()
        }
        let integer = |value: u64| i64::try_from(value).ok();
        // As in a file, a size or a share may have no unit.
        let size = |text: &str| integer(units::parse_bytes(text).ok()?);
        let share = |text: &str| units::parse_share(text).ok();
        let integers = all(&self.values, |text| {
            text.parse().ok().or_else(|| size(text))
        })
        .or_else(|| {
            let rate = |text: &str| integer(units::parse_rate(text).ok()?.bits_per_second());
            all(&self.values, rate)
        });
        if let Some(integers) = integers {
            return Numbers::Integers(integers);
        }
        let floats = all(&self.values, |text| {
            text.parse().ok().or_else(|| share(text))
        })
        .or_else(|| {
            let time = |text: &str| Some(units::parse_time(text).ok()?.as_secs_f64());
            all(&self.values, time)
        });
        // Rust parses "inf" and "nan" as numbers.
        match floats {
            Some(floats) if floats.iter().all(|value| value.is_finite()) => Numbers::Floats(floats),
            _ => Numbers::Texts,
        }
    }
}

/// The points of a table in CSV: its first line has keys, and each other line their values at a point.
///
/// # Errors
/// A text with the place in the table.
pub fn points(table: impl Read) -> Result<Vec<Vary>, String> {
    let wrong = |error: csv::Error| error.to_string();
    let mut reader = csv::Reader::from_reader(table);
    let keys = reader.headers().map_err(wrong)?.clone();
    let mut varied: Vec<Vary> = (keys.iter())
        .map(|key| Vary {
            key: key.trim().into(),
            values: Vec::new(),
        })
        .collect();
    if varied.iter().any(|vary| vary.key.is_empty()) || varied.is_empty() {
        return Err("a key in the first line is empty; it is like `topology.queue.packets`".into());
    }
    for (number, point) in reader.records().enumerate() {
        if number as u64 >= MAX_VALUES {
            return Err(format!("at most {MAX_VALUES} points are possible"));
        }
        for (vary, value) in varied.iter_mut().zip(&point.map_err(wrong)?) {
            vary.values.push(value.trim().into());
        }
    }
    match varied[0].values.is_empty() {
        true => Err("there is no point: the lines below the keys have their values".into()),
        false => Ok(varied),
    }
}

/// Number of combinations; none for more than fit into `usize`.
#[must_use]
pub fn combinations(varied: &[Vary]) -> Option<usize> {
    varied.iter().try_fold(1usize, |product, vary| {
        product.checked_mul(vary.values.len())
    })
}

/// Index of the value of each key in a combination; the last key changes fastest.
#[must_use]
pub fn combination(varied: &[Vary], mut number: usize) -> Vec<usize> {
    let mut chosen: Vec<usize> = (varied.iter().rev())
        .map(|vary| {
            let value = number % vary.values.len();
            number /= vary.values.len();
            value
        })
        .collect();
    chosen.reverse();
    chosen
}

/// Splits at commas outside of brackets and quotes: `{ kind = "red", packets = 9 }` is one value.
fn items(text: &str) -> Vec<&str> {
    let (mut depth, mut quoted, mut from) = (0u32, false, 0);
    let mut items = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '"' => quoted = !quoted,
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                items.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    items.push(text[from..].trim());
    items
}

/// A decimal number with a unit.
struct Number<'a> {
    /// Digits without the point.
    digits: u64,
    /// Number of digits after the point.
    decimals: usize,
    unit: &'a str,
}

impl<'a> Number<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.');
        let (number, unit) = text.split_at(end.unwrap_or(text.len()));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let point_alone = number.contains('.') && fraction.is_empty();
        if whole.is_empty() || point_alone || fraction.len() > MAX_DECIMALS {
            return None;
        }
        Some(Self {
            digits: format!("{whole}{fraction}").parse().ok()?,
            decimals: fraction.len(),
            unit: unit.trim(),
        })
    }

    fn read_in(item: &str, text: &'a str) -> Result<Self, String> {
        Self::read(text).ok_or_else(|| {
            format!("`{item}`: `{text}` is not a number; write a range like `1..34` or `1..34/3`")
        })
    }

    /// Digits of the number with this many decimals.
    fn scaled(&self, decimals: usize) -> Option<u64> {
        let more = u32::try_from(decimals - self.decimals).ok()?;
        self.digits.checked_mul(10u64.checked_pow(more)?)
    }
}

/// Values of `FIRST..LAST` or `FIRST..LAST/STEP`; none for an item that does not begin like a range.
fn range(item: &str) -> Result<Option<Vec<String>>, String> {
    let Some((first, rest)) = item.split_once("..") else {
        return Ok(None);
    };
    let Some(first) = Number::read(first) else {
        return Ok(None);
    };
    let (last, step) = match rest.split_once('/') {
        Some((last, step)) => (last, Some(step)),
        None => (rest, None),
    };
    let last = Number::read_in(item, last)?;
    let step = step.map(|step| Number::read_in(item, step)).transpose()?;
    let one = Number {
        digits: 1,
        decimals: 0,
        unit: "",
    };
    let step = step.unwrap_or(one);
    // `1..34ms` and `50KB..900KB/50`: a missing unit is that of the last number.
    let unit = last.unit;
    if [first.unit, step.unit]
        .iter()
        .any(|u| !u.is_empty() && *u != unit)
    {
        return Err(format!("`{item}`: use one unit"));
    }
    let decimals = first.decimals.max(last.decimals).max(step.decimals);
    let scaled = |number: &Number<'_>| {
        let scaled = number.scaled(decimals);
        scaled.ok_or_else(|| format!("`{item}`: the numbers are too long"))
    };
    let (from, to, by) = (scaled(&first)?, scaled(&last)?, scaled(&step)?);
    if by == 0 {
        return Err(format!("`{item}`: a step must be more than 0"));
    }
    if to < from {
        return Err(format!("`{item}`: a range must not descend"));
    }
    if (to - from) / by >= MAX_VALUES {
        return Err(format!(
            "`{item}`: at most {MAX_VALUES} values are possible; a step makes fewer, like `1..34/3`"
        ));
    }
    let show = |value: u64| {
        let size = 10u64.pow(decimals as u32);
        let mut text = (value / size).to_string();
        if value % size > 0 {
            let fraction = format!("{:0decimals$}", value % size);
            text += ".";
            text += fraction.trim_end_matches('0');
        }
        text + unit
    };
    let values = (0..=(to - from) / by).map(|step| show(from + step * by));
    Ok(Some(values.collect()))
}

#[cfg(test)]
#[path = "vary_tests.rs"]
mod tests;
