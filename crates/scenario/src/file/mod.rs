//! Reads a scenario from TOML.
//!
//! The file becomes a tree of values with their lines. Overrides change the tree. Then each part reads its keys. Hosts, paths
//! and the number of connections are checked last, on the graph.

mod application;
mod connection;
mod draft;
mod endpoint;
mod graph;
mod limits;
mod link;
mod map;
mod node;
pub(crate) mod overrides;
mod paths;
mod subflows;
mod table;
pub(crate) mod text;
mod topology;

use std::collections::BTreeSet;
use std::path::Path;

use ::topology::{Graph, Spec};
use netsim::Span;

use self::limits::{INSTANT, LONGEST, MAX_FLOWS};
use self::node::Node;
use self::table::{Field, Table};
use crate::connection::{Application, ConnectionSpec, Length};
use crate::error::{Error, Location, controls_a_terminal, one_line};
use crate::scenario::Scenario;
use crate::{outcome, units};

/// Largest number of requests of all connections: their gaps are drawn before a run.
const MAX_REQUESTS: u64 = 10_000_000;

/// Largest spread of round-trip times, which stay above 0.
const MAX_SPREAD: f64 = 0.9;

/// Keys of a scenario.
const KEYS: &[&str] = &[
    "title",
    "stop",
    "warmup",
    "rtt_spread",
    "rate_phase",
    "topology",
    "connection",
];

impl Scenario {
    /// Reads the text of a file. `file` is its name, for errors and for the traces beside it.
    ///
    /// # Errors
    /// The first problem, with its line and key.
    pub fn parse(text: &str, file: impl AsRef<Path>) -> Result<Self, Error> {
        Self::parse_with(text, file, &[] as &[&str])
    }

    /// Reads the text of a file, and changes keys before anything is checked. Each override is `KEY=VALUE`.
    ///
    /// A key is a path through the file, with dots: `stop`, `topology.queue.packets`. A connection is given by its name or
    /// by its number from 1: `connection.download.algorithm`, `connection.1.bytes`; `connection.*.algorithm` is all of
    /// them. A new key is added. A value is written as in the file; text needs no quotes.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn parse_with(
        text: &str,
        file: impl AsRef<Path>,
        overrides: &[impl AsRef<str>],
    ) -> Result<Self, Error> {
        parse(text, file.as_ref(), overrides)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`Scenario::parse`], and those of reading.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::load_with(path, &[] as &[&str])
    }

    /// Reads a file, and changes keys: see [`Scenario::parse_with`].
    ///
    /// # Errors
    /// As [`Scenario::load`].
    pub fn load_with(path: impl AsRef<Path>, overrides: &[impl AsRef<str>]) -> Result<Self, Error> {
        let text = text::read(path.as_ref())?;
        Self::parse_with(&text, path, overrides)
    }
}

fn parse(text: &str, file: &Path, overrides: &[impl AsRef<str>]) -> Result<Scenario, Error> {
    scenario(&tree(text, file, overrides)?, file)
}

fn tree(text: &str, file: &Path, overrides: &[impl AsRef<str>]) -> Result<Node, Error> {
    let mut root = node::read(text, file)?;
    for text in overrides {
        overrides::apply(&mut root, text.as_ref())?;
    }
    Ok(root)
}

/// The text of a file with changed keys, without its comments; without a change the text itself.
pub(crate) fn changed_text(
    text: &str,
    file: &Path,
    overrides: &[impl AsRef<str>],
) -> Result<String, Error> {
    if overrides.is_empty() {
        return Ok(text.into());
    }
    let tree = tree(text, file, overrides)?;
    toml::to_string(&tree).map_err(|error| Error {
        file: file.display().to_string(),
        ..Error::whole(error.to_string())
    })
}

