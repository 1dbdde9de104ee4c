//! Parsers of the values of options, whose errors say what the value must be.

use std::ffi::OsStr;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

use clap::builder::{PossibleValue, TypedValueParser, ValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command};
use scenario::study::seeds::{self, Seeds};

type Parse<T> = Arc<dyn Fn(&str) -> Result<T, String> + Send + Sync>;

/// Parses a value. An error has the form, which says what the value must be: `a whole number from 1 to 1024`.
#[derive(Clone)]
pub struct Form<T> {
    form: Arc<str>,
    parse: Parse<T>,
    possible: Option<fn() -> Vec<PossibleValue>>,
}

impl<T> Form<T> {
    /// A value of this form. The error of `parse` is the problem of a value; an empty one says nothing that the form does not.
    pub fn new(
        form: impl Into<String>,
        parse: impl Fn(&str) -> Result<T, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            form: form.into().into(),
            parse: Arc::new(parse),
            possible: None,
        }
    }

    /// Lists these values in help texts and completions.
    pub fn listing(self, possible: fn() -> Vec<PossibleValue>) -> Self {
        Self {
            possible: Some(possible),
            ..self
        }
    }
}

/// A whole number in a range.
pub fn number<T: TryFrom<u64>>(range: RangeInclusive<u64>) -> Form<T> {
    let form = format!("a whole number from {} to {}", range.start(), range.end());
    Form::new(form, move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        let number = number.and_then(|number| T::try_from(number).ok());
        number.ok_or_else(String::new)
    })
}

/// Text that is not empty, and no option.
pub fn text(form: &str) -> Form<String> {
    Form::new(form, |text| {
        match text.is_empty() || text.starts_with('-') {
            true => Err(String::new()),
            false => Ok(text.into()),
        }
    })
}

/// A file or a directory, as `what` says.
pub fn path(what: &str) -> Form<PathBuf> {
    Form::new(what, |text| match text {
        "" => Err(String::new()),
        text => Ok(text.into()),
    })
}

/// The seeds of several runs.
pub fn seeds() -> Form<Seeds> {
    Form::new(seeds::FORMS, Seeds::parse)
}

/// The override of a key.
pub fn set() -> Form<String> {
    let form = "KEY=VALUE, like stop=10s";
    Form::new(form, |text| match text.split_once('=') {
        Some((key, _)) if !key.trim().is_empty() => Ok(text.into()),
        _ => Err(String::new()),
    })
}

/// A decimal number in a range, with what it counts.
pub fn decimal(range: RangeInclusive<f64>, what: &str) -> Form<f64> {
    let form = format!(
        "a number of {what} from {} to {}",
        range.start(),
        range.end()
    );
    Form::new(form, move |text| {
        let number = text.parse().ok().filter(|number| range.contains(number));
        number.ok_or_else(String::new)
    })
}

impl<T: Clone + Send + Sync + 'static> TypedValueParser for Form<T> {
    type Value = T;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<T, clap::Error> {
        let parsed = match value.to_str() {
            Some(text) => (self.parse)(text),
            None => Err("not UTF-8".into()),
        };
        parsed.map_err(|problem| {
            let mut error = clap::Error::new(ErrorKind::ValueValidation).with_cmd(command);
            let text = |text: &str| ContextValue::String(text.into());
            let argument = argument.map(ToString::to_string).unwrap_or_default();
            error.insert(ContextKind::InvalidArg, text(&argument));
            error.insert(ContextKind::InvalidValue, text(&value.to_string_lossy()));
            error.insert(ContextKind::Custom, text(&problem));
            error.insert(ContextKind::ExpectedNumValues, text(&self.form));
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let values = self.possible?();
        Some(Box::new(values.into_iter()))
    }
}

/// The problem of a wrong value and what the value must be, from the error of a parser.
pub fn problem_and_form(error: &clap::Error) -> (String, String) {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    };
    match error.get(ContextKind::ValidValue) {
        Some(ContextValue::Strings(names)) if !names.is_empty() => {
            let value = text(ContextKind::InvalidValue);
            let nearest = scenario::nearest(&value, names.iter().map(String::as_str));
            let nearest = nearest.trim_start_matches(", ").to_owned();
            (nearest, format!("one of {}", names.join(", ")))
        }
        _ => (
            text(ContextKind::Custom),
            text(ContextKind::ExpectedNumValues),
        ),
    }
}

/// What the value of an argument must be, in the words of its parser: the error for an empty value.
pub fn form(parser: &ValueParser) -> String {
    let value = Arg::new("value").long("value").value_parser(parser.clone());
    let parsed = Command::new("form")
        .arg(value)
        .try_get_matches_from(["form", "--value="]);
    parsed.map_or_else(|error| problem_and_form(&error).1, |_| String::new())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_the_words_of_the_parser() {
        let parser = ValueParser::from(number::<u16>(1..=1024));
        assert_eq!(form(&parser), "a whole number from 1 to 1024");
        assert_eq!(form(&ValueParser::from(["a", "b"])), "one of a, b");
        assert_eq!(form(&ValueParser::os_string()), "");
    }
}
