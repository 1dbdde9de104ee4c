//! Client and server, each in its namespace, and the network between them.

use std::fs;
use std::net::IpAddr;
use std::sync::Arc;

use netsim::{LinkCounters, RealClock, Span, Time};

use crate::addressing::{Addressing, MAIN};
use crate::emulator::{Emulator, Lateness};
use crate::error::Error;
use crate::namespace::Namespace;
use crate::tun::Tun;
use crate::wiring::{CLIENT, NetworkSpec, server};
use crate::{path_manager, sysctl};

/// The interface of the client; those of the server are this and the path's number.
const PORT: &str = "port";

/// Policy routing: packets from the server's address on a path go by the table of this number plus
/// the path's (from 0). Tables below 253 are free.
const FIRST_TABLE: u8 = 100;

/// What a socket's buffer has at least, at first and at most, in bytes: the kernel's defaults (Documentation/networking/ip-sysctl.rst:
/// tcp_rmem, tcp_wmem) where they do not depend on its memory. A machine of some 100 MB has less, and from 6.16 on all have more
/// to receive.
const RECEIVE: [u32; 3] = [4096, 131_072, 6 << 20];
const SEND: [u32; 3] = [4096, 16_384, 4 << 20];

/// Two endpoints and the links between them. Dropping it removes everything.
#[derive(Debug)]
pub struct Network {
    // Fields are dropped in this order: the thread, then the ports, then the namespaces.
    emulator: Option<Emulator>,
    ports: Arc<[Tun]>,
    spec: NetworkSpec,
    paths: usize,
    /// The endpoint with one address.
    pub client: Namespace,
    /// The endpoint with an address on each path.
    pub server: Namespace,
}

/// What a link did.
#[derive(Clone, Debug)]
pub struct LinkReport {
    /// Which: "bottleneck down", "path 2 up"; down is towards the client.
    pub name: String,
    /// What it did.
    pub counters: LinkCounters,
}

/// What the network did between start and stop.
#[derive(Clone, Debug)]
pub struct NetworkReport {
    /// From start to stop.
    pub duration: Span,
    /// Each link.
    pub links: Vec<LinkReport>,
    /// How late packets were handed over. Small beside the round-trip time, or the machine was too
    /// busy for the run to mean anything.
    pub lateness: Lateness,
    /// Packets that came in for addresses that are not on the network.
    pub unrouted: u64,
    /// Packets that an endpoint refused.
    pub undelivered: u64,
    /// Packets lost before they came in, because the emulator read too slowly; since the network
    /// was built. Like `undelivered`, anything but 0 spoils the run.
    pub overrun: u64,
    /// The packets at the server's ports and when they were there, where they were captured.
    pub packets: Option<Vec<(Time, Box<[u8]>)>>,
}

impl Network {
    /// Makes both endpoints; nothing moves between them yet.
    pub fn build(spec: &NetworkSpec) -> Result<Self, Error> {
        let paths = spec.paths()?;
        let client = Namespace::new()?;
        let server = Namespace::new()?;
        let mut ports = vec![client.run(|| set_up_client(spec, paths))?];
        ports.extend(server.run(|| set_up_server(spec, paths))?);
        Ok(Self {
            emulator: None,
            ports: ports.into(),
            spec: spec.clone(),
            paths,
            client,
            server,
        })
    }

    /// Starts the clock, at zero, and with it the network.
    pub fn start(&mut self) -> Result<(), Error> {
        self.start_watched(false)
    }

    /// The same; `captures`: whether the report will have the packets.
    pub fn start_watched(&mut self, captures: bool) -> Result<(), Error> {
        if self.emulator.is_some() {
            return Err(Error::State("runs already: stop it first"));
        }
        let ports = Arc::clone(&self.ports);
        self.emulator = Some(Emulator::start(&self.spec, ports, captures)?);
        Ok(())
    }

