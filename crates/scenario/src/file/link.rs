//! Properties of a link: `rate`, `queue`, `loss`, `reorder`, `jitter`, `down`, `detour`.

use netsim::{Detour, Outage, Rate, Span, Time, Trace};
use topology::{Loss, Properties, Queue, Red, RedForRate, Reorder, Up};

use super::limits::{INSTANT, LONGEST, LONGEST_DELAY};
use super::table::{Field, Table};
use crate::error::Error;
use crate::units;

/// Longest queue, packets.
const MAX_PACKETS: u32 = 100_000_000;
/// Longest queue, bytes.
const MAX_BYTES: u64 = 1 << 40;

/// Keys that may have another value for each direction, `{ up, down }`.
const OF_DIRECTIONS: [&str; 3] = ["rate", "queue", "loss"];

/// Keys of a link, except for its delay.
pub(super) const KEYS: [&str; 7] = [
    "rate", "queue", "loss", "reorder", "jitter", "down", "detour",
];

/// Properties of a link, from a table with [`KEYS`]. `at` selects the item of a key that lists several.
pub(super) fn properties<'a>(
    table: &Table<'a>,
    at: impl Fn(Field<'a>) -> Result<Field<'a>, Error>,
) -> Result<Properties, Error> {
    changed(table, at, &Properties::line(Span::ZERO))
}

/// A rate for each direction, up and down.
pub(super) fn rates(field: &Field<'_>) -> Result<[Rate; 2], Error> {
    if !has_directions(field) {
        return field.rate().map(|rate| [rate; 2]);
    }
    let both = field.table(&["up", "down"])?;
    let rate = |key| both.require(key, &format!("{key} = \"1Mbit\""))?.rate();
    Ok([rate("up")?, rate("down")?])
}

/// These properties with the values of a table, which may have some of [`KEYS`].
pub(super) fn changed<'a>(
    table: &Table<'a>,
    at: impl Fn(Field<'a>) -> Result<Field<'a>, Error>,
    before: &Properties,
) -> Result<Properties, Error> {
    changed_with(table, at, before, queue)
}

/// [`changed`], with queues that `queue` reads.
pub(super) fn changed_with<'a>(
    table: &Table<'a>,
    at: impl Fn(Field<'a>) -> Result<Field<'a>, Error>,
    before: &Properties,
    queue: impl Fn(&Field<'a>) -> Result<Queue, Error>,
) -> Result<Properties, Error> {
    let is_of_directions = |key: &&str| -> Result<bool, Error> {
        let value = table.get(key).map(&at).transpose()?;
        Ok(value.is_some_and(|value| has_directions(&value)))
    };
    let of_directions = OF_DIRECTIONS.iter().map(is_of_directions);
    let of_directions = of_directions.collect::<Result<Vec<bool>, _>>()?;
    let of = |direction: &'static str, before: &Properties| {
        let get = |key: &str| -> Result<Option<Field<'a>>, Error> {
            let value = table.get(key).map(&at).transpose()?;
            match value {
                Some(value) if OF_DIRECTIONS.contains(&key) && has_directions(&value) => {
                    let example = format!("{direction} = …");
                    let both = value.table(&["up", "down"])?;
                    both.require(direction, &example).map(Some)
                }
                value => Ok(value),
            }
        };
        one_direction(table, get, before, &queue)
    };
    let [before_up, before_down] = before.directions();
    let mut properties = of("down", &before_down)?;
    if before.up.is_some() || of_directions.contains(&true) {
        let up = of("up", &before_up)?;
        properties.up = Some(Box::new(Up {
            rate: up.rate,
            rate_trace: up.rate_trace,
            queue: up.queue,
            loss: up.loss,
        }));
    }
    Ok(properties)
}

/// Whether a value is `{ up, down }`.
fn has_directions(value: &Field<'_>) -> bool {
    ["up", "down"].iter().any(|key| value.peek(key).is_some())
}

