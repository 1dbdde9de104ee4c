//! What can go wrong, each in one line: what, where, and what to do.

use crate::holders::Holders;
use std::io;

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The longest name of an algorithm: the kernel's `TCP_CA_NAME_MAX` without the closing NUL.
pub const NAME_MAX: usize = mpcc::NAME_MAX;

/// What can go wrong. Every message is one line.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum Error {
    #[error("no algorithm `{name}`{}; `lisa algorithms` lists them", nearest(.name))]
    Unknown { name: String },
    #[error("`{name}` has {} characters; Linux takes at most {NAME_MAX}", .name.len())]
    NameTooLong { name: String },
    #[error("`{what}`: {reason}")]
    Setting { what: String, reason: String },
    #[error("`{name}` is Linux's own: there is nothing to load or unload")]
    InLinux { name: String },
    #[error("`{name}` is loaded already")]
    AlreadyLoaded { name: String },
    #[error(
        "`{name}` is loaded with {there}, not with {asked}; `lisa kernel unload {name}` first to load it anew"
    )]
    OtherSettings {
        name: String,
        there: String,
        asked: String,
    },
    #[error(
        "another program has registered `{name}` with the kernel; `bpftool struct_ops list` shows it"
    )]
    Foreign { name: String },
    #[error(
        "`{name}` was loaded by another version of lisa (contract {found}, this one has {}); unload it with that version, or `bpftool struct_ops unregister id {map_id}`",
        crate::contract::LISA_CONTRACT
    )]
    OtherContract {
        name: String,
        found: u32,
        map_id: u32,
    },
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
    #[error("`{name}` is in use, and nothing was changed: {}. {}", .holders.summary(), free(.name, .holders))]
    InUse { name: String, holders: Box<Holders> },
    #[error(
        "`{name}` is unloaded already; sockets or namespaces keep it in the kernel: {}", .holders.summary()
    )]
    Leaving { name: String, holders: Box<Holders> },
    #[error(
        "the default before `{name}` was `{previous}`, which the kernel no longer has; choose another by `sysctl -w net.ipv4.tcp_congestion_control=NAME`, then unload `{name}`"
    )]
    PreviousGone { name: String, previous: String },
    #[error("no algorithm is loaded; `lisa kernel load lisa` loads one")]
    NothingLoaded,
    #[error("no connection {token}; `lisa kernel group` lists those that are open")]
    NoConnection { token: String },
    #[error(
        "connection {token} goes over from `{}` to `{}` or back; try again when it has", .names[0], .names[1]
    )]
    TwoAlgorithms { token: String, names: [String; 2] },
    #[error("connection {token} has no subflow `{which}`; it has {}", .there.join(", "))]
    NoSubflow {
        token: String,
        which: String,
        there: Vec<String>,
    },
    #[error(
        "subflow {slot} cannot be in group {} and in group {}: ask for one of them", .groups[0], .groups[1]
    )]
    TwoGroups { slot: u32, groups: [u8; 2] },
    #[error("{what} needs root (CAP_SYS_ADMIN and CAP_NET_ADMIN); run it with sudo")]
    NotPermitted { what: &'static str },
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
    #[error("the kernel refused `{name}`: {reason}")]
    Refused { name: String, reason: String },
    #[error("{what}: {source}")]
    Io { what: String, source: io::Error },
    #[error("{what}: {source}")]
    Bpf {
        what: String,
        source: libbpf_rs::Error,
    },
}

/// ` (do you mean `lisa`?)`, where a name comes near.
fn nearest(name: &str) -> String {
    mpcc::Algorithm::all()
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

/// What frees an algorithm from those that hold it.
fn free(name: &str, holders: &Holders) -> String {
    let mut defaults = holders.defaults.iter();
    if defaults.any(|default| default.netns.can_be_entered()) {
        return "A namespace gives its default to every new socket; `lisa kernel default --off --all` sets the defaults of all \
                namespaces back"
            .into();
    }
    format!(
        "`lisa kernel unload {name} --wait` lets no new socket choose it and waits for these to close"
    )
}

impl Error {
    /// For `map_err`: an I/O error, and what was being done, to what.
    pub(crate) fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io {
            what: what.into(),
            source,
        }
    }

    /// For `map_err`: an error of a BPF call, and what was being done, to what.
    pub(crate) fn bpf(what: impl Into<String>) -> impl FnOnce(libbpf_rs::Error) -> Error {
        move |source| Error::Bpf {
            what: what.into(),
            source,
        }
    }

    /// Whether the command was called wrongly (exit code 2), rather than failed (1).
    pub fn is_usage(&self) -> bool {
        matches!(
            self,
            Error::Unknown { .. }
                | Error::NameTooLong { .. }
                | Error::InLinux { .. }
                | Error::TwoGroups { .. }
                | Error::Setting { .. }
        )
    }
}

pub(crate) fn check_length(name: &str) -> Result<()> {
    if name.len() > NAME_MAX {
        return Err(Error::NameTooLong { name: name.into() });
    }
    Ok(())
}

/// The algorithm of this name, to be loaded.
pub fn loadable(name: &str) -> Result<mpcc::Algorithm> {
    check_length(name)?;
    let algorithm =
        mpcc::Algorithm::find(name).ok_or_else(|| Error::Unknown { name: name.into() })?;
    if algorithm.in_linux() {
        return Err(Error::InLinux { name: name.into() });
    }
    Ok(algorithm)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        assert!(loadable("lisa").is_ok());
        let message = |name| loadable(name).unwrap_err().to_string();
        assert!(
            message("lissa").contains("do you mean `lisa`?"),
            "{}",
            message("lissa")
        );
        assert!(
            !message("bananas").contains("do you mean"),
            "{}",
            message("bananas")
        );
        assert!(message("a_name_of_sixteen").contains("at most 15"));
        assert!(message("reno").contains("Linux's own"));
        assert!(message("cubic").contains("Linux's own"));
        for algorithm in mpcc::Algorithm::all() {
            assert!(algorithm.name().len() <= NAME_MAX);
        }
    }
}
