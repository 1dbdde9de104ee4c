//! Runs scenarios on this host: endpoints of its kernel, links of `netsim`.

mod algorithm;
mod assistance;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use kernel::contract::lisa_event;
use kernel::events::Kinds;
use kernel::limits::Users;
use kernel::owner::Owner;
use kernel::registry::{self, Registered};
use kernel::{load, requirements};
use netsim::{RealClock, Span, Time};
use scenario::Transfers;
use scenario::capture::Capture;
use scenario::outcome::{Backend, ConnectionOutcome, LinkOutcome, Outcome, SCHEMA};
use scenario::sample::Samples;
use scenario::{ConnectionSpec, Drawn, Flow, Protocol, Run, Scenario, Watch};
use scenario::{capacity, run_warnings};

pub(crate) use algorithm::LoadRequest;
use assistance::Assisted;

use crate::error::Error;
use crate::linux::namespace::Namespace;
use crate::linux::tun;
use crate::measurement::flow::ObservedFlow;
use crate::measurement::transfer::{FIRST_PORT, Observation, Transfer};
use crate::measurement::{ends, events, outcome, series, stream};
use crate::network::{LinkReport, Network, NetworkReport, NetworkSpec, Placement};
use crate::supported;

/// Runs scenarios on the running kernel. A host unloads its algorithms when it is dropped. A new host unloads the algorithms of
/// processes that were killed.
pub struct Host {
    /// Distinguishes the registrations of the hosts of one process.
    number: usize,
    algorithms: BTreeMap<LoadRequest, Registered>,
    /// The data of all transfers ([`stream::data`]).
    data: Vec<u8>,
    cancelled: Arc<AtomicBool>,
}

/// Checks that this host can run scenarios.
///
/// # Errors
/// The first missing requirement.
pub fn check() -> Result<(), Error> {
    requirements::check()?;
    tun::check()?;
    // Root may lack the privilege, as in most containers.
    Namespace::new().map(drop)
}

impl Host {
    /// A host with a `number` that no other host of this process has. Once `cancelled` is set, a run ends with
    /// [`Error::Interrupted`].
    pub fn new(number: usize, cancelled: Arc<AtomicBool>) -> Result<Self, Error> {
        check()?;
        registry::sweep()?;
        Ok(Self {
            number,
            algorithms: BTreeMap::new(),
            data: stream::data(),
            cancelled,
        })
    }

    /// Runs a scenario with a seed.
    ///
    /// The rows are the sender's windows, sampled each millisecond if they have changed, and for lisa's own algorithms also after
    /// each ACK.
    pub fn run(&mut self, scenario: &Scenario, seed: u64) -> Result<Run, Error> {
        self.run_watched(scenario, seed, TRACE)
    }

    /// As [`Host::run`], with what `watch` requests.
    pub fn run_watched(
        &mut self,
        scenario: &Scenario,
        seed: u64,
        watch: Watch,
    ) -> Result<Run, Error> {
        let kinds = match watch.trace {
            true => Kinds::ALL,
            false => Kinds::RARE,
        };
        self.run_with(scenario, seed, watch, Some(kinds))
    }

    /// As [`Host::run`], without a listener to the algorithms' events: the algorithms cost what they cost after `lisa kernel load`.
    /// The run has no credits, and only the sampled rows.
    pub fn run_without_listener(&mut self, scenario: &Scenario, seed: u64) -> Result<Run, Error> {
        self.run_with(scenario, seed, TRACE, None)
    }

