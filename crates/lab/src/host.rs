//! Runs scenarios on this host: its kernel's endpoints, our links between them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Instant;

use kernel::contract::lisa_event;
use kernel::owner::Owner;
use kernel::registry::{self, Registered};
use kernel::{load, requirements};
use netsim::{Clock, RealClock, Span, Time};
use scenario::capture::Capture;
use scenario::outcome::{LinkOutcome, Outcome, SCHEMA};
use scenario::{ConnectionSpec, Protocol, Run, Scenario, Watch, draw};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::transfer::{self, FIRST_PORT, Seen, Transfer};
use crate::{Namespace, Network, NetworkReport, NetworkSpec, measure, supported, tun, watch};

/// A place to run scenarios. What it loads into the kernel it takes out when it is dropped; what one that was killed
/// has left, the next one takes out when it is made.
pub struct Host {
    /// Tells this host's registrations from those of others in this process.
    number: usize,
    algorithms: BTreeMap<Loaded, Registered>,
    cancelled: Arc<AtomicBool>,
}

/// Says in one line what keeps scenarios from being run here, if anything does.
pub fn check() -> Result<(), Error> {
    requirements::check()?;
    tun::check()?;
    // Root without the right to it, as in most containers.
    Namespace::new().map(drop)
}

impl Host {
    /// A host; `number` is to differ between those of one process. Once `cancelled` is set a run ends with
    /// [`Error::Interrupted`].
    pub fn new(number: usize, cancelled: Arc<AtomicBool>) -> Result<Self, Error> {
        check()?;
        registry::sweep()?;
        Ok(Self {
            number,
            algorithms: BTreeMap::new(),
            cancelled,
        })
    }

    /// Runs a scenario, as this seed draws it.
    ///
    /// Its rows are the sender's windows when a look each millisecond finds them changed, and for lisa's own algorithms also
    /// after each ACK.
    pub fn run(&mut self, scenario: &Scenario, seed: u64) -> Result<Run, Error> {
        self.run_watched(scenario, seed, Watch::default())
    }

