//! What a link is like: `rate`, `queue`, `loss`, `reorder`, `trace`.

use std::path::Path;
use std::sync::Arc;

use netsim::{Rate, Span};
use topology::{Loss, Properties, Queue, Red, Reorder};

use super::table::{Field, Table};
use super::{INSTANT, LONGEST_FILE};
use crate::Error;

/// The longest delay or round-trip time: an hour is further than Mars.
pub(super) const LONGEST_DELAY: Span = Span::from_secs(3600);

/// The longest queue, packets.
const MOST_PACKETS: u32 = 100_000_000;
/// The longest queue, bytes.
const MOST_BYTES: u64 = 1 << 40;
/// The latest millisecond of a trace: a day.
const LATEST: u32 = 86_400_000;

/// The keys of what a link is like, but for its delay.
pub(super) const KEYS: [&str; 5] = ["rate", "queue", "loss", "reorder", "trace"];

/// What a link is like, from a table with [`KEYS`]. `at` picks one of several that a key may list.
pub(super) fn properties<'a>(
    table: &Table<'a>,
    file: &str,
    at: impl Fn(Field<'a>) -> Result<Field<'a>, Error>,
) -> Result<Properties, Error> {
    let get = |key: &str| table.get(key).map(&at).transpose();
    let mut properties = Properties::line(Span::ZERO);
    if let Some(trace) = get("trace")? {
        table.refuse(&["rate"], "a link has a rate or a trace, not both")?;
        properties.rate_trace = Some(read_trace(&trace, file)?);
    }
    properties.rate = get("rate")?.map(|rate| rate.rate()).transpose()?;
    if properties.rate.is_some() || properties.rate_trace.is_some() {
        let queue = at(table.need("queue", "queue = { kind = \"droptail\", packets = 30 }")?)?;
        properties.queue = self::queue(&queue, properties.rate)?;
    } else {
        table.refuse(
            &["queue"],
            "a link without a rate has no queue: add a `rate`",
        )?;
    }
    properties.loss = get("loss")?.map(|loss| self::loss(&loss)).transpose()?;
    properties.reorder = get("reorder")?.map(|field| reorder(&field)).transpose()?;
    Ok(properties)
}

/// A number of packets, or a table of some kind.
pub(super) fn queue(field: &Field<'_>, rate: Option<Rate>) -> Result<Queue, Error> {
    const KINDS: [(&str, &str); 4] = [
        ("droptail", "droptail"),
        ("red", "red"),
        ("codel", "codel"),
        ("fq-codel", "fq-codel"),
    ];
    if !field.is_table() {
        return field.small(0..=MOST_PACKETS).map(Queue::DropTailPackets);
    }
    let kind = match field.peek("kind") {
        Some(kind) => kind.choice(&KINDS)?,
        None => "droptail",
    };
    match kind {
        "red" => red(field, rate).map(Queue::Red),
        "codel" => {
            let table = field.table(&["kind", "target", "interval", "limit", "ecn"])?;
            let (target, interval) = delays(&table)?;
            Ok(Queue::CoDel {
                target,
                interval,
                limit: integer(&table, "limit", 1..=MOST_PACKETS, 1000)?,
                ecn: ecn(&table)?,
            })
        }
        "fq-codel" => {
            let keys = [
                "kind", "target", "interval", "limit", "flows", "quantum", "ecn",
            ];
            let table = field.table(&keys)?;
            let (target, interval) = delays(&table)?;
            Ok(Queue::FqCoDel {
                target,
                interval,
                limit: integer(&table, "limit", 1..=MOST_PACKETS, 10_240)?,
                flows: integer(&table, "flows", 1..=65_536, 1024)?,
                quantum: integer(&table, "quantum", 64..=1 << 20, 1514)?,
                ecn: ecn(&table)?,
            })
        }
        _ => {
            let table = field.table(&["kind", "packets", "bytes"])?;
            match table.get("bytes") {
                Some(bytes) => {
                    table.refuse(
                        &["packets"],
                        "a queue is limited in packets or in bytes, not both",
                    )?;
                    bytes.bytes(0..=MOST_BYTES).map(Queue::DropTailBytes)
                }
                None => {
                    let packets = table.need("packets", "packets = 30")?;
                    packets.small(0..=MOST_PACKETS).map(Queue::DropTailPackets)
                }
            }
        }
    }
}

