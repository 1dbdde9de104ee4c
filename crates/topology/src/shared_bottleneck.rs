//! Paths between one server and one client that all cross one bottleneck.
//!
//! Towards the client ("down") a packet crosses the path's own link, then the shared one; towards the server ("up") the
//! order is reversed. The two directions of a bottleneck are independent, and equal unless `up` has other properties. A rate counts whole IP packets:
//! 1500 bytes at 2.5 Mbit/s take 4.8 ms.

use netsim::Span;
use serde::{Deserialize, Serialize};

use crate::client_server::{check_paths, rtt_without};
use crate::error::Error;
use crate::graph::{Graph, split_rtt};
use crate::link::Properties;

/// One bottleneck for all paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedBottleneck {
    /// The shared link. Its delay is added to the paths' own.
    pub bottleneck: Properties,
    /// Round-trip time of each path, without transmission and queueing.
    pub rtts: Vec<Span>,
    /// A link at each end of each path, part of the path's round-trip time.
    pub access: Option<Properties>,
}

impl SharedBottleneck {
    /// Builds the network.
    pub fn build(&self) -> Result<Graph, Error> {
        check_paths(self.rtts.len())?;
        let mut graph = Graph::default();
        let client = graph.add_host("client");
        let server = graph.add_host("server");
        let far = graph.add_router("far");
        // Without access links the bottleneck ends at the client.
        let near = match &self.access {
            Some(_) => graph.add_router("near"),
            None => client,
        };
        let shared = graph.add_pair("bottleneck", near, far, self.bottleneck.directions());
        let mut paths = Vec::new();
        for (number, rtt) in (1..).zip(&self.rtts) {
            let own = split_rtt(rtt_without(self.access.as_ref(), *rtt)?).map(Properties::line);
            let name = format!("path {number}");
            let mut links = Vec::new();
            if let Some(access) = &self.access {
                let end = graph.add_router(&name);
                let at_server = format!("{name} server");
                links.push(graph.add_pair(&at_server, end, server, access.directions()));
                links.push(graph.add_pair(&name, far, end, own));
                links.push(shared);
                let at_client = format!("{name} client");
                links.push(graph.add_pair(&at_client, client, near, access.directions()));
            } else {
                links.extend([graph.add_pair(&name, far, server, own), shared]);
            }
            paths.push(links);
        }
        graph.add_set("all", None, paths);
        Ok(graph)
    }
}
