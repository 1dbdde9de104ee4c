//! Paths between one server and one client, each with its own bottleneck.

use netsim::Span;
use serde::{Deserialize, Serialize};

use crate::client_server::{check_paths, rtt_without};
use crate::error::Error;
use crate::graph::{Graph, split_rtt};
use crate::link::Properties;

/// A bottleneck for each path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NonSharedBottleneck {
    /// The paths.
    pub paths: Vec<PathSpec>,
    /// A link at each end of each path, part of the path's round-trip time.
    pub access: Option<Properties>,
}

/// A path with its own bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathSpec {
    /// Bottleneck. Its delay is added to `rtt`.
    pub bottleneck: Properties,
    /// Round-trip time, without transmission and queueing.
    pub rtt: Span,
}

impl NonSharedBottleneck {
    /// Builds the network.
    pub fn build(&self) -> Result<Graph, Error> {
        check_paths(self.paths.len())?;
        let mut graph = Graph::default();
        let client = graph.add_host("client");
        let server = graph.add_host("server");
        let mut paths = Vec::new();
        for (number, path) in (1..).zip(&self.paths) {
            let rtt = rtt_without(self.access.as_ref(), path.rtt)?;
            let mut own = path.bottleneck.directions();
            for (direction, delay) in own.iter_mut().zip(split_rtt(rtt)) {
                direction.delay = direction.delay + delay;
            }
            let name = format!("path {number}");
            let Some(access) = &self.access else {
                paths.push(vec![graph.add_pair(&name, client, server, own)]);
                continue;
            };
            let [near, far] = ["near", "far"].map(|end| graph.add_router(format!("{name} {end}")));
            let at_server = format!("{name} server");
            let at_client = format!("{name} client");
            paths.push(vec![
                graph.add_pair(&at_server, far, server, access.directions()),
                graph.add_pair(&name, near, far, own),
                graph.add_pair(&at_client, client, near, access.directions()),
            ]);
        }
        graph.add_set("all", None, paths);
        Ok(graph)
    }
}
