//! A map from the entries of a file.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};

use netsim::Span;

use super::syntax::{Entry, MapError, Value, shown};
use super::{Map, MapEdge, MapNode, Place};

/// Keys of one list.
struct Keys<'a> {
    /// Name of the list, for errors.
    list: &'a str,
    line: usize,
    entries: &'a [Entry],
    /// Keys without a value that is read so far.
    unread: RefCell<BTreeSet<&'a str>>,
}

/// Keys of a longitude and of a latitude, in any case.
const LONGITUDE: [&str; 4] = ["longitude", "lon", "lng", "long"];
const LATITUDE: [&str; 2] = ["latitude", "lat"];

/// Units of `latency`, nanoseconds each, as Shadow has them (docs/network_graph_spec.md, src/main/utility/units.rs).
const TIMES: [(&[&str], f64); 6] = [
    (&["ns", "nanosecond", "nanoseconds"], 1.0),
    (&["us", "μs", "microsecond", "microseconds"], 1e3),
    (&["ms", "millisecond", "milliseconds"], 1e6),
    (&["s", "sec", "secs", "second", "seconds"], 1e9),
    (&["m", "min", "mins", "minute", "minutes"], 60e9),
    (&["h", "hr", "hrs", "hour", "hours"], 3600e9),
];

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
        ..Map::default()
    };
    let is_directed = keys.number("directed")?.is_some_and(|number| number != 0.0);
    let mut unread = BTreeSet::new();
    let mut indices = HashMap::new();
    for entry in keys.all("node") {
        let keys = Keys::of(entry)?;
        let node = node(&keys)?;
        unread.extend(keys.unread());
        if indices.insert(node.id.clone(), map.nodes.len()).is_some() {
            let problem = format!("a second node with the id {}", node.id);
            return Err(MapError::new(entry.line, problem));
        }
        map.nodes.push(node);
    }
    for entry in keys.all("edge") {
        let keys = Keys::of(entry)?;
        map.edges.push(edge(&keys, &indices, is_directed)?);
        unread.extend(keys.unread());
    }
    map.unread = unread.into_iter().collect();
    Ok(map)
}

fn node(keys: &Keys<'_>) -> Result<MapNode, MapError> {
    Ok(MapNode {
        id: keys.id("id")?,
        label: keys.text("label")?,
        place: place(keys)?,
    })
}

fn place(keys: &Keys<'_>) -> Result<Option<Place>, MapError> {
    let degrees = |names: &[&str], most: f64| -> Result<Option<f64>, MapError> {
        let is_name = |entry: &&Entry| {
            names
                .iter()
                .any(|name| entry.key.eq_ignore_ascii_case(name))
        };
        let Some(entry) = keys.entries.iter().find(is_name) else {
            return Ok(None);
        };
        match keys.number(&entry.key)? {
            Some(degrees) if degrees.abs() > most => {
                let key = &entry.key;
                let problem = format!("`{key}` is {degrees}: must be from -{most} to {most}");
                Err(MapError::new(keys.line, problem))
            }
            degrees => Ok(degrees),
        }
    };
    if let (Some(longitude), Some(latitude)) =
        (degrees(&LONGITUDE, 180.0)?, degrees(&LATITUDE, 90.0)?)
    {
        return Ok(Some(Place::Globe {
            longitude,
            latitude,
        }));
    }
    let Some(graphics) = keys.list("graphics")? else {
        return Ok(None);
    };
    Ok(match (graphics.number("x")?, graphics.number("y")?) {
        (Some(x), Some(y)) => Some(Place::Plane { x, y }),
        _ => None,
    })
}

fn edge(
    keys: &Keys<'_>,
    indices: &HashMap<String, usize>,
    is_directed: bool,
) -> Result<MapEdge, MapError> {
    let end = |key: &str| -> Result<usize, MapError> {
        let id = keys.id(key)?;
        let unknown = || {
            let id = shown(&id);
            MapError::new(keys.line, format!("`{key} {id}`: no node has this id"))
        };
        indices.get(&id).copied().ok_or_else(unknown)
    };
    Ok(MapEdge {
        source: end("source")?,
        target: end("target")?,
        is_one_way: is_directed && !has_both_arrows(keys)?,
        rate: rate(keys)?,
        delay: keys.parsed("latency", |text| {
            Some(Span::from_nanos(quantity(text, &TIMES)?))
        }),
        loss: keys.parsed("packet_loss", |text| {
            text.parse()
                .ok()
                .filter(|share| (0.0..=1.0).contains(share))
        }),
    })
}

