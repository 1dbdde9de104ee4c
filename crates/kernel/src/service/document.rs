//! A TOML file as values with their keys and lines, for errors that name both.

use std::fmt;
use std::ops::RangeInclusive;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Largest edit distance between an unknown name and the name that an error proposes: one wrong letter in three.
fn max_distance(name: &str) -> usize {
    (name.chars().count() / 3).max(1)
}

/// An error of the file, in one line: the line, the key, the problem with its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Line, from 1; `None`: the file as a whole.
    pub line: Option<usize>,
    /// Key, with dots; empty if there is none.
    pub key: String,
    /// The problem, and the remedy.
    pub text: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "{line}:")?;
        }
        if !self.key.is_empty() {
            write!(f, " `{}`:", self.key)?;
        }
        write!(f, " {}", self.text)
    }
}

/// A value, with the key that leads to it.
pub(super) struct Field<'a> {
    key: String,
    line: usize,
    text: &'a str,
    value: &'a DeValue<'a>,
}

/// The entries of a file's root.
pub(super) struct Root<'a> {
    text: &'a str,
    entries: &'a DeTable<'a>,
}

/// Parses a file.
pub(super) fn parse(text: &str) -> Result<Spanned<DeTable<'_>>, Problem> {
    DeTable::parse(text).map_err(|error| {
        // Some messages of the parser have several lines.
        let message = error.message().lines().collect::<Vec<_>>().join(", ");
        Problem {
            line: Some(line(text, error.span().map_or(0, |span| span.start))),
            key: String::new(),
            text: format!("not TOML: {message}"),
        }
    })
}

/// Number of the line, from 1, that contains a byte.
fn line(text: &str, at: usize) -> usize {
    let before = &text.as_bytes()[..at.min(text.len())];
    before.iter().filter(|byte| **byte == b'\n').count() + 1
}

impl<'a> Root<'a> {
    pub(super) fn new(text: &'a str, table: &'a Spanned<DeTable<'a>>) -> Self {
        let entries = table.get_ref();
        Self { text, entries }
    }

    /// The entries, in the order of the file. Refuses a key that is not in `known`.
    pub(super) fn fields(&self, known: &[&str]) -> Result<Vec<(&'a str, Field<'a>)>, Problem> {
        check_keys(fields(self.text, "", self.entries), known)
    }
}

fn check_keys<'a>(
    fields: Vec<(&'a str, Field<'a>)>,
    known: &[&str],
) -> Result<Vec<(&'a str, Field<'a>)>, Problem> {
    match fields.iter().find(|(key, _)| !known.contains(key)) {
        Some((key, field)) => Err(field.unknown("key", key, known)),
        None => Ok(fields),
    }
}

fn fields<'a>(text: &'a str, prefix: &str, entries: &'a DeTable<'a>) -> Vec<(&'a str, Field<'a>)> {
    let mut entries: Vec<_> = entries.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let field = |(key, value): (
        &'a Spanned<toml::de::DeString<'a>>,
        &'a Spanned<DeValue<'a>>,
    )| {
        let name: &'a str = key.get_ref();
        let field = Field {
            key: match prefix {
                "" => printable(name),
                prefix => format!("{prefix}.{}", printable(name)),
            },
            line: line(text, key.span().start),
            text,
            value: value.get_ref(),
        };
        (name, field)
    };
    entries.into_iter().map(field).collect()
}

/// A part of the file in an error: one line, not too long.
fn printable(text: &str) -> String {
    text.chars().take(64).flat_map(char::escape_debug).collect()
}

impl<'a> Field<'a> {
    pub(super) fn problem(&self, text: impl Into<String>) -> Problem {
        Problem {
            line: Some(self.line),
            key: self.key.clone(),
            text: text.into(),
        }
    }

    fn wrong_type(&self, expected: &str) -> Problem {
        let found = match self.value {
            DeValue::String(_) => "text",
            DeValue::Integer(_) => "a whole number",
            DeValue::Float(_) => "a number with a point",
            DeValue::Boolean(_) => "true or false",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        self.problem(format!("expected {expected}, found {found}"))
    }

    /// The error of an unknown name: proposes the nearest known name, and lists all.
    pub(super) fn unknown(&self, what: &str, name: &str, known: &[&str]) -> Problem {
        let distance = |known: &&&str| strsim::damerau_levenshtein(name, known);
        let nearest = known.iter().min_by_key(distance);
        let nearest = nearest.filter(|known| distance(known) <= max_distance(name));
        let nearest = nearest.map_or(String::new(), |known| format!(", do you mean `{known}`?"));
        let list = match known {
            [] => format!("no {what} is possible here"),
            [only] => format!("there is {only}"),
            known => format!("there are {}", known.join(", ")),
        };
        self.problem(format!("no {what} `{}`{nearest}; {list}", printable(name)))
    }

    /// The entries of a table with any keys, in the order of the file.
    pub(super) fn entries(&self) -> Result<Vec<(&'a str, Field<'a>)>, Problem> {
        match self.value {
            DeValue::Table(entries) => Ok(fields(self.text, &self.key, entries)),
            _ => Err(self.wrong_type("a table")),
        }
    }

    /// The entries of a table with these keys and no others.
    pub(super) fn fields(&self, known: &[&str]) -> Result<Vec<(&'a str, Field<'a>)>, Problem> {
        check_keys(self.entries()?, known)
    }

    pub(super) fn list(&self) -> Result<Vec<Field<'a>>, Problem> {
        let DeValue::Array(items) = self.value else {
            return Err(self.wrong_type("a list"));
        };
        let item = |(at, value): (usize, &'a Spanned<DeValue<'a>>)| Field {
            key: format!("{}.{at}", self.key),
            line: line(self.text, value.span().start),
            text: self.text,
            value: value.get_ref(),
        };
        Ok(items.iter().enumerate().map(item).collect())
    }

    pub(super) fn string(&self) -> Result<&'a str, Problem> {
        match self.value {
            DeValue::String(text) => Ok(text),
            _ => Err(self.wrong_type("text in quotes")),
        }
    }

    pub(super) fn is_string(&self) -> bool {
        matches!(self.value, DeValue::String(_))
    }

    pub(super) fn integer(&self, range: RangeInclusive<u32>) -> Result<u32, Problem> {
        let DeValue::Integer(number) = self.value else {
            return Err(self.wrong_type("a whole number"));
        };
        let (least, most) = (range.start(), range.end());
        let value = i128::from_str_radix(number.as_str(), number.radix()).ok();
        let value = value.and_then(|value| u32::try_from(value).ok());
        value
            .filter(|value| range.contains(value))
            .ok_or_else(|| self.problem(format!("{number} is out of range: {least} to {most}")))
    }

    /// The value as the name of an algorithm that can be loaded.
    pub(super) fn algorithm(&self) -> Result<mpcc::Algorithm, Problem> {
        self.check_algorithm(self.string()?)
    }

    /// The algorithm of this name, if it can be loaded.
    pub(super) fn check_algorithm(&self, name: &str) -> Result<mpcc::Algorithm, Problem> {
        crate::load::loadable(&printable(name)).map_err(|error| self.problem(error.to_string()))
    }
}
