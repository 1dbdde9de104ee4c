//! Output and failures of all commands.

use std::fmt;
use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use scenario::study::problem::{Argument, Problem};
use scenario::study::warnings::Warnings;
pub use scenario::{one_line, shown};

/// A failure: one line, and the exit code.
#[derive(Debug)]
pub struct Failure {
    /// The line.
    pub message: String,
    /// The exit code.
    pub code: u8,
}

impl Failure {
    /// A failure with exit code 1: the command failed.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 1,
        }
    }

    /// A failure with exit code 2: the arguments are wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            code: 2,
        }
    }
}

/// The message on one line: control characters, of a file's name for example, are escaped. Errors of the system have no number.
impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&without_numbers(&self.message)))
    }
}

/// The text without the numbers that Rust adds to an error of the system: `No such file or directory (os error 2)`.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut shown = parts.next().unwrap_or("").to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((_, rest)) => shown += rest,
            None => shown += part,
        }
    }
    shown
}

/// Prints a line on standard error that does not end the command.
pub fn complain(text: impl Into<String>) {
    eprintln!("lisa: {}", Failure::new(text));
}

impl From<kernel::Error> for Failure {
    fn from(error: kernel::Error) -> Self {
        Self {
            code: if error.is_usage() { 2 } else { 1 },
            message: error.to_string(),
        }
    }
}

impl From<lab::Error> for Failure {
    fn from(error: lab::Error) -> Self {
        let code = if matches!(error, lab::Error::Interrupted) {
            130
        } else {
            1
        };
        Self {
            message: error.to_string(),
            code,
        }
    }
}

impl From<assist::Error> for Failure {
    fn from(error: assist::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<manager::Error> for Failure {
    fn from(error: manager::Error) -> Self {
        Self::new(error.to_string())
    }
}

impl From<scenario::Error> for Failure {
    fn from(error: scenario::Error) -> Self {
        // A file can be wrong; an override is an argument.
        match error.location {
            scenario::Location::Override(_) => Self::usage(error.to_string()),
            scenario::Location::Line(_) | scenario::Location::File => Self::new(error.to_string()),
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        match problem {
            Problem::Scenario(error) => error.into(),
            Problem::Argument { .. } => Self::usage(problem.line(option)),
        }
    }
}

/// The option of an argument.
fn option(argument: Argument) -> &'static str {
    match argument {
        Argument::Algorithms => "-a",
        Argument::Connections => "--connection",
        Argument::Metrics => "--metrics",
        Argument::Seeds => "--seeds",
        Argument::Vary => "--vary",
        Argument::Points => "--points",
        Argument::From => "--from",
        Argument::To => "--to",
        Argument::Ends => "--from and --to",
        Argument::By => "--by",
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::new(error.to_string())
    }
}

/// Whether the command goes on if the reader of its output closes the pipe.
static NEEDS_NO_READER: AtomicBool = AtomicBool::new(false);

/// From now on a closed pipe does not end the command, which also writes files.
pub fn need_no_reader() {
    NEEDS_NO_READER.store(true, Ordering::Relaxed);
}

/// Prints on standard output. If the reader has closed the pipe, as in `… | head`, a command that writes files goes on without
/// output; others fail without a message.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut to = std::io::stdout().lock();
    let printed = to.write_all(text.as_bytes()).and_then(|()| to.flush());
    match printed {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => {
            match NEEDS_NO_READER.load(Ordering::Relaxed) {
                true => Ok(()),
                false => Err(Failure {
                    message: String::new(),
                    code: CLOSED_PIPE,
                }),
            }
        }
        Err(error) => Err(Failure::new(format!("standard output: {error}"))),
        Ok(()) => Ok(()),
    }
}

/// Exit code of a command whose reader closed the pipe: that of a shell after SIGPIPE.
const CLOSED_PIPE: u8 = 128 + 13;

/// Prints a line on standard error for each warning.
pub fn warn(warnings: &Warnings) {
    for line in warnings.lines() {
        warn_of(&line);
    }
}

/// Prints a warning on standard error.
pub fn warn_of(line: &str) {
    eprintln!("warning: {line}");
}

/// A number with its noun: `1 subflow`, `2 subflows`.
pub fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// A duration in the unit that suits it: `4.0 s`, `12 min`.
pub fn age(seconds: f64) -> String {
    match seconds {
        s if s < 60.0 => format!("{s:.1} s"),
        s if s < 3600.0 => format!("{:.0} min", s / 60.0),
        s if s < 86_400.0 => format!("{:.1} h", s / 3600.0),
        s => format!("{:.1} d", s / 86_400.0),
    }
}

/// Number of characters in a line of standard output: COLUMNS, or else the terminal's width. `None`: it is no terminal.
pub fn terminal_width() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok();
    let columns = columns.and_then(|columns| columns.parse().ok());
    let size = || {
        let is_terminal = std::io::stdout().is_terminal();
        let size = is_terminal.then(ratatui::crossterm::terminal::size)?;
        size.ok().map(|(width, _)| usize::from(width))
    };
    let width = columns.filter(|columns| *columns > 0).or_else(size);
    width.map(|width| width.max(NARROWEST))
}

/// The lines of a text in the width of the terminal; elsewhere they stay as they are.
pub fn wrapped(text: &str) -> String {
    let width = terminal_width().unwrap_or(usize::MAX);
    let lines = text.lines().flat_map(|line| wrap(line, width, 4));
    lines.map(|line| line + "\n").collect()
}

/// Least width that text is laid out for.
const NARROWEST: usize = 60;

/// The lines of a text whose words fit into `width` characters. Further lines have `indent` spaces before them. A longer word has
/// a line of its own.
pub fn wrap(text: &str, width: usize, indent: usize) -> Vec<String> {
    let begin = text.len() - text.trim_start().len();
    let mut lines = vec![text[..begin].to_owned()];
    let mut is_first = true;
    for word in text.trim_start().split(' ') {
        let line = lines.last_mut().expect("a line");
        let length = line.chars().count() + usize::from(!is_first) + word.chars().count();
        if is_first {
            line.push_str(word);
        } else if length <= width {
            *line += " ";
            line.push_str(word);
        } else {
            lines.push(" ".repeat(indent) + word);
        }
        is_first = false;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_system_have_no_numbers() {
        let missing = std::fs::File::open("/no/such\nfile").unwrap_err();
        let failure = Failure::new(format!("a.toml: {missing}; the file stands beside b"));
        let text = "a.toml: No such file or directory; the file stands beside b";
        assert_eq!(failure.to_string(), text);
        assert_eq!(without_numbers("a (os error 2), b (os error 13)"), "a, b");
        assert_eq!(without_numbers("a (b) c"), "a (b) c");
    }

    #[test]
    fn words_move_to_the_next_line() {
        assert_eq!(wrap("  a bc def", 80, 4), ["  a bc def"]);
        assert_eq!(wrap("  a bc def", 7, 4), ["  a bc", "    def"]);
        assert_eq!(wrap("a abcdefgh b", 5, 2), ["a", "  abcdefgh", "  b"]);
        assert_eq!(wrap("", 5, 2), [""]);
        assert_eq!(wrap("  `two  blanks`", 80, 4), ["  `two  blanks`"]);
    }
}
