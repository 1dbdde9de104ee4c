//! `lisa kernel service`.

use std::io::{Write, stderr};
use std::os::fd::AsFd;
use std::path::Path;

use kernel::capabilities;
use kernel::namespace::Namespaces;
use kernel::service::config::Config;
use kernel::service::{self, Level, Log};
use nix::sys::stat::fstat;

use super::dry_run;
use crate::output::{Failure, print, wrapped};

/// Runs the service until SIGTERM or SIGINT.
pub fn run(file: &Path) -> Result<(), Failure> {
    let to_journal = writes_to_journal();
    // A line that cannot be written does not end the service.
    let mut write = |level: Level, line: &str| {
        let line = Failure::new(line);
        let _ = match to_journal {
            true => writeln!(stderr(), "<{}>{line}", level as u8),
            false => writeln!(stderr(), "lisa: {line}"),
        };
    };
    service::run(file, &mut Log::new(&mut write))?;
    Ok(())
}

/// Checks the file, and shows what the service would do with it.
pub fn check(file: &Path) -> Result<(), Failure> {
    let config = Config::read(file)?;
    let mut lines = vec![format!("{}: no errors", file.display())];
    let missing = capabilities::missing();
    if config.algorithms.is_empty() {
        lines.push("the service would load nothing and change nothing".into());
    }
    for (name, options) in &config.algorithms {
        match missing.is_empty() {
            true => lines.extend(dry_run::lines(name, options)?),
            false => lines.push(format!("`{name}` would be loaded")),
        }
    }
    if let Some(name) = &config.default {
        lines.push(match missing.is_empty() {
            true => dry_run::default_line(name)?,
            false => format!("the default of this network namespace would be `{name}`"),
        });
    }
    lines.extend(namespaces(&config)?);
    if !missing.is_empty() {
        lines.push(format!(
            "not compared with the kernel, which needs {}: run it with sudo",
            capabilities::list(&missing)
        ));
    }
    print(&wrapped(&lines.join("\n")))
}

/// A line for each rule about named network namespaces.
fn namespaces(config: &Config) -> Result<Vec<String>, Failure> {
    let mut lines = Vec::new();
    let found = match config.namespaces.is_empty() {
        true => Vec::new(),
        false => Namespaces::named()?,
    };
    for rule in &config.namespaces {
        let matching = |name: &&str| config.rule_of(name) == Some(rule);
        let names = found.iter().filter_map(|found| found.name.as_deref());
        let names: Vec<&str> = names.filter(matching).collect();
        let now = match &names[..] {
            [] => "none has this name now".into(),
            names => format!("now {}", names.join(", ")),
        };
        lines.push(format!(
            "the default of named network namespaces `{}` would be `{}` ({now})",
            rule.pattern, rule.algorithm
        ));
    }
    Ok(lines)
}

/// Whether standard error is a stream of systemd's journal, which reads a priority at the start of a line (sd-daemon(3)).
fn writes_to_journal() -> bool {
    let Ok(stream) = std::env::var("JOURNAL_STREAM") else {
        return false;
    };
    let file = fstat(stderr().as_fd());
    file.is_ok_and(|file| stream == format!("{}:{}", file.st_dev, file.st_ino))
}
