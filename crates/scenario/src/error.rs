//! Errors of a scenario, in one line.

use std::fmt;

use topology::{Direction, Graph, NodeIndex};

/// Location of an error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Location {
    /// A line of the file, from 1.
    Line(usize),
    /// An override, as given.
    Override(String),
    /// The file as a whole, or a scenario without a file.
    File,
}

/// An error of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// File; empty if there is none.
    pub file: String,
    /// Location in the file.
    pub location: Location,
    /// Key, with dots; empty if there is none.
    pub key: String,
    /// The problem, and the values that are allowed.
    pub problem: String,
}

impl Error {
    /// An error of a scenario without a file.
    pub(crate) fn whole(problem: impl Into<String>) -> Self {
        Self {
            file: String::new(),
            location: Location::File,
            key: String::new(),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.location {
            Location::Line(line) => write!(f, "{}:{line}: ", self.file)?,
            Location::Override(text) => write!(f, "--set {}: ", OneLine(text, 100))?,
            Location::File if self.file.is_empty() => {}
            Location::File => write!(f, "{}: ", self.file)?,
        }
        if !self.key.is_empty() {
            write!(f, "`{}`: ", OneLine(&self.key, 100))?;
        }
        write!(f, "{}", OneLine(&self.problem, 1000))
    }
}

/// Text of a file with control characters escaped, up to this many characters.
struct OneLine<'a>(&'a str, usize);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.chars().take(self.1) {
            match c.is_control() {
                true => write!(f, "{}", c.escape_default())?,
                false => write!(f, "{c}")?,
            }
        }
        match self.0.chars().nth(self.1) {
            Some(_) => f.write_str("…"),
            None => Ok(()),
        }
    }
}

/// Text with its control characters escaped.
#[must_use]
pub fn one_line(text: &str) -> String {
    let escape = |c: char| match controls_a_terminal(c) {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escape).collect()
}

/// Whether a character is a command to a terminal: a control character, a separator of lines, or one that changes the direction of the
/// text behind it (Unicode standard annex 9).
pub(crate) fn controls_a_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The text without what it quotes: from the first quote to the last. For errors about a file that a scenario names: the user who runs a
/// scenario may be allowed to read files that its author is not.
pub(crate) fn without_quotes(text: &str) -> String {
    let is_quote = |c: char| matches!(c, '`' | '"');
    match (text.find(is_quote), text.rfind(is_quote)) {
        (Some(first), Some(last)) if first < last => {
            format!("{}`…`{}", &text[..first], &text[last + 1..])
        }
        _ => text.into(),
    }
}

/// Text of an argument in a message: on one line, and not too long.
#[must_use]
pub fn shown(text: &str) -> String {
    const LONGEST: usize = 100;
    let mut shown: String = text.chars().take(LONGEST).collect();
    if text.chars().count() > LONGEST {
        shown.push('…');
    }
    one_line(&shown)
}

impl std::error::Error for Error {}

impl From<topology::Error> for Error {
    fn from(error: topology::Error) -> Self {
        Self {
            key: format!("topology.{}", error.key),
            ..Self::whole(error.problem)
        }
    }
}

/// ", did you mean `…`?" with the nearest known name, if one is near.
pub fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match near(wrong, known).first() {
        Some(name) => format!(", did you mean `{name}`?"),
        None => String::new(),
    }
}

/// As [`nearest`] for the name of a node, which may also be a part of one: `Ithaca` of `Cornell, Ithaca`.
#[must_use]
pub fn nearest_node(wrong: &str, known: &[&str]) -> String {
    /// Shortest part of a name, and largest number of names.
    const LIMITS: (usize, usize) = (3, 3);
    // Another number is another node.
    if wrong.parse::<f64>().is_ok() {
        return String::new();
    }
    let near = nearest(wrong, known.iter().copied());
    if !near.is_empty() || wrong.chars().count() < LIMITS.0 {
        return near;
    }
    let part = wrong.to_lowercase();
    let with = known
        .iter()
        .filter(|name| name.to_lowercase().contains(&part));
    let with: Vec<String> = with
        .take(LIMITS.1)
        .map(|name| format!("`{name}`"))
        .collect();
    match with.is_empty() {
        true => String::new(),
        false => format!(", did you mean {}?", with.join(" or ")),
    }
}

/// The problem of a name that several nodes of a map have.
#[must_use]
pub fn several_nodes(name: &str, nodes: &[&str]) -> String {
    let nodes: Vec<String> = nodes.iter().map(|name| format!("`{name}`")).collect();
    let nodes = nodes.join(" or ");
    format!("several nodes have the label `{name}`: write {nodes}")
}

/// How the links of a scenario get both directions.
pub(crate) const BOTH_WAYS: &str = "`both_ways = true` gives the edges of a map both directions, and a link of a graph has both without \
                                    `one_way`";

/// The problem of two nodes without a path from one to the other, with what was found. `remedy` is for links with one direction.
#[must_use]
pub fn no_path(graph: &Graph, from: NodeIndex, to: NodeIndex, remedy: &str) -> String {
    let [from_name, to_name] = [from, to].map(|node| &graph.nodes()[node.index()]);
    let tree = graph.shortest_tree(from, Direction::From, |_| true);
    let others = graph.hosts().iter().filter(|host| **host != from);
    let reached = others
        .clone()
        .filter(|host| tree.distance(**host).is_some());
    let one_way = graph.link_indices();
    let one_way = one_way.filter(|link| graph.path(vec![*link]).is_none());
    let directions = match one_way.count() {
        0 => String::new(),
        1 => format!(", and 1 link has one direction: {remedy}"),
        count => format!(", and {count} links have one direction: {remedy}"),
    };
    format!(
        "there is no path from `{from_name}` to `{to_name}`: `{from_name}` reaches {} of {} other nodes{directions}",
        reached.count(),
        others.count()
    )
}

/// "there are A, B" or "there is A".
pub fn there_are(names: &[impl AsRef<str>]) -> String {
    // A name with a comma in it looks like two.
    let has_commas = names.iter().any(|name| name.as_ref().contains(','));
    let listed = names.iter().map(|name| match has_commas {
        true => format!("`{}`", name.as_ref()),
        false => name.as_ref().to_owned(),
    });
    let listed = listed.collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => "there is none".into(),
        1 => format!("there is {listed}"),
        _ => format!("there are {listed}"),
    }
}

/// Known names with a similar spelling, the nearest first.
pub(crate) fn near<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // One wrong letter in three is a typing error; more is another word. Text longer than any name is not compared.
    const MAX_BYTES: usize = 64;
    let max_distance = (wrong.chars().count() / 3).max(1);
    let distance = |name: &str| {
        let [wrong, name] = [wrong, name].map(str::to_lowercase);
        strsim::damerau_levenshtein(&wrong, &name)
    };
    let mut near: Vec<(usize, &str)> = (known.into_iter())
        .filter(|_| wrong.len() <= MAX_BYTES)
        .map(|name| (distance(name), name))
        .filter(|(distance, _)| *distance <= max_distance)
        .collect();
    // A wrong letter is more likely than a missing one.
    let missing = |name: &str| name.chars().count().abs_diff(wrong.chars().count());
    near.sort_by_key(|(distance, name)| (*distance, missing(name)));
    near.into_iter().map(|(_, name)| name).collect()
}