/// The properties of one direction. `get` returns the value of a key for it.
fn one_direction<'a>(
    table: &Table<'a>,
    get: impl Fn(&str) -> Result<Option<Field<'a>>, Error>,
    before: &Properties,
    read_queue: impl Fn(&Field<'a>) -> Result<Queue, Error>,
) -> Result<Properties, Error> {
    let mut properties = before.clone();
    if let Some(rate) = get("rate")? {
        (properties.rate, properties.rate_trace) = match rate.is_table() {
            true => (None, Some(recorded(&rate)?)),
            false => (Some(rate.rate()?), None),
        };
    }
    if properties.mean_rate().is_some() {
        let queue = match get("queue")? {
            None if before.mean_rate().is_some() => None,
            None => Some(table.require("queue", "queue = { kind = \"droptail\", packets = 30 }")?),
            given => given,
        };
        if let Some(queue) = &queue {
            properties.queue = read_queue(queue)?;
        }
        // Even a single packet waits for a delivery opportunity.
        let none = [Queue::DropTailPackets(0), Queue::DropTailBytes(0)].contains(&properties.queue);
        if none && properties.rate_trace.is_some() {
            let problem = "a link with a recorded rate needs room for at least one packet";
            let key = queue.or(get("rate")?);
            return Err(key.map_or_else(|| table.error(problem), |key| key.error(problem)));
        }
    } else {
        table.refuse(
            &["queue"],
            "a link without a rate has no queue: add a `rate`",
        )?;
    }
    if let Some(loss) = get("loss")? {
        properties.loss = Some(self::loss(&loss)?);
    }
    if let Some(field) = get("reorder")? {
        properties.reorder = Some(reorder(&field)?);
    }
    if let Some(field) = get("jitter")? {
        properties.jitter = Some(field.time(INSTANT..=LONGEST_DELAY)?);
    }
    if let Some(field) = get("down")? {
        properties.down = down(&field)?;
    }
    if let Some(field) = get("detour")? {
        properties.detour = Some(detour(&field)?);
    }
    Ok(properties)
}

/// Value of a key for a path: an item of a list, or the one value for all paths.
pub(super) fn of_path<'a>(field: Field<'a>, path: usize) -> Result<Field<'a>, Error> {
    if !field.is_list() {
        return Ok(field);
    }
    let mut items = field.list()?;
    if path < items.len() {
        Ok(items.swap_remove(path))
    } else {
        Err(field.error("too few items: must have one for each link"))
    }
}

/// Round-trip time of a path.
pub(super) fn rtt(table: &Table<'_>, path: usize) -> Result<Span, Error> {
    of_path(table.require("rtt", "rtt = \"70ms\"")?, path)?.time(Span::ZERO..=LONGEST_DELAY)
}

/// A queue: a number of packets, or a table.
pub(super) fn queue(field: &Field<'_>) -> Result<Queue, Error> {
    queue_or(field, "droptail")
}

