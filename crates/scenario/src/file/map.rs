//! `kind = "gml"`: a map in a file, and the properties of its links.

use netsim::{Rate, Span};
use topology::{Loss, Map, MapEdge, MapSpec, Properties, distance_km};

use super::limits::LONGEST_DELAY;
use super::table::{Field, Table};
use super::{graph, link, text};
use crate::error::{Error, nearest_node, without_quotes};

/// Reads the table of a map. What a key gives holds for all links; without the key each link has what the file gives it.
pub(super) fn read(field: &Field<'_>) -> Result<MapSpec, Error> {
    let mut keys = vec![
        "kind",
        "file",
        "both_ways",
        "delay",
        "hosts",
        "link",
        "change",
        "paths",
    ];
    keys.extend(link::KEYS);
    let table = field.table(&keys)?;
    let mut map = map(&table.require("file", "file = \"Nsfnet.gml\"")?)?;
    let mut unused_keys = Vec::new();
    if let Some(both_ways) = table.get("both_ways") {
        if both_ways.boolean()? && map.both_ways() == 0 {
            unused_keys.push("both_ways".into());
        }
    }
    let delays = delays(&table, &map, &mut unused_keys)?;
    let mut properties = properties(&table, &map, delays)?;
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
        unused_keys,
    })
}

/// The map in a file whose name is relative to the folder of the scenario.
fn map(field: &Field<'_>) -> Result<Map, Error> {
    let path = field.path_beside()?;
    let bytes = text::read_bytes(&path).map_err(|error| {
        let problem = "the name is relative to the folder of the scenario file";
        field.error(format!("{error}; {problem}"))
    })?;
    Map::read(&bytes).map_err(|error| {
        let place = format!("{}:{}", path.display(), error.line);
        field.error(format!("{place}: {}", without_quotes(&error.problem)))
    })
}

/// The properties of each edge, with these delays.
fn properties<'a>(
    table: &Table<'a>,
    map: &Map,
    delays: Vec<Span>,
) -> Result<Vec<Properties>, Error> {
    let rate = table.get("rate");
    let otherwise = rate.as_ref().and_then(|rate| rate.peek("otherwise"));
    if let (Some(rate), Some(_)) = (&rate, &otherwise) {
        rate.table(&["otherwise"])?;
    }
    let of_file = rate.is_none() || otherwise.is_some();
    // `rate = { otherwise }` is read as `rate`.
    let at = |field: Field<'a>| match &otherwise {
        Some(otherwise) if field.peek("otherwise").is_some() => Ok(otherwise.clone()),
        _ => Ok(field),
    };
    let otherwise = otherwise.as_ref().map(Field::rate).transpose()?;
    let rates: Vec<Option<Rate>> = (map.edges.iter())
        .map(|edge| edge.rate.map(Rate::from_bits_per_second).or(otherwise))
        .collect();
    if let Some(edge) = rates.iter().position(Option::is_none).filter(|_| of_file) {
        let example = "rate = \"10Mbit\"` or `rate = { otherwise = \"10Mbit\" }";
        let error = table.missing("rate", example);
        return Err(of_edge(error, map, edge, "speed"));
    }
    table.require("queue", "queue = 100")?;
    // Any rate: each link gets its own below.
    let before = Properties {
        rate: of_file.then(|| Rate::from_bits_per_second(1)),
        ..Properties::line(Span::ZERO)
    };
    let common = link::changed(table, at, &before)?;
    let has_loss = table.get("loss").is_some();
    let each = map.edges.iter().zip(delays).zip(rates);
    Ok(each
        .map(|((edge, delay), rate)| {
            let mut properties = Properties {
                delay,
                ..common.clone()
            };
            let up = properties.up.as_deref_mut();
            let up = up.map(|up| (&mut up.rate, &mut up.loss));
            let down = (&mut properties.rate, &mut properties.loss);
            for (rate_of_link, loss) in up.into_iter().chain([down]) {
                if of_file {
                    *rate_of_link = rate;
                }
                if !has_loss {
                    *loss = edge.loss.map(Loss::Random);
                }
            }
            properties
        })
        .collect())
}

/// The error of a missing key, because an edge lacks what the key gives.
fn of_edge(missing: Error, map: &Map, edge: usize, what: &str) -> Error {
    let names = map.names();
    let MapEdge { source, target, .. } = map.edges[edge];
    let problem = format!(
        "{}, because the edge between `{}` and `{}` has no {what} in the map",
        missing.problem, names[source], names[target]
    );
    Error { problem, ..missing }
}

/// The delay of each edge: one for all; by the distance of its ends along a great circle, `{ per_km, otherwise }`; or that of the file.
fn delays(table: &Table<'_>, map: &Map, unused_keys: &mut Vec<String>) -> Result<Vec<Span>, Error> {
    let range = Span::ZERO..=LONGEST_DELAY;
    let field = table.get("delay");
    if let Some(field) = field.as_ref().filter(|field| !field.is_table()) {
        if !field.is_text() {
            return Err(field.wrong_type("a time like \"5ms\" or `{ per_km = \"5us\" }`"));
        }
        return Ok(vec![field.time(range)?; map.edges.len()]);
    }
    let given = field.map(|field| field.table(&["per_km", "otherwise"]));
    let given = given.transpose()?;
    let time = |key| -> Result<Option<Span>, Error> {
        let field = given.as_ref().and_then(|given| given.get(key));
        field.map(|field| field.time(range.clone())).transpose()
    };
    let (per_km, otherwise) = (time("per_km")?, time("otherwise")?);
    let place = |node: usize| map.nodes[node].place;
    let by_distance = |edge: &MapEdge| {
        let km = distance_km(place(edge.source), place(edge.target))?;
        Some(Span::from_nanos(
            (km * per_km?.as_nanos() as f64).round() as u64
        ))
    };
    if per_km.is_some() && !map.edges.iter().any(|edge| by_distance(edge).is_some()) {
        unused_keys.push("delay.per_km".into());
    }
    let delay = |(index, edge): (usize, &MapEdge)| {
        let delay = by_distance(edge).or(edge.delay).or(otherwise);
        let delay = delay.map(|delay| delay.min(LONGEST_DELAY));
        delay.ok_or_else(|| {
            let without = [edge.source, edge.target].into_iter().find(|node| place(*node).is_none());
            match (&given, without) {
                (Some(given), Some(node)) if per_km.is_some() => given.error(format!(
                    "`{}` has no coordinates in the map: add `otherwise = \"5ms\"`, the delay of its links",
                    map.names()[node]
                )),
                _ => {
                    let example = "delay = \"5ms\"` or `delay = { per_km = \"5us\" }";
                    of_edge(table.missing("delay", example), map, index, "`latency`")
                }
            }
        })
    };
    map.edges.iter().enumerate().map(delay).collect()
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