    fn run_with(
        &mut self,
        scenario: &Scenario,
        seed: u64,
        watch: Watch,
        listening: Option<Kinds>,
    ) -> Result<Run, Error> {
        let wall = Instant::now();
        supported::check(scenario)?;
        for connection in &scenario.connections {
            self.load(LoadRequest::of(connection))?;
        }
        let drawn = scenario.draw(seed)?;
        let placement = Placement::new(scenario, &drawn);
        let mut network = Network::build(&NetworkSpec {
            graph: drawn.graph.clone(),
            link_seed: drawn.link_seed,
            hosts: placement.hosts,
        })?;
        let mut assisted = self.assist(&network, scenario, &drawn, &placement.of_flow)?;
        let pairs = &placement.of_flow;
        let transferred = self.listen(scenario, listening, || {
            if let Some(first) = pairs.first() {
                network.hosts()[*first].client.run(ends::warm_up);
            }
            // The links run from the start of the transfers to their end: set-up and clean-up take longer, also in the VM.
            let clock = network.start_in(LEAD_TIME, watch.capture)?;
            (assisted.iter_mut()).for_each(|assisted| assisted.begin(clock));
            let observed = self.transfer_all(&network, clock, pairs, scenario, &drawn, watch)?;
            Ok((observed, clock, network.stop()?))
        });
        let ended = assisted.into_iter().try_for_each(Assisted::end);
        let ((observed, clock, mut report), events) = transferred?;
        ended?;
        let servers = |pair: &usize| network.hosts()[*pair].server_addresses();
        let servers: Vec<Vec<IpAddr>> = pairs.iter().map(servers).collect();
        let (mut connections, mut rows, mut credits) = (Vec::new(), Vec::new(), Vec::new());
        let mut samples = Samples::default();
        for (number, flow) in drawn.flows.iter().enumerate() {
            let connection = &scenario.connections[flow.connection];
            let of = ObservedFlow {
                scenario,
                flow,
                servers: &servers[number],
                observed: &observed[number],
            };
            let mut outcome = outcome::outcome(&of);
            let title = outcome.title();
            (samples.subflows).extend(series::subflows(&of));
            let events = events
                .get(&LoadRequest::of(connection))
                .map_or(&[][..], Vec::as_slice);
            let begin = clock.monotonic_nanos(Time::ZERO);
            let port = FIRST_PORT + number as u16;
            let trace = events::trace(events, &title, port, begin, |port| of.path_of_port(port));
            outcome::count_credits(&mut outcome, &trace);
            let (bytes, completion) = (outcome.bytes, outcome.completion_s);
            outcome.slowdown =
                capacity::slowdown(&drawn.graph, flow, connection, bytes, completion);
            connections.push(outcome);
            if watch.trace {
                rows.extend(trace.rows);
                rows.extend(outcome::rows(&of, &title));
                credits.extend(trace.credits);
            }
        }
        rows.sort_by(|a, b| a.time.total_cmp(&b.time));
        (samples.subflows).sort_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let capture = report.packets.take().map(Capture::real);
        let transfers = Transfers::of(scenario, ConnectionOutcome::completions(&connections));
        let outcome = Outcome {
            schema: SCHEMA,
            scenario: scenario.title.clone(),
            seed,
            backend: Backend::Host,
            warnings: run_warnings::of_run(scenario, &drawn, &connections, &transfers),
            connections,
            transfers,
            // Events of real endpoints cannot be counted.
            events: 0,
            packet_hops: report
                .links
                .iter()
                .map(|link| link.counters.packets_out)
                .sum(),
            sim_seconds: report.duration.as_secs_f64(),
            wall_seconds: Some(wall.elapsed().as_secs_f64()),
            lateness_s: report.lateness.max.as_secs_f64(),
            spoiled_packets: report.unrouted + report.undelivered + report.overrun,
            links: links(report),
        };
        Ok(Run {
            outcome,
            rows,
            credits,
            losses: Vec::new(), // the network does not record the owners of dropped packets
            segments: Vec::new(),
            samples,
            capture,
        })
    }

    /// Starts a manager and an agent at each server of a connection with `assistance`.
    fn assist(
        &self,
        network: &Network,
        scenario: &Scenario,
        drawn: &Drawn,
        pairs: &[usize],
    ) -> Result<Vec<Assisted>, Error> {
        let mut assisted: BTreeMap<usize, Assisted> = BTreeMap::new();
        for (flow, pair) in drawn.flows.iter().zip(pairs) {
            if scenario.connections[flow.connection].assistance && !assisted.contains_key(pair) {
                let hosts = &network.hosts()[*pair];
                let started = Assisted::start(self.number, hosts, &flow.paths, &drawn.graph);
                assisted.insert(*pair, started?);
            }
        }
        Ok(assisted.into_values().collect())
    }

    /// Loads an algorithm of lisa under a name that is unique to this host. Other algorithms are the kernel's.
    pub(crate) fn load(&mut self, key: LoadRequest) -> Result<(), Error> {
        let ours =
            mpcc::Algorithm::find(&key.name).is_some_and(|algorithm| algorithm.is_loadable());
        if ours && !self.algorithms.contains_key(&key) {
            let owner = Owner::this();
            let label = format!(
                "lab{:x}_{:x}_{:x}",
                owner.pid,
                self.number,
                self.algorithms.len()
            );
            let options = load::Options {
                register_as: Some(label),
                owner: Some(owner),
                max_connections: 1024,
                users: Users::default(),
                keeps_plain: key.runs_plain,
                settings: key.settings.clone(),
            };
            let registered = load::load(&key.name, &options)?;
            self.algorithms.insert(key, registered);
        }
        Ok(())
    }