/// A queue; a table without `kind` is of the standard kind.
pub(super) fn queue_or(field: &Field<'_>, standard: &'static str) -> Result<Queue, Error> {
    const KINDS: [(&str, &str); 6] = [
        ("droptail", "droptail"),
        ("red", "red"),
        ("codel", "codel"),
        ("fq-codel", "fq-codel"),
        ("pie", "pie"),
        ("policer", "policer"),
    ];
    if field.is_integer() {
        return field
            .integer_u32(0..=MAX_PACKETS)
            .map(Queue::DropTailPackets);
    }
    if !field.is_table() {
        return Err(field.wrong_type("a number of packets or a table like `{ kind = \"red\" }`"));
    }
    let kind = match field.peek("kind") {
        Some(kind) => kind.choice(&KINDS)?,
        None => standard,
    };
    match kind {
        "red" => red(field),
        "codel" => {
            let table = field.table(&["kind", "target", "interval", "limit", "ecn"])?;
            let CoDelTimes { target, interval } = codel_times(&table)?;
            Ok(Queue::CoDel {
                target,
                interval,
                limit: integer(&table, "limit", 1..=MAX_PACKETS, 1000)?,
                ecn: ecn(&table)?,
            })
        }
        "fq-codel" => {
            let table = field.table(&["kind", "target", "interval", "limit", "quantum"])?;
            let CoDelTimes { target, interval } = codel_times(&table)?;
            Ok(Queue::FqCoDel {
                target,
                interval,
                limit: integer(&table, "limit", 1..=MAX_PACKETS, 10_240)?,
                quantum: integer(&table, "quantum", 64..=1 << 20, 1514)?,
            })
        }
        "pie" => {
            let table = field.table(&["kind", "target", "limit", "ecn"])?;
            Ok(Queue::Pie {
                // tc-pie(8) and RFC 8033.
                target: time(&table, "target", 15)?,
                limit: integer(&table, "limit", 1..=MAX_PACKETS, 1000)?,
                ecn: ecn(&table)?,
            })
        }
        "policer" => {
            let table = field.table(&["kind", "rate", "burst"])?;
            Ok(Queue::Policer {
                rate: table.require("rate", "rate = \"10Mbit\"")?.rate()?,
                burst: (table.require("burst", "burst = \"64KB\"")?).bytes(1..=MAX_BYTES)?,
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
                    bytes.bytes(0..=MAX_BYTES).map(Queue::DropTailBytes)
                }
                None => {
                    let packets = table.require("packets", "packets = 30")?;
                    packets
                        .integer_u32(0..=MAX_PACKETS)
                        .map(Queue::DropTailPackets)
                }
            }
        }
    }
}

/// Times of CoDel and FQ-CoDel.
struct CoDelTimes {
    target: Span,
    interval: Span,
}

/// Target and interval, with the defaults of tc-codel(8) and RFC 8289.
fn codel_times(table: &Table<'_>) -> Result<CoDelTimes, Error> {
    Ok(CoDelTimes {
        target: time(table, "target", 5)?,
        interval: time(table, "interval", 100)?,
    })
}

fn time(table: &Table<'_>, key: &str, default_ms: u64) -> Result<Span, Error> {
    match table.get(key) {
        Some(field) => field.time(INSTANT..=LONGEST_DELAY),
        None => Ok(Span::from_millis(default_ms)),
    }
}

fn integer(
    table: &Table<'_>,
    key: &str,
    range: std::ops::RangeInclusive<u32>,
    default: u32,
) -> Result<u32, Error> {
    table
        .get(key)
        .map_or(Ok(default), |field| field.integer_u32(range))
}

fn ecn(table: &Table<'_>) -> Result<bool, Error> {
    table.get("ecn").map_or(Ok(false), |field| field.boolean())
}

/// RED; without thresholds with those of the lia-olia draft, in proportion to the rate.
fn red(field: &Field<'_>) -> Result<Queue, Error> {
    let curve = ["min", "max", "max_p", "gentle"];
    let table = field.table(&[&["kind"][..], &curve, &["limit", "weight", "ecn"]].concat())?;
    if curve.iter().all(|key| table.get(key).is_none()) {
        let standard = RedForRate::default();
        return Ok(Queue::RedForRate(RedForRate {
            limit: integer(&table, "limit", 1..=MAX_PACKETS, standard.limit)?,
            weight: weight(&table, standard.weight)?,
            ecn: ecn(&table)?,
        }));
    }
    let min = table
        .require("min", "min = 25")?
        .integer_u32(0..=MAX_PACKETS)?;
    let field = table.require("max", "max = 50")?;
    let max = field.integer_u32(1..=MAX_PACKETS)?;
    if max <= min {
        return Err(field.error(format!("must be more than `min`, which is {min}")));
    }
    Ok(Queue::Red(Red {
        min,
        max,
        max_p: table.require("max_p", "max_p = 0.1")?.share()?,
        gentle: table
            .get("gentle")
            .map_or(Ok(true), |field| field.boolean())?,
        limit: integer(&table, "limit", 1..=MAX_PACKETS, MAX_PACKETS)?,
        // Floyd and Jacobson, section VI.
        weight: weight(&table, 0.002)?,
        ecn: ecn(&table)?,
    }))
}

