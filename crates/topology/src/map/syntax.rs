//! The syntax of GML: keys with values, which are numbers, texts or lists of keys with values.

use std::fmt;

/// Deepest nesting of lists. Files have three levels: graph, node, graphics.
const MAX_DEPTH: usize = 32;

/// An error of a GML file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapError {
    /// Line, from 1.
    pub line: usize,
    /// The problem, and what is allowed.
    pub problem: String,
}

impl MapError {
    pub(super) fn new(line: usize, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self { line, problem }
    }
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.problem)
    }
}

impl std::error::Error for MapError {}

/// A key with its value.
#[derive(Debug)]
pub(super) struct Entry {
    pub key: String,
    /// Line of the key, from 1.
    pub line: usize,
    pub value: Value,
}

#[derive(Debug)]
pub(super) enum Value {
    /// A finite number, as it is written: ids may have more digits than any type of number.
    Number(String),
    Text(String),
    List(Vec<Entry>),
}

/// A token with its line.
#[derive(Debug, PartialEq)]
enum Token<'a> {
    Open,
    Close,
    /// A text without its quotes.
    Text(&'a str),
    /// A key or a number.
    Word(&'a str),
}

/// Reads all entries of a file.
pub(super) fn parse(text: &str) -> Result<Vec<Entry>, MapError> {
    let mut has_graph = false;
    let entries = read(text, &mut has_graph);
    match other_format(text).filter(|_| !has_graph) {
        Some(format) => {
            let problem = format!(
                "{format}, not GML: docs/paths.md (Other formats) has a command that converts it"
            );
            Err(MapError::new(1, problem))
        }
        None => entries.map_err(|mut error| {
            if !has_graph {
                error.problem += "; is this a GML file?";
            }
            error
        }),
    }
}

/// The format of a file of a network that is no GML.
fn other_format(text: &str) -> Option<&'static str> {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('<') {
        let formats = [
            ("<graphml", "GraphML"),
            ("sndlib.zib.de", "XML of SNDlib"),
            ("", "XML"),
        ];
        let found = formats.iter().find(|(mark, _)| text.contains(mark));
        return found.map(|(_, format)| *format);
    }
    if text.starts_with("?SNDlib native format") {
        return Some("the native format of SNDlib");
    }
    let first = text.lines().find(|line| !line.starts_with('#'))?;
    let fields: Vec<&str> = first.split('|').collect();
    let is_number = |field: &&&str| field.parse::<u32>().is_ok();
    let is_relation = fields.len() >= 3 && fields[..2].iter().filter(is_number).count() == 2;
    is_relation.then_some("AS relationships of CAIDA")
}

/// Reads all entries; `has_graph` becomes true at the key `graph`.
fn read(text: &str, has_graph: &mut bool) -> Result<Vec<Entry>, MapError> {
    let mut tokens = Tokens {
        rest: text.strip_prefix('\u{feff}').unwrap_or(text),
        line: 1,
    };
    let mut top = Vec::new();
    // Lists that are not closed yet, from outside to inside.
    let mut open: Vec<OpenList> = Vec::new();
    while let Some((line, token)) = tokens.next()? {
        let key = match token {
            Token::Word(key) => key,
            Token::Close => {
                let list = open
                    .pop()
                    .ok_or_else(|| MapError::new(line, "`]` without a `[`"))?;
                let entry = Entry {
                    key: list.key,
                    line: list.line,
                    value: Value::List(list.entries),
                };
                entries(&mut open, &mut top).push(entry);
                continue;
            }
            Token::Open => return Err(MapError::new(line, "`[` without a key before it")),
            Token::Text(text) => {
                let problem = format!("the text \"{}\" without a key before it", shown(text));
                return Err(MapError::new(line, problem));
            }
        };
        if !is_key(key) {
            let problem = format!(
                "`{}` is no key: keys have letters, digits and `_`",
                shown(key)
            );
            return Err(MapError::new(line, problem));
        }
        let value = match tokens.next()? {
            Some((_, Token::Open)) => {
                if open.len() == MAX_DEPTH {
                    let problem = format!("more than {MAX_DEPTH} lists inside each other");
                    return Err(MapError::new(line, problem));
                }
                *has_graph |= key == "graph";
                open.push(OpenList {
                    key: key.into(),
                    line,
                    entries: Vec::new(),
                });
                continue;
            }
            Some((_, Token::Text(text))) => Value::Text(unescaped(text)),
            Some((at, Token::Word(word))) => match number(word) {
                Some(number) => number,
                // The next key.
                None if at > line && is_key(word) => return Err(no_value(line, key)),
                None => {
                    let problem = format!("`{}` is no value: texts have quotes", shown(word));
                    return Err(MapError::new(at, problem));
                }
            },
            Some((_, Token::Close)) | None => return Err(no_value(line, key)),
        };
        entries(&mut open, &mut top).push(Entry {
            key: key.into(),
            line,
            value,
        });
    }
    match open.last() {
        Some(list) => {
            let problem = format!("the `[` of `{}` has no `]`", shown(&list.key));
            Err(MapError::new(list.line, problem))
        }
        None => Ok(top),
    }
}

