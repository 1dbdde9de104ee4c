//! `[topology]`: kinds of network and their keys.

use netsim::Span;
use topology::{FatTree, NonSharedBottleneck, PathSpec, Properties, SharedBottleneck, Spec};

use super::limits::{LONGEST_DELAY, MAX_PATHS};
use super::table::{Field, Table};
use super::{draft, graph, link, map};
use crate::error::Error;

/// Kinds of network.
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

/// Keys of links that stand for many: an outage or a detour of all at once is no network.
const IN_EACH_LINK: [&str; 5] = ["rate", "queue", "loss", "reorder", "jitter"];

/// Reads the topology; `paths` is the number of paths of the connections, for a topology without one.
pub(super) fn read(field: &Field<'_>, paths: u32) -> Result<Spec, Error> {
    let Some(kind) = field.peek("kind") else {
        return Err(match field.is_table() {
            true => field.missing("kind", "kind = \"shared-bottleneck\""),
            false => field.wrong_type("a table"),
        });
    };
    match kind.choice(KINDS)? {
        Kind::Shared => shared(field, paths).map(Spec::SharedBottleneck),
        Kind::NonShared => non_shared(field, paths).map(Spec::NonSharedBottleneck),
        Kind::FatTree => fat_tree(field).map(Spec::FatTree),
        Kind::ScenarioA => draft::two_kinds(field, ["R1", "R2"]).map(Spec::ScenarioA),
        Kind::ScenarioB => draft::scenario_b(field).map(Spec::ScenarioB),
        Kind::ScenarioC => draft::two_kinds(field, ["AP1", "AP2"]).map(Spec::ScenarioC),
        Kind::Graph => graph::read(field).map(Spec::SpelledOut),
        Kind::Gml => map::read(field).map(Spec::Map),
    }
}

/// The table of a topology between one server and one client.
fn bottlenecks<'a>(field: &Field<'a>) -> Result<Table<'a>, Error> {
    let keys = ["kind", "rtt", "paths", "names", "access"];
    field.table(&[&keys[..], &link::KEYS].concat())
}

/// `names`: names of the paths; empty without the key, or for a topology of another kind, which refuses the key.
pub(super) fn path_names(field: &Field<'_>, spec: &Spec) -> Result<Vec<String>, Error> {
    let Some(field) = field.peek("names") else {
        return Ok(Vec::new());
    };
    let paths = match spec {
        Spec::SharedBottleneck(spec) => spec.rtts.len(),
        Spec::NonSharedBottleneck(spec) => spec.paths.len(),
        _ => return Ok(Vec::new()),
    };
    let name = |name: &Field<'_>| name.name().map(String::from);
    let names = field
        .list()?
        .iter()
        .map(name)
        .collect::<Result<Vec<String>, Error>>()?;
    match names.len() == paths {
        true => Ok(names),
        false => Err(field.error(format!(
            "{} names, but there are {paths} paths",
            names.len()
        ))),
    }
}

/// Number of paths: the length of a list, or `paths`, or the number of paths of the connections.
fn count(table: &Table<'_>, lists: &[&str], default: u32) -> Result<usize, Error> {
    let paths = table.get("paths");
    let mut count = paths
        .map(|paths| paths.integer_u32(1..=MAX_PATHS))
        .transpose()?
        .map(|n| ("paths", n as usize));
    for key in lists {
        let Some(list) = table.get(key).filter(Field::is_list) else {
            continue;
        };
        let items = list.list()?.len();
        match count {
            _ if items == 0 || items > MAX_PATHS as usize => {
                return Err(list.error(format!(
                    "{items} items: 1 to {MAX_PATHS} are possible, one for each path"
                )));
            }
            Some((other, paths)) if paths != items => {
                return Err(list.error(format!("{items} items, but `{other}` gives {paths} paths")));
            }
            _ => count = Some((key, items)),
        }
    }
    Ok(count.map_or(default as usize, |(_, paths)| paths))
}

fn require_rate(table: &Table<'_>) -> Result<(), Error> {
    table.require("rate", "rate = \"5Mbit\"").map(drop)
}

fn shared(field: &Field<'_>, paths: u32) -> Result<SharedBottleneck, Error> {
    let table = bottlenecks(field)?;
    require_rate(&table)?;
    // Outages are a list also for one link.
    for key in link::KEYS.into_iter().filter(|key| *key != "down") {
        if let Some(list) = table.get(key).filter(Field::is_list) {
            return Err(list.error("a shared bottleneck has one value, not a list"));
        }
    }
    let paths = count(&table, &["rtt"], paths)?;
    Ok(SharedBottleneck {
        bottleneck: link::properties(&table, Ok)?,
        rtts: (0..paths)
            .map(|path| link::rtt(&table, path))
            .collect::<Result<_, _>>()?,
        access: access(&table)?,
    })
}

fn non_shared(field: &Field<'_>, paths: u32) -> Result<NonSharedBottleneck, Error> {
    let table = bottlenecks(field)?;
    require_rate(&table)?;
    let lists = [
        "rtt", "rate", "queue", "loss", "reorder", "jitter", "down", "detour",
    ];
    let path = |path| -> Result<PathSpec, Error> {
        Ok(PathSpec {
            bottleneck: link::properties(&table, |field| link::of_path(field, path))?,
            rtt: link::rtt(&table, path)?,
        })
    };
    Ok(NonSharedBottleneck {
        paths: (0..count(&table, &lists, paths)?)
            .map(path)
            .collect::<Result<_, _>>()?,
        access: access(&table)?,
    })
}

fn access(table: &Table<'_>) -> Result<Option<Properties>, Error> {
    let Some(field) = table.get("access") else {
        return Ok(None);
    };
    let table = field.table(&[&["delay"], &IN_EACH_LINK[..]].concat())?;
    table.require("rate", "rate = \"100Mbit\"")?;
    let delay = table.require("delay", "delay = \"10ms\"")?;
    let delay = delay.time(Span::ZERO..=LONGEST_DELAY)?;
    let link = link::properties(&table, Ok)?;
    Ok(Some(Properties { delay, ..link }))
}

fn fat_tree(field: &Field<'_>) -> Result<FatTree, Error> {
    let keys = ["kind", "k", "core_rate", "delay", "rtt"];
    let table = field.table(&[&keys[..], &IN_EACH_LINK].concat())?;
    table.require("rate", "rate = \"100Mbit\"")?;
    let delay = match table.get("rtt") {
        Some(rtt) => {
            table.refuse(&["delay"], "use `rtt` or `delay`, not both")?;
            let rtt = rtt.time(Span::ZERO..=LONGEST_DELAY)?;
            Span::from_nanos(rtt.as_nanos() / FatTree::LONGEST_ROUND_TRIP)
        }
        None => table
            .require("delay", "delay = \"100us\"` or `rtt = \"5ms\"")?
            .time(Span::ZERO..=LONGEST_DELAY)?,
    };
    let link = Properties {
        delay,
        ..link::properties(&table, Ok)?
    };
    let core = match table.get("core_rate") {
        Some(rate) => link.clone().with_rates(link::rates(&rate)?),
        None => link.clone(),
    };
    Ok(FatTree {
        k: table
            .require("k", "k = 4")?
            .integer_u32(2..=FatTree::LARGEST)?,
        link,
        core,
    })
}
