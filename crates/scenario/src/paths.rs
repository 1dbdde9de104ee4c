//! Paths between two nodes of a network, the links that they share, and their groups: what network assistance knows
//! ([`Network::answer`], the JSON of `lisa paths`).

use std::path::Path;

use netsim::{Rate, Span};
use serde::Serialize;
use topology::{
    Direction, Disjointness, Graph, LinkIndex, Map, Metric, NodeIndex, Place, Properties, Queue,
    Sharing, ShortestTree, Spec, distance_km,
};

use crate::error::{Error, Location, nearest_node, several_nodes, there_are};
use crate::file::text;
use crate::scenario::Scenario;
use crate::study::problem::{Argument, Problem};

/// Name and version of the JSON form.
pub const SCHEMA: &str = "lisa.paths/1";

/// Delay of a kilometre of the links of a map: light in fibre.
const DELAY_PER_KM: Span = Span::from_micros(5);

/// Largest number of paths of a query.
pub const MOST_PATHS: u64 = 1024;

/// A network of a map or of a scenario.
pub struct Network {
    /// Title of the map or scenario.
    pub title: String,
    /// Nodes and links.
    pub graph: Graph,
    /// Places of the nodes on a map; empty without a map.
    pub places: Vec<Option<Place>>,
    /// `id` of each node in the map; none for a host beside the map; empty without a map.
    pub ids: Vec<String>,
    /// Whether each link has a rate, or in a scenario no limit. Otherwise all links count as equal.
    pub has_rates: bool,
    /// Whether the delays of the links are known.
    pub has_delays: bool,
    /// Keys of the map's nodes and edges that are not read ([`Map::unread`]).
    pub unread: Vec<String>,
}

/// What is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query {
    /// First node.
    pub from: NodeIndex,
    /// Last node.
    pub to: NodeIndex,
    /// Largest number of paths.
    pub k: usize,
    /// What the paths do not share; none: they may share links.
    pub disjoint: Option<Disjointness>,
    /// Length of a path.
    pub metric: Metric,
}

/// A query by the names of the nodes.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// First node.
    pub from: &'a str,
    /// Last node.
    pub to: &'a str,
    /// Largest number of paths; none: 3, and 2 if they are disjoint.
    pub k: Option<usize>,
    /// What the paths do not share; none: they may share links.
    pub disjoint: Option<Disjointness>,
    /// Length of a path.
    pub metric: Metric,
}

/// Paths, shared links and groups.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// [`SCHEMA`].
    pub schema: &'static str,
    /// Title of the map or scenario.
    pub network: String,
    /// Name of the first node; none if no paths were requested.
    pub from: Option<String>,
    /// Name of the last node.
    pub to: Option<String>,
    /// `links` or `nodes`: what the paths do not share; none: they may share links.
    pub disjoint: Option<&'static str>,
    /// `hops` or `delay`: length of a path.
    pub by: &'static str,
    /// Whether the rates of the links are known. Otherwise all links count as equal.
    pub has_rates: bool,
    /// Keys of the map's nodes and edges that are not read, as `edge.jitter`; empty without a map.
    pub unread: Vec<String>,
    /// Nodes, in the order of the network.
    pub nodes: Vec<NodeView>,
    /// Paths, the shortest first.
    pub paths: Vec<PathView>,
    /// Links on two paths or more, in the order in which the paths cross them.
    pub shared_links: Vec<SharedView>,
    /// Group of each path: paths of one group share a friendliness bottleneck, also over another path.
    pub groups: Vec<u32>,
}

/// A node.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NodeView {
    /// Name.
    pub name: String,
    /// `id` in the map; none without a map.
    pub id: Option<String>,
    /// Number of its links, each with both directions.
    pub links: usize,
}

/// A path.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PathView {
    /// Number, from 1.
    pub path: usize,
    /// Group.
    pub group: u32,
    /// Names of its nodes.
    pub nodes: Vec<String>,
    /// Names of its links.
    pub links: Vec<String>,
    /// Propagation delay in one direction, seconds; none if a delay is unknown.
    pub delay_s: Option<f64>,
    /// Lowest rate of its links, Mbit/s; none: unknown, or no limit.
    pub rate_mbps: Option<f64>,
}

