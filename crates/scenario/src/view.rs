//! The network of a scenario, the paths of its connections, and the links that they share ([`View`]).

use std::collections::{BTreeMap, BTreeSet};

use netsim::Rate;
use serde::Serialize;
use topology::{Graph, LinkIndex, Path, Queue};

use crate::error::Error;
use crate::scenario::Scenario;

/// Name and version of the JSON form.
pub const SCHEMA: &str = "lisa.show/1";

/// A network with the connections of one seed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct View {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Title of the scenario.
    pub scenario: String,
    /// Seed from which the connections and their paths are drawn.
    pub seed: u64,
    /// Factor by which the seed multiplies all delays (`rtt_spread`).
    pub delay_factor: f64,
    /// Names of the nodes at which connections begin and end.
    pub hosts: Vec<String>,
    /// Names of the nodes that forward.
    pub routers: Vec<String>,
    /// Links in one direction each, in the order of the topology.
    pub links: Vec<LinkView>,
    /// Connections, in the order of the scenario and of their numbers.
    pub connections: Vec<ConnectionView>,
}

/// A link in one direction.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LinkView {
    /// Name.
    pub name: String,
    /// Node at which the link begins.
    pub from: String,
    /// Node at which the link ends.
    pub to: String,
    /// Rate, of a recorded one the mean, Mbit/s; none: no limit.
    pub rate_mbps: Option<f64>,
    /// Whether the rate is recorded.
    pub is_recorded: bool,
    /// Propagation delay, seconds.
    pub delay_s: f64,
    /// Queue, in words; none without a rate.
    pub queue: Option<String>,
    /// Whether the link is the bottleneck of a subflow.
    pub is_bottleneck: bool,
    /// Subflows whose data cross the link.
    pub subflows: Vec<SubflowId>,
}

/// Identity of a subflow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SubflowId {
    /// Name of the connection.
    pub connection: String,
    /// Number among the connections of this name, from 1.
    pub number: u32,
    /// Number in the connection, from 1.
    pub subflow: usize,
}

/// A connection.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConnectionView {
    /// Name.
    pub name: String,
    /// Number among the connections of this name, from 1.
    pub number: u32,
    /// Protocol: `tcp`, `mptcp`, `udp`.
    pub protocol: &'static str,
    /// Algorithm; empty for UDP.
    pub algorithm: String,
    /// Start, seconds.
    pub start_s: f64,
    /// Subflows.
    pub subflows: Vec<SubflowView>,
}

/// A subflow.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SubflowView {
    /// Number in the connection, from 1.
    pub subflow: usize,
    /// Number of the path, from 1.
    pub path: u64,
    /// Name of the path, if it has one.
    pub path_name: Option<String>,
    /// Nodes from the sender of data to the receiver.
    pub nodes: Vec<String>,
    /// Links from the sender of data to the receiver.
    pub links: Vec<String>,
    /// Round-trip time without transmission and queueing, seconds.
    pub rtt_s: f64,
    /// Link with the lowest rate, the first of several; none if no link has a rate.
    pub bottleneck: Option<String>,
    /// Bandwidth-delay product of the path, bytes: rate of the bottleneck times `rtt_s`.
    pub bdp_bytes: Option<f64>,
}

impl View {
    /// The network of a scenario with the connections and paths of this seed.
    ///
    /// # Errors
    /// Those of [`Scenario::draw`].
    pub fn new(scenario: &Scenario, seed: u64) -> Result<View, Error> {
        let drawn = scenario.draw(seed)?;
        let graph = &drawn.graph;
        let mut users: BTreeMap<LinkIndex, Vec<SubflowId>> = BTreeMap::new();
        let mut bottlenecks = BTreeSet::new();
        let mut connections = Vec::new();
        for flow in &drawn.flows {
            let spec = &scenario.connections[flow.connection];
            let mut subflows = Vec::new();
            for (index, (path, number)) in flow.paths.iter().zip(&flow.numbers).enumerate() {
                for link in &path.forward {
                    users.entry(*link).or_default().push(SubflowId {
                        connection: spec.name.clone(),
                        number: flow.number,
                        subflow: index + 1,
                    });
                }
                let bottleneck = bottleneck(graph, path);
                bottlenecks.extend(bottleneck.map(|(link, _)| link));
                let mut subflow = subflow(graph, path, index + 1, number + 1);
                subflow.path_name = scenario.path_name(number + 1).map(Into::into);
                subflows.push(subflow);
            }
            connections.push(ConnectionView {
                name: spec.name.clone(),
                number: flow.number,
                protocol: spec.protocol.name(),
                algorithm: spec.algorithm.clone(),
                start_s: flow.start.as_nanos() as f64 / 1e9,
                subflows,
            });
        }
        let link = |index: LinkIndex| {
            let link = graph.link(index);
            let properties = &link.properties;
            let rate = properties.mean_rate();
            LinkView {
                name: link.name.clone(),
                from: graph.nodes()[link.from.index()].clone(),
                to: graph.nodes()[link.to.index()].clone(),
                rate_mbps: rate.map(mbps),
                is_recorded: properties.rate_trace.is_some(),
                delay_s: properties.delay.as_nanos() as f64 / 1e9,
                queue: rate.map(|_| queue(&properties.queue)),
                is_bottleneck: bottlenecks.contains(&index),
                subflows: users.get(&index).cloned().unwrap_or_default(),
            }
        };
        let is_host = |name: &&String| graph.node(name).is_some_and(|n| graph.hosts().contains(&n));
        let (hosts, routers): (Vec<&String>, Vec<&String>) =
            graph.nodes().iter().partition(is_host);
        Ok(View {
            schema: SCHEMA,
            scenario: scenario.title.clone(),
            seed,
            delay_factor: scenario.delay_factor(seed),
            hosts: hosts.into_iter().cloned().collect(),
            routers: routers.into_iter().cloned().collect(),
            links: graph.link_indices().map(link).collect(),
            connections,
        })
    }
}

