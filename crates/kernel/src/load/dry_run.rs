//! What a load would do, without registering anything.

use super::object::{Object, Verified};
use super::{How, Options, check_length, loadable, must_replace};
use crate::limits::{self, Limits};
use crate::registry::{self, Found};
use crate::{Error, Result, requirements};

/// What [`super::apply`] would do.
#[derive(Clone, Debug)]
pub struct DryRun {
    /// Name of the registration.
    pub name: String,
    /// What it would do.
    pub how: How,
    /// Number of sockets and namespaces that have the algorithm now.
    pub users: u64,
    /// Bounds of the options.
    pub limits: Limits,
    /// The programs, which the kernel has verified.
    pub verified: Verified,
    /// Memory of the maps, bytes: without connections, and at most.
    pub memory: (u64, u64),
}

/// Finds out what [`super::apply`] would do. The kernel verifies the programs and frees them again.
///
/// # Errors
/// Those of [`super::apply`].
pub fn dry_run(name: &str, options: &Options) -> Result<DryRun> {
    let algorithm = loadable(name)?;
    let registered_name = options.register_as.as_deref().unwrap_or(name);
    check_length(registered_name)?;
    let limits = options.limits(algorithm)?;
    requirements::check()?;
    let (how, users) = match registry::find_any(registered_name) {
        Err(Error::NotLoaded { .. }) => (How::Loaded, 0),
        Err(error) | Ok(Found::Damaged(error)) => return Err(error),
        Ok(Found::Other(registration)) => (How::Replaced, registration.users()),
        Ok(Found::Current(registered)) => {
            let how = match must_replace(&registered, name, options) {
                true => How::Replaced,
                false if registered.limits()? == limits => How::Unchanged,
                false => How::Changed,
            };
            (how, registered.users())
        }
    };
    let verified = Object::open(algorithm, options, &limits)?
        .load()?
        .verified()?;
    Ok(DryRun {
        name: registered_name.into(),
        how,
        users,
        memory: limits::memory(limits.connections),
        limits,
        verified,
    })
}