    /// The same, and the packets at the server's ports, if they are asked for. Rows and credits come with it anyway.
    pub fn run_watched(
        &mut self,
        scenario: &Scenario,
        seed: u64,
        watch: Watch,
    ) -> Result<Run, Error> {
        let wall = Instant::now();
        let common = supported::check(scenario)?;
        for connection in &scenario.connections {
            self.load(Loaded::of(connection))?;
        }
        let spec = NetworkSpec {
            topology: scenario.drawn_topology(seed),
            link_seed: draw::link_seed(seed),
            receive_window: common.receive_window,
            backup: common.backup,
        };
        let mut network = Network::build(&spec)?;
        network.start_watched(watch.capture)?;
        let transferred = self.transfer_all(&network, scenario);
        let mut report = network.stop()?;
        let transferred = transferred?;
        let (mut connections, mut rows, mut credits) = (Vec::new(), Vec::new(), Vec::new());
        let servers = network.server_addresses();
        for ((connection, seen), port) in scenario
            .connections
            .iter()
            .zip(&transferred.seen)
            .zip(FIRST_PORT..)
        {
            connections.push(measure::outcome(connection, seen, &servers));
            let events = transferred
                .events
                .get(&Loaded::of(connection))
                .map_or(&[][..], Vec::as_slice);
            let zero = transferred
                .clock
                .monotonic_nanos(measure::zero(connection, seen));
            let path = |port| measure::path_of_port(seen, &servers, port);
            let (told, given) = watch::rows_and_credits(events, &connection.name, port, zero, path);
            rows.extend(told);
            rows.extend(measure::rows(connection, seen, &servers));
            credits.extend(given);
        }
        rows.sort_by(|a, b| a.time.total_cmp(&b.time));
        let capture = report.packets.take().map(Capture::real);
        let outcome = Outcome {
            schema: SCHEMA,
            scenario: scenario.title.clone(),
            seed,
            backend: "host",
            connections,
            // Real endpoints have no events that anyone could count.
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
            losses: Vec::new(), // its network does not know whose packets it drops
            capture,
        })
    }

    /// Loads an algorithm of ours under a name of this process's own; others are the kernel's.
    pub(crate) fn load(&mut self, key: Loaded) -> Result<(), Error> {
        let ours = mpcc::Algorithm::find(&key.name).is_some_and(|algorithm| !algorithm.in_linux());
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
                keeps_plain: key.runs_plain,
                settings: key.settings.clone(),
            };
            let registered = load::load(&key.name, &options)?;
            self.algorithms.insert(key, registered);
        }
        Ok(())
    }

    /// Runs all transfers at once, and listens to their algorithms meanwhile.
    fn transfer_all(&self, network: &Network, scenario: &Scenario) -> Result<Transferred, Error> {
        let clock = network
            .clock()
            .ok_or(Error::State("does not run: start it first"))?;
        let done = AtomicBool::new(false);
        let used = |key: &Loaded| scenario.connections.iter().any(|c| Loaded::of(c) == *key);
        let join = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        thread::scope(|scope| {
            // Listeners must be there before the first SYN: each drops `ready` then.
            let (ready, all_ready) = mpsc::channel::<()>();
            let mut watchers = Vec::new();
            for (key, registered) in self.algorithms.iter().filter(|(key, _)| used(key)) {
                let (ready, done, label) = (ready.clone(), &done, registered.name());
                let watch =
                    move || watch::collect(&registry::find_one(label)?, || drop(ready), done);
                watchers.push((key.clone(), scope.spawn(watch)));
            }
            drop(ready);
            let _ = all_ready.recv();
            network.client.run(transfer::warm_up);
            let began = clock.now() + AHEAD;
            let transfers: Vec<_> = (FIRST_PORT..)
                .zip(&scenario.connections)
                .map(|(port, connection)| {
                    let transfer = self.transfer(scenario, connection, port, began);
                    scope.spawn(move || transfer::run(network, clock, &transfer?))
                })
                .collect();
            let seen: Vec<Result<Seen, Error>> = transfers
                .into_iter()
                .map(|t| {
                    t.join()
                        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
                })
                .collect();
            done.store(true, Ordering::Release);
            let events = watchers
                .into_iter()
                .map(|(key, watcher)| Ok((key, join(watcher)?)));
            let events = events.collect::<Result<_, Error>>();
            Ok(Transferred {
                seen: seen.into_iter().collect::<Result<_, _>>()?,
                events: events?,
                clock,
            })
        })
    }

    fn transfer<'a>(
        &'a self,
        scenario: &Scenario,
        connection: &'a ConnectionSpec,
        port: u16,
        began: Time,
    ) -> Result<Transfer<'a>, Error> {
        let registered = self.algorithms.get(&Loaded::of(connection));
        let begin = supported::begin(connection).min(scenario.stop);
        Ok(Transfer {
            protocol: connection.protocol,
            algorithm: registered.map_or(&connection.algorithm, |r| r.name()),
            bytes: supported::bytes(connection)?,
            port,
            begin: began + begin,
            stop: scenario.stop - begin,
            cancelled: &self.cancelled,
        })
    }
}

/// An algorithm as it is loaded.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Loaded {
    pub(crate) name: String,
    /// Whether plain TCP that chooses it runs it, which only a scenario with such a connection wants
    /// ([`load::Options::keeps_plain`]).
    runs_plain: bool,
    /// The settings that differ from their standard values, by name.
    settings: Vec<(String, u32)>,
}

impl Loaded {
    /// What this connection needs.
    pub(crate) fn of(connection: &ConnectionSpec) -> Self {
        let algorithm = mpcc::Algorithm::find(&connection.algorithm);
        let own = algorithm.into_iter().flat_map(|a| a.settings());
        let settings = own.filter_map(|setting| {
            let value = *connection.settings.get(setting.name)?;
            (value != setting.standard).then(|| (setting.name.into(), value))
        });
        Self {
            name: connection.algorithm.clone(),
            // Linux's own algorithms run on plain TCP in any case.
            runs_plain: connection.protocol == Protocol::Tcp
                && algorithm.is_some_and(|a| !a.in_linux()),
            settings: settings.collect(),
        }
    }
}

/// Transfers begin so long after they were made, so that one does not wait for a thread or a socket that another had.
const AHEAD: Span = Span::from_millis(50);

impl Drop for Host {
    fn drop(&mut self) {
        for (_, registered) in std::mem::take(&mut self.algorithms) {
            // Sockets that have not closed yet keep it until they do.
            let _ = registered.unload(Some(&mut |_| false));
        }
    }
}

struct Transferred {
    /// One a connection, in the scenario's order.
    seen: Vec<Seen>,
    events: BTreeMap<Loaded, Vec<lisa_event>>,
    clock: RealClock,
}

fn links(report: NetworkReport) -> Vec<LinkOutcome> {
    let link = |link: crate::LinkReport| LinkOutcome::new(link.name, &link.counters);
    report.links.into_iter().map(link).collect()
}
