//! Loads an algorithm anew, in place of a registration with the same name: another version of this program, or more connections.
//!
//! Sockets keep the registration that they have until they close. A network namespace gives new sockets the registration that its
//! default refers to, so the defaults are set again. Between the two registrations, for about a millisecond, the name is unknown to
//! setsockopt(TCP_CONGESTION).

use super::{Object, Options};
use crate::registry::{Registered, Registration};
use crate::{Result, default, holders, totals};

/// Replaces `old`. `readable`: the same, if this version can read its counters, which the new registration takes over.
///
/// # Errors
/// As [`super::load`]. Nothing is changed unless the kernel accepts the new programs.
pub(super) fn replace(
    old: &Registration,
    readable: Option<&Registered>,
    algorithm: mpcc::Algorithm,
    options: &Options,
) -> Result<Registered> {
    let limits = options.limits(algorithm)?;
    let mut object = Object::open(algorithm, options, &limits)?;
    let mut loaded = object.load()?;
    let defaults = holders::find()?.of(old).defaults;
    old.unregister()?;
    let new = loaded.register()?;
    default::take_over(old, &new)?;
    if let Some(old) = readable {
        new.switch(old.is_off()?)?;
        totals::move_all(old, &new)?;
    }
    let enterable = defaults
        .iter()
        .filter(|default| !default.ends && default.netns.can_be_entered());
    for default in enterable {
        default.netns.run(|| match default::get()? == new.name() {
            true => default::set(new.name()),
            false => Ok(()), // changed meanwhile
        })?;
    }
    Ok(new)
}
