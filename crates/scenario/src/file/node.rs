//! A scenario file as a tree of values with their locations.

use std::path::Path;

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::text::MAX_BYTES;
use crate::error::{Error, Location};

/// Largest number of dots on a line. Each dot of a key nests a table, and the TOML parser does not limit the depth.
const MAX_DOTS: usize = 200;

/// A value and its location.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) location: Location,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    /// None for a number of more than 128 bits.
    Integer(Option<i128>),
    Float(f64),
    Boolean(bool),
    Date,
    List(Vec<Node>),
    /// Entries in the order of the file.
    Table(Vec<Entry>),
}

/// A key with its location, and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) location: Location,
    pub(crate) node: Node,
}

impl Serialize for Node {
    /// The value as TOML has it, tables in the order of the file.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.value {
            Value::Text(text) => serializer.serialize_str(text),
            Value::Integer(number) => {
                let number = number.and_then(|number| i64::try_from(number).ok());
                serializer.serialize_i64(number.ok_or_else(|| S::Error::custom("a large number"))?)
            }
            Value::Float(number) => serializer.serialize_f64(*number),
            Value::Boolean(boolean) => serializer.serialize_bool(*boolean),
            Value::Date => Err(S::Error::custom("a date")),
            Value::List(items) => serializer.collect_seq(items),
            Value::Table(entries) => {
                serializer.collect_map(entries.iter().map(|entry| (&entry.key, &entry.node)))
            }
        }
    }
}

impl Node {
    /// Type of the value, for errors.
    pub(crate) fn kind(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "text",
            Value::Integer(_) => "a number",
            Value::Float(_) => "a number with a point",
            Value::Boolean(_) => "true or false",
            Value::Date => "a date",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }

    /// The name of a table of a list, if it has one that no number can be taken for.
    pub(crate) fn name(&self) -> Option<&str> {
        let Value::Table(entries) = &self.value else {
            return None;
        };
        let name = entries.iter().find(|entry| entry.key == "name")?;
        match &name.node.value {
            Value::Text(name) if !name.is_empty() && name.parse::<usize>().is_err() => Some(name),
            _ => None,
        }
    }

    /// This item of a list in a key: its name, or its number from 1. `at` is its index.
    pub(crate) fn label(&self, at: usize) -> String {
        /// A longer name would hide the rest of the key.
        const LONGEST: usize = 64;
        match self.name() {
            Some(name) if name.chars().count() <= LONGEST => name.into(),
            _ => (at + 1).to_string(),
        }
    }

    /// The node of a key with dots, or the deepest node on the path to it.
    pub(crate) fn locate(&self, path: &str) -> &Node {
        let mut node = self;
        for key in path.split('.') {
            let next = match &node.value {
                Value::Table(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.node),
                Value::List(items) => {
                    let number: Option<usize> = key.parse().ok();
                    number.and_then(|number| items.get(number.checked_sub(1)?))
                }
                _ => None,
            };
            let Some(next) = next else { break };
            node = next;
        }
        node
    }
}

/// Reads the tree of a file.
pub(crate) fn read(text: &str, file: &Path) -> Result<Node, Error> {
    let wrong = |line, problem| Error {
        file: file.display().to_string(),
        location: Location::Line(line),
        key: String::new(),
        problem,
    };
    if text.len() > MAX_BYTES {
        let problem = format!("{} bytes: at most {MAX_BYTES} are read", text.len());
        return Err(wrong(1, problem));
    }
    for (line, content) in (1..).zip(text.lines()) {
        if content.bytes().filter(|byte| *byte == b'.').count() > MAX_DOTS {
            return Err(wrong(line, format!("more than {MAX_DOTS} dots")));
        }
    }
    let lines = Lines::new(text);
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        // Some messages of the parser have several lines.
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        wrong(lines.at(at), format!("not TOML: {message}"))
    })?;
    let location = |at| Location::Line(lines.at(at));
    Ok(Node {
        value: table(document.get_ref(), &location),
        location: Location::File,
    })
}

/// Reads the value of an override: TOML, or text without quotes.
pub(crate) fn read_override(value: &str, whole: &str) -> Node {
    let location = |_| Location::Override(whole.into());
    // One line of a file, with the same limits.
    let limited = value.len() <= MAX_BYTES && value.matches('.').count() <= MAX_DOTS;
    let parsed = limited.then(|| DeValue::parse(value).ok()).flatten();
    match parsed {
        Some(parsed) => convert(&parsed, &location),
        None => Node {
            value: Value::Text(value.into()),
            location: location(0),
        },
    }
}

fn convert(node: &Spanned<DeValue<'_>>, location: &impl Fn(usize) -> Location) -> Node {
    let value = match node.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            Value::Integer(i128::from_str_radix(number.as_str(), number.radix()).ok())
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| convert(item, location)).collect())
        }
        DeValue::Table(entries) => table(entries, location),
    };
    Node {
        value,
        location: location(node.span().start),
    }
}

fn table(entries: &DeTable<'_>, location: &impl Fn(usize) -> Location) -> Value {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, node): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let key: &Spanned<toml::de::DeString<'_>> = key;
        Entry {
            key: key.get_ref().to_string(),
            location: location(key.span().start),
            node: convert(node, location),
        }
    };
    Value::Table(sorted.into_iter().map(entry).collect())
}

/// Offsets at which lines 2, 3 … begin.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(ends.map(|(at, _)| at + 1).collect())
    }

    /// Number of the line, from 1, that contains a byte.
    fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte) + 1
    }
}
