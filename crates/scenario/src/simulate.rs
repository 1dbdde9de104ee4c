//! `--on sim`: a scenario on simulated endpoints.

use std::sync::Arc;
use std::time::Instant;

use mpcc::Algorithm;
use netsim::{LinkCounters, Network, PortId, RouteId, Span, Time};
use rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;
use topology::Path;
use transport::{
    Application as Sends, ConnectionSpec as Endpoints, Pace, PathManager as Joins,
    Profile as Behaviour, Quiet, Report, Simulation, Turns, UdpSpec, Wire,
};

use crate::limits::{Kept, in_time, run_until};
use crate::outcome::{self, ConnectionOutcome, LinkOutcome, Outcome, SCHEMA, SubflowOutcome};
use crate::recorder::Recorder;
use crate::trace::{Credit, Row};
use crate::{
    Application, ConnectionSpec, Drawn, Error, Flow, OnOff, PathManager, Profile, Protocol,
    Scenario,
};

/// A run: what it came to, and what happened in it.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it came to.
    pub outcome: Outcome,
    /// The senders' windows, in order of time.
    pub rows: Vec<Row>,
    /// What became of credits.
    pub credits: Vec<Credit>,
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
    let begun = Instant::now();
    let drawn = scenario.draw(seed)?;
    let mut run = if trace {
        let mut world = World::new(scenario, &drawn, Recorder::default())?;
        let outcome = world.run(scenario, &drawn, seed, events)?;
        let recorder = world.simulation.into_observer();
        let (rows, credits) = recorder.finish(&world.subflows);
        Run {
            outcome,
            rows,
            credits,
        }
    } else {
        let mut world = World::new(scenario, &drawn, Quiet)?;
        Run {
            outcome: world.run(scenario, &drawn, seed, events)?,
            rows: Vec::new(),
            credits: Vec::new(),
        }
    };
    run.outcome.wall_seconds = Some(begun.elapsed().as_secs_f64());
    Ok(run)
}

/// Which connection a simulated subflow belongs to, its place in it, and when that connection began.
#[derive(Clone, Debug)]
pub(crate) struct Subflow {
    pub(crate) connection: Arc<str>,
    pub(crate) index: usize,
    pub(crate) start: Time,
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
    subflows: Vec<Subflow>,
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
            subflows: Vec::new(),
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
        let name: Arc<str> = outcome::title(&spec.name, flow.number).into();
        for index in 0..routes.len() {
            self.subflows.push(Subflow {
                connection: name.clone(),
                index,
                start,
            });
        }
        let profile = match spec.profile {
            Profile::Linux => Behaviour::linux(),
            Profile::Linux314 => Behaviour::linux_3_14(),
            Profile::Ns3NewReno => Behaviour::ns3_newreno(),
        };
        let header = profile.header;
        let endpoints = Endpoints {
            algorithm,
            mptcp: spec.protocol == Protocol::Mptcp,
            routes,
            start,
            application: sends(&spec.application, flow.seed),
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
        let before: Vec<Counted> = if scenario.warmup > Span::ZERO {
            // What endless connections deliver after the warm-up is asked for, whenever transfers end.
            let endless = |flow: &Flow| !finite(&scenario.connections[flow.connection]);
            if drawn.flows.iter().any(endless) {
                self.simulation.run_to_stop();
            }
            run_until(&mut self.simulation, warm, events)?;
            self.counted(scenario, drawn)
        } else {
            vec![Counted::default(); drawn.flows.len()]
        };
        run_until(&mut self.simulation, Time::ZERO + scenario.stop, events)?;
        let end = self.simulation.now();
        let counters = self.simulation.network().counters(end);
        let connections = drawn.flows.iter().enumerate();
        let connections = connections
            .map(|(i, flow)| self.outcome(scenario, flow, self.places[i], &before[i], warm, end))
            .collect();
        let links = drawn.graph.links().iter().zip(&counters);
        Ok(Outcome {
            schema: SCHEMA,
            scenario: scenario.title.clone(),
            seed,
            backend: "sim",
            connections,
            links: links
                .map(|(link, counters)| link_outcome(&link.name, counters))
                .collect(),
            events: self.simulation.events(),
            packet_hops: counters.iter().map(|link| link.packets_out).sum(),
            sim_seconds: end.as_secs_f64(),
            wall_seconds: None,
            lateness_s: 0.0,
            spoiled_packets: 0,
        })
    }

    /// Bytes that each flow has delivered, and each of its subflows.
    fn counted(&self, scenario: &Scenario, drawn: &Drawn) -> Vec<Counted> {
        let of = |(flow, place): (&Flow, &Place)| match *place {
            Place::Connection(number) => {
                let report = self.simulation.report(number);
                Counted {
                    bytes: report.bytes,
                    subflows: report.subflows.iter().map(|s| s.tally.bytes).collect(),
                }
            }
            Place::Udp(number) => {
                let packet = scenario.connections[flow.connection].packet;
                Counted {
                    bytes: self.simulation.udp_report(number).1 * u64::from(packet),
                    subflows: Vec::new(),
                }
            }
        };
        drawn.flows.iter().zip(&self.places).map(of).collect()
    }