/// A link on two paths or more.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SharedView {
    /// Name.
    pub link: String,
    /// Node at which it begins.
    pub from: String,
    /// Node at which it ends.
    pub to: String,
    /// Numbers of the paths.
    pub paths: Vec<usize>,
    /// Rate, Mbit/s; none: unknown, or no limit.
    pub rate_mbps: Option<f64>,
    /// Highest rate at which the link is a friendliness bottleneck, Mbit/s: the right side of (2); none: unknown, or at every rate.
    pub bottleneck_up_to_mbps: Option<f64>,
    /// Whether the link is a friendliness bottleneck.
    pub is_bottleneck: bool,
}

impl Network {
    /// The network of a map. Links have the rates of the file, or else this one; if one has none, all count as equal. Delays are the
    /// latencies of the file, or else those of light in fibre, 5 µs a kilometre; if one has neither, none is known.
    #[must_use]
    pub fn of_map(map: &Map, file: &str, rate: Option<Rate>) -> Self {
        let rates: Vec<Option<Rate>> = (map.edges.iter())
            .map(|edge| edge.rate.map(Rate::from_bits_per_second).or(rate))
            .collect();
        let place = |node: usize| map.nodes[node].place;
        let delay = |edge: usize| {
            let edge = &map.edges[edge];
            edge.delay.or_else(|| {
                let km = distance_km(place(edge.source), place(edge.target))?;
                let nanos = km * DELAY_PER_KM.as_nanos() as f64;
                Some(Span::from_nanos(nanos.round() as u64))
            })
        };
        let has_rates = rates.iter().all(Option::is_some);
        let graph = map.graph(|edge| {
            let delay = delay(edge).unwrap_or(Span::ZERO);
            match rates[edge].filter(|_| has_rates) {
                Some(rate) => Properties::shaped(rate, Queue::DropTailPackets(0), delay),
                None => Properties::line(delay),
            }
        });
        Self {
            title: map.title.clone().unwrap_or_else(|| file.into()),
            graph,
            places: map.nodes.iter().map(|node| node.place).collect(),
            ids: map.nodes.iter().map(|node| node.id.clone()).collect(),
            has_rates,
            has_delays: (0..map.edges.len()).all(|edge| delay(edge).is_some()),
            unread: map.unread.clone(),
        }
    }