/// Defaults of Linux's tc-codel(8) and of RFC 8289.
fn delays(table: &Table<'_>) -> Result<(Span, Span), Error> {
    let time = |key, default| match table.get(key) {
        Some(field) => field.time(INSTANT..=LONGEST_DELAY),
        None => Ok(Span::from_millis(default)),
    };
    Ok((time("target", 5)?, time("interval", 100)?))
}

fn integer(
    table: &Table<'_>,
    key: &str,
    range: std::ops::RangeInclusive<u32>,
    default: u32,
) -> Result<u32, Error> {
    table
        .get(key)
        .map_or(Ok(default), |field| field.small(range))
}

fn ecn(table: &Table<'_>) -> Result<bool, Error> {
    table.get("ecn").map_or(Ok(false), |field| field.boolean())
}

/// Without numbers: those of [`Red::for_rate`].
fn red(field: &Field<'_>, rate: Option<Rate>) -> Result<Red, Error> {
    let table = field.table(&[
        "kind", "min", "max", "max_p", "gentle", "limit", "weight", "ecn",
    ])?;
    let numbers = ["min", "max", "max_p", "gentle", "limit"];
    let mut red = if numbers.iter().all(|key| table.get(key).is_none()) {
        let Some(rate) = rate else {
            return Err(table.missing("min", "min = 25, max = 50, max_p = 0.1, limit = 100"));
        };
        Red::for_rate(rate)
    } else {
        Red {
            min: table.need("min", "min = 25")?.small(0..=MOST_PACKETS)?,
            max: table.need("max", "max = 50")?.small(1..=MOST_PACKETS)?,
            max_p: table.need("max_p", "max_p = 0.1")?.share()?,
            gentle: table
                .get("gentle")
                .map_or(Ok(true), |field| field.boolean())?,
            limit: table
                .need("limit", "limit = 100")?
                .small(1..=MOST_PACKETS)?,
            weight: 1.0,
            ecn: false,
        }
    };
    if let (true, Some(max)) = (red.max <= red.min, table.get("max")) {
        return Err(max.error(format!("more than `min` is wanted, which is {}", red.min)));
    }
    if let Some(weight) = table.get("weight") {
        red.weight = weight.share()?;
        if red.weight == 0.0 {
            return Err(weight.error("more than 0 is wanted, or the average never moves"));
        }
    }
    red.ecn = ecn(&table)?;
    Ok(red)
}

/// A share of packets, or a table for bursts.
fn loss(field: &Field<'_>) -> Result<Loss, Error> {
    if !field.is_table() {
        return field.share().map(Loss::Random);
    }
    let table = field.table(&["enter", "leave", "bad", "good"])?;
    let share = |key, default| table.get(key).map_or(Ok(default), |field| field.share());
    Ok(Loss::Bursty {
        enter: table.need("enter", "enter = \"0.1%\"")?.share()?,
        leave: table.need("leave", "leave = \"20%\"")?.share()?,
        // Gilbert's own: all is lost while it is bad, nothing while it is good.
        bad: share("bad", 1.0)?,
        good: share("good", 0.0)?,
    })
}

fn reorder(field: &Field<'_>) -> Result<Reorder, Error> {
    let table = field.table(&["share", "delay"])?;
    Ok(Reorder {
        share: table.need("share", "share = \"1%\"")?.share()?,
        delay: table
            .need("delay", "delay = \"10ms\"")?
            .time(INSTANT..=LONGEST_DELAY)?,
    })
}

/// A trace in mahimahi's form: a millisecond a line, none before the one above it.
fn read_trace(field: &Field<'_>, file: &str) -> Result<Arc<[u32]>, Error> {
    let name = field.text()?;
    // Beside the scenario.
    let path = Path::new(file).parent().unwrap_or(Path::new("")).join(name);
    let text = super::read(&path).map_err(|error| field.error(error.to_string()))?;
    debug_assert!(text.len() <= LONGEST_FILE);
    let mut trace = Vec::new();
    for (line, content) in (1..).zip(text.lines()) {
        let latest = trace.last().copied().unwrap_or(0);
        let time = content
            .trim()
            .parse()
            .ok()
            .filter(|time| (latest..=LATEST).contains(time));
        trace.push(time.ok_or_else(|| {
            let place = format!("{}:{line}", path.display());
            field.error(format!(
                "{place}: a millisecond from {latest} to {LATEST} is wanted on each line"
            ))
        })?);
    }
    // A trace that lasts no time would send without end.
    if trace.last().is_none_or(|last| *last == 0) {
        return Err(field.error(format!("{}: no millisecond after 0", path.display())));
    }
    Ok(trace.into())
}
