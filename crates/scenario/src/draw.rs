//! Random draws of a run. A seed draws the same for every algorithm: runs are paired. Each connection has its own generator:
//! a further connection does not change the draws of the others.

use std::collections::BTreeSet;

use netsim::Span;
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use topology::{Disjointness, Graph, Metric, NodeIndex, Path, ShortestPaths};

use crate::connection::{
    Application, Between, ConnectionSpec, Length, PathChoice, Routing, Spacing,
};
use crate::error::{BOTH_WAYS, Error, no_path};
use crate::random::{below, exponential, mix, pareto, unit};
use crate::scenario::Scenario;

/// A scenario with the draws of a seed.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Network.
    pub graph: Graph,
    /// Connections that run, in the order of the scenario and of their numbers.
    pub flows: Vec<Flow>,
    /// Seed of the links: losses, marks, reordering, jitter.
    pub link_seed: u64,
}

/// One connection that runs.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Index of the description in [`Scenario::connections`].
    pub connection: usize,
    /// Number among the connections of this name, from 1.
    pub number: u32,
    /// Start, since the start of the run.
    pub start: Span,
    /// Path of each subflow.
    pub paths: Vec<Path>,
    /// Number of each path in its set or among the shortest paths between the hosts, from 0.
    pub numbers: Vec<u64>,
    /// Seed of the draws during the run: gaps, periods of sending and silence.
    pub seed: u64,
}

impl Scenario {
    /// Factor by which this seed multiplies all delays; 1 without `rtt_spread`.
    #[must_use]
    pub fn delay_factor(&self, seed: u64) -> f64 {
        match self.rtt_spread > 0.0 {
            true => rtt_factor(seed, self.rtt_spread),
            false => 1.0,
        }
    }

    /// The topology with the round-trip times and the phases of recorded rates of this seed.
    #[must_use]
    pub fn drawn_topology(&self, seed: u64) -> topology::Spec {
        let mut topology = self.topology.clone();
        let factor = self.delay_factor(seed);
        topology.map_delays(|delay| scaled(delay, factor));
        let mut generator = Pcg64Mcg::seed_from_u64(mix(seed.rotate_left(32)));
        let phase = self.rate_phase.draw(&mut generator);
        topology.map_traces(|trace| trace.clone().from_phase(phase));
        topology
    }

    /// The graph and the flows of this seed, without flows that would start after the end.
    ///
    /// # Errors
    /// For a topology without a graph, and for paths or hosts that the topology lacks.
    pub fn draw(&self, seed: u64) -> Result<Drawn, Error> {
        let graph = self.drawn_topology(seed).build()?;
        let mut flows = Vec::new();
        for (connection, spec) in self.connections.iter().enumerate() {
            let mut draw = Draw {
                seed,
                connection,
                spec,
                graph: &graph,
                stop: self.stop,
                number: 0,
                flows: &mut flows,
            };
            draw.all()?;
        }
        Ok(Drawn {
            graph,
            flows,
            link_seed: link_seed(seed),
        })
    }
}

/// Largest number of paths between two hosts that count for a `load`. The first ones fill the links of the hosts.
const MAX_LOAD_PATHS: u64 = 64;

/// Seed of the links of a run with this seed, on any backend.
#[must_use]
pub fn link_seed(seed: u64) -> u64 {
    mix(!seed) // a different stream from that of the flows
}

/// Draws the flows of one connection.
struct Draw<'a> {
    seed: u64,
    connection: usize,
    spec: &'a ConnectionSpec,
    graph: &'a Graph,
    stop: Span,
    number: u32,
    flows: &'a mut Vec<Flow>,
}

