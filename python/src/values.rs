//! Values of Python as TOML.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyList, PyString, PyTuple};
use toml::{Table, Value};

use crate::error::Failure;
use scenario::{Error, Location};

/// Deepest nesting of values: more than any scenario has.
const DEEPEST: usize = 32;

/// The text of a file with the values of a dictionary. A value of `None` is left out.
pub fn toml(table: &Bound<'_, PyDict>) -> Result<String, Failure> {
    let table = of_dict(table, "", 0)?;
    toml::to_string(&table).map_err(|error| wrong("", error.to_string()))
}

fn wrong(key: &str, problem: impl Into<String>) -> Failure {
    Failure::Scenario(Error {
        file: String::new(),
        location: Location::File,
        key: key.into(),
        problem: problem.into(),
    })
}

fn of_dict(table: &Bound<'_, PyDict>, key: &str, depth: usize) -> Result<Table, Failure> {
    let mut entries = Table::new();
    for (name, value) in table.iter() {
        let Ok(name) = name.cast::<PyString>() else {
            return Err(wrong(key, format!("the key `{name}` is no text")));
        };
        let name = name.to_string();
        let key = match key {
            "" => name.clone(),
            key => format!("{key}.{name}"),
        };
        if !value.is_none() {
            entries.insert(name, of_value(&value, &key, depth + 1)?);
        }
    }
    Ok(entries)
}

fn of_value(value: &Bound<'_, PyAny>, key: &str, depth: usize) -> Result<Value, Failure> {
    if depth > DEEPEST {
        return Err(wrong(
            key,
            format!("more than {DEEPEST} tables in each other"),
        ));
    }
    let list = |items: Vec<Bound<'_, PyAny>>| -> Result<Value, Failure> {
        let items = (1..).zip(items);
        let items =
            items.map(|(number, item)| of_value(&item, &format!("{key}.{number}"), depth + 1));
        Ok(Value::Array(items.collect::<Result<_, _>>()?))
    };
    if let Ok(text) = value.cast::<PyString>() {
        Ok(Value::String(text.to_cow()?.into_owned()))
    } else if let Ok(boolean) = value.cast::<PyBool>() {
        Ok(Value::Boolean(boolean.is_true()))
    } else if let Ok(number) = value.cast::<PyFloat>() {
        Ok(Value::Float(number.value()))
    } else if let Ok(table) = value.cast::<PyDict>() {
        Ok(Value::Table(of_dict(table, key, depth)?))
    } else if let Ok(items) = value.cast::<PyList>() {
        list(items.iter().collect())
    } else if let Ok(items) = value.cast::<PyTuple>() {
        list(items.iter().collect())
    } else if let Ok(number) = value.extract::<i64>() {
        // Also the whole numbers of numpy.
        Ok(Value::Integer(number))
    } else if let Ok(number) = value.extract::<f64>() {
        Ok(Value::Float(number))
    } else {
        let kind = value.get_type();
        let kind = kind.name()?;
        Err(wrong(
            key,
            format!(
                "a value of type `{kind}`: text, numbers, true or false, lists and dictionaries are possible"
            ),
        ))
    }
}
