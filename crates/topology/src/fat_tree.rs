//! Fat tree of a data centre (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008): k pods of k/2 edge and k/2 aggregation
//! switches, (k/2)² core switches, k/2 hosts at each edge switch.
//!
//! Hosts are `h1`, `h2`, … pod by pod. The j-th aggregation switch of each pod connects to the j-th group of k/2 core
//! switches.

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::graph::Graph;
use crate::link::Properties;

/// A fat tree. All links are equal, except for those at the core; up is towards the core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FatTree {
    /// Number of ports of a switch; even.
    pub k: u32,
    /// Each link below the aggregation switches. The longest paths have six links.
    pub link: Properties,
    /// Each link between aggregation and core.
    pub core: Properties,
}

impl FatTree {
    /// Largest k: 27 648 hosts, 82 944 bidirectional links.
    pub const LARGEST: u32 = 48;

    /// Number of links on the longest path between two hosts, in both directions.
    pub const LONGEST_ROUND_TRIP: u64 = 12;

    /// Builds the network.
    pub fn build(&self) -> Result<Graph, Error> {
        if self.k < 2 || self.k > Self::LARGEST || self.k % 2 != 0 {
            let problem = format!(
                "{}: must be an even number from 2 to {}",
                self.k,
                Self::LARGEST
            );
            return Err(Error::new("k", problem));
        }
        let half = self.k / 2;
        let (link, core) = (self.link.directions(), self.core.directions());
        let mut graph = Graph::default();
        let cores: Vec<_> = (1..=half * half)
            .map(|number| graph.add_router(format!("core {number}")))
            .collect();
        for pod in 1..=self.k {
            let aggregation: Vec<_> = (1..=half)
                .map(|j| graph.add_router(format!("aggregation {pod}.{j}")))
                .collect();
            for (number, up) in cores.iter().enumerate() {
                let j = number / half as usize;
                let name = format!("aggregation {pod}.{} core {}", j + 1, number + 1);
                graph.add_pair(&name, aggregation[j], *up, core.clone());
            }
            for i in 1..=half {
                let edge = graph.add_router(format!("edge {pod}.{i}"));
                for (j, up) in (1..).zip(&aggregation) {
                    let name = format!("edge {pod}.{i} aggregation {pod}.{j}");
                    graph.add_pair(&name, edge, *up, link.clone());
                }
                for _ in 0..half {
                    let name = format!("h{}", graph.hosts().len() + 1);
                    let host = graph.add_host(&name);
                    graph.add_pair(&format!("{name} edge {pod}.{i}"), host, edge, link.clone());
                }
            }
        }
        Ok(graph)
    }
}
