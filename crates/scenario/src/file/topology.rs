//! `[topology]`: one kind of network and its keys.

use netsim::{Rate, Span};
use topology::{
    Access, Capacity, FatTree, NonSharedBottleneck, PathSpec, Properties, Queue, RedForRate,
    ScenarioB, SharedBottleneck, Spec, SpelledLink, SpelledOut, TwoKinds,
};

use super::link::{self, LONGEST_DELAY};
use super::table::{Field, Table};
use crate::Error;

/// The most paths of a topology between two hosts.
const MOST_PATHS: u32 = 1024;

/// The kinds, as a file names them.
#[derive(Clone, Copy)]
enum Kind {
    Shared,
    NonShared,
    FatTree,
    ScenarioA,
    ScenarioB,
    ScenarioC,
    Graph,
    Gml,
}

const KINDS: &[(&str, Kind)] = &[
    ("shared-bottleneck", Kind::Shared),
    ("non-shared-bottleneck", Kind::NonShared),
    ("fat-tree", Kind::FatTree),
    ("scenario-a", Kind::ScenarioA),
    ("scenario-b", Kind::ScenarioB),
    ("scenario-c", Kind::ScenarioC),
    ("graph", Kind::Graph),
    ("gml", Kind::Gml),
];

/// The topology; `paths` is how many paths connections want, where nothing else says it.
pub(super) fn read(field: &Field<'_>, paths: u32) -> Result<Spec, Error> {
    let Some(kind) = field.peek("kind") else {
        return Err(match field.is_table() {
            true => field.missing("kind", "kind = \"shared-bottleneck\""),
            false => field.not_a("a table"),
        });
    };
    match kind.choice(KINDS)? {
        Kind::Shared => shared(field, paths).map(Spec::SharedBottleneck),
        Kind::NonShared => non_shared(field, paths).map(Spec::NonSharedBottleneck),
        Kind::FatTree => fat_tree(field).map(Spec::FatTree),
        Kind::ScenarioA => two_kinds(field, ["R1", "R2"]).map(Spec::ScenarioA),
        Kind::ScenarioB => scenario_b(field).map(Spec::ScenarioB),
        Kind::ScenarioC => two_kinds(field, ["AP1", "AP2"]).map(Spec::ScenarioC),
        Kind::Graph => graph(field).map(Spec::SpelledOut),
        Kind::Gml => {
            Err(kind.error("`gml` comes later: spell the nodes and links out in a `graph`"))
        }
    }
}

/// The keys of a topology between one server and one client.
fn bottlenecks<'a>(field: &Field<'a>) -> Result<Table<'a>, Error> {
    field.table(&[
        "kind", "rate", "rtt", "queue", "paths", "access", "loss", "reorder", "trace", "down",
    ])
}

/// How many paths there are: as many as a key lists, or `paths`, or as connections want.
fn count(table: &Table<'_>, lists: &[&str], wanted: u32) -> Result<usize, Error> {
    let paths = table.get("paths");
    let mut count = paths
        .map(|paths| paths.small(1..=MOST_PATHS))
        .transpose()?
        .map(|n| ("paths", n as usize));
    for key in lists {
        let Some(list) = table.get(key).filter(Field::is_list) else {
            continue;
        };
        let items = list.list()?.len();
        match count {
            _ if items == 0 || items > MOST_PATHS as usize => {
                return Err(list.error(format!(
                    "{items} items: 1 to {MOST_PATHS} is possible, one a path"
                )));
            }
            Some((other, paths)) if paths != items => {
                return Err(list.error(format!("{items} items, but `{other}` says {paths} paths")));
            }
            _ => count = Some((key, items)),
        }
    }
    Ok(count.map_or(wanted as usize, |(_, paths)| paths))
}

/// What a key says of a path: an item of its list, or itself for all.
fn of_path<'a>(field: Field<'a>, path: usize) -> Result<Field<'a>, Error> {
    if !field.is_list() {
        return Ok(field);
    }
    let mut items = field.list()?;
    if path < items.len() {
        Ok(items.swap_remove(path))
    } else {
        Err(field.error("too few items"))
    }
}

fn rtt(table: &Table<'_>, path: usize) -> Result<Span, Error> {
    of_path(table.need("rtt", "rtt = \"70ms\"")?, path)?.time(Span::ZERO..=LONGEST_DELAY)
}

