//! Scenarios A, B and C of draft-khalili-mptcp-performance-issues-04.

use netsim::{Rate, Span};
use topology::{Properties, Queue, RedForRate, ScenarioB, TwoKinds};

use super::link;
use super::table::{Field, Table};
use crate::error::Error;

/// A bottleneck: its name in messages, the key of its rate, and the number of users for each of whom the rate is.
type Bottleneck = (&'static str, &'static str, u32);

/// The bottlenecks, with the keys of a link. A list of a key has an item for each. Without `queue` they have the draft's RED.
fn bottlenecks<'a, const N: usize>(
    table: &Table<'a>,
    all: [Bottleneck; N],
) -> Result<[Properties; N], Error> {
    let rate_of_links = table.get("rate");
    if rate_of_links.is_some() {
        let keys = all.map(|(_, key, _)| key);
        table.refuse(&keys, "use `rate` or the rates of the links, not both")?;
    }
    let read = |number: usize| {
        let at = |field: Field<'a>| match field.is_list() {
            true => item(&field, number, all.map(|(name, ..)| name)),
            false => Ok(field),
        };
        let (_, key, users) = all[number];
        let rates = match &rate_of_links {
            // `rate` replaces it.
            Some(_) => [Rate::from_bits_per_second(1); 2],
            None => rates(table, key, users)?,
        };
        let red = Queue::RedForRate(RedForRate::default());
        let before = Properties::shaped(rates[1], red, Span::ZERO).with_rates(rates);
        link::changed_with(table, at, &before, |queue| link::queue_or(queue, "red"))
    };
    let read: Vec<Properties> = (0..N).map(read).collect::<Result<_, _>>()?;
    Ok(read
        .try_into()
        .unwrap_or_else(|_| unreachable!("one for each")))
}

/// The item of a list for a bottleneck.
fn item<'a, const N: usize>(
    list: &Field<'a>,
    number: usize,
    names: [&str; N],
) -> Result<Field<'a>, Error> {
    let mut items = list.list()?;
    match items.len() == names.len() {
        true => Ok(items.swap_remove(number)),
        false => {
            let (items, of, names) = (items.len(), names.len(), names.join(", "));
            Err(list.error(format!("{items} items: needs {of}, for {names}")))
        }
    }
}

/// Rates up and down of a link, with its key: a rate for each of the users.
fn rates(table: &Table<'_>, key: &str, users: u32) -> Result<[Rate; 2], Error> {
    let example = format!("{key} = \"1Mbit\"` or `rate = \"10Mbit\"");
    let field = table.require(key, &example)?;
    let [up, down] = link::rates(&field)?.map(|rate| {
        let total = rate.bits_per_second().checked_mul(users.into());
        let total = total.map(Rate::from_bits_per_second);
        total.ok_or_else(|| field.error("too much for all users together"))
    });
    Ok([up?, down?])
}

fn users(table: &Table<'_>, key: &str) -> Result<u32, Error> {
    table
        .require(key, &format!("{key} = 10"))?
        .integer_u32(1..=100_000)
}

/// Reads scenario A or C, whose bottlenecks have these names.
pub(super) fn two_kinds(field: &Field<'_>, names: [&'static str; 2]) -> Result<TwoKinds, Error> {
    let keys = ["kind", "n1", "n2", "c1", "c2", "rtt"];
    let table = field.table(&[&keys[..], &link::KEYS].concat())?;
    let (n1, n2) = (users(&table, "n1")?, users(&table, "n2")?);
    Ok(TwoKinds {
        n1,
        n2,
        bottlenecks: bottlenecks(&table, [(names[0], "c1", n1), (names[1], "c2", n2)])?,
        rtt: link::rtt(&table, 0)?,
    })
}

/// Reads scenario B.
pub(super) fn scenario_b(field: &Field<'_>) -> Result<ScenarioB, Error> {
    let keys = ["kind", "users", "cx", "cy", "cz", "ct", "rtt"];
    let table = field.table(&[&keys[..], &link::KEYS].concat())?;
    let all = [
        ("X", "cx", 1),
        ("Y", "cy", 1),
        ("Z", "cz", 1),
        ("T", "ct", 1),
    ];
    Ok(ScenarioB {
        users: users(&table, "users")?,
        bottlenecks: Box::new(bottlenecks(&table, all)?),
        rtt: link::rtt(&table, 0)?,
    })
}