    /// The network of a map's file. `rate` is that of links that have none in the file; with `both_ways` edges of one direction get
    /// the other one.
    ///
    /// # Errors
    /// Those of reading, and the line of the first problem of the map.
    pub fn read_map(file: &Path, rate: Option<Rate>, both_ways: bool) -> Result<Self, Error> {
        let mut map = Map::read(&text::read_bytes(file)?).map_err(|error| Error {
            file: file.display().to_string(),
            location: Location::Line(error.line),
            ..Error::whole(error.problem)
        })?;
        if both_ways {
            map.both_ways();
        }
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Self::of_map(&map, &name, rate))
    }

    /// The query of a question.
    ///
    /// # Errors
    /// For a name that no node has, for one node at both ends, and for delays that are not known.
    pub fn query(&self, question: &Question<'_>) -> Result<Query, Problem> {
        let node = |argument: Argument, text: &str| {
            let node = self.node(text);
            node.map_err(|problem| Problem::of(argument, "", problem))
        };
        let from = node(Argument::From, question.from)?;
        let to = node(Argument::To, question.to)?;
        if from == to {
            let text = "a path has two ends, but both name one node";
            return Err(Problem::of(Argument::Ends, "", text));
        }
        if question.metric == Metric::Delay && !self.has_delays {
            let text = format!(
                "an edge of {} has neither a `latency` nor coordinates at both ends; a scenario with `kind = \"gml\"` has delays (docs/scenario.md)",
                self.title
            );
            return Err(Problem::of(Argument::By, "delay", text));
        }
        let standard = if question.disjoint.is_some() { 2 } else { 3 };
        Ok(Query {
            from,
            to,
            k: question.k.unwrap_or(standard),
            disjoint: question.disjoint,
            metric: question.metric,
        })
    }

    /// The network of a scenario.
    ///
    /// # Errors
    /// For a topology without a graph.
    pub fn of_scenario(scenario: &Scenario) -> Result<Self, Error> {
        let map = match &scenario.topology {
            Spec::Map(spec) => spec.map.clone(),
            _ => Map::default(),
        };
        let nodes = &map.nodes;
        Ok(Self {
            title: scenario.title.clone(),
            graph: scenario.topology.build()?,
            places: nodes.iter().map(|node| node.place).collect(),
            ids: nodes.iter().map(|node| node.id.clone()).collect(),
            has_rates: true,
            has_delays: true,
            unread: map.unread,
        })
    }

    /// The node that a text names.
    ///
    /// # Errors
    /// The problem, with names that are near.
    pub fn node(&self, text: &str) -> Result<NodeIndex, String> {
        /// Largest number of names in an error.
        const MOST: usize = 12;
        let names: Vec<&str> = self.graph.nodes().iter().map(String::as_str).collect();
        match self.graph.find(text)[..] {
            [node] => Ok(node),
            [] => {
                let near = nearest_node(text, &names);
                let more = if names.len() > MOST { ", …" } else { "" };
                let list = there_are(&names[..names.len().min(MOST)]);
                Err(format!("no node `{text}`{near}; {list}{more}"))
            }
            ref several => {
                let several: Vec<&str> = several.iter().map(|node| names[node.index()]).collect();
                Err(several_nodes(text, &several))
            }
        }
    }

    /// Two nodes of a map without a path from the first to the second; none if there are paths between all. Nodes of a map forward, so
    /// that the paths of one node, from it and to it, are enough.
    #[must_use]
    pub fn without_path(&self) -> Option<[NodeIndex; 2]> {
        let hosts = self.graph.hosts();
        let first = *hosts.first().filter(|_| !self.ids.is_empty())?;
        let tree = |direction| self.graph.shortest_tree(first, direction, |_| true);
        let [from, to] = [tree(Direction::From), tree(Direction::To)];
        let beyond = |tree: &ShortestTree| {
            let mut others = hosts.iter().copied();
            others.find(|host| tree.distance(*host).is_none())
        };
        let pair = beyond(&from).map(|node| [first, node]);
        pair.or(beyond(&to).map(|node| [node, first]))
    }

    /// The links of each path.
    #[must_use]
    pub fn paths(&self, query: &Query) -> Vec<Vec<LinkIndex>> {
        let Query {
            from,
            to,
            k,
            disjoint,
            metric,
        } = *query;
        match disjoint {
            None => self
                .graph
                .loopless_paths(from, to, metric)
                .take(k)
                .collect(),
            Some(disjoint) => self.graph.disjoint_paths(from, to, k, metric, disjoint),
        }
    }

    /// The links that paths share.
    #[must_use]
    pub fn sharing(&self, paths: &[Vec<LinkIndex>]) -> Sharing {
        let equal = Rate::from_bits_per_second(1);
        Sharing::of(paths, |link| match self.has_rates {
            true => self.graph.link(link).properties.mean_rate(),
            false => Some(equal),
        })
    }

    /// The answer to a query; without one the nodes alone.
    #[must_use]
    pub fn answer(&self, query: Option<&Query>) -> Answer {
        let paths = query.map_or(Vec::new(), |query| self.paths(query));
        let sharing = self.sharing(&paths);
        let graph = &self.graph;
        let name = |node: NodeIndex| graph.nodes()[node.index()].clone();
        let mut links = vec![0; graph.nodes().len()];
        for link in graph
            .links()
            .iter()
            .filter(|link| !link.is_second_direction())
        {
            links[link.from.index()] += 1;
            links[link.to.index()] += 1;
        }
        let nodes = graph
            .nodes()
            .iter()
            .enumerate()
            .map(|(index, name)| NodeView {
                name: name.clone(),
                id: self.ids.get(index).cloned(),
                links: links[index],
            });
        let path = |(index, links): (usize, &Vec<LinkIndex>)| {
            let all = links.iter().map(|link| graph.link(*link));
            let first = all.clone().next().map(|link| name(link.from));
            let delay: Span = all
                .clone()
                .fold(Span::ZERO, |sum, link| sum + link.properties.delay);
            let rate = all
                .clone()
                .filter_map(|link| link.properties.mean_rate())
                .min();
            PathView {
                path: index + 1,
                group: sharing.groups[index],
                nodes: first
                    .into_iter()
                    .chain(all.clone().map(|link| name(link.to)))
                    .collect(),
                links: all.map(|link| link.name.clone()).collect(),
                delay_s: self.has_delays.then(|| delay.as_nanos() as f64 / 1e9),
                rate_mbps: rate.filter(|_| self.has_rates).map(mbps),
            }
        };
        let shared = sharing.links.iter().map(|shared| {
            let link = graph.link(shared.link);
            let up_to = shared
                .others
                .map(|others| mbps(others) * (shared.paths.len() + 1) as f64 / 2.0);
            SharedView {
                link: link.name.clone(),
                from: name(link.from),
                to: name(link.to),
                paths: shared.paths.iter().map(|path| path + 1).collect(),
                rate_mbps: shared.rate.filter(|_| self.has_rates).map(mbps),
                bottleneck_up_to_mbps: up_to.filter(|_| self.has_rates),
                is_bottleneck: shared.is_bottleneck,
            }
        });
        Answer {
            schema: SCHEMA,
            network: self.title.clone(),
            from: query.map(|query| name(query.from)),
            to: query.map(|query| name(query.to)),
            disjoint: query
                .and_then(|query| query.disjoint)
                .map(|disjoint| match disjoint {
                    Disjointness::Links => "links",
                    Disjointness::Nodes => "nodes",
                }),
            by: match query.map(|query| query.metric) {
                Some(Metric::Delay) => "delay",
                _ => "hops",
            },
            has_rates: self.has_rates,
            unread: self.unread.clone(),
            nodes: nodes.collect(),
            paths: paths.iter().enumerate().map(path).collect(),
            shared_links: shared.collect(),
            groups: sharing.groups.clone(),
        }
    }
}

