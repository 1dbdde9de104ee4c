//! Errors of this crate. Each message is one line: the failure, its place, the remedy.

use crate::capabilities;
use crate::service::config::Problem;
use mpcc::NAME_MAX;
use std::io;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error of this crate. Every message is one line.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages explain the variants
pub enum Error {
    #[error("no algorithm `{name}`{}; `lisa algorithms` lists them", nearest(.name))]
    Unknown { name: String },
    #[error("`{name}` has {} characters; Linux takes at most {NAME_MAX}", .name.len())]
    NameTooLong { name: String },
    #[error("`{what}`: {reason}")]
    Setting { what: String, reason: String },
    #[error("`{name}` is Linux's own: there is nothing to load or unload")]
    InLinux { name: String },
    #[error(
        "`{name}` runs in the simulator only (`lisa run`); `lisa kernel load --help` lists what can be loaded"
    )]
    Simulated { name: String },
    #[error("`{name}` is loaded already")]
    AlreadyLoaded { name: String },
    #[error(
        "another program has registered `{name}` with the kernel; `bpftool struct_ops list` or `lsmod` shows it: remove it first, or choose another algorithm"
    )]
    Foreign { name: String },
    #[error(
        "`{name}` was loaded by another version of lisa (contract {found}, this one has {}); `lisa kernel load {name}` replaces it, `lisa kernel unload {name}` unloads it",
        crate::contract::LISA_CONTRACT
    )]
    OtherVersion { name: String, found: u32 },
    #[error(
        "at most {} ranges of users can be unlimited",
        crate::limits::USER_RANGES
    )]
    TooManyUsers,
    #[error(
        "`{name}`: {} programs read its events already; end one of them",
        crate::contract::LISA_LISTENERS
    )]
    TooManyListeners { name: String },
    #[error(
        "`{name}` (struct_ops map {map_id}) is damaged: {what}; `bpftool struct_ops unregister id {map_id}` removes it"
    )]
    Damaged {
        name: String,
        map_id: u32,
        what: String,
    },
    #[error("`{name}` is not loaded{}", others(.loaded))]
    NotLoaded { name: String, loaded: Vec<String> },
    #[error("`{name}` is in use, and nothing was changed: {holders}. {}", remedy(.name, *.is_default))]
    InUse {
        name: String,
        holders: String,
        /// Whether it is the default of a namespace that can be entered.
        is_default: bool,
    },
    #[error("`{name}` is unloaded already; sockets or namespaces keep it in the kernel: {holders}")]
    Leaving { name: String, holders: String },
    #[error(
        "the default before `{name}` was `{previous}`, which the kernel no longer has; choose another by `sysctl -w net.ipv4.tcp_congestion_control=NAME`, then unload `{name}`"
    )]
    PreviousGone { name: String, previous: String },
    #[error("no algorithm is loaded; `lisa kernel load` loads one")]
    NothingLoaded,
    #[error("no connection {token}; `lisa kernel group` lists those that are open")]
    NoConnection { token: String },
    #[error(
        "connection {token} goes over from `{}` to `{}` or back; try again when it has", .names[0], .names[1]
    )]
    TwoAlgorithms { token: String, names: [String; 2] },
    #[error("connection {token} has no subflow `{which}`; it has {}", .subflows.join(", "))]
    NoSubflow {
        token: String,
        which: String,
        subflows: Vec<String>,
    },
    #[error(
        "subflow {slot} cannot be in group {} and in group {}: ask for one of them", .groups[0], .groups[1]
    )]
    TwoGroups { slot: u32, groups: [u8; 2] },
    #[error("{what} needs {}", privilege(.missing))]
    NotPermitted {
        what: &'static str,
        /// The capabilities that this process lacks.
        missing: Vec<String>,
    },
    #[error("{file}:{problem}")]
    Config { file: String, problem: Problem },
    #[error(
        "the service runs already{}; `systemctl reload lisa` makes it read its file again", process(.0)
    )]
    ServiceRuns(Option<u32>),
    #[error("Linux {release} is too old: 6.1 or later is needed")]
    KernelTooOld { release: String },
    #[error("this kernel has no {what}; {remedy}")]
    Missing {
        what: &'static str,
        remedy: &'static str,
    },
    #[error(
        "this kernel has no {functions}, which this algorithm calls after slow start; it needs CONFIG_TCP_CONG_CUBIC=y, as the kernels of Debian and Ubuntu have"
    )]
    NoCubic { functions: String },
    #[error("{path} is not mounted here; `mount -t {kind} {kind} {path}` mounts it")]
    NotMounted {
        path: &'static str,
        kind: &'static str,
    },
    #[error("the kernel refused `{name}`: {reason}")]
    Refused { name: String, reason: String },
    #[error("the network process: {0}")]
    NetworkProcess(String),
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    #[error("{what}: {source:#}")]
    Bpf {
        what: String,
        source: libbpf_rs::Error,
    },
}

/// ` (do you mean `lisa`?)`, if an algorithm has a similar name.
fn nearest(name: &str) -> String {
    mpcc::Algorithm::all()
        .filter(mpcc::Algorithm::is_loadable)
        .map(|algorithm| {
            (
                strsim::damerau_levenshtein(name, algorithm.name()),
                algorithm.name(),
            )
        })
        .min()
        .filter(|(distance, known)| *distance <= 2.max(known.len() / 2))
        .map_or(String::new(), |(_, known)| {
            format!(" (do you mean `{known}`?)")
        })
}

fn others(names: &[String]) -> String {
    match names {
        [] => "; nothing is".into(),
        names => format!("; loaded: {}", names.join(", ")),
    }
}

/// How to free an algorithm from its holders.
fn remedy(name: &str, is_default: bool) -> String {
    if is_default {
        return "A namespace gives its default to every new socket; `lisa kernel default --off --all` sets the defaults of all \
                namespaces back"
            .into();
    }
    format!(
        "`lisa kernel unload {name} --wait` lets no new socket choose it and waits for these to close"
    )
}

/// The capabilities that an operation needs in addition to those of this process.
fn privilege(missing: &[String]) -> String {
    match missing {
        [] => "more than capabilities: a sandbox, a user namespace or a lockdown refuses it".into(),
        missing => format!("root ({}); run it with sudo", capabilities::list(missing)),
    }
}

fn process(pid: &Option<u32>) -> String {
    pid.map_or(String::new(), |pid| format!(" (process {pid})"))
}

impl Error {
    /// The error of an operation for which this process lacks privilege.
    pub(crate) fn not_permitted(what: &'static str) -> Self {
        Self::NotPermitted {
            what,
            missing: capabilities::missing(),
        }
    }

    /// For `map_err`: an I/O error of the operation `what`.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io {
            what: what.into(),
            source,
        }
    }

    /// For `map_err`: an error of the BPF call `what`.
    pub(crate) fn bpf(what: impl Into<String>) -> impl FnOnce(libbpf_rs::Error) -> Error {
        move |source| Error::Bpf {
            what: what.into(),
            source,
        }
    }

    /// Whether the error is one of usage (exit code 2) instead of a failure (1).
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Error::Unknown { .. }
                | Error::NameTooLong { .. }
                | Error::InLinux { .. }
                | Error::Simulated { .. }
                | Error::TwoGroups { .. }
                | Error::Setting { .. }
        )
    }
}
