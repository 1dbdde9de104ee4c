//! Scenario C of draft-khalili-mptcp-performance-issues-04, section 6: users with two access points beside users with
//! the second alone.
//!
//! `multipath`: through AP1, and through AP2. `single-path`: through AP2.

use crate::error::Error;
use crate::graph::{Graph, split_rtt};
use crate::link::Properties;
use crate::users::TwoKinds;

/// Builds the network.
pub(crate) fn build(users: &TwoKinds) -> Result<Graph, Error> {
    users.check()?;
    let [ap1, ap2] = (users.bottlenecks.each_ref()).map(Properties::directions);
    let last = || split_rtt(users.rtt).map(Properties::line);
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
    graph.add_set("multipath", Some(users.n1), both);
    graph.add_set("single-path", Some(users.n2), vec![vec![ap2, wireless3]]);
    Ok(graph)
}
