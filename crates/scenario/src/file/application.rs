//! Data of a connection and its times: `bytes`, `requests`, `rate`, `start`, `arrivals`.

use std::ops::RangeInclusive;

use netsim::Span;

use super::limits::{INSTANT, LONGEST, MAX_FLOWS};
use super::table::{Field, Table};
use crate::connection::{Application, Arrivals, Length, OnOff, Protocol, Spacing};
use crate::error::Error;
use crate::size::{DISTRIBUTIONS, MAX_BYTES, Size, SizeTable};

/// Least and largest shape of a Pareto distribution: a shape of 1 or less has no mean.
const SHAPES: RangeInclusive<f64> = 1.01..=100.0;

/// Largest load: 100 times the rate of the paths.
const MAX_LOAD: f64 = 100.0;

/// Reads the data to send.
pub(super) fn read(table: &Table<'_>, protocol: Protocol) -> Result<Application, Error> {
    let one = "a connection has one of `bytes`, `requests` and `rate`";
    if let Some(rate) = table.get("rate") {
        table.refuse(&["bytes", "requests"], one)?;
        let on_off = match (table.get("on"), table.get("off")) {
            (Some(on), Some(off)) => Some(OnOff {
                on: length(&on, INSTANT..=LONGEST)?,
                off: length(&off, Span::ZERO..=LONGEST)?,
            }),
            (Some(_), None) => return Err(table.missing("off", "off = { mean = \"1s\" }")),
            (None, Some(_)) => return Err(table.missing("on", "on = { mean = \"1s\" }")),
            (None, None) => None,
        };
        return Ok(Application::Rate {
            rate: rate.rate()?,
            on_off,
        });
    }
    table.refuse(&["on", "off"], "`on` and `off` need a `rate`")?;
    if let Some(requests) = table.get("requests") {
        table.refuse(&["bytes"], one)?;
        let table = requests.table(&["count", "bytes", "gap"])?;
        return Ok(Application::Requests {
            count: table
                .require("count", "count = 10")?
                .integer_u32(1..=1_000_000)?,
            bytes: size(&table.require("bytes", "bytes = \"300KB\"")?, 1)?,
            gap: length(&table.require("gap", "gap = \"1s\"")?, Span::ZERO..=LONGEST)?,
        });
    }
    debug_assert_ne!(protocol, Protocol::Udp);
    Ok(match table.get("bytes") {
        Some(bytes) => Application::Bytes(size(&bytes, 0)?),
        None => Application::Endless,
    })
}

/// Reads `arrivals`.
pub(super) fn arrivals(field: &Field<'_>, application: &Application) -> Result<Arrivals, Error> {
    let table = field.table(&["count", "gap", "load"])?;
    let count = table.require("count", "count = 80")?;
    let spacing = match table.get("load") {
        Some(load) => {
            table.refuse(&["gap"], "use `gap` or `load`, not both")?;
            if !matches!(
                application,
                Application::Bytes(_) | Application::Requests { .. }
            ) {
                return Err(load.error("a load needs transfers: add `bytes` or `requests`"));
            }
            Spacing::Load(self::load(&load)?)
        }
        None => Spacing::Gap(length(
            &table.require("gap", "gap = { mean = \"100ms\" }")?,
            Span::ZERO..=LONGEST,
        )?),
    };
    Ok(Arrivals {
        count: count.integer_u32(1..=MAX_FLOWS as u32)?,
        spacing,
    })
}

/// Reads a load: a share of the rate, `"60%"` or 0.6, which may exceed 1.
fn load(field: &Field<'_>) -> Result<f64, Error> {
    let load = field.number("a load like \"60%\" or 0.6")?;
    match load {
        load if load > 0.0 && load <= MAX_LOAD => Ok(load),
        _ => Err(field.error(format!(
            "{load} is out of range: a load is more than 0, and at most {MAX_LOAD}"
        ))),
    }
}

