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
        for properties in self.properties() {
            properties.map_traces(&change);
        }
    }

    /// Changes every delay, and with it every round-trip time.
    pub fn map_delays(&mut self, change: impl Fn(Span) -> Span) {
        for properties in self.properties() {
            properties.delay = change(properties.delay);
        }
        let rtts: Vec<&mut Span> = match self {
            Self::SharedBottleneck(spec) => spec.rtts.iter_mut().collect(),
            Self::NonSharedBottleneck(spec) => {
                spec.paths.iter_mut().map(|path| &mut path.rtt).collect()
            }
            Self::ScenarioA(users) | Self::ScenarioC(users) => vec![&mut users.rtt],
            Self::ScenarioB(spec) => vec![&mut spec.rtt],
            Self::FatTree(_) | Self::SpelledOut(_) | Self::Map(_) => Vec::new(),
        };
        for rtt in rtts {
            *rtt = change(*rtt);
        }
    }

    /// The properties of all links.
    fn properties(&mut self) -> Vec<&mut Properties> {
        match self {
            Self::SharedBottleneck(spec) => {
                let all = spec.access.iter_mut().chain([&mut spec.bottleneck]);
                all.collect()
            }
            Self::NonSharedBottleneck(spec) => {
                let paths = spec.paths.iter_mut().map(|path| &mut path.bottleneck);
                spec.access.iter_mut().chain(paths).collect()
            }
            Self::FatTree(spec) => vec![&mut spec.link, &mut spec.core],
            Self::ScenarioA(users) | Self::ScenarioC(users) => {
                users.bottlenecks.iter_mut().collect()
            }
            Self::ScenarioB(spec) => spec.bottlenecks.iter_mut().collect(),
            Self::SpelledOut(spec) => {
                (spec.links.iter_mut().map(|link| &mut link.properties)).collect()
            }
            Self::Map(spec) => {
                let links = spec.links.iter_mut().map(|link| &mut link.properties);
                spec.properties.iter_mut().chain(links).collect()
            }
        }
    }
}
