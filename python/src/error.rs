//! Errors as Python exceptions.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use scenario::study::problem::{Argument, Problem};
use scenario::{Error, Location};

/// A failure on a thread that may not hold the interpreter's lock.
pub enum Failure {
    /// An error of a scenario.
    Scenario(Error),
    /// A wrong argument: one line.
    Argument(String),
    /// An exception of Python code: of a signal handler or of the progress callback.
    Python(PyErr),
    /// An error of this package: the message of a panic.
    Internal(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Scenario(error)
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Scenario(error) => Self::Scenario(error),
            Problem::Argument { .. } => Self::Argument(problem.line(argument_name)),
        }
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Python(error)
    }
}

/// Name of an argument in Python.
fn argument_name(argument: Argument) -> &'static str {
    match argument {
        Argument::Algorithms => "algorithms",
        Argument::Connections => "connections",
        Argument::Metrics => "metrics",
        Argument::Seeds => "seeds",
        Argument::Vary | Argument::Points => "vary",
        Argument::From => "from_node",
        Argument::To => "to_node",
        Argument::Ends => "from_node and to_node",
        Argument::By => "by",
    }
}

impl Failure {
    /// The exception.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Scenario(error) => scenario_error(py, &error).unwrap_or_else(|error| error),
            Self::Argument(line) => {
                argument_error(py, scenario::one_line(&line)).unwrap_or_else(|error| error)
            }
            Self::Python(error) => error,
            Self::Internal(message) => PyRuntimeError::new_err(format!(
                "internal error of lisa, please report it: {message}"
            )),
        }
    }
}

/// `lisa.ScenarioError`, whose text is the line that the program prints.
fn scenario_error(py: Python<'_>, error: &Error) -> PyResult<PyErr> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "lisa.errors", "ScenarioError")?.clone();
    let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    let line = match error.location {
        Location::Line(line) => Some(line),
        Location::Override(_) | Location::File => None,
    };
    let set = match &error.location {
        Location::Override(set) => Some(set.clone()),
        Location::Line(_) | Location::File => None,
    };
    let arguments = (
        error.to_string(),
        text(&error.file),
        line,
        text(&error.key),
        error.problem.clone(),
        set,
    );
    Ok(PyErr::from_type(class, arguments))
}

/// `lisa.ArgumentError`.
fn argument_error(py: Python<'_>, line: String) -> PyResult<PyErr> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "lisa.errors", "ArgumentError")?.clone();
    Ok(PyErr::from_type(class, (line,)))
}
