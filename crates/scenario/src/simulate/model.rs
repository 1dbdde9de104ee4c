//! The network and the endpoints of a scenario in the simulator.

use std::borrow::Cow;
use std::sync::Arc;

use mpcc::Algorithm;
use netsim::{Network, PortId, RouteId, Span, Time};
use topology::{LinkIndex, Path};
use transport::{Simulation, SubflowRoutes, UdpSpec, Wire};

use super::assistance;
use super::endpoints::Endpoints;
use super::limits::{self, Limits};
use super::recording::Recording;
use super::sampler::Sampler;
use crate::capacity::initial_ssthresh;
use crate::connection::{ConnectionSpec, Protocol, Regroup};
use crate::draw::{Drawn, Flow};
use crate::error::Error;
use crate::outcome;
use crate::sample::Samples;
use crate::scenario::Scenario;

/// A simulation of the flows of a scenario.
pub(super) struct Model<'a, O> {
    pub(super) scenario: &'a Scenario,
    pub(super) drawn: &'a Drawn,
    pub(super) simulation: Simulation<O>,
    /// Endpoints of each flow.
    pub(super) endpoints: Vec<Endpoints>,
    /// Title of each connection of TCP and MPTCP.
    titles: Vec<Arc<str>>,
    sampler: Option<Sampler>,
}

/// A finished simulation.
pub(super) struct Observed<O> {
    pub(super) observer: O,
    /// Title of each connection of TCP and MPTCP.
    pub(super) titles: Vec<Arc<str>>,
    pub(super) samples: Samples,
}

/// Change of a connection's groups at a time.
struct DueRegroup<'a> {
    at: Time,
    connection: usize,
    groups: Cow<'a, [u8]>,
}

impl<'a, O: Recording> Model<'a, O> {
    pub(super) fn new(
        scenario: &'a Scenario,
        drawn: &'a Drawn,
        observer: O,
    ) -> Result<Self, Error> {
        let mut network: Network<Wire> = Network::with_seed(drawn.link_seed);
        let links = drawn.graph.add_to(&mut network);
        limits::check_horizon(scenario, &drawn.graph, network.horizon())?;
        let mut route = |path: &[LinkIndex]| -> RouteId {
            let path: Vec<_> = path.iter().map(|link| links[link.index()]).collect();
            // One port for all: each packet carries the number of its endpoint.
            network.add_route(&path, PortId(0))
        };
        let routes: Vec<Vec<SubflowRoutes>> = drawn
            .flows
            .iter()
            .map(|flow| {
                let both = |path: &Path| SubflowRoutes {
                    to_client: route(&path.forward),
                    to_server: route(&path.reverse),
                };
                flow.paths.iter().map(both).collect()
            })
            .collect();
        let mut model = Self {
            scenario,
            drawn,
            simulation: Simulation::new(network, observer),
            endpoints: Vec::new(),
            titles: Vec::new(),
            sampler: None,
        };
        for (flow, routes) in drawn.flows.iter().zip(routes) {
            let spec = &scenario.connections[flow.connection];
            let endpoints = match spec.protocol {
                Protocol::Udp => model.add_udp(spec, flow, routes[0].to_client),
                Protocol::Tcp | Protocol::Mptcp => model.add_connection(spec, flow, routes)?,
            };
            model.endpoints.push(endpoints);
        }
        Ok(model)
    }

