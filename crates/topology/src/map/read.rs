//! A map from the entries of a file.

use std::collections::HashMap;

use super::syntax::{Entry, MapError, Value, shown};
use super::{Map, MapEdge, MapNode, Place};

/// Keys of one list.
struct Keys<'a> {
    /// Name of the list, for errors.
    list: &'a str,
    line: usize,
    entries: &'a [Entry],
}

pub(super) fn map(top: &[Entry]) -> Result<Map, MapError> {
    let mut graphs = top.iter().filter(|entry| entry.key == "graph");
    let Some(graph) = graphs.next() else {
        return Err(MapError::new(1, "no `graph [ … ]`: this is no GML file"));
    };
    if let Some(second) = graphs.next() {
        return Err(MapError::new(
            second.line,
            "a second `graph`: a file has one",
        ));
    }
    let keys = Keys::of(graph)?;
    let mut map = Map {
        title: keys.text("label")?.or(keys.text("Network")?),
        is_directed: keys.integer("directed")?.is_some_and(|number| number != 0),
        ..Map::default()
    };
    let mut indices = HashMap::new();
    for entry in keys.all("node") {
        let node = node(&Keys::of(entry)?)?;
        if indices.insert(node.id, map.nodes.len()).is_some() {
            let problem = format!("a second node with the id {}", node.id);
            return Err(MapError::new(entry.line, problem));
        }
        map.nodes.push(node);
    }
    for entry in keys.all("edge") {
        map.edges.push(edge(&Keys::of(entry)?, &indices)?);
    }
    Ok(map)
}

fn node(keys: &Keys<'_>) -> Result<MapNode, MapError> {
    Ok(MapNode {
        id: keys.required("id")?,
        label: keys.text("label")?,
        place: place(keys)?,
    })
}

fn place(keys: &Keys<'_>) -> Result<Option<Place>, MapError> {
    if let (Some(longitude), Some(latitude)) = (keys.number("Longitude")?, keys.number("Latitude")?)
    {
        for (key, degrees, most) in [
            ("Longitude", longitude, 180.0),
            ("Latitude", latitude, 90.0),
        ] {
            if degrees.abs() > most {
                let problem = format!("`{key}` is {degrees}: must be from -{most} to {most}");
                return Err(MapError::new(keys.line, problem));
            }
        }
        return Ok(Some(Place::Globe {
            longitude,
            latitude,
        }));
    }
    let Some(entry) = keys.all("graphics").next() else {
        return Ok(None);
    };
    let graphics = Keys::of(entry)?;
    Ok(match (graphics.number("x")?, graphics.number("y")?) {
        (Some(x), Some(y)) => Some(Place::Plane { x, y }),
        _ => None,
    })
}

fn edge(keys: &Keys<'_>, indices: &HashMap<i64, usize>) -> Result<MapEdge, MapError> {
    let end = |key: &str| -> Result<usize, MapError> {
        let id = keys.required(key)?;
        let unknown = || MapError::new(keys.line, format!("`{key} {id}`: no node has this id"));
        indices.get(&id).copied().ok_or_else(unknown)
    };
    // Some speeds are 0 or not whole.
    let rate = keys.number("LinkSpeedRaw")?.filter(|rate| *rate >= 1.0);
    Ok(MapEdge {
        source: end("source")?,
        target: end("target")?,
        rate: rate.map(|rate| rate.round() as u64),
    })
}

impl<'a> Keys<'a> {
    fn of(entry: &'a Entry) -> Result<Self, MapError> {
        match &entry.value {
            Value::List(entries) => Ok(Self {
                list: &entry.key,
                line: entry.line,
                entries,
            }),
            _ => {
                let problem = format!("`{}` is no list: write `{0} [ … ]`", shown(&entry.key));
                Err(MapError::new(entry.line, problem))
            }
        }
    }

    /// All entries with this key, in the order of the file.
    fn all(&self, key: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.entries.iter().filter(move |entry| entry.key == key)
    }

    /// The first entry with this key.
    fn get(&self, key: &str) -> Option<&'a Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn integer(&self, key: &str) -> Result<Option<i64>, MapError> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match entry.value {
                Value::Integer(number) => Ok(Some(number)),
                _ => Err(wrong(entry, "a whole number")),
            },
        }
    }

    fn required(&self, key: &str) -> Result<i64, MapError> {
        let missing = || {
            let problem = format!("`{}` has no `{key}`", self.list);
            MapError::new(self.line, problem)
        };
        self.integer(key)?.ok_or_else(missing)
    }

    fn number(&self, key: &str) -> Result<Option<f64>, MapError> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match entry.value {
                Value::Integer(number) => Ok(Some(number as f64)),
                Value::Number(number) => Ok(Some(number)),
                // Writers put numbers of unknown origin into quotes.
                Value::Text(ref text) => {
                    Ok(text.parse().ok().filter(|number: &f64| number.is_finite()))
                }
                Value::List(_) => Err(wrong(entry, "a number")),
            },
        }
    }

    /// The value as a text that is not empty; numbers are texts, too.
    fn text(&self, key: &str) -> Result<Option<String>, MapError> {
        let Some(entry) = self.get(key) else {
            return Ok(None);
        };
        let text = match &entry.value {
            Value::Text(text) => text.clone(),
            Value::Integer(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
            Value::List(_) => return Err(wrong(entry, "a text")),
        };
        Ok(Some(text).filter(|text| !text.is_empty()))
    }
}

fn wrong(entry: &Entry, expected: &str) -> MapError {
    MapError::new(
        entry.line,
        format!("`{}` must be {expected}", shown(&entry.key)),
    )
}