    /// Stops the network: what it did. Packets on their way are lost. It can be started again.
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
        Ok(NetworkReport {
            duration: report.duration,
            links: links.collect(),
            lateness: report.lateness,
            unrouted: report.unrouted,
            undelivered: report.undelivered,
            packets: report.packets,
            overrun: self.client.run(overrun)? + self.server.run(overrun)?,
        })
    }

    /// The clock of the run, while it runs.
    #[must_use]
    pub fn clock(&self) -> Option<RealClock> {
        self.emulator.as_ref().map(Emulator::clock)
    }

    /// The client's address.
    #[must_use]
    pub fn client_address(&self) -> IpAddr {
        IpAddr::V4(CLIENT)
    }

    /// The server's addresses, one a path. A connection to the first learns of the others.
    #[must_use]
    pub fn server_addresses(&self) -> Vec<IpAddr> {
        (0..self.paths)
            .map(|path| IpAddr::V4(server(path)))
            .collect()
    }
}

fn set_up_client(spec: &NetworkSpec, paths: usize) -> Result<Tun, Error> {
    let mut addressing = set_up_endpoint(spec)?;
    let port = Tun::new(PORT)?;
    addressing.up(PORT)?;
    addressing.address(PORT, CLIENT)?;
    for path in 0..paths {
        addressing.route(MAIN, server(path), PORT, CLIENT)?;
    }
    path_manager::limits(paths as u32 - 1, true)?;
    Ok(port)
}

fn set_up_server(spec: &NetworkSpec, paths: usize) -> Result<Vec<Tun>, Error> {
    let mut addressing = set_up_endpoint(spec)?;
    let mut ports = Vec::new();
    for path in 0..paths {
        let (name, address) = (format!("{PORT}{}", path + 1), server(path));
        ports.push(Tun::new(&name)?);
        addressing.up(&name)?;
        addressing.address(&name, address)?;
        // An answer leaves by the path on which the question came.
        let table = FIRST_TABLE + path as u8;
        addressing.route(table, CLIENT, &name, address)?;
        addressing.rule(address, table)?;
        if path == 0 {
            addressing.route(MAIN, CLIENT, &name, address)?;
        } else {
            let backup = spec.backup.get(path).copied().unwrap_or(false);
            path_manager::announce(address, backup)?;
        }
    }
    path_manager::limits(paths as u32 - 1, false)?;
    Ok(ports)
}

/// What both endpoints have in common; before any port, since ports take over what is set here.
fn set_up_endpoint(spec: &NetworkSpec) -> Result<Addressing, Error> {
    path_manager::enable()?;
    // One run must not teach the next.
    sysctl::set("net.ipv4.tcp_no_metrics_save", 1)?;
    // Only what the scenario sends goes over the ports: no router solicitations, no MLD.
    sysctl::set_if_there("net.ipv6.conf.default.disable_ipv6", 1)?;
    // A packet may come in where no answer to it would go out by the main table.
    sysctl::set("net.ipv4.conf.all.rp_filter", 0)?;
    sysctl::set("net.ipv4.conf.default.rp_filter", 0)?;
    set_buffers(spec.receive_window)?;
    let mut addressing = Addressing::new();
    addressing.up("lo")?;
    Ok(addressing)
}

/// Sets the receive buffer, and lets the send buffer grow as far; without a size the kernel's own, whatever the machine has. The
/// send buffer's default stays as it is: MPTCP gives a subflow all that its send buffer takes, so with a large one the first
/// subflow has swallowed a short transfer before the second has joined.
fn set_buffers(receive: Option<u32>) -> Result<(), Error> {
    let set =
        |name, sizes: [u32; 3]| sysctl::set(name, sizes.map(|size| size.to_string()).join(" "));
    let [least, first, most] = RECEIVE;
    let (first, most) = receive.map_or((first, most), |bytes| (bytes, bytes));
    set("net.ipv4.tcp_rmem", [least, first, most])?;
    let [least, first, largest] = SEND;
    set("net.ipv4.tcp_wmem", [least, first, largest.max(most)])
}

/// How many packets the ports of the calling thread's namespace lost on their way to the emulator.
fn overrun() -> Result<u64, Error> {
    let file = "/proc/thread-self/net/dev";
    let text = fs::read_to_string(file).map_err(Error::kernel(format!("reading {file}")))?;
    // "name:" and 16 numbers; the twelfth is transmit drops. See proc_net(5).
    let drops = text.lines().filter_map(|line| {
        let (name, numbers) = line.split_once(':')?;
        let drops = numbers.split_whitespace().nth(11)?;
        name.trim()
            .starts_with(PORT)
            .then(|| drops.parse::<u64>().ok())?
    });
    Ok(drops.sum())
}