fn need_rate(table: &Table<'_>) -> Result<(), Error> {
    match table.get("rate").or_else(|| table.get("trace")) {
        Some(_) => Ok(()),
        None => Err(table.missing("rate", "rate = \"5Mbit\"")),
    }
}

fn shared(field: &Field<'_>, wanted: u32) -> Result<SharedBottleneck, Error> {
    let table = bottlenecks(field)?;
    need_rate(&table)?;
    // Outages are a list by themselves.
    for key in link::KEYS.into_iter().filter(|key| *key != "down") {
        if let Some(list) = table.get(key).filter(Field::is_list) {
            return Err(list.error("one bottleneck has one, not a list"));
        }
    }
    let paths = count(&table, &["rtt"], wanted)?;
    Ok(SharedBottleneck {
        bottleneck: link::properties(&table, Ok)?,
        rtts: (0..paths)
            .map(|path| rtt(&table, path))
            .collect::<Result<_, _>>()?,
        access: access(&table)?,
    })
}

fn non_shared(field: &Field<'_>, wanted: u32) -> Result<NonSharedBottleneck, Error> {
    let table = bottlenecks(field)?;
    need_rate(&table)?;
    let lists = ["rtt", "rate", "queue", "loss", "reorder", "trace", "down"];
    let path = |path| -> Result<PathSpec, Error> {
        Ok(PathSpec {
            bottleneck: link::properties(&table, |field| of_path(field, path))?,
            rtt: rtt(&table, path)?,
        })
    };
    Ok(NonSharedBottleneck {
        paths: (0..count(&table, &lists, wanted)?)
            .map(path)
            .collect::<Result<_, _>>()?,
        access: access(&table)?,
    })
}

fn access(table: &Table<'_>) -> Result<Option<Access>, Error> {
    let Some(field) = table.get("access") else {
        return Ok(None);
    };
    let table = field.table(&["rate", "delay", "queue"])?;
    let rate = table.need("rate", "rate = \"100Mbit\"")?.rate()?;
    Ok(Some(Access {
        rate,
        delay: table
            .need("delay", "delay = \"10ms\"")?
            .time(Span::ZERO..=LONGEST_DELAY)?,
        queue: link::queue(&table.need("queue", "queue = 1000")?)?,
    }))
}

fn fat_tree(field: &Field<'_>) -> Result<FatTree, Error> {
    let table = field.table(&["kind", "k", "rate", "core_rate", "delay", "rtt", "queue"])?;
    let rate = table.need("rate", "rate = \"100Mbit\"")?.rate()?;
    let delay = match table.get("rtt") {
        Some(rtt) => {
            table.refuse(&["delay"], "`rtt` says it already: give one of them")?;
            let rtt = rtt.time(Span::ZERO..=LONGEST_DELAY)?;
            Span::from_nanos(rtt.as_nanos() / FatTree::LONGEST_ROUND_TRIP)
        }
        None => table
            .need("delay", "delay = \"100us\"` or `rtt = \"5ms\"")?
            .time(Span::ZERO..=LONGEST_DELAY)?,
    };
    Ok(FatTree {
        k: table.need("k", "k = 4")?.small(2..=FatTree::LARGEST)?,
        rate,
        core_rate: table.get("core_rate").map(|rate| rate.rate()).transpose()?,
        delay,
        queue: link::queue(&table.need("queue", "queue = 100")?)?,
    })
}

/// What a key says of each bottleneck of a scenario of the draft: the items of its list, or itself for all.
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
    let items = items.map_err(|items: Vec<_>| {
        let (given, names) = (items.len(), names.join(", "));
        field.error(format!("{given} items: {N} are wanted, for {names}"))
    })?;
    let read: Vec<T> = items.iter().map(read).collect::<Result<_, _>>()?;
    Ok(read
        .try_into()
        .unwrap_or_else(|_| unreachable!("as many as items")))
}

/// The queue of each bottleneck of a scenario of the draft.
fn draft_queues<const N: usize>(table: &Table<'_>, names: [&str; N]) -> Result<[Queue; N], Error> {
    match table.get("queue") {
        Some(queue) => of_bottlenecks(&queue, names, |queue| link::queue_or(queue, "red")),
        None => Ok([(); N].map(|()| Queue::RedForRate(RedForRate::default()))),
    }
}

