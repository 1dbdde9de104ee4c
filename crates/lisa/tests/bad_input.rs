//! An error is one line that begins with `lisa: `, has the right exit code, and leaves the host unchanged.
//!
//! These tests run the program itself, which loads algorithms under their own names: `support::turn` runs the tests one
//! after another.

mod support;

#[path = "bad_input/defaults.rs"]
mod defaults;
#[path = "bad_input/foreign.rs"]
mod foreign;
#[path = "bad_input/groups.rs"]
mod groups;
#[path = "bad_input/loading.rs"]
mod loading;
#[path = "bad_input/privilege.rs"]
mod privilege;
#[path = "bad_input/unreadable.rs"]
mod unreadable;

use lab::Namespace;
use std::fs;
use std::process::{Command, Output};
use support::turn::{Host, Turn, good, lisa};
use support::{LISA, until};

/// `lisa kernel …` on a host of its own.
fn lisa_on(host: &Namespace, arguments: &[&str]) -> Command {
    let mut command = host.command(LISA);
    command.arg("kernel").args(arguments);
    command
}

/// The error of a command that must fail.
fn bad(mut command: Command, code: i32, words: &str) -> String {
    failed(&command.output().expect("lisa"), code, words)
}

/// The error of a command that must fail: one line of lisa with these words, and nothing on standard output.
fn failed(output: &Output, code: i32, words: &str) -> String {
    let line = support::complaint(output, code);
    assert!(line.contains(words), "{line:?} has {words:?}");
    assert!(
        output.stdout.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    line
}
