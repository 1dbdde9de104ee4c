//! Paths between one server and one client that all cross one bottleneck.
//!
//! Towards the client ("down") a packet crosses what is the path's own, then what is shared; towards the server ("up")
//! the other way round. Both directions of a bottleneck are alike, each for itself. A rate counts whole IP packets:
//! 1500 bytes at 2.5 Mbit/s take 4.8 ms.

use netsim::{Rate, Span};
use serde::{Deserialize, Serialize};

use crate::graph::halves;
use crate::non_shared_bottleneck::check_paths;
use crate::{Error, Graph, Properties, Queue};

/// One bottleneck for all paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharedBottleneck {
    /// What all paths share, in either direction. Its delay comes on top of the paths' own.
    pub bottleneck: Properties,
    /// Each path's round-trip time, without what sending and queueing add.
    pub rtts: Vec<Span>,
    /// Links of each path's own at either end.
    pub access: Option<Access>,
}

/// A link at each end of each path, part of the path's round-trip time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Access {
    /// Its rate.
    pub rate: Rate,
    /// Its delay, one way.
    pub delay: Span,
    /// Its queue.
    pub queue: Queue,
}

impl Access {
    pub(crate) fn properties(&self) -> [Properties; 2] {
        [(); 2].map(|()| Properties::shaped(self.rate, self.queue.clone(), self.delay))
    }

    /// The round-trip time that the access links leave of `rtt`.
    pub(crate) fn rest(access: Option<&Self>, rtt: Span) -> Result<Span, Error> {
        let taken = access.map_or(0, |access| access.delay.as_nanos().saturating_mul(4));
        match rtt.as_nanos().checked_sub(taken) {
            Some(rest) => Ok(Span::from_nanos(rest)),
            None => Err(Error::new(
                "rtt",
                "shorter than its access links there and back, which are four times their `delay`",
            )),
        }
    }
}

impl SharedBottleneck {
    /// The network.
    pub fn build(&self) -> Result<Graph, Error> {
        check_paths(self.rtts.len())?;
        let mut graph = Graph::default();
        let client = graph.add_host("client");
        let server = graph.add_host("server");
        let far = graph.add_router("far");
        // Without access links the client is at the bottleneck itself.
        let near = match &self.access {
            Some(_) => graph.add_router("near"),
            None => client,
        };
        let bottleneck = [(); 2].map(|()| self.bottleneck.clone());
        let shared = graph.add_pair("bottleneck", near, far, bottleneck);
        let mut paths = Vec::new();
        for (number, rtt) in (1..).zip(&self.rtts) {
            let own = halves(Access::rest(self.access.as_ref(), *rtt)?).map(Properties::line);
            let name = format!("path {number}");
            let mut links = Vec::new();
            if let Some(access) = &self.access {
                let end = graph.add_router(&name);
                let at_server = format!("{name} server");
                links.push(graph.add_pair(&at_server, end, server, access.properties()));
                links.push(graph.add_pair(&name, far, end, own));
                links.push(shared);
                let at_client = format!("{name} client");
                links.push(graph.add_pair(&at_client, client, near, access.properties()));
            } else {
                links.extend([graph.add_pair(&name, far, server, own), shared]);
            }
            paths.push(links);
        }
        graph.add_set("all", None, paths);
        Ok(graph)
    }
}
