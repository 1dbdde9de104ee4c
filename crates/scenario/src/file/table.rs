//! Keys and values of the tree, and errors at their locations.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use netsim::{Rate, Span};

use super::node::{Entry, Node, Value};
use crate::error::{Error, Location, nearest, several_nodes, there_are, without_quotes};
use crate::units;

/// Largest number of names in an error.
const MAX_NAMES: usize = 32;

/// A table without unknown keys.
#[derive(Clone)]
pub(crate) struct Table<'a> {
    field: Field<'a>,
    entries: &'a [Entry],
}

/// A value with its key.
#[derive(Clone)]
pub(crate) struct Field<'a> {
    file: &'a Path,
    /// Key from the root, with dots; empty for the root.
    key: String,
    /// Location of the key.
    location: &'a Location,
    node: &'a Node,
}

impl<'a> Field<'a> {
    /// The root of a file.
    pub(crate) fn root(file: &'a Path, node: &'a Node) -> Self {
        Self {
            file,
            key: String::new(),
            location: &node.location,
            node,
        }
    }

    pub(crate) fn error(&self, problem: impl Into<String>) -> Error {
        Error {
            file: self.file.display().to_string(),
            location: self.location.clone(),
            key: self.key.clone(),
            problem: problem.into(),
        }
    }

    /// The error of a value of another type.
    pub(crate) fn wrong_type(&self, expected: &str) -> Error {
        self.error(format!("expected {expected}, found {}", self.node.kind()))
    }

    /// The error of a missing key in this table; `example` is a valid entry.
    pub(crate) fn missing(&self, key: &str, example: &str) -> Error {
        Error {
            key: self.key_of(key),
            ..self.error(format!("is missing: add one like `{example}`"))
        }
    }

    fn key_of(&self, key: &str) -> String {
        match &self.key[..] {
            "" => key.into(),
            path => format!("{path}.{key}"),
        }
    }

