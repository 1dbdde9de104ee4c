//! Data of a connection and its times: `bytes`, `requests`, `rate`, `start`, `arrivals`.

use std::ops::RangeInclusive;

use netsim::Span;

use super::limits::{INSTANT, LONGEST, MAX_FLOWS};
use super::table::{Field, Table};
use crate::connection::{Application, Arrivals, Length, OnOff, Protocol};
use crate::error::Error;

/// Largest transfer, bytes: a petabyte.
const MAX_BYTES: u64 = 1_000_000_000_000_000;

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
            bytes: table
                .require("bytes", "bytes = \"300KB\"")?
                .bytes(1..=MAX_BYTES)?,
            gap: length(&table.require("gap", "gap = \"1s\"")?, Span::ZERO..=LONGEST)?,
        });
    }
    debug_assert_ne!(protocol, Protocol::Udp);
    Ok(match table.get("bytes") {
        Some(bytes) => Application::Bytes(bytes.bytes(0..=MAX_BYTES)?),
        None => Application::Endless,
    })
}

/// Reads `arrivals`.
pub(super) fn arrivals(field: &Field<'_>) -> Result<Arrivals, Error> {
    let table = field.table(&["count", "gap"])?;
    Ok(Arrivals {
        count: table
            .require("count", "count = 80")?
            .integer_u32(1..=MAX_FLOWS as u32)?,
        gap: length(
            &table.require("gap", "gap = { mean = \"100ms\" }")?,
            Span::ZERO..=LONGEST,
        )?,
    })
}

/// Reads `start`, which is before the end of the run.
pub(super) fn start(table: &Table<'_>, stop: Span) -> Result<Length, Error> {
    let Some(field) = table.get("start") else {
        return Ok(Length::Fixed(Span::ZERO));
    };
    let start = length(&field, Span::ZERO..=LONGEST)?;
    let latest = match start {
        Length::Fixed(latest) | Length::Uniform { to: latest, .. } => latest,
        Length::Exponential { .. } => {
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

/// A time, `{ from, to }` or `{ mean }`.
fn length(field: &Field<'_>, range: RangeInclusive<Span>) -> Result<Length, Error> {
    if !field.is_table() {
        return field.time(range).map(Length::Fixed);
    }
    let table = field.table(&["from", "to", "mean"])?;
    if let Some(mean) = table.get("mean") {
        table.refuse(
            &["from", "to"],
            "an exponential length with `mean` has no `from` and `to`",
        )?;
        return Ok(Length::Exponential {
            mean: mean.time(INSTANT..=*range.end())?,
        });
    }
    let from = table
        .require("from", "from = \"2s\"")?
        .time(range.clone())?;
    let to = table.require("to", "to = \"5s\"")?;
    match to.time(range)? {
        end if end >= from => Ok(Length::Uniform { from, to: end }),
        _ => Err(to.error("must not be before `from`")),
    }
}
