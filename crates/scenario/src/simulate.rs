//! `--on sim`: a scenario on simulated endpoints.

mod results;

use std::sync::Arc;
use std::time::Instant;

use mpcc::Algorithm;
use netsim::{Network, PortId, RouteId, Span, Time};
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use topology::Path;
use transport::{
    Application as Sends, ConnectionSpec as Endpoints, Pace, PathManager as Joins,
    Profile as Behaviour, Quiet, Simulation, Turns, UdpSpec, Wire,
};

use crate::capture::{Capture, Packets, Watcher};
use crate::limits::{Kept, in_time, run_until};
use crate::outcome::LinkOutcome;
use crate::outcome::{self, Outcome, SCHEMA};
use crate::recorder::Recorder;
use crate::simulate::results::Counted;
use crate::trace::{Credit, Loss, Row};
use crate::{
    Application, ConnectionSpec, Constants, Drawn, Error, Flow, OnOff, PathManager, Profile,
    Protocol, Regroup, Scenario,
};

/// A run: what it came to, and what happened in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// What it came to.
    pub outcome: Outcome,
    /// The senders' windows, in order of time.
    pub rows: Vec<Row>,
    /// What became of credits.
    pub credits: Vec<Credit>,
    /// What the network lost, in order of time; none where nobody knows, on a real kernel.
    pub losses: Vec<Loss>,
    /// The packets, where they were captured.
    pub capture: Option<Capture>,
}

/// What is written down of a run beside its outcome. The less, the faster it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Watch {
    /// What happens at the senders: the run's rows and credits.
    pub trace: bool,
    /// The packets.
    pub capture: bool,
}

/// Runs a scenario with what this seed draws. Without `trace` the run has no rows and no credits, and is faster.
///
/// # Errors
/// Where the scenario asks for what the simulator cannot do; the error names the key. Where no memory has room for what
/// happens.
pub fn simulate(scenario: &Scenario, seed: u64, trace: bool) -> Result<Run, Error> {
    simulate_within(scenario, seed, trace, u64::MAX)
}

/// The same, of so many events at most: more are an error. What nobody has looked at may run for years.
pub fn simulate_within(
    scenario: &Scenario,
    seed: u64,
    trace: bool,
    events: u64,
) -> Result<Run, Error> {
    let watch = Watch {
        trace,
        capture: false,
    };
    run(scenario, seed, watch, events)
}

/// The same, and its packets, if they are asked for.
///
/// # Errors
/// As [`simulate`].
pub fn simulate_watched(scenario: &Scenario, seed: u64, watch: Watch) -> Result<Run, Error> {
    run(scenario, seed, watch, u64::MAX)
}

fn run(scenario: &Scenario, seed: u64, watch: Watch, events: u64) -> Result<Run, Error> {
    let begun = Instant::now();
    let drawn = scenario.draw(seed)?;
    let mut run = if watch.capture {
        let watcher = Watcher {
            recorder: watch.trace.then(Recorder::default),
            packets: Packets::default(),
        };
        let (mut run, watcher, names) = observed(scenario, &drawn, seed, events, watcher)?;
        let finish = |recorder: Recorder| recorder.finish(&names);
        (run.rows, run.credits, run.losses) = watcher.recorder.map(finish).unwrap_or_default();
        run.capture = Some(Capture::simulated(scenario, &drawn, watcher.packets));
        run
    } else if watch.trace {
        let recorder = Recorder::default();
        let (mut run, recorder, names) = observed(scenario, &drawn, seed, events, recorder)?;
        (run.rows, run.credits, run.losses) = recorder.finish(&names);
        run
    } else {
        observed(scenario, &drawn, seed, events, Quiet)?.0
    };
    run.outcome.wall_seconds = Some(begun.elapsed().as_secs_f64());
    Ok(run)
}

/// What it came to, who watched it, and the names of its connections.
fn observed<O: Kept>(
    scenario: &Scenario,
    drawn: &Drawn,
    seed: u64,
    events: u64,
    observer: O,
) -> Result<(Run, O, Vec<Arc<str>>), Error> {
    let mut world = World::new(scenario, drawn, observer)?;
    let run = Run {
        outcome: world.run(scenario, drawn, seed, events)?,
        rows: Vec::new(),
        credits: Vec::new(),
        losses: Vec::new(),
        capture: None,
    };
    Ok((run, world.simulation.into_observer(), world.names))
}

