//! Registers an algorithm with the kernel, and changes a registered one.

mod dry_run;
mod object;
mod replace;

use crate::limits::{Limits, Users};
use crate::owner::Owner;
use crate::registry::{self, Found, Registered};
use crate::{Error, Result, exec, requirements};
use mpcc::NAME_MAX;
use object::Object;

pub use dry_run::{DryRun, dry_run};
pub use object::Verified;

/// Largest number of connections that an algorithm can couple at a time.
pub const MAX_CONNECTIONS: u32 = 1_048_576;

/// Options of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The name of the registration, at most 15 characters; `None`: the algorithm's.
    pub register_as: Option<String>,
    /// Number of connections that can be coupled at a time; further ones run uncoupled and are counted.
    pub max_connections: u32,
    /// Bounds on the connections of users.
    pub users: Users,
    /// Values of settings, by name; the others have their standard values.
    pub settings: Vec<(String, u32)>,
    /// Sockets without MPTCP run this algorithm alone, instead of their namespace's previous default.
    pub keeps_plain: bool,
    /// The process that the algorithm is loaded for: [`registry::sweep`] unloads it after the process has ended.
    pub owner: Option<Owner>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            register_as: None,
            max_connections: 16_384,
            users: Users::default(),
            settings: Vec::new(),
            keeps_plain: false,
            owner: None,
        }
    }
}

impl Options {
    fn limits(&self, algorithm: mpcc::Algorithm) -> Result<Limits> {
        let settings = setting_values(algorithm, &self.settings)?;
        Ok(Limits::new(settings, self.max_connections, &self.users))
    }
}

/// Registers an algorithm. It stays when this program ends.
///
/// # Errors
/// An unknown or too long name, a name that is loaded already ([`Error::AlreadyLoaded`]), a host without a requirement: see
/// [`Error`].
pub fn load(name: &str, options: &Options) -> Result<Registered> {
    let registered = register(name, options)?;
    let _ = attach_exec(options); // without the programs, `lisa kernel exec` uses a helper process
    Ok(registered)
}

/// Attaches the programs of `lisa kernel exec`.
fn attach_exec(options: &Options) -> Result<()> {
    match options.owner {
        None => exec::cgroup::programs::after_load(),
        Some(_) => Ok(()),
    }
}

fn register(name: &str, options: &Options) -> Result<Registered> {
    let algorithm = loadable(name)?;
    let registered_name = options.register_as.as_deref().unwrap_or(name);
    check_length(registered_name)?;
    let limits = options.limits(algorithm)?;
    requirements::check()?;
    match registry::find_any(registered_name) {
        Err(Error::NotLoaded { .. }) => {}
        Err(error) | Ok(Found::Damaged(error)) => return Err(error),
        Ok(Found::Current(_) | Found::Other(_)) => {
            return Err(Error::AlreadyLoaded {
                name: registered_name.into(),
            });
        }
    }
    let mut object = Object::open(algorithm, options, &limits)?;
    object.load()?.register()
}

/// Result of [`apply`].
#[derive(Debug)]
pub struct Applied {
    /// The algorithm.
    pub registered: Registered,
    /// What the call did.
    pub how: How,
    /// Why `lisa kernel exec` uses a helper process for each command instead of BPF programs.
    pub exec: Result<()>,
}

/// What [`apply`] did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// The algorithm was not loaded before.
    Loaded,
    /// It was loaded already, with the same options.
    Unchanged,
    /// New connections have the new settings and bounds.
    Changed,
    /// It was loaded anew. Open connections stay under the former load, which leaves the kernel when they have closed.
    Replaced,
}

/// Loads an algorithm, or changes a loaded one so that it has these options. No connection is closed.
///
/// # Errors
/// As [`load`], except [`Error::AlreadyLoaded`].
pub fn apply(name: &str, options: &Options) -> Result<Applied> {
    let algorithm = loadable(name)?;
    let registered_name = options.register_as.as_deref().unwrap_or(name);
    requirements::check()?;
    let (registered, how) = match registry::find_any(registered_name) {
        Err(Error::NotLoaded { .. }) => (register(name, options)?, How::Loaded),
        Err(error) | Ok(Found::Damaged(error)) => return Err(error),
        Ok(Found::Current(registered)) if must_replace(&registered, name, options) => (
            replace::replace(&registered, Some(&registered), algorithm, options)?,
            How::Replaced,
        ),
        Ok(Found::Other(registration)) => (
            replace::replace(&registration, None, algorithm, options)?,
            How::Replaced,
        ),
        Ok(Found::Current(registered)) => {
            let how = change(&registered, &options.limits(algorithm)?)?;
            (*registered, how)
        }
    };
    Ok(Applied {
        registered,
        how,
        exec: attach_exec(options),
    })
}

/// Whether a change of bounds and settings does not suffice.
fn must_replace(registered: &Registered, name: &str, options: &Options) -> bool {
    registered.algorithm() != name
        || registered.object != object::HASH
        || registered.keeps_plain != options.keeps_plain
        || registered.capacity() < options.max_connections
}

fn change(registered: &Registered, limits: &Limits) -> Result<How> {
    if registered.limits()? == *limits {
        return Ok(How::Unchanged);
    }
    registered.set_limits(limits)?;
    Ok(How::Changed)
}

/// Whether Linux's own CUBIC follows slow start.
fn over_cubic(algorithm: mpcc::Algorithm) -> bool {
    algorithm.avoidance() == "cubic"
}

/// Values of an algorithm's settings: `given`, and the standard values of the others.
///
/// # Errors
/// [`Error::Setting`] if the algorithm has no such setting, or a value is out of range.
pub(crate) fn setting_values(
    algorithm: mpcc::Algorithm,
    given: &[(String, u32)],
) -> Result<mpcc::Settings> {
    let mut values = mpcc::Settings::standard(algorithm);
    for (name, value) in given {
        values
            .set(algorithm, name, *value)
            .map_err(|error| Error::Setting {
                what: format!("{name}={value}"),
                reason: error.to_string(),
            })?;
    }
    Ok(values)
}

fn check_length(name: &str) -> Result<()> {
    if name.len() > NAME_MAX {
        return Err(Error::NameTooLong { name: name.into() });
    }
    Ok(())
}

/// The algorithm of this name, if it can be loaded.
///
/// # Errors
/// [`Error::NameTooLong`], [`Error::Unknown`], [`Error::InLinux`], [`Error::Simulated`].
pub fn loadable(name: &str) -> Result<mpcc::Algorithm> {
    check_length(name)?;
    let algorithm =
        mpcc::Algorithm::find(name).ok_or_else(|| Error::Unknown { name: name.into() })?;
    match algorithm {
        _ if algorithm.is_loadable() => Ok(algorithm),
        _ if algorithm.in_linux() => Err(Error::InLinux { name: name.into() }),
        _ => Err(Error::Simulated { name: name.into() }),
    }
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
        assert!(message("phi").contains("in the simulator only"));
        for algorithm in mpcc::Algorithm::all() {
            assert!(algorithm.name().len() <= NAME_MAX);
        }
    }
}
