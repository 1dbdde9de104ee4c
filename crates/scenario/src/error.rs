//! What is wrong with a scenario, in one line.

use std::fmt;

/// Where something stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of the file, from 1.
    Line(usize),
    /// An override, as it was given.
    Override(String),
    /// Nowhere in particular: it is missing, or the scenario did not come from a file.
    Whole,
}

/// What is wrong with a scenario, where, and what is allowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// The file; empty if there is none.
    pub file: String,
    /// Where in it.
    pub place: Place,
    /// The key, with dots; empty if there is none.
    pub key: String,
    /// What is wrong and what is allowed.
    pub problem: String,
}

impl Error {
    /// Something is wrong with a scenario that did not come from a file.
    pub(crate) fn whole(problem: impl Into<String>) -> Self {
        Self {
            file: String::new(),
            place: Place::Whole,
            key: String::new(),
            problem: problem.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Place::Line(line) => write!(f, "{}:{line}: ", self.file)?,
            Place::Override(text) => write!(f, "--set {}: ", OneLine(text, 100))?,
            Place::Whole if self.file.is_empty() => {}
            Place::Whole => write!(f, "{}: ", self.file)?,
        }
        if !self.key.is_empty() {
            write!(f, "`{}`: ", OneLine(&self.key, 100))?;
        }
        write!(f, "{}", OneLine(&self.problem, 1000))
    }
}

/// Text from a file, without what breaks lines and no longer than this many characters.
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

impl std::error::Error for Error {}

impl From<topology::Error> for Error {
    fn from(error: topology::Error) -> Self {
        Self {
            key: format!("topology.{}", error.key),
            ..Self::whole(error.problem)
        }
    }
}

/// ", did you mean `…`?" with the nearest of the known ones, if one is near.
pub(crate) fn nearest<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    match near(wrong, known).first() {
        Some(name) => format!(", did you mean `{name}`?"),
        None => String::new(),
    }
}

/// Those of the known ones that are spelled nearly like it, the nearest first.
pub(crate) fn near<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    // One wrong letter in three is a slip; more is another word. Text that is longer than any name is not compared.
    const LONGEST: usize = 64;
    let slips = (wrong.chars().count() / 3).max(1);
    let distance = |name: &str| {
        let [wrong, name] = [wrong, name].map(str::to_lowercase);
        strsim::damerau_levenshtein(&wrong, &name)
    };
    let mut near: Vec<(usize, &str)> = (known.into_iter())
        .filter(|_| wrong.len() <= LONGEST)
        .map(|name| (distance(name), name))
        .filter(|(distance, _)| *distance <= slips)
        .collect();
    near.sort_by_key(|(distance, _)| *distance);
    near.into_iter().map(|(_, name)| name).collect()
}
