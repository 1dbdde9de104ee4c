//! Users of scenarios A, B and C of draft-khalili-mptcp-performance-issues-04, and their bottlenecks.

use netsim::{Rate, Span};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::link::{Properties, Queue};

/// Largest number of users of a kind.
const MAX_USERS: u32 = 100_000;

/// The users of scenarios A and C: two kinds, and two bottlenecks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoKinds {
    /// Number of users of type 1 (A), of multipath users (C).
    pub n1: u32,
    /// Number of users of type 2 (A), of single-path users (C).
    pub n2: u32,
    /// Rate of the first bottleneck: the streaming server, R1 (A); the first access point, AP1 (C).
    pub c1: Capacity,
    /// Rate of the second bottleneck: the access point, R2 (A); the second access point, AP2 (C).
    pub c2: Capacity,
    /// Round-trip time of each path, without transmission and queueing.
    pub rtt: Span,
    /// Queues of the two bottlenecks; the draft has [`Queue::RedForRate`].
    pub queues: [Queue; 2],
}

/// Rate of a bottleneck of scenarios A and C.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Capacity {
    /// For each user of the kind, as in the draft.
    PerUser(Rate),
    /// Of the link, for all users together.
    Link(Rate),
}

/// Both directions of the bottleneck of this many users; `keys` name the number of users and the rate in errors.
pub(crate) fn bottleneck_of_users(
    keys: [&str; 2],
    users: u32,
    capacity: Capacity,
    queue: &Queue,
) -> Result<[Properties; 2], Error> {
    check_users(keys[0], users)?;
    let rate = match capacity {
        Capacity::Link(rate) => rate,
        Capacity::PerUser(rate) => {
            let total = rate.bits_per_second().checked_mul(users.into());
            let too_much = || Error::new(keys[1], "too much for all users together");
            Rate::from_bits_per_second(total.ok_or_else(too_much)?)
        }
    };
    Ok(bottleneck(rate, queue))
}

/// Both directions of a bottleneck.
pub(crate) fn bottleneck(rate: Rate, queue: &Queue) -> [Properties; 2] {
    [(); 2].map(|()| Properties::shaped(rate, queue.clone(), Span::ZERO))
}

/// Checks a number of users; `key` names it in errors.
pub(crate) fn check_users(key: &str, users: u32) -> Result<(), Error> {
    if (1..=MAX_USERS).contains(&users) {
        return Ok(());
    }
    let problem = format!("{users} users: 1 to {MAX_USERS} are possible");
    Err(Error::new(key, problem))
}
