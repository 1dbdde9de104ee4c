//! Whether algorithms can run on this host, and what keeps connections from using several paths.
//!
//! Each topic gathers facts from the kernel, and turns them into findings by a function without side effects.

mod algorithms;
mod endpoints;
mod host;
mod mptcp;
mod path_manager;
mod peers;
mod privilege;
mod tcp;
mod trials;

use crate::kernel_fs::{PROC, SYS};
use crate::{Result, libbpf, requirements};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

/// Version of the JSON of [`Report`].
pub const SCHEMA: &str = "lisa.kernel.doctor/1";

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Algorithms run, but not as well as they could, or not for this user.
    Warn,
    /// No algorithm can run.
    Fail,
}

/// What a finding is about. The order is that of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    /// The kernel's version, and BPF.
    Kernel,
    /// Capabilities of the caller.
    Privilege,
    /// MPTCP's settings.
    Mptcp,
    /// Limits of the path manager.
    PathManager,
    /// MPTCP's endpoints, and the routes from their addresses.
    Endpoints,
    /// TCP's settings.
    Tcp,
    /// MPTCP support of the peers so far.
    Peers,
    /// Algorithms: what a load does, and what is loaded.
    Algorithms,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Finding {
    /// What it is about.
    pub topic: Topic,
    /// Name of the check, for programs.
    pub check: &'static str,
    /// Severity.
    pub level: Level,
    /// The finding in words.
    pub text: String,
    /// What to do; `None` if there is nothing to do.
    pub remedy: Option<String>,
}

/// The findings about this host and this network namespace.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Report {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// The kernel's release, as `uname -r` prints it.
    pub release: String,
    /// Whether algorithms can run: no finding is a failure.
    pub can_run: bool,
    /// The findings, by topic.
    pub findings: Vec<Finding>,
}

/// A path whose transfers the buffers have to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// Rate of all subflows together, bit/s.
    pub rate: u64,
    /// Largest RTT of the subflows.
    pub rtt: Duration,
}

impl Path {
    /// Bandwidth-delay product, bytes.
    fn bdp(self) -> f64 {
        self.rate as f64 / 8.0 * self.rtt.as_secs_f64()
    }
}

/// Examines this host, from this network namespace, and whether its buffers hold what is in flight on `path`. Changes nothing: the
/// kernel verifies the programs of each algorithm, and frees them again. `report` receives what is tried next, for a line of progress.
///
/// # Errors
/// If the kernel's state cannot be read here: what cannot be read is not missing.
pub fn examine(path: Option<Path>, report: &mut dyn FnMut(&str)) -> Result<Report> {
    PROC.check()?;
    SYS.check()?;
    libbpf::check_descriptors()?;
    let mptcp = mptcp::Facts::gather();
    let uses_limits = mptcp.uses_kernel_path_manager();
    let path_manager = path_manager::Facts::gather();
    let mut findings = host::findings(&host::Facts::gather());
    let privilege = privilege::Facts::gather();
    findings.extend(privilege::findings(&privilege));
    findings.extend(mptcp::findings(&mptcp));
    if uses_limits {
        findings.extend(path_manager::findings(&path_manager));
        let endpoints = endpoints::gather(&path_manager.endpoints);
        findings.extend(endpoints::findings(&endpoints));
    }
    findings.extend(tcp::findings(&tcp::Facts::gather(), path));
    findings.extend(peers::findings(&peers::Mib::gather()));
    // A load would fail for the reason that was found, and after the trials nothing else is known.
    if can_run(&findings) {
        let trials = trials::Facts::gather(privilege.may_load(), report);
        findings.extend(trials::findings(&trials));
    }
    findings.extend(algorithms::findings(&algorithms::Facts::gather()));
    Ok(Report {
        schema: SCHEMA,
        release: requirements::release(),
        can_run: can_run(&findings),
        findings,
    })
}

fn can_run(findings: &[Finding]) -> bool {
    findings.iter().all(|finding| finding.level != Level::Fail)
}

impl Topic {
    fn ok(self, check: &'static str, text: impl Into<String>) -> Finding {
        Finding {
            topic: self,
            check,
            level: Level::Ok,
            text: text.into(),
            remedy: None,
        }
    }

    fn warn(
        self,
        check: &'static str,
        text: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        self.with_remedy(Level::Warn, check, text, remedy)
    }

    fn fail(
        self,
        check: &'static str,
        text: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        self.with_remedy(Level::Fail, check, text, remedy)
    }

    fn with_remedy(
        self,
        level: Level,
        check: &'static str,
        text: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding {
            level,
            remedy: Some(remedy.into()),
            ..self.ok(check, text)
        }
    }
}

/// Settings of a directory of /proc/sys, by file name.
type Settings = BTreeMap<String, String>;

/// Reads the settings of `/proc/sys/net/DIRECTORY`; empty if there is none.
fn settings(directory: &str) -> Settings {
    let entries = fs::read_dir(format!("/proc/sys/net/{directory}"));
    let entries = entries.into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let value = fs::read_to_string(entry.path()).ok()?;
            Some((name, value.trim().to_owned()))
        })
        .collect()
}

/// `1 subflow`, `2 subflows`.
fn counted(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The only finding of a check.
    #[track_caller]
    pub(super) fn one<'f>(findings: &'f [Finding], check: &str) -> &'f Finding {
        let mut of_check = findings.iter().filter(|finding| finding.check == check);
        let first = of_check.next();
        let first = first.unwrap_or_else(|| panic!("no {check} in {findings:#?}"));
        assert!(of_check.next().is_none(), "{findings:#?}");
        first
    }

    /// Levels of the findings that are not `ok`, by check.
    pub(super) fn not_ok(findings: &[Finding]) -> Vec<(&'static str, Level)> {
        let bad = findings.iter().filter(|f| f.level != Level::Ok);
        bad.map(|finding| (finding.check, finding.level)).collect()
    }

    pub(super) fn parsed(text: &str) -> Settings {
        let lines = text.lines().filter_map(|line| line.split_once('='));
        lines
            .map(|(name, value)| (name.trim().into(), value.trim().into()))
            .collect()
    }

    /// Every finding that is not `ok` has a remedy, and the page stays readable.
    #[test]
    fn this_host() {
        let report = examine(None, &mut |_| ()).unwrap();
        assert!(report.findings.is_sorted_by_key(|finding| finding.topic));
        for finding in &report.findings {
            assert_eq!(
                finding.remedy.is_none(),
                finding.level == Level::Ok,
                "{finding:?}"
            );
        }
    }
}
