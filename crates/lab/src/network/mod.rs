//! The emulated network: clients and servers, each in its namespace, and the links between them.

mod emulator;
mod endpoint;
mod hosts;
mod packet;
mod wiring;

use std::sync::Arc;

use netsim::{LinkCounters, RealClock, Span, Time};

use crate::error::Error;
use crate::linux::namespace::Namespace;
use crate::linux::tun::Tun;
use emulator::Emulator;

pub use emulator::Lateness;
pub(crate) use hosts::Placement;
pub use hosts::{Hosts, HostsSpec, MAX_PATHS, NetworkSpec};

/// Pairs of hosts and the links between them. Dropping it removes everything.
#[derive(Debug)]
pub struct Network {
    // Fields are dropped in this order: the thread, then the ports, then the namespaces.
    emulator: Option<Emulator>,
    ports: Arc<[Tun]>,
    spec: NetworkSpec,
    hosts: Vec<Hosts>,
}

/// Counters of a link.
#[derive(Clone, Debug)]
pub struct LinkReport {
    /// Name: "bottleneck down", "path 2 up"; down is towards the client.
    pub name: String,
    /// Counters from the start, or from [`Network::count_from`], to the stop.
    pub counters: LinkCounters,
}

/// Results of a network between start and stop.
#[derive(Clone, Debug)]
pub struct NetworkReport {
    /// Time from start to stop.
    pub duration: Span,
    /// Counters of each link.
    pub links: Vec<LinkReport>,
    /// Delay of packets by the machine. If it is not small beside the round-trip time, the machine was too busy and the run is
    /// invalid.
    pub lateness: Lateness,
    /// Number of packets to addresses that are not in the network.
    pub unrouted: u64,
    /// Number of packets that an endpoint refused. A run with such packets is invalid.
    pub undelivered: u64,
    /// Number of packets that were lost before the emulator, because it read too slowly; since the network was built. A run with
    /// such packets is invalid.
    pub overrun: u64,
    /// The packets at the server's ports with their times, if they were captured.
    pub packets: Option<Vec<(Time, Box<[u8]>)>>,
}

impl Network {
    /// Creates the hosts. No packet moves between them before [`Network::start`].
    ///
    /// # Errors
    /// For hosts without a path, or with more than [`MAX_PATHS`]; if this process may not create namespaces or ports.
    pub fn build(spec: &NetworkSpec) -> Result<Self, Error> {
        let (mut hosts, mut ports) = (Vec::new(), Vec::new());
        for (number, spec) in spec.hosts.iter().enumerate() {
            spec.check()?;
            let (client, server) = (Namespace::new()?, Namespace::new()?);
            ports.push(client.run(|| endpoint::set_up_client(spec, number))?);
            ports.extend(server.run(|| endpoint::set_up_server(spec, number))?);
            hosts.push(Hosts {
                number,
                paths: spec.paths.len(),
                client,
                server,
            });
        }
        Ok(Self {
            emulator: None,
            ports: ports.into(),
            spec: spec.clone(),
            hosts,
        })
    }

    /// The pairs of hosts, in the order of [`NetworkSpec::hosts`].
    #[must_use]
    pub fn hosts(&self) -> &[Hosts] {
        &self.hosts
    }

    /// Starts the network and its clock, at zero.
    pub fn start(&mut self) -> Result<(), Error> {
        self.start_in(Span::ZERO, false).map(drop)
    }

    /// As [`Network::start`], with a clock that is at zero until `lead` has passed, and is returned. `captures`: whether the report has
    /// the packets.
    pub fn start_in(&mut self, lead: Span, captures: bool) -> Result<RealClock, Error> {
        if self.emulator.is_some() {
            return Err(Error::State("runs already: stop it first"));
        }
        let (ports, clock) = (Arc::clone(&self.ports), RealClock::start_in(lead));
        self.emulator = Some(Emulator::start(&self.spec, ports, clock, captures)?);
        Ok(clock)
    }

    /// Counts the packets of the links from this time on. No packet is counted before if the network stops earlier.
    pub fn count_from(&self, time: Time) {
        if let Some(emulator) = &self.emulator {
            emulator.count_from(time);
        }
    }

    /// Stops the network and returns its results. Packets in the network are lost. It can be started again.
    pub fn stop(&mut self) -> Result<NetworkReport, Error> {
        let emulator = self
            .emulator
            .take()
            .ok_or(Error::State("does not run: start it first"))?;
        let report = emulator.stop()?;
        let links = report
            .links
            .into_iter()
            .map(|(name, counters)| LinkReport { name, counters });
        let mut overrun = 0;
        for hosts in &self.hosts {
            overrun += hosts.client.run(endpoint::overrun)?;
            overrun += hosts.server.run(endpoint::overrun)?;
        }
        Ok(NetworkReport {
            duration: report.duration,
            links: links.collect(),
            lateness: report.lateness,
            unrouted: report.unrouted,
            undelivered: report.undelivered,
            packets: report.packets,
            overrun,
        })
    }
}