/// What a profile of a scenario is in the simulator.
pub(crate) fn behaviour(profile: Profile, constants: &Constants) -> Behaviour {
    let profile = match profile {
        Profile::Linux => Behaviour::linux(),
        Profile::Linux314 => Behaviour::linux_3_14(),
        Profile::Ns3NewReno => Behaviour::ns3_newreno(),
    };
    Behaviour {
        initial_window: constants.initial_window.unwrap_or(profile.initial_window),
        rto_initial: constants.rto_initial.unwrap_or(profile.rto_initial),
        rto_min: constants.rto_min.unwrap_or(profile.rto_min),
        delayed_ack: constants.delayed_ack.unwrap_or(profile.delayed_ack),
        quick_acks: constants.quick_acks.unwrap_or(profile.quick_acks),
        ..profile
    }
}

/// What a flow became.
#[derive(Clone, Copy)]
enum Place {
    Connection(usize),
    Udp(usize),
}

struct World<O> {
    simulation: Simulation<O>,
    places: Vec<Place>,
    /// Of each connection.
    names: Vec<Arc<str>>,
}

impl<O: Kept> World<O> {
    fn new(scenario: &Scenario, drawn: &Drawn, observer: O) -> Result<Self, Error> {
        let mut network: Network<Wire> = Network::with_seed(drawn.link_seed);
        let links = drawn.graph.add_to(&mut network);
        in_time(scenario, &drawn.graph, network.horizon())?;
        let mut route = |path: &[topology::LinkIndex]| -> RouteId {
            let path: Vec<_> = path.iter().map(|link| links[link.index()]).collect();
            // Which endpoint a packet is for stands in the packet.
            network.add_route(&path, PortId(0))
        };
        let routes: Vec<Vec<(RouteId, RouteId)>> = drawn
            .flows
            .iter()
            .map(|flow| {
                let both = |path: &Path| (route(&path.forward), route(&path.reverse));
                flow.paths.iter().map(both).collect()
            })
            .collect();
        let mut world = Self {
            simulation: Simulation::new(network, observer),
            places: Vec::new(),
            names: Vec::new(),
        };
        for (flow, routes) in drawn.flows.iter().zip(routes) {
            let spec = &scenario.connections[flow.connection];
            let place = match spec.protocol {
                Protocol::Udp => world.udp(spec, flow, routes[0].0),
                Protocol::Tcp | Protocol::Mptcp => world.connection(scenario, flow, routes)?,
            };
            world.places.push(place);
        }
        Ok(world)
    }

    fn udp(&mut self, spec: &ConnectionSpec, flow: &Flow, route: RouteId) -> Place {
        let Application::Rate { rate, on_off } = &spec.application else {
            unreachable!("the file's reader gives UDP a rate");
        };
        let spec = UdpSpec {
            route,
            pace: Pace::new(*rate, turns(on_off.as_ref(), flow.seed)),
            packet: spec.packet as u16,
            start: Time::ZERO + flow.start,
        };
        Place::Udp(self.simulation.add_udp(spec))
    }

