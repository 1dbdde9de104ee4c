//! Scenario A of draft-khalili-mptcp-performance-issues-04, section 4: users that reach a streaming server (R1) over a
//! private path add a path through an access point (R2), which other users depend on.
//!
//! `type1`: through R1, and through R1 and R2. `type2`: through R2 alone.
//! High-speed private connections have no rate here. Delays are behind the bottlenecks: all paths have one round-trip
//! time.

use netsim::Span;

use crate::error::Error;
use crate::graph::{Graph, split_rtt};
use crate::link::Properties;
use crate::users::TwoKinds;

/// Builds the network.
pub(crate) fn build(users: &TwoKinds) -> Result<Graph, Error> {
    users.check()?;
    let [r1, r2] = (users.bottlenecks.each_ref()).map(Properties::directions);
    let last = || split_rtt(users.rtt).map(Properties::line);
    let unlimited = || [(); 2].map(|()| Properties::line(Span::ZERO));
    let mut graph = Graph::default();
    let [streaming, internet, type1, type2] =
        ["streaming", "internet", "type1", "type2"].map(|name| graph.add_host(name));
    let [r1_near, r2_far, r2_near] =
        ["R1", "access point", "R2"].map(|name| graph.add_router(name));
    let through_r1 = graph.add_pair("R1", r1_near, streaming, r1);
    let private = graph.add_pair("private", type1, r1_near, last());
    let streaming_to_r2 = graph.add_pair("R1 R2", r2_far, r1_near, unlimited());
    let internet_to_r2 = graph.add_pair("internet R2", r2_far, internet, unlimited());
    let through_r2 = graph.add_pair("R2", r2_near, r2_far, r2);
    let wireless1 = graph.add_pair("wireless type1", type1, r2_near, last());
    let wireless2 = graph.add_pair("wireless type2", type2, r2_near, last());
    let by_both = vec![through_r1, streaming_to_r2, through_r2, wireless1];
    graph.add_set(
        "type1",
        Some(users.n1),
        vec![vec![through_r1, private], by_both],
    );
    let by_r2 = vec![internet_to_r2, through_r2, wireless2];
    graph.add_set("type2", Some(users.n2), vec![by_r2]);
    Ok(graph)
}