/// The rates of the bottlenecks as links, if `rate` says them in place of these keys.
fn draft_rates<const N: usize>(
    table: &Table<'_>,
    keys: [&str; N],
    names: [&str; N],
) -> Result<Option<[Rate; N]>, Error> {
    let Some(rate) = table.get("rate") else {
        return Ok(None);
    };
    table.refuse(&keys, "`rate` says it already: give one of them")?;
    of_bottlenecks(&rate, names, Field::rate).map(Some)
}

fn users(table: &Table<'_>, key: &str) -> Result<u32, Error> {
    table.need(key, &format!("{key} = 10"))?.small(1..=100_000)
}

fn need_rate_of(table: &Table<'_>, key: &str) -> Result<Rate, Error> {
    let example = format!("{key} = \"1Mbit\"` or `rate = \"10Mbit\"");
    table.need(key, &example)?.rate()
}

/// Of scenarios A and C, whose bottlenecks have these names.
fn two_kinds(field: &Field<'_>, names: [&str; 2]) -> Result<TwoKinds, Error> {
    let table = field.table(&["kind", "n1", "n2", "c1", "c2", "rate", "rtt", "queue"])?;
    let keys = ["c1", "c2"];
    let [c1, c2] = match draft_rates(&table, keys, names)? {
        Some(rates) => rates.map(Capacity::Link),
        None => [
            Capacity::PerUser(need_rate_of(&table, keys[0])?),
            Capacity::PerUser(need_rate_of(&table, keys[1])?),
        ],
    };
    Ok(TwoKinds {
        n1: users(&table, "n1")?,
        n2: users(&table, "n2")?,
        c1,
        c2,
        rtt: rtt(&table, 0)?,
        queues: draft_queues(&table, names)?,
    })
}

fn scenario_b(field: &Field<'_>) -> Result<ScenarioB, Error> {
    let table = field.table(&[
        "kind", "users", "cx", "cy", "cz", "ct", "rate", "rtt", "queue",
    ])?;
    let (keys, names) = (["cx", "cy", "cz", "ct"], ["X", "Y", "Z", "T"]);
    let [cx, cy, cz, ct] = match draft_rates(&table, keys, names)? {
        Some(rates) => rates,
        None => [
            need_rate_of(&table, keys[0])?,
            need_rate_of(&table, keys[1])?,
            need_rate_of(&table, keys[2])?,
            need_rate_of(&table, keys[3])?,
        ],
    };
    Ok(ScenarioB {
        users: users(&table, "users")?,
        cx,
        cy,
        cz,
        ct,
        rtt: rtt(&table, 0)?,
        queues: draft_queues(&table, names)?,
    })
}

fn graph(field: &Field<'_>) -> Result<SpelledOut, Error> {
    let table = field.table(&["kind", "hosts", "routers", "link", "paths"])?;
    let names = |field: Field<'_>| -> Result<Vec<String>, Error> {
        field
            .list()?
            .iter()
            .map(|name| name.name().map(String::from))
            .collect()
    };
    let links = table
        .need("link", "[[topology.link]]` with `from` and `to")?
        .list()?;
    let mut paths = Vec::new();
    if let Some(named) = table.get("paths") {
        for (name, list) in named.entries()? {
            let nodes = list
                .list()?
                .into_iter()
                .map(names)
                .collect::<Result<_, _>>()?;
            paths.push((name.into(), nodes));
        }
    }
    Ok(SpelledOut {
        hosts: names(table.need("hosts", "hosts = [\"server\", \"client\"]")?)?,
        routers: table.get("routers").map_or(Ok(Vec::new()), names)?,
        links: links.iter().map(spelled_link).collect::<Result<_, _>>()?,
        paths,
    })
}

fn spelled_link(field: &Field<'_>) -> Result<SpelledLink, Error> {
    let mut keys = vec!["name", "from", "to", "delay", "one_way"];
    keys.extend(link::KEYS);
    let table = field.table(&keys)?;
    Ok(SpelledLink {
        name: table
            .get("name")
            .map(|name| name.name().map(String::from))
            .transpose()?,
        from: table.need("from", "from = \"server\"")?.name()?.into(),
        to: table.need("to", "to = \"client\"")?.name()?.into(),
        properties: Properties {
            delay: match table.get("delay") {
                Some(delay) => delay.time(Span::ZERO..=LONGEST_DELAY)?,
                None => Span::ZERO,
            },
            ..link::properties(&table, Ok)?
        },
        one_way: table
            .get("one_way")
            .map_or(Ok(false), |field| field.boolean())?,
    })
}
