//! `lisa kernel load --dry-run`: what a load would do.

use kernel::default::{self, Planned};
use kernel::load::{self, DryRun, How, Options};
use kernel::requirements;

use crate::output::{Failure, counted, print, wrapped};

/// Prints what `lisa kernel load` would do.
pub fn show(name: &str, options: &Options, is_default: bool) -> Result<(), Failure> {
    let mut lines = lines(name, options)?;
    if is_default {
        lines.push(default_line(name)?);
    }
    lines.push("nothing was changed".into());
    print(&wrapped(&lines.join("\n")))
}

/// What a load of this algorithm would do.
pub fn lines(name: &str, options: &Options) -> Result<Vec<String>, Failure> {
    let DryRun {
        name,
        how,
        users,
        limits,
        verified,
        memory: (least, most),
    } = load::dry_run(name, options)?;
    let holders = counted(users as usize, "socket or namespace");
    let would = match how {
        How::Loaded => format!("`{name}` would be loaded"),
        How::Unchanged => format!("`{name}` is loaded already, with these settings"),
        How::Changed => format!(
            "`{name}` is loaded with other settings: connections that open from then on would have these"
        ),
        How::Replaced => {
            format!("`{name}` would be loaded anew; {holders} would keep the former load")
        }
    };
    let users = match &limits.unlimited_users[..] {
        [] => "no user without that bound".into(),
        ranges => {
            let ranges: Vec<String> = ranges.iter().map(ToString::to_string).collect();
            format!("user ids without that bound: {}", ranges.join(", "))
        }
    };
    Ok(vec![
        would,
        format!(
            "  at most {} coupled connections, {} of one user ({users})",
            limits.connections, limits.user_connections
        ),
        format!(
            "  memory: {} without connections, at most {}",
            megabytes(least),
            megabytes(most)
        ),
        format!(
            "  Linux {} meets the requirements and accepts the {} ({} instructions verified)",
            requirements::release(),
            counted(verified.programs, "program"),
            verified.instructions
        ),
    ])
}

/// What would change if the algorithm became the default of this network namespace.
pub fn default_line(name: &str) -> Result<String, Failure> {
    let Planned { current, plain } = default::plan(name)?;
    let first = match default::is_first() {
        true => "; network namespaces that are made from then on would inherit it",
        false => "",
    };
    Ok(match current == name {
        true => format!(
            "the default of this network namespace is `{name}` already, and `{plain}` for plain TCP{first}"
        ),
        false => format!(
            "the default of this network namespace would be `{name}` instead of `{current}`: MPTCP connections that open from then on, \
             also those that listening servers accept, would use it; plain TCP would use `{plain}`; open connections would keep \
             theirs{first}"
        ),
    })
}

fn megabytes(bytes: u64) -> String {
    format!("{:.1} MB", bytes as f64 / 1e6)
}
