//! Scenario B of draft-khalili-mptcp-performance-issues-04, section 5: four providers, of which X and T are bottlenecks.
//!
//! `blue` users download from Z over b1 (Z–X) and b2 (Z–Y), `red` users from T over r1 (T–Y) and r2 (T–X). The draft does
//! not draw the access links of a path; its numbers imply them. Both kinds reach the optimum of 2.1 Mbit/s when red
//! users have r1 alone: 15 · 2.1 + (15 · 2.1 − CX) = CT = 36, so b2 crosses T. With r2 the sum of all users falls
//! below CX + CT, so r2 crosses both X and T.

use netsim::Span;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::graph::{Graph, split_rtt};
use crate::link::Properties;
use crate::users::check_users;

/// The network of scenario B.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScenarioB {
    /// Number of users of each kind.
    pub users: u32,
    /// Access links of the providers X, Y, Z and T. The draft has queues of [`Queue::RedForRate`](crate::Queue::RedForRate).
    pub bottlenecks: Box<[Properties; 4]>,
    /// Round-trip time of each path, without transmission and queueing.
    pub rtt: Span,
}

impl ScenarioB {
    /// Builds the network.
    pub fn build(&self) -> Result<Graph, Error> {
        check_users("users", self.users)?;
        let [x, y, z, t] = (self.bottlenecks.each_ref()).map(Properties::directions);
        let last = || split_rtt(self.rtt).map(Properties::line);
        let unlimited = || [(); 2].map(|()| Properties::line(Span::ZERO));
        let mut graph = Graph::default();
        let [server_z, server_t, blue, red] =
            ["server Z", "server T", "blue", "red"].map(|name| graph.add_host(name));
        let [z_out, t_in, t_out, x_in, x_out, y_in, y_out] =
            ["Z", "T in", "T out", "X in", "X out", "Y in", "Y out"]
                .map(|name| graph.add_router(name));
        let z = graph.add_pair("Z", z_out, server_z, z);
        let z_to_x = graph.add_pair("Z X", x_in, z_out, unlimited());
        let z_to_t = graph.add_pair("Z T", t_in, z_out, unlimited());
        let from_t = graph.add_pair("server T", t_in, server_t, unlimited());
        let t = graph.add_pair("T", t_out, t_in, t);
        let t_to_x = graph.add_pair("T X", x_in, t_out, unlimited());
        let t_to_y = graph.add_pair("T Y", y_in, t_out, unlimited());
        let x = graph.add_pair("X", x_out, x_in, x);
        let y = graph.add_pair("Y", y_out, y_in, y);
        let x_blue = graph.add_pair("X blue", blue, x_out, last());
        let y_blue = graph.add_pair("Y blue", blue, y_out, last());
        let x_red = graph.add_pair("X red", red, x_out, last());
        let y_red = graph.add_pair("Y red", red, y_out, last());
        let (b1, b2) = (
            vec![z, z_to_x, x, x_blue],
            vec![z, z_to_t, t, t_to_y, y, y_blue],
        );
        graph.add_set("blue", Some(self.users), vec![b1, b2]);
        let (r1, r2) = (
            vec![from_t, t, t_to_y, y, y_red],
            vec![from_t, t, t_to_x, x, x_red],
        );
        graph.add_set("red", Some(self.users), vec![r1, r2]);
        Ok(graph)
    }
}
