//! Loads an algorithm anew, in place of a registration with the same name: another version of this program, or more connections.
//!
//! Sockets keep the registration that they have until they close. A network namespace gives new sockets the registration that its
//! default refers to, so the defaults are set again. Between the two registrations the name is unknown to setsockopt(TCP_CONGESTION).

use super::object::Loaded;
use super::{Object, Options};
use crate::registry::{self, Registered, Registration};
use crate::{Error, Result, default, holders, totals};
use std::thread;

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
    let new = exchange(old, &mut loaded)?;
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

/// Unregisters `old` and registers the new load. Linux takes the name off its list first and then waits for a grace period of RCU
/// (`tcp_unregister_congestion_control`), 10 ms and more: the new load is registered meanwhile.
fn exchange(old: &Registration, loaded: &mut Loaded<'_>) -> Result<Registered> {
    thread::scope(|scope| {
        let unregistering = scope.spawn(|| old.unregister());
        let registered = loop {
            let is_last = unregistering.is_finished();
            // Linux writes a line to its log for a name that is registered twice.
            if !is_last && registry::is_taken(old.name())? {
                thread::yield_now();
                continue;
            }
            match loaded.register() {
                Err(Error::Foreign { .. }) if !is_last => {}
                registered => break registered,
            }
        };
        let unregistered = unregistering.join().expect("it does not panic");
        match (registered, unregistered) {
            // Another process has unregistered the old one.
            (Ok(new), Ok(()) | Err(Error::NotLoaded { .. })) => Ok(new),
            (_, Err(error)) | (Err(error), Ok(())) => Err(error),
        }
    })
}