fn mbps(rate: Rate) -> f64 {
    rate.bits_per_second() as f64 / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAP: &str = r#"graph [
        node [ id 0 label "a" Longitude 0 Latitude 0 ]
        node [ id 1 label "r" Longitude 1 Latitude 0 ]
        node [ id 2 label "s" Longitude 2 Latitude 0 ]
        node [ id 3 label "b" Longitude 3 Latitude 0 ]
        node [ id 4 label "b" ]
        edge [ source 0 target 1 LinkSpeedRaw 10000000 ]
        edge [ source 0 target 1 LinkSpeedRaw 20000000 ]
        edge [ source 1 target 2 LinkSpeedRaw 30000000 ]
        edge [ source 2 target 3 ]
    ]"#;

    fn answer(network: &Network, k: usize, disjoint: Option<Disjointness>) -> Answer {
        let query = Query {
            from: network.node("a").unwrap(),
            to: network.node("s").unwrap(),
            k,
            disjoint,
            metric: Metric::Hops,
        };
        network.answer(Some(&query))
    }

    /// Two paths over r – s: a bottleneck up to 20 · 3/2 = 30 Mbit/s, its own rate, and with the missing rates unknown also.
    #[test]
    fn paths_over_parallel_links_share_the_rest() {
        let map: Map = MAP.parse().unwrap();
        let network = Network::of_map(&map, "a.gml", Some(Rate::from_bits_per_second(1_000_000)));
        assert_eq!(
            (&*network.title, network.has_rates, network.has_delays),
            ("a.gml", true, true)
        );
        let found = answer(&network, 5, None);
        assert_eq!(found.groups, [0, 0]);
        let shared = &found.shared_links[0];
        assert_eq!(
            (&*shared.link, &shared.paths[..]),
            ("r – s up", &[1, 2][..])
        );
        assert_eq!(shared.bottleneck_up_to_mbps, Some(30.0));
        assert!(shared.is_bottleneck);
        assert_eq!(found.paths[0].nodes, ["a", "r", "s"]);
        assert_eq!(found.paths[1].rate_mbps, Some(20.0));
        // Two degrees of the equator, 5 µs a kilometre.
        let expected = 6371.0 * 2.0_f64.to_radians() * 5e-6;
        assert!((found.paths[0].delay_s.unwrap() - expected).abs() < 1e-8);
        let links: Vec<usize> = found.nodes.iter().map(|node| node.links).collect();
        assert_eq!(links, [2, 3, 2, 1, 0]);
        assert_eq!(
            answer(&network, 5, Some(Disjointness::Links)).paths.len(),
            1
        );

        let faster: Map = MAP.replace("30000000", "30000001").parse().unwrap();
        let network = Network::of_map(&faster, "a.gml", Some(Rate::from_bits_per_second(1)));
        assert_eq!(answer(&network, 5, None).groups, [0, 1]);
        let network = Network::of_map(&faster, "a.gml", None);
        let found = answer(&network, 5, None);
        assert_eq!((found.has_rates, &found.groups[..]), (false, &[0, 0][..]));
        assert_eq!(found.paths[0].rate_mbps, None);
    }

    #[test]
    fn a_wrong_name_has_near_ones() {
        let network = Network::of_map(&MAP.parse().unwrap(), "a.gml", None);
        assert_eq!(network.node("4"), network.node("b (4)"));
        let several = "several nodes have the label `b`: write `b (3)` or `b (4)`";
        assert_eq!(network.node("b").unwrap_err(), several);
        let none = "no node `x`, did you mean `a`?; there are a, r, s, b (3), b (4)";
        assert_eq!(network.node("x").unwrap_err(), none);
    }
}
