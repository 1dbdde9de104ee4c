//! Users of scenarios A, B and C of draft-khalili-mptcp-performance-issues-04.

use netsim::Span;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::link::Properties;

/// Largest number of users of a kind.
const MAX_USERS: u32 = 100_000;

/// The users of scenarios A and C: two kinds, and two bottlenecks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoKinds {
    /// Number of users of type 1 (A), of multipath users (C).
    pub n1: u32,
    /// Number of users of type 2 (A), of single-path users (C).
    pub n2: u32,
    /// The streaming server R1 and the access point R2 (A), the access points AP1 and AP2 (C), for all users together. The
    /// draft has queues of [`Queue::RedForRate`](crate::Queue::RedForRate).
    pub bottlenecks: [Properties; 2],
    /// Round-trip time of each path, without transmission and queueing.
    pub rtt: Span,
}

impl TwoKinds {
    /// Checks the numbers of users.
    pub(crate) fn check(&self) -> Result<(), Error> {
        check_users("n1", self.n1)?;
        check_users("n2", self.n2)
    }
}

/// Checks a number of users; `key` names it in errors.
pub(crate) fn check_users(key: &str, users: u32) -> Result<(), Error> {
    if (1..=MAX_USERS).contains(&users) {
        return Ok(());
    }
    let problem = format!("{users} users: 1 to {MAX_USERS} are possible");
    Err(Error::new(key, problem))
}