impl Draw<'_> {
    fn all(&mut self) -> Result<(), Error> {
        let mut generator = self.generator(0);
        for _ in 0..self.spec.count {
            match &self.spec.between {
                Between::Set { name, paths } => {
                    let paths = self.set(name.as_deref(), paths)?;
                    self.add(&|n| paths.get(n as usize).cloned(), paths.len() as u64)?;
                }
                Between::Hosts { from, to } => {
                    let [from, to] = [self.host(from)?, self.host(to)?];
                    self.between(from, to)?;
                }
                Between::Permutation => {
                    let to = derangement(self.graph.hosts(), &mut generator);
                    for (from, to) in self.graph.hosts().iter().zip(to) {
                        self.between(*from, to)?;
                    }
                }
                Between::Random => {
                    // No pair occurs twice among all that this connection draws.
                    let each = self.spec.count as usize;
                    for pair in pairs(self.graph.hosts(), each, &mut generator) {
                        self.between(pair.from, pair.to)?;
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The chosen paths of a set, or all, with their numbers in the set.
    fn set(&self, name: Option<&str>, chosen: &[u32]) -> Result<Vec<(u64, Path)>, Error> {
        let set = match name {
            Some(name) => self.graph.set(name),
            None => self.graph.sets().first(),
        };
        let set = set.ok_or_else(|| self.error("the topology has no such paths"))?;
        if chosen.is_empty() {
            return Ok((0..).zip(set.paths.iter().cloned()).collect());
        }
        let path = |&path: &u32| Some((path.into(), set.paths.get(path as usize)?.clone()));
        let paths = chosen.iter().map(path).collect::<Option<_>>();
        paths.ok_or_else(|| self.error("the topology has no such path"))
    }

    fn host(&self, name: &str) -> Result<NodeIndex, Error> {
        let host = self.graph.node(name);
        host.ok_or_else(|| self.error(&format!("the topology has no host `{name}`")))
    }

    fn without_path(&self, from: NodeIndex, to: NodeIndex) -> Error {
        self.error(&no_path(self.graph, from, to, BOTH_WAYS))
    }

    fn between(&mut self, from: NodeIndex, to: NodeIndex) -> Result<(), Error> {
        let k = self.spec.subflows as usize;
        let disjoint = |disjointness| {
            self.graph
                .disjoint_paths(from, to, k, Metric::Hops, disjointness)
        };
        let paths = match self.spec.routing {
            Routing::Shortest => {
                let paths: ShortestPaths<'_> = self.graph.shortest_paths(from, to);
                if paths.count() == 0 {
                    return Err(self.without_path(from, to));
                }
                return self.add(&|n| Some((n, paths.nth(n)?)), paths.count());
            }
            Routing::KShortest => {
                let paths = self.graph.loopless_paths(from, to, Metric::Hops);
                paths.take(k).collect()
            }
            Routing::LinkDisjoint => disjoint(Disjointness::Links),
            Routing::NodeDisjoint => disjoint(Disjointness::Nodes),
        };
        if paths.is_empty() {
            return Err(self.without_path(from, to));
        }
        let path = |n: u64| self.graph.path(paths.get(n as usize)?.clone());
        let paths: Option<Vec<Path>> = (0..paths.len() as u64).map(path).collect();
        let paths = paths.ok_or_else(|| {
            self.error(&format!(
                "a path has no reverse direction, which ACKs take: {BOTH_WAYS}"
            ))
        })?;
        self.add(
            &|n| Some((n, paths.get(n as usize)?.clone())),
            paths.len() as u64,
        )
    }

    /// Adds a flow and its arrivals. `nth` returns path n of `count`, with its number.
    fn add(&mut self, nth: &dyn Fn(u64) -> Option<(u64, Path)>, count: u64) -> Result<(), Error> {
        let mut start = None;
        let gap = self.gap(nth, count)?;
        for _ in 0..self
            .spec
            .arrivals
            .as_ref()
            .map_or(1, |arrivals| arrivals.count)
        {
            self.number += 1;
            let mut generator = self.generator(self.number);
            let seed = generator.next_u64();
            let next = match (start, gap) {
                (Some(last), Some(gap)) => sum(last, gap.draw(&mut generator)),
                _ => self.spec.start.draw(&mut generator),
            };
            start = Some(next);
            let which =
                (0..u64::from(self.spec.subflows)).map(|subflow| match self.spec.path_choice {
                    PathChoice::InOrder => subflow % count,
                    PathChoice::Random => below(count, &mut generator),
                });
            let paths: Option<Vec<(u64, Path)>> = which.map(nth).collect();
            let paths = paths.ok_or_else(|| {
                self.error(&format!(
                    "a path has no reverse direction, which ACKs take: {BOTH_WAYS}"
                ))
            })?;
            if next >= self.stop {
                continue;
            }
            let (numbers, paths) = paths.into_iter().unzip();
            self.flows.push(Flow {
                connection: self.connection,
                number: self.number,
                start: next,
                paths,
                numbers,
                seed,
            });
        }
        Ok(())
    }

    /// Gap between the starts of successive arrivals on paths of which `nth` returns number n of `count`.
    fn gap(
        &self,
        nth: &dyn Fn(u64) -> Option<(u64, Path)>,
        count: u64,
    ) -> Result<Option<Length>, Error> {
        let load = match self.spec.arrivals.as_ref().map(|arrivals| arrivals.spacing) {
            None => return Ok(None),
            Some(Spacing::Gap(gap)) => return Ok(Some(gap)),
            Some(Spacing::Load(load)) => load,
        };
        let bytes = match &self.spec.application {
            Application::Bytes(size) => size.mean(),
            Application::Requests { count, bytes, .. } => f64::from(*count) * bytes.mean(),
            Application::Endless | Application::Rate { .. } => {
                unreachable!("a load without transfers is refused when the file is read")
            }
        };
        let paths = (0..count.min(MAX_LOAD_PATHS)).filter_map(|n| Some(nth(n)?.1));
        let rate = self.graph.rate(paths);
        let rate =
            rate.ok_or_else(|| self.error("a `load` needs a link with a `rate` on each path"))?;
        let seconds = bytes * 8.0 / (load * rate.bits_per_second() as f64);
        let mean = Span::from_nanos((seconds * 1e9).round().max(1.0) as u64);
        Ok(Some(Length::Exponential { mean }))
    }

    /// Generator of the flow `number`; 0: generator of the connection as a whole.
    fn generator(&self, number: u32) -> Pcg64Mcg {
        let stream = ((self.connection as u64) << 32) | u64::from(number);
        // Two rounds: neighbouring seeds or streams differ in all bits.
        Pcg64Mcg::seed_from_u64(mix(mix(self.seed) ^ stream))
    }

    fn error(&self, problem: &str) -> Error {
        Error {
            key: format!("connection.{}", self.spec.name),
            ..Error::whole(problem)
        }
    }
}

impl Length {
    /// Draws a length.
    pub fn draw(self, generator: &mut impl Rng) -> Span {
        match self {
            Self::Fixed(length) => length,
            Self::Uniform { from, to } => {
                let choices = to
                    .as_nanos()
                    .saturating_sub(from.as_nanos())
                    .saturating_add(1);
                sum(from, Span::from_nanos(below(choices, generator)))
            }
            Self::Exponential { mean } => {
                let nanos = exponential(mean.as_nanos() as f64, generator);
                Span::from_nanos(nanos.round() as u64)
            }
            Self::Pareto { mean, shape } => {
                let nanos = pareto(mean.as_nanos() as f64, shape, generator);
                Span::from_nanos(nanos.round() as u64)
            }
        }
    }
}

/// Factor of the round-trip times, uniform within `spread` of 1.
fn rtt_factor(seed: u64, spread: f64) -> f64 {
    (1.0 - spread) + 2.0 * spread * unit(&mut Pcg64Mcg::seed_from_u64(seed))
}

/// A time multiplied by a factor, rounded to a nanosecond.
fn scaled(span: Span, factor: f64) -> Span {
    Span::from_nanos((span.as_nanos() as f64 * factor).round() as u64)
}

/// Partner of each host: a uniformly drawn permutation without fixed points.
fn derangement(hosts: &[NodeIndex], generator: &mut impl Rng) -> Vec<NodeIndex> {
    let mut order = hosts.to_vec();
    // One shuffle in e has no fixed point. A single host has no partner.
    while hosts.len() > 1 {
        for last in (1..order.len()).rev() {
            order.swap(last, below(last as u64 + 1, generator) as usize);
        }
        if order.iter().zip(hosts).all(|(to, from)| to != from) {
            return order;
        }
    }
    Vec::new()
}

/// Hosts of a connection.
struct HostPair {
    from: NodeIndex,
    to: NodeIndex,
}

/// Pairs of hosts, `each` for each host. No pair occurs twice: a host without a free partner gets fewer.
fn pairs(hosts: &[NodeIndex], each: usize, generator: &mut impl Rng) -> Vec<HostPair> {
    let mut taken = BTreeSet::new();
    let mut pairs = Vec::new();
    for _ in 0..each {
        for from in hosts {
            let free =
                |to: &NodeIndex| to != from && !taken.contains(&(*from.min(to), *from.max(to)));
            let candidates: Vec<NodeIndex> = hosts.iter().copied().filter(free).collect();
            if candidates.is_empty() {
                continue;
            }
            let to = candidates[below(candidates.len() as u64, generator) as usize];
            taken.insert((*from.min(&to), *from.max(&to)));
            pairs.push(HostPair { from: *from, to });
        }
    }
    pairs
}

fn sum(one: Span, other: Span) -> Span {
    Span::from_nanos(one.as_nanos().saturating_add(other.as_nanos()))
}

#[cfg(test)]
#[path = "draw_tests.rs"]
mod tests;
