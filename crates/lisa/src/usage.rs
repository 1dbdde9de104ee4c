//! Wrong arguments, in one line: the option, its value, and what the value must be.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, Command, Error};

use crate::output::{one_line, shown};
use crate::values::{form, problem_and_form};

/// The line for the error of these arguments, of which the first is the program.
pub fn line(error: &Error, command: &Command, arguments: &[OsString]) -> String {
    one_line(&message(error, command, arguments))
}

fn message(error: &Error, command: &Command, arguments: &[OsString]) -> String {
    let mut command = command.clone();
    command.build();
    let words: Vec<String> = (arguments.iter().skip(1))
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let place = Place::new(&command, &words);
    let argument = text(error, ContextKind::InvalidArg);
    let value = text(error, ContextKind::InvalidValue);
    let help = format!("`{} --help`", place.name());
    match error.kind() {
        ErrorKind::ValueValidation | ErrorKind::InvalidValue => {
            let (problem, wanted) = problem_and_form(error);
            // Without a value the error does not come from the parser.
            let wanted = match place.argument(&argument) {
                Some(found) if value.is_empty() => form(found.get_value_parser()),
                _ => wanted,
            };
            match place.blank_after_comma().filter(|_| value.is_empty()) {
                Some(remedy) => format!("{} needs a value: {remedy}", option(&argument)),
                None => wrong_value(&argument, &value, &problem, &wanted),
            }
        }
        ErrorKind::UnknownArgument => {
            if let Some((option, value)) = place.negative(&argument) {
                let wanted = form(option.get_value_parser());
                return wrong_value(&option.to_string(), value, "", &wanted);
            }
            let suggestion = match text(error, ContextKind::SuggestedArg) {
                known if known.is_empty() => String::new(),
                known => format!(", did you mean `{known}`?"),
            };
            if argument.starts_with('-') {
                return format!("no option `{}`{suggestion}; see {help}", shown(&argument));
            }
            let what = format!("one argument too many: `{}`", shown(&argument));
            match place.blank(&argument) {
                Some(remedy) => format!("{what}; {remedy}"),
                None => format!("{what}; see {help}"),
            }
        }
        ErrorKind::InvalidSubcommand => {
            let name = text(error, ContextKind::InvalidSubcommand);
            let near = match error.get(ContextKind::SuggestedSubcommand) {
                Some(ContextValue::Strings(names)) if !names.is_empty() => {
                    format!(", did you mean `{}`?", names.join("` or `"))
                }
                _ => String::new(),
            };
            let commands: Vec<&str> = (place.command.get_subcommands())
                .map(Command::get_name)
                .collect();
            format!(
                "no command `{}`{near}; there are {}",
                shown(&name),
                commands.join(", ")
            )
        }
        ErrorKind::MissingRequiredArgument => {
            let missing = match error.get(ContextKind::InvalidArg) {
                Some(ContextValue::Strings(names)) => names.clone(),
                _ => Vec::new(),
            };
            let missing = missing.iter().map(|name| {
                let wanted = place.argument(name).map(|a| form(a.get_value_parser()));
                match wanted.filter(|wanted| !wanted.is_empty()) {
                    Some(wanted) => format!("{} is missing: {wanted}", plain(name)),
                    None => format!("{} is missing", plain(name)),
                }
            });
            let missing: Vec<String> = missing.collect();
            format!("{}; see {help}", missing.join("; "))
        }
        ErrorKind::ArgumentConflict => {
            let prior = match error.get(ContextKind::PriorArg) {
                Some(ContextValue::Strings(names)) => names.join(" and "),
                Some(ContextValue::String(name)) => name.clone(),
                _ => String::new(),
            };
            let (one, other) = (plain(&argument), plain(&prior));
            match one == other || other.is_empty() {
                true => format!("{one} is given twice: give it once"),
                false => format!("{one} cannot be used with {other}; see {help}"),
            }
        }
        ErrorKind::TooManyValues => {
            format!("{} takes no value: `{}`", option(&argument), shown(&value))
        }
        ErrorKind::NoEquals => {
            format!(
                "{}: write the value after `=`; see {help}",
                plain(&argument)
            )
        }
        ErrorKind::InvalidUtf8 => format!("an argument is not UTF-8; see {help}"),
        // Any other error in the words of clap, without usage and advice.
        _ => {
            let text = error.render().to_string();
            let first = text.split("\n\n").next().unwrap_or_default();
            let words: Vec<&str> = first.split_whitespace().collect();
            format!("{}; see {help}", words.join(" ").replacen("error: ", "", 1))
        }
    }
}