fn no_value(line: usize, key: &str) -> MapError {
    MapError::new(line, format!("`{}` has no value", shown(key)))
}

/// A list whose `]` has not come yet.
struct OpenList {
    key: String,
    line: usize,
    entries: Vec<Entry>,
}

/// The entries of the innermost open list.
fn entries<'a>(open: &'a mut [OpenList], top: &'a mut Vec<Entry>) -> &'a mut Vec<Entry> {
    match open.last_mut() {
        Some(list) => &mut list.entries,
        None => top,
    }
}

fn is_key(word: &str) -> bool {
    let mut characters = word.chars();
    let first = characters.next();
    first.is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn number(word: &str) -> Option<Value> {
    // `inf` and `nan` are numbers for Rust, too.
    let begins = word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    let is_finite = word.parse().is_ok_and(f64::is_finite);
    (begins && is_finite).then(|| Value::Number(word.into()))
}

/// The start of a piece of the file, for an error.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let mut shown: String = text
        .chars()
        .take(LONGEST)
        .flat_map(char::escape_debug)
        .collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

/// A text with its character references replaced, and each run of blanks, line ends and control characters as one blank.
fn unescaped(text: &str) -> String {
    let plain = html_escape::decode_html_entities(text);
    let words = plain.split(|c: char| c.is_whitespace() || c.is_control());
    words
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The rest of a text, and its line.
struct Tokens<'a> {
    rest: &'a str,
    line: usize,
}

impl<'a> Tokens<'a> {
    /// The next token with the line on which it begins; none at the end.
    fn next(&mut self) -> Result<Option<(usize, Token<'a>)>, MapError> {
        self.skip_blanks();
        let line = self.line;
        let Some(first) = self.rest.chars().next() else {
            return Ok(None);
        };
        let token = match first {
            '[' => {
                self.take(1);
                Token::Open
            }
            ']' => {
                self.take(1);
                Token::Close
            }
            '"' => {
                self.take(1);
                let end = self.rest.find('"');
                let end = end.ok_or_else(|| {
                    MapError::new(line, "a text without its end: a quote is missing")
                })?;
                let text = self.take(end);
                self.take(1);
                Token::Text(text)
            }
            _ => {
                let is_end = |c: char| c.is_whitespace() || "[]\"#".contains(c);
                let end = self.rest.find(is_end).unwrap_or(self.rest.len());
                Token::Word(self.take(end))
            }
        };
        Ok(Some((line, token)))
    }

    /// Skips blanks, and comments from `#` to the end of the line.
    fn skip_blanks(&mut self) {
        loop {
            let blanks = self.rest.len() - self.rest.trim_start().len();
            self.take(blanks);
            if !self.rest.starts_with('#') {
                return;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end);
        }
    }

    /// Takes this number of bytes.
    fn take(&mut self, bytes: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(bytes);
        self.line += taken.bytes().filter(|byte| *byte == b'\n').count();
        self.rest = rest;
        taken
    }
}
