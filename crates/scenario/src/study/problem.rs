//! Errors of the arguments of a study, in one line.

use crate::error::Error;

/// An argument, whose name depends on the interface: `-a` of the program, `algorithms` in Python.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// The algorithms.
    Algorithms,
    /// The connections whose algorithm is replaced.
    Connections,
    /// The metrics.
    Metrics,
    /// The seeds.
    Seeds,
    /// The varied keys with their values.
    Vary,
    /// The varied keys with a list of points.
    Points,
    /// The first node of a path.
    From,
    /// The last node of a path.
    To,
    /// Both nodes of a path.
    Ends,
    /// The length of a path.
    By,
}

/// A wrong argument, or a scenario that is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// A wrong argument.
    Argument {
        /// The argument; none for several together.
        argument: Option<Argument>,
        /// The wrong value; empty for the argument as a whole.
        value: String,
        /// The problem, and the values that are allowed.
        text: String,
    },
    /// An error of a scenario.
    Scenario(Error),
}

impl Problem {
    /// The problem of an argument's value.
    pub fn of(argument: Argument, value: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Argument {
            argument: Some(argument),
            value: value.into(),
            text: text.into(),
        }
    }

    /// The problem of several arguments together.
    pub fn whole(text: impl Into<String>) -> Self {
        Self::Argument {
            argument: None,
            value: String::new(),
            text: text.into(),
        }
    }

    /// The problem in one line. `name` has the names of the arguments.
    pub fn line(&self, name: impl Fn(Argument) -> &'static str) -> String {
        match self {
            Self::Scenario(error) => error.to_string(),
            Self::Argument {
                argument,
                value,
                text,
            } => match argument.map(name) {
                None => text.clone(),
                Some(name) if value.is_empty() => format!("{name}: {text}"),
                Some(name) => format!("{name} {value}: {text}"),
            },
        }
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        Self::Scenario(error)
    }
}