    fn connection(
        &mut self,
        scenario: &Scenario,
        flow: &Flow,
        routes: Vec<(RouteId, RouteId)>,
    ) -> Result<Place, Error> {
        let spec = &scenario.connections[flow.connection];
        let algorithm = Algorithm::find(&spec.algorithm).ok_or_else(|| {
            let names: Vec<_> = Algorithm::all().map(|known| known.name()).collect();
            let (name, there) = (&spec.algorithm, names.join(", "));
            Error {
                key: format!("connection.{}.algorithm", spec.name),
                ..Error::whole(format!("the simulator has no `{name}`; there are {there}"))
            }
        })?;
        let start = Time::ZERO + flow.start;
        self.names
            .push(outcome::title(&spec.name, flow.number).into());
        let profile = behaviour(spec.profile, &spec.constants);
        let header = profile.header;
        let endpoints = Endpoints {
            algorithm,
            settings: spec.settings_of(algorithm),
            mptcp: spec.protocol == Protocol::Mptcp,
            routes,
            start,
            application: sends(&spec.application, flow.seed),
            phase: Span::from_nanos(flow.seed % profile.looks.as_nanos().max(1)),
            packet: spec.mss as u16 + header,
            receive_window: spec
                .receive_window
                .map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX)),
            path_manager: match spec.path_manager {
                PathManager::Fullmesh => Joins::Announced,
                PathManager::NDiffPorts => Joins::Client,
            },
            join_delay: spec.join_delay,
            ecn: spec.ecn,
            ssthresh: spec.initial_ssthresh.map(|bytes| {
                u32::try_from(bytes / u64::from(spec.mss))
                    .unwrap_or(u32::MAX)
                    .max(2)
            }),
            groups: spec.groups.clone(),
            backup: spec.backup.clone(),
            profile,
        };
        Ok(Place::Connection(self.simulation.add_connection(endpoints)))
    }

    fn run(
        &mut self,
        scenario: &Scenario,
        drawn: &Drawn,
        seed: u64,
        events: u64,
    ) -> Result<Outcome, Error> {
        let warm = Time::ZERO + scenario.warmup;
        let mut before = vec![Counted::default(); drawn.flows.len()];
        let mut links_before = None;
        if scenario.warmup > Span::ZERO {
            // What endless connections deliver after the warm-up is asked for, whenever transfers end.
            let endless = |flow: &Flow| !finite(&scenario.connections[flow.connection]);
            let any_endless = drawn.flows.iter().any(endless);
            if any_endless {
                self.simulation.run_to_stop();
            }
            self.run_until(scenario, drawn, warm, events)?;
            before = self.counted(scenario, drawn);
            links_before = any_endless.then(|| self.simulation.network().counters(warm));
        }
        self.run_until(scenario, drawn, Time::ZERO + scenario.stop, events)?;
        let end = self.simulation.now();
        let mut counters = self.simulation.network().counters(end);
        let packet_hops = counters.iter().map(|link| link.packets_out).sum();
        for (link, earlier) in counters.iter_mut().zip(links_before.iter().flatten()) {
            *link = link.since(earlier, warm, end);
        }
        let connections = drawn.flows.iter().enumerate();
        let connections = connections
            .map(|(i, flow)| self.outcome(scenario, flow, self.places[i], &before[i], [warm, end]))
            .collect();
        let links = drawn.graph.links().iter().zip(&counters);
        Ok(Outcome {
            schema: SCHEMA,
            scenario: scenario.title.clone(),
            seed,
            backend: "sim",
            connections,
            links: links
                .map(|(link, counters)| LinkOutcome::new(link.name.clone(), counters))
                .collect(),
            events: self.simulation.events(),
            packet_hops,
            sim_seconds: end.as_secs_f64(),
            wall_seconds: None,
            lateness_s: 0.0,
            spoiled_packets: 0,
        })
    }

    /// Runs, and asks for other groups on the way.
    fn run_until(
        &mut self,
        scenario: &Scenario,
        drawn: &Drawn,
        stop: Time,
        events: u64,
    ) -> Result<(), Error> {
        let mut asked: Vec<(Time, usize, &[u8])> = Vec::new();
        for (flow, place) in drawn.flows.iter().zip(&self.places) {
            let Place::Connection(number) = *place else {
                continue;
            };
            let regroup = scenario.connections[flow.connection].regroup.iter();
            let at = |r: &'_ Regroup| Time::ZERO + r.at;
            let due = regroup.filter(|r| (self.simulation.now()..stop).contains(&at(r)));
            asked.extend(due.map(|r| (at(r), number, &r.groups[..])));
        }
        asked.sort_by_key(|(at, ..)| *at);
        for (at, number, groups) in asked {
            run_until(&mut self.simulation, at, events)?;
            self.simulation.ask_groups(number, groups);
        }
        run_until(&mut self.simulation, stop, events)
    }
}

/// Whether it has an end of its own.
fn finite(spec: &ConnectionSpec) -> bool {
    matches!(
        spec.application,
        Application::Bytes(_) | Application::Requests { .. }
    )
}

/// What the sender is given to send.
fn sends(application: &Application, seed: u64) -> Sends {
    match application {
        Application::Endless => Sends::Endless,
        Application::Bytes(bytes) => Sends::File(*bytes),
        Application::Requests { count, bytes, gap } => {
            let mut generator = Pcg64Mcg::seed_from_u64(seed);
            Sends::Requests {
                bytes: *bytes,
                gaps: (1..*count).map(|_| gap.draw(&mut generator)).collect(),
            }
        }
        Application::Rate { rate, on_off } => {
            Sends::Paced(Pace::new(*rate, turns(on_off.as_ref(), seed)))
        }
    }
}

fn turns(on_off: Option<&OnOff>, seed: u64) -> Option<Turns> {
    let OnOff { on, off } = on_off?.clone();
    let mut generator = Pcg64Mcg::seed_from_u64(seed);
    Some(Box::new(move || {
        (on.draw(&mut generator), off.draw(&mut generator))
    }))
}