    fn outcome(
        &self,
        scenario: &Scenario,
        flow: &Flow,
        place: Place,
        before: &Counted,
        warm: Time,
        end: Time,
    ) -> ConnectionOutcome {
        let spec = &scenario.connections[flow.connection];
        let start = Time::ZERO + flow.start;
        let finite = finite(spec);
        let mut outcome = ConnectionOutcome {
            name: spec.name.clone(),
            number: flow.number,
            protocol: spec.protocol,
            algorithm: spec.algorithm.clone(),
            receive_window: spec.receive_window,
            start_s: flow.start.as_secs_f64(),
            completion_s: None,
            bytes: 0,
            goodput_mbps: None,
            note: None,
            retransmits: 0,
            retransmits_slow_start: 0,
            sum_cwnd_at_slow_start_exit: None,
            sum_cwnd_at_end: 0,
            subflows: Vec::new(),
        };
        // Over which time bytes are counted: the transfer's, or what an endless one has after the warm-up.
        let (from, to, counts_before) = match place {
            Place::Connection(number) if finite => {
                let completion = self.simulation.report(number).completion;
                (start, completion, false)
            }
            _ => (start.max(warm), Some(end), true),
        };
        let seconds = to
            .map(|to| to.since(from).as_secs_f64())
            .filter(|seconds| *seconds > 0.0);
        let rate = |bytes: u64| seconds.map(|seconds| bytes as f64 * 8e-6 / seconds);
        match place {
            Place::Udp(number) => {
                let received = self.simulation.udp_report(number).1;
                outcome.bytes = received * u64::from(spec.packet) - before.bytes;
            }
            Place::Connection(number) => {
                let report = self.simulation.report(number);
                let skip = if counts_before { before.bytes } else { 0 };
                outcome.bytes = report.bytes - skip;
                outcome.completion_s = report.completion.map(|at| at.since(start).as_secs_f64());
                outcome.note = note(&report, finite);
                outcome.subflows = subflows(&report, flow);
                for subflow in &mut outcome.subflows {
                    let counted = before
                        .subflows
                        .get(subflow.subflow)
                        .filter(|_| counts_before);
                    let bytes = subflow.bytes.unwrap_or(0) - counted.copied().unwrap_or(0);
                    subflow.bytes = Some(bytes);
                    subflow.goodput_mbps = rate(bytes);
                }
                outcome.retransmits = outcome.subflows.iter().map(|s| s.retransmits).sum();
                outcome.retransmits_slow_start =
                    report.exit.map_or(outcome.retransmits, |exit| exit.1);
                outcome.sum_cwnd_at_slow_start_exit = report.exit.map(|exit| exit.0);
                outcome.sum_cwnd_at_end = outcome.subflows.iter().map(|s| s.cwnd_at_end).sum();
            }
        }
        outcome.goodput_mbps = rate(outcome.bytes);
        outcome
    }
}

#[derive(Clone, Default)]
struct Counted {
    bytes: u64,
    subflows: Vec<u64>,
}

/// Whether it has an end of its own.
fn finite(spec: &ConnectionSpec) -> bool {
    matches!(
        spec.application,
        Application::Bytes(_) | Application::Requests { .. }
    )
}

/// What a reader of the figures must know.
fn note(report: &Report, finite: bool) -> Option<String> {
    let joined = report
        .subflows
        .iter()
        .filter(|s| s.tally.established.is_some())
        .count();
    let mut notes = Vec::new();
    if finite && report.completion.is_none() {
        notes.push("did not finish".to_string());
    }
    if joined < report.subflows.len() {
        notes.push(format!(
            "{joined} of {} subflows were established",
            report.subflows.len()
        ));
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}

fn subflows(report: &Report, flow: &Flow) -> Vec<SubflowOutcome> {
    let since = |at: Time| at.since(Time::ZERO + flow.start).as_secs_f64();
    let of = |(number, subflow): (usize, &transport::SubflowReport)| {
        let tally = &subflow.tally;
        Some(SubflowOutcome {
            subflow: number,
            path: flow.numbers[number],
            established_s: since(tally.established?),
            bytes: Some(tally.bytes),
            goodput_mbps: None,
            retransmits: tally.retransmits.into(),
            retransmits_slow_start: tally.exit.map_or(tally.retransmits, |exit| exit.2).into(),
            slow_start_exit_s: tally.exit.map(|exit| since(exit.0)),
            cwnd_at_slow_start_exit: tally.exit.map(|exit| exit.1),
            cwnd_at_end: subflow.cwnd,
            srtt: f64::from(subflow.srtt_us) * 1e-6,
            losses: tally.losses,
            first_loss_s: tally.first_loss.map(since),
        })
    };
    report.subflows.iter().enumerate().filter_map(of).collect()
}

fn link_outcome(name: &str, counters: &LinkCounters) -> LinkOutcome {
    LinkOutcome {
        name: name.into(),
        drops: counters.drops,
        losses: counters.losses,
        marks: counters.marks,
        utilisation: counters.utilisation,
        queue_max: counters.queue_max,
        queue_mean: counters.queue_mean,
    }
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