    /// Description of a flow's connection.
    pub(super) fn spec(&self, flow: &Flow) -> &'a ConnectionSpec {
        &self.scenario.connections[flow.connection]
    }

    /// Samples links and subflows at this interval.
    ///
    /// # Errors
    /// For more samples than fit into memory.
    pub(super) fn sample_each(&mut self, interval: Span) -> Result<(), Error> {
        let links = self.simulation.network().counters(Time::ZERO);
        self.sampler = Some(Sampler::new(self.scenario, self.drawn, links, interval)?);
        Ok(())
    }

    pub(super) fn finish(mut self) -> Observed<O> {
        if let Some(sampler) = &mut self.sampler {
            // The interval that the end of the run has cut.
            let numbers = self.drawn.flows.iter().map(|flow| flow.number);
            sampler.sample(&self.simulation, &self.endpoints, numbers);
        }
        Observed {
            observer: self.simulation.into_observer(),
            titles: self.titles,
            samples: self.sampler.map(Sampler::finish).unwrap_or_default(),
        }
    }

    fn add_udp(&mut self, spec: &ConnectionSpec, flow: &Flow, route: RouteId) -> Endpoints {
        let transport::Application::Paced(pace) = spec.application.data(flow.seed) else {
            unreachable!("UDP without a rate is refused when the file is read");
        };
        let spec = UdpSpec {
            route,
            pace,
            packet: spec.packet as u16,
            start: Time::ZERO + flow.start,
        };
        Endpoints::Udp(self.simulation.add_udp(spec))
    }

    fn add_connection(
        &mut self,
        spec: &ConnectionSpec,
        flow: &Flow,
        routes: Vec<SubflowRoutes>,
    ) -> Result<Endpoints, Error> {
        let algorithm = Algorithm::find(&spec.algorithm).ok_or_else(|| {
            let names: Vec<_> = Algorithm::all().map(|known| known.name()).collect();
            let (name, known) = (&spec.algorithm, names.join(", "));
            Error {
                key: format!("connection.{}.algorithm", spec.name),
                ..Error::whole(format!("the simulator has no `{name}`; there are {known}"))
            }
        })?;
        self.titles
            .push(outcome::title(&spec.name, flow.number).into());
        let profile = spec.profile_with_constants();
        let ssthresh = initial_ssthresh(&self.drawn.graph, flow, spec)?;
        let ssthresh = ssthresh.map(|bytes| {
            let segments = u32::try_from(bytes / u64::from(spec.mss));
            segments.unwrap_or(u32::MAX).max(2)
        });
        let connection = transport::ConnectionSpec {
            algorithm,
            settings: spec.settings_of(algorithm),
            mptcp: spec.protocol == Protocol::Mptcp,
            routes,
            start: Time::ZERO + flow.start,
            application: spec.application.data(flow.seed),
            phase: Span::from_nanos(flow.seed % profile.poll_interval.as_nanos().max(1)),
            packet: spec.mss as u16 + profile.header,
            receive_window: spec
                .receive_window
                .map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
            path_manager: spec.path_manager,
            join_delay: spec.join_delay,
            ecn: spec.ecn,
            ssthresh,
            groups: match spec.assistance {
                true => assistance::groups_at(&self.drawn.graph, &flow.paths, Time::ZERO),
                false => spec.groups.clone(),
            },
            backup: spec.backup.clone(),
            profile,
        };
        Ok(Endpoints::Connection(
            self.simulation.add_connection(connection),
        ))
    }

    /// Runs the simulation until `stop`, and changes groups on the way.
    pub(super) fn run_until(&mut self, stop: Time, limits: Limits<'_>) -> Result<(), Error> {
        let mut due: Vec<DueRegroup<'_>> = Vec::new();
        let times = self.simulation.now()..stop;
        for (flow, endpoints) in self.drawn.flows.iter().zip(&self.endpoints) {
            let Endpoints::Connection(connection) = *endpoints else {
                continue;
            };
            let spec = self.spec(flow);
            let change = |regroup: &'a Regroup| DueRegroup {
                at: Time::ZERO + regroup.at,
                connection,
                groups: Cow::Borrowed(&regroup.groups),
            };
            let changes = spec.regroup.iter().map(change);
            due.extend(changes.filter(|change| times.contains(&change.at)));
            if spec.assistance {
                let decided = assistance::regroups(&self.drawn.graph, &flow.paths);
                let change = |regroup: Regroup| DueRegroup {
                    at: Time::ZERO + regroup.at,
                    connection,
                    groups: Cow::Owned(regroup.groups),
                };
                let changes = decided.into_iter().map(change);
                due.extend(changes.filter(|change| times.contains(&change.at)));
            }
        }
        due.sort_by_key(|change| change.at);
        for change in due {
            self.run_sampled(change.at, limits)?;
            self.simulation
                .request_groups(change.connection, &change.groups);
        }
        self.run_sampled(stop, limits)
    }

    /// Runs the simulation until `stop`, and samples on the way. A stop in between changes no event.
    fn run_sampled(&mut self, stop: Time, limits: Limits<'_>) -> Result<(), Error> {
        let Some(sampler) = &mut self.sampler else {
            return limits.run_until(&mut self.simulation, stop);
        };
        loop {
            let next = sampler.next().min(stop);
            limits.run_until(&mut self.simulation, next)?;
            let ended = self.simulation.now() < next;
            if next == sampler.next() && !ended {
                let numbers = self.drawn.flows.iter().map(|flow| flow.number);
                sampler.sample(&self.simulation, &self.endpoints, numbers);
            }
            if ended || next == stop {
                return Ok(());
            }
        }
    }
}