/// Reads a size: bytes, or a distribution.
fn size(field: &Field<'_>, least: u64) -> Result<Size, Error> {
    if !field.is_table() {
        return field.bytes(least..=MAX_BYTES).map(Size::Fixed);
    }
    let table = field.table(&["distribution", "cdf", "mean", "shape", "from", "to"])?;
    if let Some(name) = table.get("distribution") {
        table.refuse(&["cdf", "mean", "shape", "from", "to"], ONE_SIZE)?;
        let names = DISTRIBUTIONS.map(|(name, _)| (name, name));
        let table = SizeTable::named(name.choice(&names)?);
        return Ok(Size::Table(table.expect("a known name")));
    }
    if let Some(file) = table.get("cdf") {
        table.refuse(&["mean", "shape", "from", "to"], ONE_SIZE)?;
        return file.beside().map(Size::Table);
    }
    if let Some(mean) = table.get("mean") {
        table.refuse(&["from", "to"], ONE_SIZE)?;
        let mean = mean.bytes(1..=MAX_BYTES)?;
        return Ok(match table.get("shape") {
            Some(shape) => Size::Pareto {
                mean,
                shape: self::shape(&shape)?,
            },
            None => Size::Exponential { mean },
        });
    }
    table.refuse(&["shape"], "a `shape` needs a `mean`")?;
    let example = "distribution = \"web-search\"";
    let from = table.require("from", example)?.bytes(1..=MAX_BYTES)?;
    let to = table.require("to", "to = \"1MB\"")?;
    match to.bytes(1..=MAX_BYTES)? {
        end if end >= from => Ok(Size::Uniform { from, to: end }),
        _ => Err(to.error("must not be less than `from`")),
    }
}

/// Forms of a drawn size.
const ONE_SIZE: &str =
    "use one of `distribution`, `cdf`, `mean` with or without `shape`, and `from` with `to`";

/// Reads the shape of a Pareto distribution.
fn shape(field: &Field<'_>) -> Result<f64, Error> {
    let shape = field.number("a shape like 1.5")?;
    match SHAPES.contains(&shape) {
        true => Ok(shape),
        false => Err(field.error(format!(
            "{shape} is out of range: {} to {}",
            SHAPES.start(),
            SHAPES.end()
        ))),
    }
}

/// Reads `start`, which is before the end of the run.
pub(super) fn start(table: &Table<'_>, stop: Span) -> Result<Length, Error> {
    let Some(field) = table.get("start") else {
        return Ok(Length::Fixed(Span::ZERO));
    };
    let start = length(&field, Span::ZERO..=LONGEST)?;
    let latest = match start {
        Length::Fixed(latest) | Length::Uniform { to: latest, .. } => latest,
        Length::Exponential { .. } | Length::Pareto { .. } => {
            return Err(
                field.error("a start is a time, or `{ from, to }`; `arrivals` have a `mean`")
            );
        }
    };
    if latest >= stop {
        return Err(field.error("must be before `stop`"));
    }
    Ok(start)
}

/// A time, `{ from, to }`, `{ mean }` or `{ mean, shape }`.
pub(super) fn length(field: &Field<'_>, range: RangeInclusive<Span>) -> Result<Length, Error> {
    if !field.is_table() {
        return field.time(range).map(Length::Fixed);
    }
    let table = field.table(&["from", "to", "mean", "shape"])?;
    if let Some(mean) = table.get("mean") {
        table.refuse(&["from", "to"], "use `mean`, or `from` and `to`, not both")?;
        let mean = mean.time(INSTANT..=*range.end())?;
        return Ok(match table.get("shape") {
            Some(shape) => Length::Pareto {
                mean,
                shape: self::shape(&shape)?,
            },
            None => Length::Exponential { mean },
        });
    }
    table.refuse(&["shape"], "a `shape` needs a `mean`")?;
    let from = table
        .require("from", "from = \"2s\"")?
        .time(range.clone())?;
    let to = table.require("to", "to = \"5s\"")?;
    match to.time(range)? {
        end if end >= from => Ok(Length::Uniform { from, to: end }),
        _ => Err(to.error("must not be before `from`")),
    }
}
