//! Paths between one server and one client, each with a bottleneck of its own.

use netsim::Span;
use serde::{Deserialize, Serialize};

use crate::graph::halves;
use crate::{Access, Error, Graph, Properties};

/// The most paths between two hosts: more than anyone has, few enough to list.
const MAX_PATHS: usize = 1024;

/// A bottleneck for each path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NonSharedBottleneck {
    /// The paths.
    pub paths: Vec<PathSpec>,
    /// Links at either end of each path.
    pub access: Option<Access>,
}

/// A path with its own bottleneck.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathSpec {
    /// Its bottleneck, alike in both directions. Its delay comes on top of `rtt`.
    pub bottleneck: Properties,
    /// Its round-trip time, without what sending and queueing add.
    pub rtt: Span,
}

impl NonSharedBottleneck {
    /// The network.
    pub fn build(&self) -> Result<Graph, Error> {
        check_paths(self.paths.len())?;
        let mut graph = Graph::default();
        let client = graph.add_host("client");
        let server = graph.add_host("server");
        let mut paths = Vec::new();
        for (number, path) in (1..).zip(&self.paths) {
            let own =
                halves(Access::rest(self.access.as_ref(), path.rtt)?).map(|delay| Properties {
                    delay: delay + path.bottleneck.delay,
                    ..path.bottleneck.clone()
                });
            let name = format!("path {number}");
            let Some(access) = &self.access else {
                paths.push(vec![graph.add_pair(&name, client, server, own)]);
                continue;
            };
            let [near, far] = ["near", "far"].map(|end| graph.add_router(format!("{name} {end}")));
            let at_server = format!("{name} server");
            let at_client = format!("{name} client");
            paths.push(vec![
                graph.add_pair(&at_server, far, server, access.properties()),
                graph.add_pair(&name, near, far, own),
                graph.add_pair(&at_client, client, near, access.properties()),
            ]);
        }
        graph.add_set("all", None, paths);
        Ok(graph)
    }
}

/// There must be a path, and not absurdly many.
pub(crate) fn check_paths(paths: usize) -> Result<(), Error> {
    if (1..=MAX_PATHS).contains(&paths) {
        Ok(())
    } else {
        let problem = format!("{paths} paths: 1 to {MAX_PATHS} are possible");
        Err(Error::new("paths", problem))
    }
}
