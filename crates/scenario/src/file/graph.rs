//! `kind = "graph"`: nodes, links and paths one by one. Maps have the same keys for hosts beside them.

use netsim::Span;
use topology::{Properties, SpelledLink, SpelledOut};

use super::limits::LONGEST_DELAY;
use super::link;
use super::table::{Field, Table};
use crate::error::Error;

/// Reads the table of a graph.
pub(super) fn read(field: &Field<'_>) -> Result<SpelledOut, Error> {
    let table = field.table(&["kind", "hosts", "routers", "link", "paths"])?;
    let links = table
        .require("link", "[[topology.link]]` with `from` and `to")?
        .list()?;
    Ok(SpelledOut {
        hosts: names(table.require("hosts", "hosts = [\"server\", \"client\"]")?)?,
        routers: table.get("routers").map_or(Ok(Vec::new()), names)?,
        links: links.iter().map(spelled_link).collect::<Result<_, _>>()?,
        paths: named_paths(&table)?,
    })
}

/// A list of names.
pub(super) fn names(field: Field<'_>) -> Result<Vec<String>, Error> {
    let items = field.list()?;
    items
        .iter()
        .map(|name| name.name().map(String::from))
        .collect()
}

/// Sets of paths by name, each path as a list of nodes.
type PathSets = Vec<(String, Vec<Vec<String>>)>;

/// `paths`: sets of paths by name, each path as a list of nodes.
pub(super) fn named_paths(table: &Table<'_>) -> Result<PathSets, Error> {
    let Some(named) = table.get("paths") else {
        return Ok(Vec::new());
    };
    let set = |(name, list): (&str, Field<'_>)| -> Result<_, Error> {
        let paths = list.list()?.into_iter().map(names);
        Ok((name.into(), paths.collect::<Result<_, _>>()?))
    };
    named.entries()?.into_iter().map(set).collect()
}

/// A link of the key `link`.
pub(super) fn spelled_link(field: &Field<'_>) -> Result<SpelledLink, Error> {
    let mut keys = vec!["name", "from", "to", "delay", "one_way"];
    keys.extend(link::KEYS);
    let table = field.table(&keys)?;
    Ok(SpelledLink {
        name: table
            .get("name")
            .map(|name| name.name().map(String::from))
            .transpose()?,
        from: table.require("from", "from = \"server\"")?.name()?.into(),
        to: table.require("to", "to = \"client\"")?.name()?.into(),
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