    /// Does `work`, and collects the events of the scenario's algorithms from before it to its end.
    fn listen<T>(
        &self,
        scenario: &Scenario,
        listening: Option<Kinds>,
        work: impl FnOnce() -> Result<T, Error>,
    ) -> Result<(T, Events), Error> {
        let done = AtomicBool::new(false);
        let is_used = |key: &LoadRequest| {
            scenario
                .connections
                .iter()
                .any(|c| LoadRequest::of(c) == *key)
        };
        thread::scope(|scope| {
            // Listeners must record before the first SYN. Each drops `ready` as soon as it records.
            let (ready, all_ready) = mpsc::channel::<()>();
            let mut listeners = Vec::new();
            if let Some(kinds) = listening {
                for (key, registered) in self.algorithms.iter().filter(|(key, _)| is_used(key)) {
                    let (ready, done, label) = (ready.clone(), &done, registered.name());
                    let collect = move || {
                        let registered = registry::find_one(label)?;
                        events::collect(&registered, kinds, || drop(ready), done)
                    };
                    listeners.push((key.clone(), scope.spawn(collect)));
                }
            }
            drop(ready);
            let _ = all_ready.recv();
            let result = work();
            done.store(true, Ordering::Release);
            let events = listeners
                .into_iter()
                .map(|(key, listener)| Ok((key, joined(listener)?)));
            let events = events.collect::<Result<_, Error>>();
            Ok((result?, events?))
        })
    }

    /// Runs all transfers at the same time, each between its pair of hosts.
    fn transfer_all(
        &self,
        network: &Network,
        clock: RealClock,
        pairs: &[usize],
        scenario: &Scenario,
        drawn: &Drawn,
        watch: Watch,
    ) -> Result<Vec<Observation>, Error> {
        let spec = |flow: &Flow| &scenario.connections[flow.connection];
        let is_finite = |flow: &&Flow| spec(flow).application.is_finite();
        let finite = drawn.flows.iter().filter(is_finite).count();
        let unfinished = AtomicUsize::new(finite);
        // As in a simulation: with a warm-up, endless connections are measured until `stop`.
        let to_stop = finite == 0 || scenario.warmup > Span::ZERO && scenario.has_endless();
        if scenario.has_endless() {
            network.count_from(Time::ZERO + scenario.warmup);
        }
        thread::scope(|scope| {
            let transfers: Vec<_> = (FIRST_PORT..)
                .zip(&drawn.flows)
                .zip(pairs)
                .map(|((port, flow), pair)| {
                    let connection = spec(flow);
                    let transfer = Transfer {
                        port,
                        begin: Time::ZERO + flow.start,
                        warm: Time::ZERO + scenario.warmup,
                        stop: scenario.stop - flow.start,
                        unfinished: (!to_stop).then_some(&unfinished),
                        series: watch.sample,
                        has_rows: watch.trace,
                        ..self.transfer(connection)
                    };
                    let data = connection.application.data(flow.seed);
                    let hosts = &network.hosts()[*pair];
                    scope.spawn(move || ends::run(hosts, clock, &transfer, data))
                })
                .collect();
            // All end before the first error is returned.
            let observed: Vec<_> = transfers.into_iter().map(joined).collect();
            observed.into_iter().collect()
        })
    }

    /// A transfer of this connection, without its times.
    fn transfer<'a>(&'a self, connection: &'a ConnectionSpec) -> Transfer<'a> {
        let registered = self.algorithms.get(&LoadRequest::of(connection));
        Transfer {
            protocol: connection.protocol,
            algorithm: registered.map_or(&connection.algorithm, |r| r.name()),
            unit: match connection.protocol {
                Protocol::Udp => connection.packet,
                Protocol::Tcp | Protocol::Mptcp => connection.mss,
            },
            send_buffer: (connection.protocol == Protocol::Tcp)
                .then(|| connection.send_buffer_bytes()),
            is_finite: connection.application.is_finite(),
            data: &self.data,
            port: 0,
            begin: Time::ZERO,
            warm: Time::ZERO,
            stop: Span::ZERO,
            unfinished: None,
            series: None,
            has_rows: false,
            cancelled: &self.cancelled,
        }
    }
}

/// What [`Host::run`] records.
const TRACE: Watch = Watch {
    trace: true,
    capture: false,
    segments: false,
    sample: None,
};

/// Time from the start of the threads to time zero, so that no transfer waits for its thread or its sockets.
const LEAD_TIME: Span = Span::from_millis(50);

impl Drop for Host {
    fn drop(&mut self) {
        for (_, registered) in std::mem::take(&mut self.algorithms) {
            // Sockets that have not closed yet keep the algorithm in the kernel.
            let _ = registered.unload(Some(&mut |_| false));
        }
    }
}

/// Events of each algorithm.
type Events = BTreeMap<LoadRequest, Vec<lisa_event>>;

/// Result of a thread. A panic continues here.
fn joined<T>(thread: thread::ScopedJoinHandle<'_, T>) -> T {
    (thread.join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

fn links(report: NetworkReport) -> Vec<LinkOutcome> {
    let link = |link: LinkReport| LinkOutcome::new(link.name, &link.counters);
    report.links.into_iter().map(link).collect()
}
