//! The file of the service, `/etc/lisa.toml`. `packaging/lisa.toml` explains each key.

use super::document::{self, Field, Root};
use crate::limits::{USER_RANGES, UserRange, Users};
use crate::load::{self, MAX_CONNECTIONS, Options};
use crate::{Error, Result};
use glob::Pattern;
use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub use super::document::Problem;

/// Where the service finds its file.
pub const FILE: &str = "/etc/lisa.toml";

/// Longest file, bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Content of the file, checked.
#[derive(Clone, Debug, Default)]
pub struct Config {
    /// Algorithm that becomes the default of the network namespace in which the service runs.
    pub default: Option<String>,
    /// Algorithms of named network namespaces, in the order of the file: the first pattern that matches a name decides.
    pub namespaces: Vec<Rule>,
    /// Every algorithm that the file names, with its options.
    pub algorithms: BTreeMap<String, Options>,
    /// Where metrics are published.
    pub metrics: Metrics,
}

/// The default of the named network namespaces that a pattern matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// A name in /run/netns, or a pattern with `*`, `?` and `[…]`.
    pub pattern: Pattern,
    /// The algorithm.
    pub algorithm: String,
}

/// Where metrics are published.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Address of the HTTP server.
    pub listen: Option<SocketAddr>,
    /// File for the textfile collector of node_exporter.
    pub textfile: Option<PathBuf>,
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// [`Error::Config`]: file, line, key, and the remedy.
    pub fn read(path: &Path) -> Result<Self> {
        let wrong = |problem: Problem| Error::Config {
            file: path.display().to_string(),
            problem,
        };
        let text = read(path).map_err(|error| {
            wrong(Problem {
                line: None,
                key: String::new(),
                text: format!("{error}; `--config FILE` names another file"),
            })
        })?;
        Self::parse(&text).map_err(wrong)
    }

    /// Reads the text of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, Problem> {
        let table = document::parse(text)?;
        let known = ["default", "namespaces", "algorithm", "users", "metrics"];
        let (mut config, mut users) = (Self::default(), Users::default());
        for (key, field) in Root::new(text, &table).fields(&known)? {
            match key {
                "default" => config.default = Some(field.algorithm()?.name().into()),
                "namespaces" => config.namespaces = rules(&field)?,
                "algorithm" => config.algorithms = algorithms(&field)?,
                "users" => users = self::users(&field)?,
                _ => config.metrics = metrics(&field)?,
            }
        }
        let named = config.namespaces.iter().map(|rule| &rule.algorithm);
        let named: Vec<String> = named.chain(&config.default).cloned().collect();
        for name in named {
            config.algorithms.entry(name).or_default();
        }
        for options in config.algorithms.values_mut() {
            options.users = users.clone();
        }
        Ok(config)
    }

    /// The rule about a named network namespace.
    pub fn rule_of(&self, name: &str) -> Option<&Rule> {
        self.namespaces
            .iter()
            .find(|rule| rule.pattern.matches(name))
    }
}

/// Reads a regular file of UTF-8 text, within the limit, that only root or the user of this process can change.
fn read(path: &Path) -> io::Result<String> {
    let file = files::open(path)?;
    let metadata = file.metadata()?;
    let (owner, mode) = (metadata.uid(), metadata.mode() & 0o777);
    if owner != 0 && owner != nix::unistd::geteuid().as_raw() {
        let wrong = format!("belongs to user id {owner}: `chown root` gives it to root");
        return Err(io::Error::other(wrong));
    }
    if mode & 0o022 != 0 {
        let wrong = format!("other users may write it (mode {mode:o}): `chmod go-w` forbids it");
        return Err(io::Error::other(wrong));
    }
    String::from_utf8(files::read_from(file, MAX_BYTES)?)
        .map_err(|_| io::Error::other("not UTF-8 text"))
}

fn rules(field: &Field<'_>) -> Result<Vec<Rule>, Problem> {
    let rule = |(name, field): (&str, Field<'_>)| {
        let pattern = Pattern::new(name);
        let pattern = pattern.map_err(|error| field.problem(format!("no pattern: {}", error.msg)));
        Ok(Rule {
            pattern: pattern?,
            algorithm: field.algorithm()?.name().into(),
        })
    };
    field.entries()?.into_iter().map(rule).collect()
}

fn algorithms(field: &Field<'_>) -> Result<BTreeMap<String, Options>, Problem> {
    let mut algorithms = BTreeMap::new();
    for (name, field) in field.entries()? {
        let algorithm = field.check_algorithm(name)?;
        let mut options = Options::default();
        for (key, field) in field.fields(&["max_connections", "settings"])? {
            match key {
                "max_connections" => {
                    options.max_connections = field.integer(1..=MAX_CONNECTIONS)?;
                }
                _ => options.settings = settings(&field, algorithm)?,
            }
        }
        algorithms.insert(name.into(), options);
    }
    Ok(algorithms)
}

fn settings(field: &Field<'_>, algorithm: mpcc::Algorithm) -> Result<Vec<(String, u32)>, Problem> {
    let known: Vec<&str> = algorithm.settings().map(|setting| setting.name).collect();
    let mut settings = Vec::new();
    for (name, field) in field.fields(&known)? {
        let value = field.integer(0..=u32::MAX)?;
        let setting = (name.to_owned(), value);
        load::setting_values(algorithm, std::slice::from_ref(&setting)).map_err(
            |error| match error {
                Error::Setting { reason, .. } => field.problem(reason),
                error => field.problem(error.to_string()),
            },
        )?;
        settings.push(setting);
    }
    Ok(settings)
}

fn users(field: &Field<'_>) -> Result<Users, Problem> {
    let mut users = Users::default();
    for (key, field) in field.fields(&["unlimited", "connections"])? {
        match key {
            "unlimited" => {
                let ranges = field.list()?;
                if ranges.len() > USER_RANGES {
                    return Err(field.problem(format!("more than {USER_RANGES} users or ranges")));
                }
                let ranges = ranges.iter().map(user_range).collect::<Result<_, _>>()?;
                users.unlimited = Some(ranges);
            }
            _ => users.connections = Some(field.integer(1..=MAX_CONNECTIONS)?),
        }
    }
    Ok(users)
}

/// A user id, a name, or a range of ids like `1000-1999`.
fn user_range(field: &Field<'_>) -> Result<UserRange, Problem> {
    if field.is_string() {
        let text: String = field.string()?.escape_debug().collect();
        return text.parse().map_err(|wrong: String| field.problem(wrong));
    }
    let id = field.integer(0..=u32::MAX - 1)?;
    Ok(UserRange {
        first: id,
        last: id,
    })
}

fn metrics(field: &Field<'_>) -> Result<Metrics, Problem> {
    let mut metrics = Metrics::default();
    for (key, field) in field.fields(&["listen", "textfile"])? {
        let text = field.string()?;
        match key {
            "listen" => {
                let wrong = "an address and a port are needed, as in \"127.0.0.1:9710\"";
                let address = text.parse().map_err(|_| field.problem(wrong))?;
                metrics.listen = Some(address);
            }
            _ => {
                let path = PathBuf::from(text);
                if !path.is_absolute() || path.file_name().is_none() {
                    let wrong = "the full path of a file is needed, beginning with `/`";
                    return Err(field.problem(wrong));
                }
                metrics.textfile = Some(path);
            }
        }
    }
    Ok(metrics)
}

#[cfg(test)]
#[path = "config_tests.rs"]
mod tests;
