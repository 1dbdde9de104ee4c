//! Description of a network.

use netsim::{Span, Trace};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::fat_tree::FatTree;
use crate::graph::Graph;
use crate::link::Properties;
use crate::map::MapSpec;
use crate::non_shared_bottleneck::NonSharedBottleneck;
use crate::scenario_b::ScenarioB;
use crate::shared_bottleneck::SharedBottleneck;
use crate::spelled_out::SpelledOut;
use crate::users::TwoKinds;
use crate::{scenario_a, scenario_c};

/// Description of a network: a scenario's `[topology]`.
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
    /// `gml`.
    Map(MapSpec),
}

impl Spec {
    /// Builds the network.
    pub fn build(&self) -> Result<Graph, Error> {
        match self {
            Self::SharedBottleneck(spec) => spec.build(),
            Self::NonSharedBottleneck(spec) => spec.build(),
            Self::FatTree(spec) => spec.build(),
            Self::ScenarioA(users) => scenario_a::build(users),
            Self::ScenarioB(spec) => spec.build(),
            Self::ScenarioC(users) => scenario_c::build(users),
            Self::SpelledOut(spec) => spec.build(),
            Self::Map(spec) => spec.build(),
        }
    }

    /// Changes every recorded rate.
    pub fn map_traces(&mut self, change: impl Fn(&Trace) -> Trace) {
        let all: Vec<&mut Properties> = match self {
            Self::SharedBottleneck(spec) => vec![&mut spec.bottleneck],
            Self::NonSharedBottleneck(spec) => {
                (spec.paths.iter_mut().map(|path| &mut path.bottleneck)).collect()
            }
            Self::SpelledOut(spec) => {
                (spec.links.iter_mut().map(|link| &mut link.properties)).collect()
            }
            Self::Map(spec) => {
                let links = spec.links.iter_mut().map(|link| &mut link.properties);
                spec.properties.iter_mut().chain(links).collect()
            }
            Self::FatTree(_) | Self::ScenarioA(_) | Self::ScenarioB(_) | Self::ScenarioC(_) => {
                Vec::new()
            }
        };
        for properties in all {
            properties.map_traces(&change);
        }
    }

    /// Changes every delay, and with it every round-trip time.
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
            Self::Map(spec) => {
                let links = spec.links.iter_mut().map(|link| &mut link.properties);
                let all = spec.properties.iter_mut().chain(links);
                all.for_each(|properties| map(&mut properties.delay));
            }
        }
    }
}
