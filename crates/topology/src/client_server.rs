//! Common parts of the networks between one server and one client: access links, and the limit on paths.

use netsim::Span;

use crate::error::Error;
use crate::link::Properties;

/// Largest number of paths between two hosts: more than any host has, few enough to list.
const MAX_PATHS: usize = 1024;

/// Part of `rtt` that the access links at both ends do not take.
pub(crate) fn rtt_without(access: Option<&Properties>, rtt: Span) -> Result<Span, Error> {
    let taken = access.map_or(0, |access| access.delay.as_nanos().saturating_mul(4));
    match rtt.as_nanos().checked_sub(taken) {
        Some(remaining) => Ok(Span::from_nanos(remaining)),
        None => Err(Error::new(
            "rtt",
            "shorter than the access links in both directions, which take four times their `delay`",
        )),
    }
}

/// Checks the number of paths.
pub(crate) fn check_paths(paths: usize) -> Result<(), Error> {
    if (1..=MAX_PATHS).contains(&paths) {
        Ok(())
    } else {
        let problem = format!("{paths} paths: 1 to {MAX_PATHS} are possible");
        Err(Error::new("paths", problem))
    }
}
