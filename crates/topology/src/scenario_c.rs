//! Scenario C of draft-khalili-mptcp-performance-issues-04, section 6: users with two access points beside users who
//! have only the second.
//!
//! `multipath`: through AP1, and through AP2. `single-path`: through AP2.

use netsim::{Rate, Span};

use crate::graph::halves;
use crate::spec::capacity;
use crate::{Error, Graph, Properties, Queue};

/// The network of scenario C.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioC {
    /// Multipath users.
    pub n1: u32,
    /// Single-path users.
    pub n2: u32,
    /// The rate of the first access point for each multipath user.
    pub c1: Rate,
    /// The rate of the second access point for each single-path user.
    pub c2: Rate,
    /// The round-trip time of each path, without what sending and queueing add.
    pub rtt: Span,
    /// The queue of each access point; the draft's is [`Queue::RedForRate`].
    pub queue: Queue,
}

impl ScenarioC {
    /// The network.
    pub fn build(&self) -> Result<Graph, Error> {
        let ap1 = capacity(["n1", "c1"], self.n1, self.c1, &self.queue)?;
        let ap2 = capacity(["n2", "c2"], self.n2, self.c2, &self.queue)?;
        let last = || halves(self.rtt).map(Properties::line);
        let mut graph = Graph::default();
        let [internet, multipath, single] =
            ["internet", "multipath", "single-path"].map(|name| graph.add_host(name));
        let [near1, near2] = ["AP1", "AP2"].map(|name| graph.add_router(name));
        let ap1 = graph.add_pair("AP1", near1, internet, ap1);
        let ap2 = graph.add_pair("AP2", near2, internet, ap2);
        let wireless1 = graph.add_pair("AP1 multipath", multipath, near1, last());
        let wireless2 = graph.add_pair("AP2 multipath", multipath, near2, last());
        let wireless3 = graph.add_pair("AP2 single-path", single, near2, last());
        let both = vec![vec![ap1, wireless1], vec![ap2, wireless2]];
        graph.add_set("multipath", Some(self.n1), both);
        graph.add_set("single-path", Some(self.n2), vec![vec![ap2, wireless3]]);
        Ok(graph)
    }
}