fn weight(table: &Table<'_>, standard: f64) -> Result<f64, Error> {
    let Some(field) = table.get("weight") else {
        return Ok(standard);
    };
    match field.share()? {
        0.0 => Err(field.error("must be more than 0: with 0 the average never changes")),
        weight => Ok(weight),
    }
}

/// Losses: a share of packets, or a table for bursts.
fn loss(field: &Field<'_>) -> Result<Loss, Error> {
    if !field.is_table() {
        return field.share().map(Loss::Random);
    }
    let table = field.table(&["enter", "leave", "bad", "good"])?;
    let share = |key, default| table.get(key).map_or(Ok(default), |field| field.share());
    Ok(Loss::Bursty {
        enter: table.require("enter", "enter = \"0.1%\"")?.share()?,
        leave: table.require("leave", "leave = \"20%\"")?.share()?,
        // Gilbert's model: all packets are lost while bad, none while good.
        bad: share("bad", 1.0)?,
        good: share("good", 0.0)?,
    })
}

fn reorder(field: &Field<'_>) -> Result<Reorder, Error> {
    let table = field.table(&["share", "delay"])?;
    Ok(Reorder {
        share: table.require("share", "share = \"1%\"")?.share()?,
        delay: table
            .require("delay", "delay = \"10ms\"")?
            .time(INSTANT..=LONGEST_DELAY)?,
    })
}

/// An outage, or a list in order of time. An outage without `to` has no end.
fn down(field: &Field<'_>) -> Result<Vec<Outage>, Error> {
    let items = match field.is_list() {
        true => field.list()?,
        false => vec![field.clone()],
    };
    let mut outages = Vec::new();
    // End of the outage before; none for an outage without an end.
    let mut up = Some(Span::ZERO);
    for item in items {
        if !item.is_table() {
            return Err(item.wrong_type("an outage like `{ from = \"5s\", to = \"8s\" }`"));
        }
        let table = item.table(&["from", "to"])?;
        let start = table.require("from", "from = \"5s\"")?;
        let from = start.time(Span::ZERO..=LONGEST)?;
        match up {
            None => return Err(start.error("the outage before this one has no end")),
            Some(up) if from < up => {
                let up = units::show_time(up);
                return Err(start.error(format!("the outage before this one ends at {up}")));
            }
            Some(_) => {}
        }
        let end = table.get("to");
        up = (end.as_ref().map(|end| end.time(INSTANT..=LONGEST))).transpose()?;
        let at = Time::ZERO + from;
        outages.push(match (end, up) {
            (Some(end), Some(to)) if to <= from => {
                let from = units::show_time(from);
                return Err(end.error(format!("must be later than `from`, which is {from}")));
            }
            (_, Some(to)) => Outage::new(at, Time::ZERO + to),
            (_, None) => Outage::for_good(at),
        });
    }
    Ok(outages)
}

/// A longer route from a time on. A detour without `to` has no end.
fn detour(field: &Field<'_>) -> Result<Detour, Error> {
    let table = field.table(&["from", "to", "delay"])?;
    let from = (table.require("from", "from = \"5s\"")?).time(Span::ZERO..=LONGEST)?;
    let delay = table
        .require("delay", "delay = \"40ms\"")?
        .time(INSTANT..=LONGEST_DELAY)?;
    let detour = Detour::new(Time::ZERO + from, delay);
    let Some(end) = table.get("to") else {
        return Ok(detour);
    };
    let to = end.time(INSTANT..=LONGEST)?;
    if to <= from {
        let from = units::show_time(from);
        return Err(end.error(format!("must be later than `from`, which is {from}")));
    }
    Ok(detour.until(Time::ZERO + to))
}

/// A recorded rate, `{ trace = FILE }`: a file in mahimahi's format, with a path relative to the scenario.
fn recorded(field: &Field<'_>) -> Result<Trace, Error> {
    let field = field
        .table(&["trace"])?
        .require("trace", "trace = \"lte.up\"")?;
    field.beside()
}
