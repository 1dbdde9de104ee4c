//! What `lisa kernel load` and `exec` do here: their programs are loaded and freed again, and nothing is registered or attached.

use super::{Finding, Topic};
use crate::load::{self, Options};
use crate::{Error, Result, exec};
use std::time::{Duration, Instant};

/// No load begins after this time. One takes some tenths of a second, and seconds where a VM emulates its processor.
const LIMIT: Duration = Duration::from_secs(10);

/// Results of the trials.
#[derive(Debug)]
pub(super) enum Facts {
    /// The caller lacks the privilege.
    NotPermitted,
    Tried(Tried),
}

/// What was tried, and what was not within the limit.
#[derive(Debug, Default)]
pub(super) struct Tried {
    /// The programs of `lisa kernel exec`; `None`: the limit was reached.
    exec: Option<Result<()>>,
    accepted: Vec<&'static str>,
    refused: Vec<(&'static str, Error)>,
    untried: Vec<&'static str>,
}

impl Facts {
    /// Tries all within the limit. `report` receives what is tried next.
    pub(super) fn gather(may_try: bool, report: &mut dyn FnMut(&str)) -> Self {
        if !may_try {
            return Self::NotPermitted;
        }
        let deadline = Instant::now() + LIMIT;
        let mut tried = Tried::default();
        let algorithms = mpcc::Algorithm::all().filter(mpcc::Algorithm::is_loadable);
        for algorithm in algorithms {
            let name = algorithm.name();
            if Instant::now() > deadline {
                tried.untried.push(name);
                continue;
            }
            report(&format!("load {name}"));
            match load::dry_run(name, &Options::default()) {
                Ok(_) => tried.accepted.push(name),
                Err(error) => tried.refused.push((name, error)),
            }
        }
        if Instant::now() <= deadline {
            report("exec");
            tried.exec = Some(exec::cgroup::programs::try_load());
        }
        Self::Tried(tried)
    }
}

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    use Topic::Algorithms;
    let Facts::Tried(tried) = facts else {
        let text = "not tried without root: whether the kernel accepts the algorithms";
        let remedy = "`sudo lisa kernel doctor` tries to load each, and registers none";
        let exec = "not tried without root: BPF programs for `lisa kernel exec`, which uses a helper process otherwise";
        return vec![
            Algorithms.warn("load", text, remedy),
            Algorithms.ok("exec", exec),
        ];
    };
    let mut found = Vec::new();
    if !tried.accepted.is_empty() {
        let names = tried.accepted.join(", ");
        let text = format!("tried: the kernel accepts {names}");
        found.push(Algorithms.ok("load", text));
    }
    found.extend(of_refused(tried));
    let exec = match &tried.exec {
        Some(Ok(())) => "tried: the kernel accepts the BPF programs for `lisa kernel exec`".into(),
        // A helper serves as well, so this is no warning.
        Some(Err(error)) => {
            format!("tried: `lisa kernel exec` uses a helper process for each command: {error}")
        }
        None => within_limit("the BPF programs for `lisa kernel exec`"),
    };
    if !tried.untried.is_empty() {
        let text = within_limit(&tried.untried.join(", "));
        let text = format!("{text}; `lisa kernel load NAME --dry-run` tries one");
        found.push(Algorithms.ok("load", text));
    }
    found.push(Algorithms.ok("exec", exec));
    found
}

fn within_limit(what: &str) -> String {
    format!("not tried within {} s: {what}", LIMIT.as_secs())
}

/// A finding for each error, with the algorithms that have it.
fn of_refused(tried: &Tried) -> Vec<Finding> {
    use Topic::Algorithms;
    let mut by_error: Vec<(String, Vec<&str>)> = Vec::new();
    for (name, error) in &tried.refused {
        // The kernel's answer is the same for all but the name.
        let error = match error {
            Error::Refused { reason, .. } => format!("the kernel refused it: {reason}"),
            error => error.to_string(),
        };
        match by_error.iter_mut().find(|(other, _)| *other == error) {
            Some((_, names)) => names.push(name),
            None => by_error.push((error, vec![name])),
        }
    }
    let findings = by_error.into_iter().map(|(error, names)| {
        let text = format!(
            "tried: `lisa kernel load` fails for {}: {error}",
            names.join(", ")
        );
        match tried.accepted.is_empty() {
            true => Algorithms.fail("load", text, "run it where the kernel accepts BPF programs"),
            false => Algorithms.warn("load", text, "choose one that the kernel accepts"),
        }
    });
    findings.collect()
}

#[cfg(test)]
mod tests {
    use super::super::Level;
    use super::super::tests::{not_ok, one};
    use super::*;

    fn refused(name: &str) -> Error {
        Error::Refused {
            name: name.into(),
            reason: "Invalid argument".into(),
        }
    }

    #[test]
    fn one_of_two_is_refused() {
        let found = findings(&Facts::Tried(Tried {
            exec: Some(Err(Error::not_permitted("attaching"))),
            accepted: vec!["lia"],
            refused: vec![("lisa", refused("lisa"))],
            untried: vec!["css"],
        }));
        assert_eq!(not_ok(&found), [("load", Level::Warn)]);
        let texts: Vec<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
        assert_eq!(texts[0], "tried: the kernel accepts lia");
        let fails =
            "tried: `lisa kernel load` fails for lisa: the kernel refused it: Invalid argument";
        assert_eq!(texts[1], fails);
        assert!(
            texts[2].starts_with("not tried within 10 s: css"),
            "{texts:?}"
        );
        assert!(texts[3].starts_with("tried: `lisa kernel exec` uses a helper process"));
    }

    #[test]
    fn all_are_refused_for_one_reason() {
        let found = findings(&Facts::Tried(Tried {
            exec: Some(Ok(())),
            refused: vec![("lisa", refused("lisa")), ("lia", refused("lia"))],
            ..Tried::default()
        }));
        assert_eq!(not_ok(&found), [("load", Level::Fail)]);
        assert!(one(&found, "load").text.contains("fails for lisa, lia: "));
    }

    #[test]
    fn without_privilege() {
        let found = findings(&Facts::gather(false, &mut |_| panic!("nothing is tried")));
        assert_eq!(not_ok(&found), [("load", Level::Warn)]);
        assert!(
            found
                .iter()
                .all(|finding| finding.text.starts_with("not tried"))
        );
    }
}
