//! Common parts of the networks between one server and one client: access links, and the limit on paths.

use netsim::{Rate, Span};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::link::{Properties, Queue};

/// Largest number of paths between two hosts: more than any host has, few enough to list.
const MAX_PATHS: usize = 1024;

/// A link at each end of each path, part of the path's round-trip time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// Rate.
    pub rate: Rate,
    /// One-way delay.
    pub delay: Span,
    /// Queue.
    pub queue: Queue,
}

impl Access {
    pub(crate) fn properties(&self) -> [Properties; 2] {
        [(); 2].map(|()| Properties::shaped(self.rate, self.queue.clone(), self.delay))
    }

    /// Part of `rtt` that the access links do not take.
    pub(crate) fn remaining_rtt(access: Option<&Self>, rtt: Span) -> Result<Span, Error> {
        let taken = access.map_or(0, |access| access.delay.as_nanos().saturating_mul(4));
        match rtt.as_nanos().checked_sub(taken) {
            Some(remaining) => Ok(Span::from_nanos(remaining)),
            None => Err(Error::new(
                "rtt",
                "shorter than the access links in both directions, which take four times their `delay`",
            )),
        }
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
