//! The loaded algorithms: those of this version, of others, their defaults and their entries.

use super::{Finding, Topic, counted};
use crate::load::MAX_CONNECTIONS;
use crate::registry::{self, Found};
use crate::{Error, Result, holders, status, totals};

/// What is loaded.
#[derive(Debug)]
pub(super) struct Facts(Result<Vec<Loaded>>);

/// A registration of this project.
#[derive(Debug)]
enum Loaded {
    /// Of this version.
    Ours(Algorithm),
    /// Of another version, or damaged: why it cannot be read.
    Other(String),
}

#[derive(Clone, Debug, Default)]
struct Algorithm {
    name: String,
    /// Unloaded, and kept by sockets or namespaces.
    is_leaving: bool,
    /// Its holders in a line.
    holders: String,
    connections: u64,
    max_connections: u64,
    /// Coupling is switched off.
    is_off: bool,
    /// Subflows that found no room.
    alone: u64,
    /// Entries that could not be deleted.
    deletions_failed: u64,
    /// The defaults of these namespaces, in words.
    defaults: String,
}

impl Facts {
    pub(super) fn gather() -> Self {
        Self(gather())
    }
}

fn gather() -> Result<Vec<Loaded>> {
    let all = registry::find_all()?;
    if all.is_empty() {
        return Ok(Vec::new());
    }
    let found = holders::find()?;
    let loaded = all.into_iter().map(|registered| {
        let registered = match registered {
            Found::Current(registered) => registered,
            Found::Other(other) => return Ok(Loaded::Other(other.other_version().to_string())),
            Found::Damaged(error) => return Ok(Loaded::Other(error.to_string())),
        };
        let (holders, totals) = (found.of(&registered), totals::totals(&registered)?);
        Ok(Loaded::Ours(Algorithm {
            name: registered.name().into(),
            is_leaving: registered.is_leaving(),
            holders: holders.summary(),
            connections: status::entries(&registered).0 as u64,
            max_connections: registered.limits()?.connections.into(),
            is_off: registered.is_off()?,
            alone: totals.alone(),
            deletions_failed: totals.deletions_failed,
            defaults: holders.default_names(),
        }))
    });
    loaded.collect()
}

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    use Topic::Algorithms;
    match &facts.0 {
        Err(Error::NotPermitted { .. }) => vec![Algorithms.warn(
            "loaded",
            "the loaded algorithms cannot be listed by this user",
            "`sudo lisa kernel doctor` lists them",
        )],
        Err(error) => vec![Algorithms.warn(
            "loaded",
            format!("the loaded algorithms cannot be listed: {error}"),
            "see the findings about the kernel",
        )],
        Ok(all) if all.is_empty() => {
            vec![Algorithms.ok("loaded", "none is loaded; `lisa kernel load` loads one")]
        }
        Ok(all) => all.iter().flat_map(of_one).collect(),
    }
}

fn of_one(loaded: &Loaded) -> Vec<Finding> {
    use Topic::Algorithms;
    let algorithm = match loaded {
        Loaded::Ours(algorithm) => algorithm,
        Loaded::Other(error) => {
            // The error is `what; remedy`.
            let (what, remedy) = error
                .split_once("; ")
                .unwrap_or((error, "see docs/doctor.md"));
            return vec![Algorithms.warn("contract", what, remedy)];
        }
    };
    let name = &algorithm.name;
    if algorithm.is_leaving {
        let text = format!(
            "`{name}` is unloaded, and still held: {}",
            algorithm.holders
        );
        let remedy = "close these sockets; `lisa kernel default --off --all` for namespaces";
        return vec![Algorithms.warn("leaving", text, remedy)];
    }
    let mut text = format!(
        "`{name}` is loaded: {} of at most {}",
        counted(algorithm.connections, "connection"),
        algorithm.max_connections
    );
    if !algorithm.defaults.is_empty() {
        text += &format!("; the default of {}", algorithm.defaults);
    }
    let mut found = vec![Algorithms.ok("loaded", text)];
    if algorithm.is_off {
        let text = format!("`{name}` is switched off: its subflows run uncoupled");
        found.push(Algorithms.warn("off", text, "`lisa kernel on` couples them again"));
    }
    if algorithm.alone > 0 {
        let text = format!(
            "{} of `{name}` found no room and ran uncoupled",
            counted(algorithm.alone, "subflow")
        );
        let mut remedy = "`lisa kernel status` names the bound".to_owned();
        if algorithm.max_connections < MAX_CONNECTIONS.into() {
            let more = (algorithm.max_connections * 4).min(MAX_CONNECTIONS.into());
            remedy += &format!("; `lisa kernel load {name} --max-connections {more}` raises it");
        }
        found.push(Algorithms.warn("room", text, remedy));
    }
    if algorithm.deletions_failed > 0 {
        let failed = counted(algorithm.deletions_failed, "deletion");
        found.push(Algorithms.warn(
            "left_over",
            format!("{failed} of map entries of `{name}` failed"),
            "`lisa kernel status` deletes entries without a socket",
        ));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::super::tests::{not_ok, one};
    use super::*;

    fn lisa() -> Algorithm {
        Algorithm {
            name: "lisa".into(),
            connections: 3,
            max_connections: 16_384,
            ..Algorithm::default()
        }
    }

    fn found(algorithm: Algorithm) -> Vec<Finding> {
        findings(&Facts(Ok(vec![Loaded::Ours(algorithm)])))
    }

    #[test]
    fn loaded_algorithms() {
        let usual = found(Algorithm {
            defaults: "`blue`".into(),
            ..lisa()
        });
        assert_eq!(not_ok(&usual), []);
        let text = "`lisa` is loaded: 3 connections of at most 16384; the default of `blue`";
        assert_eq!(usual[0].text, text);
        let full = found(Algorithm {
            alone: 9,
            deletions_failed: 1,
            ..lisa()
        });
        assert_eq!(
            not_ok(&full),
            [("room", Level::Warn), ("left_over", Level::Warn)]
        );
        for (max_connections, remedy) in [
            (16_384, Some("--max-connections 65536")),
            (524_288, Some("--max-connections 1048576")),
            (1_048_576, None),
        ] {
            let full = found(Algorithm {
                alone: 9,
                max_connections,
                ..lisa()
            });
            let text = one(&full, "room").remedy.as_deref().unwrap();
            let option = text.find("--max").map(|at| &text[at..]);
            let option = option.and_then(|option| option.split('`').next());
            assert_eq!(option, remedy);
        }
        let leaving = found(Algorithm {
            is_leaving: true,
            holders: "1 listener: [::]:80".into(),
            ..lisa()
        });
        assert_eq!(not_ok(&leaving), [("leaving", Level::Warn)]);
        assert!(leaving[0].text.ends_with("1 listener: [::]:80"));
    }

    #[test]
    fn algorithms_of_another_version() {
        let error = Error::OtherVersion {
            name: "lisa".into(),
            found: 3,
        };
        let found = findings(&Facts(Ok(vec![Loaded::Other(error.to_string())])));
        assert_eq!(not_ok(&found), [("contract", Level::Warn)]);
        assert!(
            found[0]
                .remedy
                .as_deref()
                .unwrap()
                .contains("`lisa kernel load lisa` replaces it")
        );
    }

    #[test]
    fn without_permission() {
        let denied = Error::not_permitted("listing");
        assert_eq!(
            not_ok(&findings(&Facts(Err(denied)))),
            [("loaded", Level::Warn)]
        );
        let nothing = findings(&Facts(Ok(Vec::new())));
        assert_eq!(not_ok(&nothing), []);
    }
}
