//! Reads a scenario from TOML.
//!
//! The file becomes a tree whose values know their lines; overrides change the tree; then each part reads its keys.
//! What only the whole can tell (hosts, paths, how many connections) is checked last, on the graph itself.

mod application;
mod connection;
mod link;
mod node;
pub(crate) mod overrides;
mod place;
mod table;
mod topology;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use ::topology::{Graph, Spec};
use netsim::Span;

use self::node::{LONGEST_FILE, Node};
use self::table::{Field, Table};
use crate::error::Place;
use crate::{Application, ConnectionSpec, Error, Scenario, outcome, units};

/// The longest run, and the longest of all times: a year.
const LONGEST: Span = Span::from_secs(365 * 86_400);

/// The shortest time that is more than none.
const INSTANT: Span = Span::from_nanos(1);

/// The most subflows in all, of connections one after another or at once; so, too, the most connections.
const MOST_FLOWS: u64 = 250_000;

/// The most requests of all connections together: what they wait for is drawn before a run.
const MOST_REQUESTS: u64 = 10_000_000;

/// The widest spread of round-trip times: they stay above 0.
const WIDEST_SPREAD: f64 = 0.9;

/// The keys of a scenario.
const KEYS: &[&str] = &[
    "title",
    "stop",
    "warmup",
    "rtt_spread",
    "topology",
    "connection",
];

pub(crate) fn parse(
    text: &str,
    file: &Path,
    overrides: &[impl AsRef<str>],
) -> Result<Scenario, Error> {
    let mut root = node::read(text, file)?;
    for text in overrides {
        overrides::apply(&mut root, text.as_ref())?;
    }
    scenario(&root, file)
}

fn scenario(root: &Node, file: &Path) -> Result<Scenario, Error> {
    let top = Field::root(file, root).table(KEYS)?;
    let title = match top.get("title") {
        Some(title) => title.text()?.into(),
        None => file.display().to_string(),
    };
    let stop = top
        .need("stop", "stop = \"30s\"")?
        .time(INSTANT..=LONGEST)?;
    let warmup = match top.get("warmup") {
        Some(field) => match field.time(Span::ZERO..=LONGEST)? {
            warmup if warmup < stop => warmup,
            warmup => {
                let [warmup, stop] = [warmup, stop].map(units::show_time);
                let problem = format!("{warmup}: less than `stop` is wanted, which is {stop}");
                return Err(field.error(problem));
            }
        },
        None => Span::ZERO,
    };
    let rtt_spread = match top.get("rtt_spread") {
        Some(field) => match field.share()? {
            spread if spread <= WIDEST_SPREAD => spread,
            _ => return Err(field.error(format!("at most {WIDEST_SPREAD} is possible"))),
        },
        None => 0.0,
    };
    let connections = read_connections(&top, stop)?;
    let example = "[topology]` with `kind = \"shared-bottleneck\"";
    let field = top.need("topology", example)?;
    let wanted = connections.iter().map(connection::Read::paths).max();
    let topology = topology::read(&field, wanted.unwrap_or(1))?;
    let graph = build(&topology, root, file)?;
    let connections = finish(connections, &graph)?;
    Ok(Scenario {
        title,
        stop,
        warmup,
        topology,
        rtt_spread,
        connections,
    })
}

fn read_connections<'a>(top: &Table<'a>, stop: Span) -> Result<Vec<connection::Read<'a>>, Error> {
    let example = "[[connection]]` with `protocol = \"mptcp\"";
    let list = top.need("connection", example)?;
    let items = list.list()?;
    if items.is_empty() {
        return Err(list.error("at least one connection is needed"));
    }
    items
        .iter()
        .map(|item| connection::read(item, stop))
        .collect()
}

/// The graph, to be checked; errors stand at the key that they name.
fn build(spec: &Spec, root: &Node, file: &Path) -> Result<Graph, Error> {
    spec.build().map_err(|error| {
        let error = Error::from(error);
        let place = match &root.locate(&error.key).place {
            // The first value of a topology that has no header of its own.
            Place::Whole => Place::Line(1),
            place => place.clone(),
        };
        Error {
            file: file.display().to_string(),
            place,
            ..error
        }
    })
}

/// Gives each connection what depends on the network and on the others: its name, its number.
fn finish(
    connections: Vec<connection::Read<'_>>,
    graph: &Graph,
) -> Result<Vec<ConnectionSpec>, Error> {
    let mut finished: Vec<ConnectionSpec> = Vec::new();
    let mut titles = BTreeSet::new();
    let (mut subflows, mut requests) = (0u64, 0u64);
    for read in connections {
        let (table, mut spec) = place::finish(read, graph)?;
        let connections = place::connections(&spec, graph);
        subflows = subflows.saturating_add(connections * u64::from(spec.subflows));
        if subflows > MOST_FLOWS {
            return Err(table.error(format!(
                "{subflows} subflows in all: at most {MOST_FLOWS} are possible"
            )));
        }
        if let Application::Requests { count, .. } = spec.application {
            requests += connections * u64::from(count);
        }
        if requests > MOST_REQUESTS {
            return Err(table.error(format!(
                "{requests} requests in all: at most {MOST_REQUESTS} are possible"
            )));
        }
        spec.name = name(&table, &spec.name, connections as u32, &mut titles)?;
        finished.push(spec);
    }
    Ok(finished)
}

/// A name with which each of so many connections has a title of its own, for outcomes and traces tell them apart by it.
fn name(
    table: &Table<'_>,
    wanted: &str,
    connections: u32,
    taken: &mut BTreeSet<String>,
) -> Result<String, Error> {
    let titles = |name: &str| -> Vec<String> {
        (1..=connections).map(|n| outcome::title(name, n)).collect()
    };
    for number in 1.. {
        let name = outcome::title(wanted, number);
        let titles = titles(&name);
        let Some(same) = titles.iter().find(|title| taken.contains(*title)) else {
            taken.extend(titles);
            return Ok(name);
        };
        if let Some(field) = table.get("name") {
            return Err(field.error(format!("there is another `{same}`")));
        }
    }
    unreachable!("no file has so many connections")
}

/// The text of a file, if it is a file and not too long.
pub(crate) fn read(path: &Path) -> Result<String, Error> {
    let wrong = |problem: String| Error {
        file: path.display().to_string(),
        place: Place::Whole,
        key: String::new(),
        problem,
    };
    let refused = |error: std::io::Error| wrong(error.to_string());
    let opened = File::open(path).map_err(refused)?;
    if !opened.metadata().map_err(refused)?.is_file() {
        return Err(wrong("this is no file".into()));
    }
    let mut text = Vec::new();
    let most = LONGEST_FILE as u64 + 1;
    opened.take(most).read_to_end(&mut text).map_err(refused)?;
    if text.len() > LONGEST_FILE {
        return Err(wrong(format!("longer than {LONGEST_FILE} bytes")));
    }
    String::from_utf8(text).map_err(|_| wrong("this is no text: UTF-8 is wanted".into()))
}