/// Whether the edge is drawn with arrows at both ends, as SNDlib writes its bidirectional links.
fn has_both_arrows(keys: &Keys<'_>) -> Result<bool, MapError> {
    let Some(graphics) = keys.list("graphics")? else {
        return Ok(false);
    };
    let arrow = |key| Ok(graphics.text(key)?.filter(|arrow| arrow != "none"));
    let both = arrow("sourceArrow")?.and(arrow("targetArrow")?);
    Ok(both.is_some() || arrow("arrow")?.is_some_and(|arrow| arrow == "both"))
}

/// `LinkSpeedRaw`, or else `LinkSpeed` in `LinkSpeedUnits`. Some speeds of the Internet Topology Zoo are 0, ranges, or not whole.
fn rate(keys: &Keys<'_>) -> Result<Option<u64>, MapError> {
    const UNITS: [(&[&str], f64); 4] =
        [(&["K"], 1e3), (&["M"], 1e6), (&["G"], 1e9), (&["T"], 1e12)];
    let raw = keys.number("LinkSpeedRaw")?;
    let units = keys.text("LinkSpeedUnits")?;
    let scaled = keys.parsed("LinkSpeed", |speed| {
        quantity(&(speed.to_owned() + units.as_deref()?), &UNITS)
    });
    let raw = raw
        .filter(|rate| *rate >= 1.0)
        .map(|rate| rate.round() as u64);
    Ok(raw.or(scaled.filter(|rate| *rate > 0)))
}

/// A number of at least 0 and its unit, such as `10 ms`, as a whole number of the smallest unit.
fn quantity(text: &str, units: &[(&[&str], f64)]) -> Option<u64> {
    let end = text.find(|c: char| c.is_alphabetic())?;
    let (number, unit) = text.split_at(end);
    let number: f64 = number.trim().parse().ok()?;
    let is_unit = |(names, _): &&(&[&str], f64)| names.contains(&unit.trim());
    let (_, factor) = units.iter().find(is_unit)?;
    let whole = (number * factor).round();
    (0.0..=u64::MAX as f64)
        .contains(&whole)
        .then_some(whole as u64)
}

impl<'a> Keys<'a> {
    fn of(entry: &'a Entry) -> Result<Self, MapError> {
        match &entry.value {
            Value::List(entries) => Ok(Self {
                list: &entry.key,
                line: entry.line,
                entries,
                unread: RefCell::new(entries.iter().map(|entry| &*entry.key).collect()),
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

    /// The first entry with this key, which is read.
    fn get(&self, key: &str) -> Option<&'a Entry> {
        self.unread.borrow_mut().remove(key);
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// The keys of the first list with this key.
    fn list(&self, key: &str) -> Result<Option<Keys<'a>>, MapError> {
        self.get(key).map(Keys::of).transpose()
    }

    /// The keys without a value that was read, as `edge.jitter`.
    fn unread(&self) -> Vec<String> {
        let unread = self.unread.borrow();
        unread
            .iter()
            .map(|key| format!("{}.{key}", self.list))
            .collect()
    }

    /// An id: a whole number, without zeros before it, or a text.
    fn id(&self, key: &str) -> Result<String, MapError> {
        let entry = self.get(key).ok_or_else(|| {
            let problem = format!("`{}` has no `{key}`", self.list);
            MapError::new(self.line, problem)
        })?;
        let (Value::Number(id) | Value::Text(id)) = &entry.value else {
            return Err(wrong(entry, "a whole number"));
        };
        let sign = if id.starts_with('-') { "-" } else { "" };
        let digits = id.strip_prefix(['-', '+']).unwrap_or(id);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        match (&entry.value, digits.trim_start_matches('0')) {
            (_, "") if is_whole => Ok("0".into()),
            (_, digits) if is_whole => Ok(format!("{sign}{digits}")),
            (Value::Text(id), _) if !id.is_empty() => Ok(id.clone()),
            _ => Err(wrong(entry, "a whole number")),
        }
    }

    fn number(&self, key: &str) -> Result<Option<f64>, MapError> {
        match self.get(key) {
            None => Ok(None),
            Some(entry) => match &entry.value {
                // Writers put numbers of unknown origin into quotes.
                Value::Number(text) | Value::Text(text) => {
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
        match &entry.value {
            Value::Text(text) | Value::Number(text) => {
                Ok(Some(text.clone()).filter(|text| !text.is_empty()))
            }
            Value::List(_) => Err(wrong(entry, "a text")),
        }
    }

    /// The value of a key that other publishers use with other meanings: without a value of this form it is not read.
    fn parsed<T>(&self, key: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        let (Value::Number(text) | Value::Text(text)) = &entry.value else {
            return None;
        };
        let parsed = parse(text)?;
        self.unread.borrow_mut().remove(key);
        Some(parsed)
    }
}

fn wrong(entry: &Entry, expected: &str) -> MapError {
    MapError::new(
        entry.line,
        format!("`{}` must be {expected}", shown(&entry.key)),
    )
}
