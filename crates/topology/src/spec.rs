//! What a network is to be.

use netsim::{Rate, Span};
use serde::{Deserialize, Serialize};

use crate::{
    Error, FatTree, Graph, NonSharedBottleneck, Properties, Queue, ScenarioB, SharedBottleneck,
    SpelledOut, scenario_a, scenario_c,
};

/// The most users of a kind.
const MAX_USERS: u32 = 100_000;

/// What a network is to be: a scenario's `[topology]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Spec {
    /// `shared-bottleneck`.
    SharedBottleneck(SharedBottleneck),
    /// `non-shared-bottleneck`.
    NonSharedBottleneck(NonSharedBottleneck),
    /// `fat-tree`.
    FatTree(FatTree),
    /// `scenario-a`.
    ScenarioA(TwoKinds),
    /// `scenario-b`.
    ScenarioB(ScenarioB),
    /// `scenario-c`.
    ScenarioC(TwoKinds),
    /// `graph`.
    SpelledOut(SpelledOut),
}

/// The users of scenarios A and C: two kinds, each with a bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TwoKinds {
    /// Users of type 1 (A), multipath users (C).
    pub n1: u32,
    /// Users of type 2 (A), single-path users (C).
    pub n2: u32,
    /// The rate of the bottleneck of the first: of the streaming server, R1 (A), of the first access point, AP1 (C).
    pub c1: Capacity,
    /// Of the second: of the access point, R2 (A), of the second access point, AP2 (C).
    pub c2: Capacity,
    /// The round-trip time of each path, without what sending and queueing add.
    pub rtt: Span,
    /// The queue of each of these bottlenecks; the draft's is [`Queue::RedForRate`].
    pub queues: [Queue; 2],
}

/// The rate of a bottleneck of scenarios A and C.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Capacity {
    /// For each user of its kind, as the draft has it.
    PerUser(Rate),
    /// Of the link, for all users together.
    Link(Rate),
}

impl Spec {
    /// The network.
    pub fn build(&self) -> Result<Graph, Error> {
        match self {
            Self::SharedBottleneck(spec) => spec.build(),
            Self::NonSharedBottleneck(spec) => spec.build(),
            Self::FatTree(spec) => spec.build(),
            Self::ScenarioA(users) => scenario_a::build(users),
            Self::ScenarioB(spec) => spec.build(),
            Self::ScenarioC(users) => scenario_c::build(users),
            Self::SpelledOut(spec) => spec.build(),
        }
    }

    /// Changes every delay, and so every round-trip time.
    pub fn map_delays(&mut self, change: impl Fn(Span) -> Span) {
        let map = |delay: &mut Span| *delay = change(*delay);
        match self {
            Self::SharedBottleneck(spec) => {
                map(&mut spec.bottleneck.delay);
                spec.rtts.iter_mut().for_each(map);
                spec.access
                    .iter_mut()
                    .for_each(|access| map(&mut access.delay));
            }
            Self::NonSharedBottleneck(spec) => {
                for path in &mut spec.paths {
                    map(&mut path.bottleneck.delay);
                    map(&mut path.rtt);
                }
                spec.access
                    .iter_mut()
                    .for_each(|access| map(&mut access.delay));
            }
            Self::FatTree(spec) => map(&mut spec.delay),
            Self::ScenarioA(spec) => map(&mut spec.rtt),
            Self::ScenarioB(spec) => map(&mut spec.rtt),
            Self::ScenarioC(spec) => map(&mut spec.rtt),
            Self::SpelledOut(spec) => {
                spec.links
                    .iter_mut()
                    .for_each(|link| map(&mut link.properties.delay));
            }
        }
    }
}

/// A bottleneck for so many users, in both directions; `keys` name users and rate.
pub(crate) fn capacity(
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

/// Whether so many users are possible; `key` names them.
pub(crate) fn check_users(key: &str, users: u32) -> Result<(), Error> {
    if (1..=MAX_USERS).contains(&users) {
        return Ok(());
    }
    let problem = format!("{users} users: 1 to {MAX_USERS} are possible");
    Err(Error::new(key, problem))
}
