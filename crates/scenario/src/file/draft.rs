//! Scenarios A, B and C of draft-khalili-mptcp-performance-issues-04.

use netsim::Rate;
use topology::{Capacity, Queue, RedForRate, ScenarioB, TwoKinds};

use super::link;
use super::table::{Field, Table};
use crate::error::Error;

/// Value of a key for each bottleneck: the items of a list, or the one value for all.
fn of_bottlenecks<'a, T, const N: usize>(
    field: &Field<'a>,
    names: [&str; N],
    read: impl Fn(&Field<'a>) -> Result<T, Error>,
) -> Result<[T; N], Error> {
    let items = match field.is_list() {
        true => field.list()?,
        false => vec![field.clone(); N],
    };
    let items: Result<[Field<'_>; N], _> = items.try_into();
    let items = items.map_err(|list: Vec<_>| {
        let (items, names) = (list.len(), names.join(", "));
        field.error(format!("{items} items: needs {N}, for {names}"))
    })?;
    let read: Vec<T> = items.iter().map(read).collect::<Result<_, _>>()?;
    Ok(read
        .try_into()
        .unwrap_or_else(|_| unreachable!("as many as items")))
}

/// Queue of each bottleneck.
fn queues<const N: usize>(table: &Table<'_>, names: [&str; N]) -> Result<[Queue; N], Error> {
    match table.get("queue") {
        Some(queue) => of_bottlenecks(&queue, names, |queue| link::queue_or(queue, "red")),
        None => Ok([(); N].map(|()| Queue::RedForRate(RedForRate::default()))),
    }
}

/// Rates of the bottlenecks as links; none without `rate`, which replaces the other keys.
fn link_rates<const N: usize>(
    table: &Table<'_>,
    keys: [&str; N],
    names: [&str; N],
) -> Result<Option<[Rate; N]>, Error> {
    let Some(field) = table.get("rate") else {
        return Ok(None);
    };
    table.refuse(&keys, "use `rate` or the rates of the links, not both")?;
    of_bottlenecks(&field, names, Field::rate).map(Some)
}

fn users(table: &Table<'_>, key: &str) -> Result<u32, Error> {
    table
        .require(key, &format!("{key} = 10"))?
        .integer_u32(1..=100_000)
}

fn rate(table: &Table<'_>, key: &str) -> Result<Rate, Error> {
    let example = format!("{key} = \"1Mbit\"` or `rate = \"10Mbit\"");
    table.require(key, &example)?.rate()
}

/// Reads scenario A or C, whose bottlenecks have these names.
pub(super) fn two_kinds(field: &Field<'_>, names: [&str; 2]) -> Result<TwoKinds, Error> {
    let table = field.table(&["kind", "n1", "n2", "c1", "c2", "rate", "rtt", "queue"])?;
    let keys = ["c1", "c2"];
    let [c1, c2] = match link_rates(&table, keys, names)? {
        Some(rates) => rates.map(Capacity::Link),
        None => [
            Capacity::PerUser(rate(&table, keys[0])?),
            Capacity::PerUser(rate(&table, keys[1])?),
        ],
    };
    Ok(TwoKinds {
        n1: users(&table, "n1")?,
        n2: users(&table, "n2")?,
        c1,
        c2,
        rtt: link::rtt(&table, 0)?,
        queues: queues(&table, names)?,
    })
}

/// Reads scenario B.
pub(super) fn scenario_b(field: &Field<'_>) -> Result<ScenarioB, Error> {
    let table = field.table(&[
        "kind", "users", "cx", "cy", "cz", "ct", "rate", "rtt", "queue",
    ])?;
    let (keys, names) = (["cx", "cy", "cz", "ct"], ["X", "Y", "Z", "T"]);
    let [cx, cy, cz, ct] = match link_rates(&table, keys, names)? {
        Some(rates) => rates,
        None => [
            rate(&table, keys[0])?,
            rate(&table, keys[1])?,
            rate(&table, keys[2])?,
            rate(&table, keys[3])?,
        ],
    };
    Ok(ScenarioB {
        users: users(&table, "users")?,
        cx,
        cy,
        cz,
        ct,
        rtt: link::rtt(&table, 0)?,
        queues: queues(&table, names)?,
    })
}