    /// The value as a table with these keys and no others.
    pub(crate) fn table(&self, known: &[&str]) -> Result<Table<'a>, Error> {
        let Value::Table(entries) = &self.node.value else {
            return Err(self.wrong_type("a table"));
        };
        let table = Table {
            field: self.clone(),
            entries,
        };
        let Some(unknown) = entries
            .iter()
            .find(|entry| !known.contains(&&entry.key[..]))
        else {
            return Ok(table);
        };
        let nearest = nearest(&unknown.key, known.iter().copied());
        let names = there_are(known);
        Err(table
            .field_of(unknown)
            .error(format!("no such key{nearest}; {names}")))
    }

    /// The entries of a table with any keys.
    pub(crate) fn entries(&self) -> Result<Vec<(&'a str, Field<'a>)>, Error> {
        let Value::Table(entries) = &self.node.value else {
            return Err(self.wrong_type("a table"));
        };
        let table = Table {
            field: self.clone(),
            entries,
        };
        let named = entries
            .iter()
            .map(|entry| (&entry.key[..], table.field_of(entry)));
        Ok(named.collect())
    }

    /// The value of a key, in a table that may have unknown keys.
    pub(crate) fn peek(&self, key: &str) -> Option<Field<'a>> {
        let Value::Table(entries) = &self.node.value else {
            return None;
        };
        let table = Table {
            field: self.clone(),
            entries,
        };
        table.get(key)
    }

    pub(crate) fn is_list(&self) -> bool {
        matches!(self.node.value, Value::List(_))
    }

    pub(crate) fn is_table(&self) -> bool {
        matches!(self.node.value, Value::Table(_))
    }

    pub(crate) fn is_integer(&self) -> bool {
        matches!(self.node.value, Value::Integer(_))
    }

    pub(crate) fn is_text(&self) -> bool {
        matches!(self.node.value, Value::Text(_))
    }

    /// The items of a list.
    pub(crate) fn list(&self) -> Result<Vec<Field<'a>>, Error> {
        let Value::List(items) = &self.node.value else {
            return Err(self.wrong_type("a list"));
        };
        let field = |(at, node): (usize, &'a Node)| Field {
            file: self.file,
            key: format!("{}.{}", self.key, node.label(at)),
            location: &node.location,
            node,
        };
        Ok(items.iter().enumerate().map(field).collect())
    }

    pub(crate) fn text(&self) -> Result<&'a str, Error> {
        match &self.node.value {
            Value::Text(text) => Ok(text),
            _ => Err(self.wrong_type("text in quotes")),
        }
    }

    /// The value as a name: not empty, one line, not too long.
    pub(crate) fn name(&self) -> Result<&'a str, Error> {
        const LONGEST: usize = 64;
        let text = self.text()?;
        if text.trim().is_empty()
            || text.chars().count() > LONGEST
            || text.chars().any(char::is_control)
        {
            return Err(self.error(format!("a name has 1 to {LONGEST} characters, on one line")));
        }
        Ok(text)
    }

    pub(crate) fn boolean(&self) -> Result<bool, Error> {
        match self.node.value {
            Value::Boolean(boolean) => Ok(boolean),
            _ => Err(self.wrong_type("true or false")),
        }
    }

    /// The value of one of these names.
    pub(crate) fn choice<T: Clone>(&self, choices: &[(&str, T)]) -> Result<T, Error> {
        let text = self.text()?;
        if let Some((_, value)) = choices.iter().find(|(name, _)| *name == text) {
            return Ok(value.clone());
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        Err(self.unknown(text, "value", &names))
    }

    /// The error of an unknown name.
    pub(crate) fn unknown(&self, name: &str, what: &str, known: &[&str]) -> Error {
        self.unknown_with(name, what, known, |name, known| {
            nearest(name, known.iter().copied())
        })
    }

    /// The error of a name that several nodes have.
    pub(crate) fn ambiguous(&self, name: &str, nodes: &[&str]) -> Error {
        self.error(several_nodes(name, nodes))
    }

    /// The error of an unknown name; `nearest` proposes known ones.
    pub(crate) fn unknown_with(
        &self,
        name: &str,
        what: &str,
        known: &[&str],
        nearest: impl Fn(&str, &[&str]) -> String,
    ) -> Error {
        let nearest = nearest(name, known);
        let more = if known.len() > MAX_NAMES { ", …" } else { "" };
        let list = there_are(&known[..known.len().min(MAX_NAMES)]);
        let name: String = name.chars().take(64).flat_map(char::escape_debug).collect();
        self.error(format!("no {what} `{name}`{nearest}; {list}{more}"))
    }

    /// The value as a whole number in a range.
    pub(crate) fn integer(&self, range: RangeInclusive<u64>) -> Result<u64, Error> {
        let value = match self.node.value {
            Value::Integer(value) => value,
            _ => return Err(self.wrong_type("a whole number")),
        };
        let fits = value
            .and_then(|value| u64::try_from(value).ok())
            .filter(|v| range.contains(v));
        fits.ok_or_else(|| {
            let value = value.map_or("the number".into(), |value| value.to_string());
            self.range(value, range.start(), range.end())
        })
    }

    /// The value as a whole number in a range of 32 bits.
    pub(crate) fn integer_u32(&self, range: RangeInclusive<u32>) -> Result<u32, Error> {
        let value = self.integer(u64::from(*range.start())..=u64::from(*range.end()))?;
        Ok(value as u32)
    }

    fn range(&self, value: impl Display, least: impl Display, most: impl Display) -> Error {
        self.error(format!("{value} is out of range: {least} to {most}"))
    }

    pub(crate) fn time(&self, range: RangeInclusive<Span>) -> Result<Span, Error> {
        let Value::Text(text) = &self.node.value else {
            return Err(self.wrong_type("a time like \"40ms\""));
        };
        let time = units::parse_time(text).map_err(|problem| self.error(problem))?;
        if range.contains(&time) {
            return Ok(time);
        }
        let [least, most] = [range.start(), range.end()].map(|span| units::show_time(*span));
        Err(self.range(units::show_time(time), least, most))
    }

    pub(crate) fn rate(&self) -> Result<Rate, Error> {
        /// A tenth of a petabit: faster than any link, and a packet still takes more than 0 ns.
        const MAX: u64 = 100_000_000_000_000;
        let Value::Text(text) = &self.node.value else {
            return Err(self.wrong_type("a rate like \"5Mbit\""));
        };
        let rate = units::parse_rate(text).map_err(|problem| self.error(problem))?;
        if rate.bits_per_second() <= MAX {
            return Ok(rate);
        }
        Err(self.range(
            units::show_rate(rate),
            "1bit",
            units::show_rate(Rate::from_bits_per_second(MAX)),
        ))
    }

    /// The value as a size like "300KB", or a number of bytes.
    pub(crate) fn bytes(&self, range: RangeInclusive<u64>) -> Result<u64, Error> {
        let bytes = match &self.node.value {
            Value::Text(text) => units::parse_bytes(text).map_err(|problem| self.error(problem))?,
            Value::Integer(_) => return self.integer(range),
            _ => return Err(self.wrong_type("a size like \"300KB\"")),
        };
        if range.contains(&bytes) {
            return Ok(bytes);
        }
        let [least, most] = [range.start(), range.end()].map(|bytes| units::show_bytes(*bytes));
        Err(self.range(units::show_bytes(bytes), least, most))
    }

    /// The path of a file whose name is the value, relative to the folder of the scenario.
    pub(crate) fn path_beside(&self) -> Result<PathBuf, Error> {
        let folder = self.file.parent().unwrap_or(Path::new(""));
        Ok(folder.join(self.name()?))
    }

    /// The parsed text of a file whose name is the value, relative to the folder of the scenario.
    pub(crate) fn beside<T: FromStr<Err: Display>>(&self) -> Result<T, Error> {
        let path = self.path_beside()?;
        let text = super::text::read(&path);
        let text = text.map_err(|error| {
            let problem = "the name is relative to the folder of the scenario file";
            self.error(format!("{error}; {problem}"))
        })?;
        text.parse().map_err(|error: T::Err| {
            let problem = without_quotes(&error.to_string());
            self.error(format!("{}: {problem}", path.display()))
        })
    }

    /// The value as a number that may exceed 1: 1.5 or "150%". `expected` is for the error of another type.
    pub(crate) fn number(&self, expected: &str) -> Result<f64, Error> {
        match &self.node.value {
            Value::Float(number) => Ok(*number),
            Value::Integer(Some(number)) => Ok(*number as f64),
            Value::Text(text) => {
                let number = text.trim().strip_suffix('%').map(str::parse::<f64>);
                let number = number.and_then(Result::ok).map(|percent| percent / 100.0);
                number.ok_or_else(|| self.error(format!("`{text}` is not {expected}")))
            }
            _ => Err(self.wrong_type(expected)),
        }
    }

    /// The value as a share like "10%" or 0.1.
    pub(crate) fn share(&self) -> Result<f64, Error> {
        let share = match &self.node.value {
            Value::Text(text) => units::parse_share(text),
            Value::Float(share) => units::check_share(*share),
            Value::Integer(Some(share @ 0..=1)) => Ok(*share as f64),
            Value::Integer(Some(share)) => units::check_share(*share as f64),
            _ => return Err(self.wrong_type("a share like \"10%\" or 0.1")),
        };
        share.map_err(|problem| self.error(problem))
    }
}

impl<'a> Table<'a> {
    pub(crate) fn get(&self, key: &str) -> Option<Field<'a>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        Some(self.field_of(entry))
    }

    /// The value of a required key; `example` is a valid entry.
    pub(crate) fn require(&self, key: &str, example: &str) -> Result<Field<'a>, Error> {
        self.get(key).ok_or_else(|| self.missing(key, example))
    }

    /// The error of a missing key, at the location of the table.
    pub(crate) fn missing(&self, key: &str, example: &str) -> Error {
        self.field.missing(key, example)
    }

    /// Refuses the first of these keys that is present, for example beside a key that excludes it.
    pub(crate) fn refuse(&self, keys: &[&str], problem: &str) -> Result<(), Error> {
        match keys.iter().find_map(|key| self.get(key)) {
            Some(field) => Err(field.error(problem)),
            None => Ok(()),
        }
    }

    /// An error of the table as a whole.
    pub(crate) fn error(&self, problem: impl Into<String>) -> Error {
        self.field.error(problem)
    }

    fn field_of(&self, entry: &'a Entry) -> Field<'a> {
        Field {
            file: self.field.file,
            key: self.field.key_of(&entry.key),
            location: &entry.location,
            node: &entry.node,
        }
    }
}