/// `--jobs 0: a whole number from 1 to 1024 is needed`.
fn wrong_value(argument: &str, value: &str, problem: &str, wanted: &str) -> String {
    let option = option(argument);
    let wanted = match wanted.is_empty() {
        true => String::new(),
        false => format!("write {wanted}"),
    };
    match (value, problem) {
        ("", _) => format!("{option} needs a value: {wanted}"),
        (_, "") => format!("{option} {}: {wanted}", shown(value)),
        _ if wanted.is_empty() || problem.contains(&wanted) => {
            format!("{option} {}: {problem}", shown(value))
        }
        _ => format!("{option} {}: {problem}; {wanted}", shown(value)),
    }
}

/// `--jobs <N>` as `--jobs`, `<FILE>` as `FILE`, `--wait[=<SECONDS>]` as `--wait`.
fn option(argument: &str) -> String {
    match argument.starts_with('-') {
        true => argument
            .split([' ', '=', '['])
            .next()
            .unwrap_or(argument)
            .into(),
        false => plain(argument),
    }
}

/// Without the brackets around the name of a value.
fn plain(argument: &str) -> String {
    argument.replace(['<', '>', '[', ']'], "")
}

/// The list of two words: `-a lia,lisa` of `-a lia lisa`.
fn without_blank(option: &str, value: &str, rest: &str) -> String {
    let (value, rest) = (value.trim_end_matches(','), rest.trim_start_matches(','));
    let list = shown(&format!("{value},{rest}"));
    format!("a list has commas and no blanks: `{option} {list}`")
}

fn text(error: &Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// The command that the arguments name, and the arguments after its name.
struct Place<'a> {
    command: &'a Command,
    words: &'a [String],
}

impl<'a> Place<'a> {
    fn new(root: &'a Command, words: &'a [String]) -> Self {
        let mut place = Self {
            command: root,
            words,
        };
        while let Some((first, rest)) = place.words.split_first() {
            let Some(command) = place.command.find_subcommand(first) else {
                break;
            };
            place = Self {
                command,
                words: rest,
            };
        }
        place
    }

    fn name(&self) -> &str {
        self.command.get_bin_name().unwrap_or("lisa")
    }

    /// The argument that clap calls by this name.
    fn argument(&self, name: &str) -> Option<&'a Arg> {
        let mut arguments = self.command.get_arguments();
        arguments.find(|argument| {
            argument.to_string() == name || argument.to_string() == name.replace("...", "")
        })
    }

    /// The remedy of a blank in the value of an option, after which `extra` is one argument too many.
    fn blank(&self, extra: &str) -> Option<String> {
        // The rest of the value takes the place of a file, and the file is too many.
        let is_file = |word: &str| word.contains(['.', '/']);
        let is_rest = |word: &str| word == extra || !word.starts_with('-') && !is_file(word);
        self.words.windows(3).find_map(|words| {
            let [name, value, rest] = words else {
                return None;
            };
            let option = self.option(name).filter(|_| is_rest(rest))?;
            if option.get_value_delimiter() == Some(',') {
                return Some(without_blank(name, value, rest));
            }
            let names = option.get_value_names().unwrap_or_default();
            names
                .iter()
                .any(|name| name.contains('='))
                .then(|| format!("a value with blanks is in quotes: {name} '{}'", names[0]))
        })
    }

    /// The remedy of a blank after a comma, as in `-a lia, lisa`.
    fn blank_after_comma(&self) -> Option<String> {
        let mut words = self.words.windows(3);
        let words =
            words.find(|words| self.option(&words[0]).is_some() && words[1].ends_with(','))?;
        Some(without_blank(&words[0], &words[1], &words[2]))
    }

    /// The option with a value that has this name: `--set`, `-a`.
    fn option(&self, name: &str) -> Option<&'a Arg> {
        let mut arguments = self.command.get_arguments();
        arguments.find(|argument| {
            let long = argument.get_long().map(|long| format!("--{long}"));
            let short = argument.get_short().map(|short| format!("-{short}"));
            argument.get_action().takes_values()
                && [long, short].into_iter().flatten().any(|own| own == name)
        })
    }

    /// The option before a negative number, which clap takes for an unknown option, and the number.
    fn negative(&self, unknown: &str) -> Option<(&'a Arg, &'a str)> {
        let is_negative = |word: &str| {
            let digit = word.strip_prefix('-').and_then(|rest| rest.chars().next());
            word.starts_with(unknown) && digit.is_some_and(|c| c.is_ascii_digit() || c == '.')
        };
        let pair = (self.words.windows(2)).find(|pair| is_negative(&pair[1]))?;
        Some((self.option(&pair[0])?, &pair[1]))
    }
}

#[cfg(test)]
mod tests;
