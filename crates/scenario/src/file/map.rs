//! `kind = "gml"`: a map in a file, and the properties of its links.

use netsim::Span;
use topology::{Map, MapEdge, MapSpec, Properties, distance_km};

use super::limits::LONGEST_DELAY;
use super::table::Field;
use super::{graph, link, text};
use crate::error::{Error, nearest_node, without_quotes};

/// Reads the table of a map.
pub(super) fn read(field: &Field<'_>) -> Result<MapSpec, Error> {
    let mut keys = vec!["kind", "file", "delay", "hosts", "link", "change", "paths"];
    keys.extend(link::KEYS);
    let table = field.table(&keys)?;
    let map = map(&table.require("file", "file = \"Nsfnet.gml\"")?)?;
    table.require("rate", "rate = \"10Mbit\"")?;
    let delays = delays(&table.require("delay", "delay = \"5ms\"")?, &map)?;
    let common = link::properties(&table, Ok)?;
    let mut properties: Vec<Properties> = (delays.into_iter())
        .map(|delay| Properties {
            delay,
            ..common.clone()
        })
        .collect();
    if let Some(changes) = table.get("change") {
        for item in changes.list()? {
            change(&item, &map, &mut properties)?;
        }
    }
    let links = table.get("link").map_or(Ok(Vec::new()), |l| l.list())?;
    Ok(MapSpec {
        properties,
        hosts: table.get("hosts").map_or(Ok(Vec::new()), graph::names)?,
        links: (links.iter())
            .map(graph::spelled_link)
            .collect::<Result<_, _>>()?,
        paths: graph::named_paths(&table)?,
        map,
    })
}

/// The map in a file whose name is relative to the folder of the scenario.
fn map(field: &Field<'_>) -> Result<Map, Error> {
    let path = field.path_beside()?;
    let text = text::read(&path).map_err(|error| {
        let problem = "the name is relative to the folder of the scenario file";
        field.error(format!("{error}; {problem}"))
    })?;
    text.parse::<Map>().map_err(|error| {
        let place = format!("{}:{}", path.display(), error.line);
        field.error(format!("{place}: {}", without_quotes(&error.problem)))
    })
}

/// The delay of each edge: one for all, or `{ per_km, otherwise }`, by the distance of its ends along a great circle.
fn delays(field: &Field<'_>, map: &Map) -> Result<Vec<Span>, Error> {
    let range = Span::ZERO..=LONGEST_DELAY;
    if !field.is_table() {
        if !field.is_text() {
            return Err(field.wrong_type("a time like \"5ms\" or `{ per_km = \"5us\" }`"));
        }
        return Ok(vec![field.time(range)?; map.edges.len()]);
    }
    let table = field.table(&["per_km", "otherwise"])?;
    let per_km = table
        .require("per_km", "per_km = \"5us\"")?
        .time(range.clone())?;
    let otherwise = table.get("otherwise");
    let otherwise = otherwise.map(|field| field.time(range)).transpose()?;
    let names = map.names();
    let delay = |edge: &MapEdge| -> Result<Span, Error> {
        let [source, target] = [edge.source, edge.target].map(|node| map.nodes[node].place);
        match (distance_km(source, target), otherwise) {
            (Some(km), _) => {
                let nanos = (km * per_km.as_nanos() as f64).round() as u64;
                Ok(Span::from_nanos(nanos).min(LONGEST_DELAY))
            }
            (None, Some(otherwise)) => Ok(otherwise),
            (None, None) => {
                let without = if source.is_none() {
                    edge.source
                } else {
                    edge.target
                };
                Err(field.error(format!(
                    "`{}` has no coordinates in the map: add `otherwise = \"5ms\"`, the delay of its links",
                    names[without]
                )))
            }
        }
    };
    map.edges.iter().map(delay).collect()
}

/// Changes the properties of the edges between two nodes.
fn change(field: &Field<'_>, map: &Map, properties: &mut [Properties]) -> Result<(), Error> {
    let mut keys = vec!["between", "delay"];
    keys.extend(link::KEYS);
    let table = field.table(&keys)?;
    let between = table.require("between", "between = [\"A\", \"B\"]")?;
    let ends = between.list()?;
    let [one, other] = &ends[..] else {
        return Err(between.error(format!("{} nodes: must be two", ends.len())));
    };
    let ends = [node(one, map)?, node(other, map)?];
    let edges = map.edges.iter().zip(properties);
    let edges = edges.filter(|(edge, _)| {
        [edge.source, edge.target] == ends || [edge.target, edge.source] == ends
    });
    let mut found = false;
    for (_, properties) in edges {
        found = true;
        let mut changed = link::changed(&table, Ok, properties)?;
        if let Some(delay) = table.get("delay") {
            changed.delay = delay.time(Span::ZERO..=LONGEST_DELAY)?;
        }
        *properties = changed;
    }
    match found {
        true => Ok(()),
        false => Err(between.error("the map has no edge between these nodes")),
    }
}

/// The node of the map that a value names.
fn node(field: &Field<'_>, map: &Map) -> Result<usize, Error> {
    let name = field.name()?;
    let names = map.names();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    match map.find(name)[..] {
        [node] => Ok(node),
        [] => Err(field.unknown_with(name, "node", &names, nearest_node)),
        ref several => {
            let several: Vec<&str> = several.iter().map(|node| names[*node]).collect();
            Err(field.ambiguous(name, &several))
        }
    }
}