fn subflow(graph: &Graph, path: &Path, subflow: usize, number: u64) -> SubflowView {
    let names = |link: &LinkIndex| graph.link(*link).name.clone();
    let node = |node: topology::NodeIndex| graph.nodes()[node.index()].clone();
    let first = path
        .forward
        .first()
        .map(|link| node(graph.link(*link).from));
    let ends = path.forward.iter().map(|link| node(graph.link(*link).to));
    let rtt_s = graph.rtt(path).as_nanos() as f64 / 1e9;
    let bottleneck = bottleneck(graph, path);
    SubflowView {
        subflow,
        path: number,
        path_name: None,
        nodes: first.into_iter().chain(ends).collect(),
        links: path.forward.iter().map(names).collect(),
        rtt_s,
        bottleneck: bottleneck.map(|(link, _)| names(&link)),
        bdp_bytes: bottleneck.map(|(_, rate)| rate.bits_per_second() as f64 * rtt_s / 8.0),
    }
}

/// The first of the links with the lowest rate towards the receiver.
fn bottleneck(graph: &Graph, path: &Path) -> Option<(LinkIndex, Rate)> {
    let links = path.forward.iter();
    let rates = links.filter_map(|link| Some((*link, graph.link(*link).properties.mean_rate()?)));
    rates.min_by_key(|(_, rate)| rate.bits_per_second())
}

fn mbps(rate: Rate) -> f64 {
    rate.bits_per_second() as f64 / 1e6
}

/// A queue in words: `30 packets`, `RED`.
fn queue(queue: &Queue) -> String {
    match queue {
        Queue::DropTailPackets(1) => "1 packet".into(),
        Queue::DropTailPackets(packets) => format!("{packets} packets"),
        Queue::DropTailBytes(bytes) => format!("{bytes} bytes"),
        Queue::Red(red) => format!("RED, {} to {} packets", red.min, red.max),
        Queue::RedForRate(_) => "RED for the rate".into(),
        Queue::CoDel { limit, .. } => format!("CoDel, {limit} packets"),
        Queue::FqCoDel { limit, .. } => format!("FQ-CoDel, {limit} packets"),
        Queue::Pie { limit, .. } => format!("PIE, {limit} packets"),
        Queue::Policer { rate, burst } => format!("policer, {} Mbit/s, {burst} bytes", mbps(*rate)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2.5 Mbit/s and 70 ms: 2.5e6 × 0.07 / 8 = 21 875 bytes, by hand.
    #[test]
    fn two_subflows_share_the_bottleneck() {
        let text = "stop = \"9s\"\n[topology]\nkind = \"shared-bottleneck\"\nrate = \"2.5Mbit\"\n\
            rtt = \"70ms\"\nqueue = 30\nnames = [\"Wi-Fi\", \"LTE\"]\n[[connection]]\nname = \"a\"\nprotocol = \"mptcp\"\n\
            [[connection]]\nname = \"b\"\n";
        let scenario = Scenario::parse(text, "a.toml").unwrap();
        let view = View::new(&scenario, 1).unwrap();
        let link = view.links.iter().find(|link| link.is_bottleneck).unwrap();
        assert_eq!(link.name, "bottleneck down");
        assert_eq!(view.delay_factor, 1.0);
        assert_eq!(link.queue.as_deref(), Some("30 packets"));
        let users: Vec<_> = (link.subflows.iter())
            .map(|id| (&*id.connection, id.subflow))
            .collect();
        assert_eq!(users, [("a", 1), ("a", 2), ("b", 1)]);
        let first = &view.connections[0].subflows[1];
        assert_eq!(first.path_name.as_deref(), Some("LTE"));
        assert_eq!(
            (first.path, first.bottleneck.as_deref()),
            (2, Some("bottleneck down"))
        );
        assert!((first.bdp_bytes.unwrap() - 21_875.0).abs() < 1e-6);
        assert_eq!(first.nodes.len(), first.links.len() + 1);
    }
}
