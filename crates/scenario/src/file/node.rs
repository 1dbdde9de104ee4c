//! A scenario file as a tree in which each value knows where it stands.

use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::Error;
use crate::error::Place;

/// The longest file, bytes: far more than a graph with the most links takes.
pub(crate) const LONGEST_FILE: usize = 16 << 20;

/// The most dots on a line. Each dot of a key makes a table within a table, which the TOML parser does not limit.
const MOST_DOTS: usize = 200;

/// A value and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) place: Place,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    /// As it is written, without underscores; `None` where it does not fit.
    Integer(Option<i128>),
    Float(f64),
    Boolean(bool),
    Date,
    List(Vec<Node>),
    /// In the order of the file.
    Table(Vec<Entry>),
}

/// A key, where it stands, and its value.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) place: Place,
    pub(crate) node: Node,
}

impl Node {
    /// What it is, for people.
    pub(crate) fn what(&self) -> &'static str {
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

    /// What is at the end of this way, or as far along it as there is something.
    pub(crate) fn locate(&self, way: &str) -> &Node {
        let mut node = self;
        for key in way.split('.') {
            let next = match &node.value {
                Value::Table(entries) => entries.iter().find(|e| e.key == key).map(|e| &e.node),
                Value::List(items) => key.parse().ok().and_then(|at: usize| items.get(at)),
                _ => None,
            };
            let Some(next) = next else { break };
            node = next;
        }
        node
    }
}

/// The tree of a file.
pub(crate) fn read(text: &str, file: &Path) -> Result<Node, Error> {
    let wrong = |line, problem| Error {
        file: file.display().to_string(),
        place: Place::Line(line),
        key: String::new(),
        problem,
    };
    if text.len() > LONGEST_FILE {
        let problem = format!("{} bytes: at most {LONGEST_FILE} are read", text.len());
        return Err(wrong(1, problem));
    }
    for (line, content) in (1..).zip(text.lines()) {
        if content.bytes().filter(|byte| *byte == b'.').count() > MOST_DOTS {
            return Err(wrong(line, format!("more than {MOST_DOTS} dots")));
        }
    }
    let lines = Lines::new(text);
    let document = DeTable::parse(text).map_err(|error| {
        let at = error.span().map_or(0, |span| span.start);
        // Some of the parser's messages have several lines.
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        wrong(lines.at(at), format!("this is no TOML: {message}"))
    })?;
    let place = |at| Place::Line(lines.at(at));
    Ok(Node {
        value: table(document.get_ref(), &place),
        place: Place::Whole,
    })
}

/// The tree of an override's value: as in a file, or else text.
pub(crate) fn read_override(value: &str, whole: &str) -> Node {
    let place = |_| Place::Override(whole.into());
    // In one line as in a file, and so within the same limits.
    let limited = value.len() <= LONGEST_FILE && value.matches('.').count() <= MOST_DOTS;
    let parsed = limited.then(|| DeValue::parse(value).ok()).flatten();
    match parsed {
        Some(parsed) => convert(&parsed, &place),
        None => Node {
            value: Value::Text(value.into()),
            place: place(0),
        },
    }
}

fn convert(node: &Spanned<DeValue<'_>>, place: &impl Fn(usize) -> Place) -> Node {
    let value = match node.get_ref() {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Integer(number) => {
            Value::Integer(i128::from_str_radix(number.as_str(), number.radix()).ok())
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(boolean) => Value::Boolean(*boolean),
        DeValue::Datetime(_) => Value::Date,
        DeValue::Array(items) => {
            Value::List(items.iter().map(|item| convert(item, place)).collect())
        }
        DeValue::Table(entries) => table(entries, place),
    };
    Node {
        value,
        place: place(node.span().start),
    }
}

fn table(entries: &DeTable<'_>, place: &impl Fn(usize) -> Place) -> Value {
    let mut sorted: Vec<_> = entries.iter().collect();
    sorted.sort_by_key(|(key, _)| key.span().start);
    let entry = |(key, node): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        let key: &Spanned<toml::de::DeString<'_>> = key;
        Entry {
            key: key.get_ref().to_string(),
            place: place(key.span().start),
            node: convert(node, place),
        }
    };
    Value::Table(sorted.into_iter().map(entry).collect())
}

/// Where lines begin.
struct Lines(Vec<usize>);

impl Lines {
    fn new(text: &str) -> Self {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        Self(ends.map(|(at, _)| at + 1).collect())
    }

    /// The line, from 1, of a byte.
    fn at(&self, byte: usize) -> usize {
        self.0.partition_point(|start| *start <= byte) + 1
    }
}