fn scenario(root: &Node, file: &Path) -> Result<Scenario, Error> {
    let top = Field::root(file, root).table(KEYS)?;
    let title = match top.get("title") {
        Some(title) => {
            let text = title.text()?;
            if text.chars().any(controls_a_terminal) {
                return Err(title.error("a title has no line breaks and no control characters"));
            }
            text.into()
        }
        None => one_line(&file.display().to_string()),
    };
    let stop = top
        .require("stop", "stop = \"30s\"")?
        .time(INSTANT..=LONGEST)?;
    let warmup = match top.get("warmup") {
        Some(field) => match field.time(Span::ZERO..=LONGEST)? {
            warmup if warmup < stop => warmup,
            warmup => {
                let [warmup, stop] = [warmup, stop].map(units::show_time);
                let problem = format!("{warmup}: must be less than `stop`, which is {stop}");
                return Err(field.error(problem));
            }
        },
        None => Span::ZERO,
    };
    let rtt_spread = match top.get("rtt_spread") {
        Some(field) => match field.share()? {
            spread if spread <= MAX_SPREAD => spread,
            _ => return Err(field.error(format!("at most {MAX_SPREAD} is possible"))),
        },
        None => 0.0,
    };
    let rate_phase = match top.get("rate_phase") {
        Some(field) => application::length(&field, Span::ZERO..=LONGEST)?,
        None => Length::Fixed(Span::ZERO),
    };
    let connections = read_connections(&top, stop)?;
    let example = "[topology]` with `kind = \"shared-bottleneck\"";
    let field = top.require("topology", example)?;
    let paths = connections.iter().map(connection::Unchecked::paths).max();
    let topology = topology::read(&field, paths.unwrap_or(1))?;
    let path_names = topology::path_names(&field, &topology)?;
    let graph = build(&topology, root, file)?;
    let connections = finish(connections, &graph)?;
    Ok(Scenario {
        title,
        stop,
        warmup,
        topology,
        path_names,
        rtt_spread,
        rate_phase,
        connections,
    })
}

fn read_connections<'a>(
    top: &Table<'a>,
    stop: Span,
) -> Result<Vec<connection::Unchecked<'a>>, Error> {
    let example = "[[connection]]` with `protocol = \"mptcp\"";
    let list = top.require("connection", example)?;
    let items = list.list()?;
    if items.is_empty() {
        return Err(list.error("at least one connection is needed"));
    }
    items
        .iter()
        .map(|item| connection::read(item, stop))
        .collect()
}

/// Builds the graph for the checks. An error has the location of its key.
fn build(spec: &Spec, root: &Node, file: &Path) -> Result<Graph, Error> {
    spec.build().map_err(|error| {
        let error = Error::from(error);
        let location = match &root.locate(&error.key).location {
            // A topology without a header of its own begins with its first value.
            Location::File => Location::Line(1),
            location => location.clone(),
        };
        Error {
            file: file.display().to_string(),
            location,
            ..error
        }
    })
}

/// Checks each connection on the network, and sets its count and its unique name.
fn finish(
    connections: Vec<connection::Unchecked<'_>>,
    graph: &Graph,
) -> Result<Vec<ConnectionSpec>, Error> {
    let mut finished: Vec<ConnectionSpec> = Vec::new();
    let mut titles = BTreeSet::new();
    let (mut subflows, mut requests) = (0u64, 0u64);
    for connection::Unchecked { table, mut spec } in connections {
        paths::check(&table, &mut spec, graph)?;
        let connections = spec.flows(graph);
        subflows = subflows.saturating_add(connections * u64::from(spec.subflows));
        if subflows > MAX_FLOWS {
            return Err(table.error(format!(
                "{subflows} subflows in all: at most {MAX_FLOWS} are possible"
            )));
        }
        if let Application::Requests { count, .. } = spec.application {
            requests += connections * u64::from(count);
        }
        if requests > MAX_REQUESTS {
            return Err(table.error(format!(
                "{requests} requests in all: at most {MAX_REQUESTS} are possible"
            )));
        }
        spec.name = name(&table, &spec.name, connections as u32, &mut titles)?;
        finished.push(spec);
    }
    Ok(finished)
}

/// A name with which this many connections have unique titles: outcomes and traces identify connections by title.
fn name(
    table: &Table<'_>,
    name: &str,
    connections: u32,
    taken: &mut BTreeSet<String>,
) -> Result<String, Error> {
    let titles = |name: &str| -> Vec<String> {
        (1..=connections).map(|n| outcome::title(name, n)).collect()
    };
    for number in 1.. {
        let name = outcome::title(name, number);
        let titles = titles(&name);
        let Some(same) = titles.iter().find(|title| taken.contains(*title)) else {
            taken.extend(titles);
            return Ok(name);
        };
        if let Some(field) = table.get("name") {
            return Err(field.error(format!("there is already a `{same}`")));
        }
    }
    unreachable!("no file has so many connections")
}
