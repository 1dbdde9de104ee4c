//! Scenarios on real Linux endpoints.
//!
//! A [`Host`] runs scenarios (`--on host`): it loads their algorithms, builds the network, transfers data over real sockets and
//! measures. A [`Vm`] runs scenarios on another kernel, in virtual time (`--on vm`). A [`Runner`] makes many runs on either of them, or in
//! the simulator.
//!
//! A [`Network`] is pairs of hosts, a client and a server ([`Hosts`]), each in its own network namespace, connected by TUN ports to links of
//! `netsim` in real time. The sockets in [`Hosts::client`] and [`Hosts::server`] are the kernel's; only the links between them are
//! emulated. A network needs root, `/dev/net/tun` and a kernel with MPTCP.
//!
//! | module | content |
//! | --- | --- |
//! | `linux` | network configuration of the running kernel: namespaces, TUN ports, addresses, sysctls, MPTCP's path manager |
//! | `network` | the emulated network between the namespaces |
//! | `measurement` | transfers over real sockets, and their measurement |
//! | `host` | scenarios on the running kernel |
//! | [`vm`] | scenarios on a kernel in QEMU |
//! | `runner` | many runs of a backend |
//!
//! ```no_run
//! use lisa_lab::{Network, NetworkSpec};
//! use netsim::{Rate, Span};
//! use topology::{Properties, Queue, SharedBottleneck, Spec};
//!
//! # fn main() -> Result<(), lisa_lab::Error> {
//! // Two paths of 70 ms that share 2.5 Mbit/s and a queue of 30 packets.
//! let (rate, queue) = (Rate::from_bits_per_second(2_500_000), Queue::DropTailPackets(30));
//! let topology = Spec::SharedBottleneck(SharedBottleneck {
//!     bottleneck: Properties::shaped(rate, queue, Span::ZERO),
//!     rtts: vec![Span::from_millis(70); 2],
//!     access: None,
//! });
//! let mut network = Network::build(&NetworkSpec::client_server(&topology)?)?;
//! network.start()?;
//! let hosts = &network.hosts()[0];
//! let listener = hosts.server.run(|| std::net::TcpListener::bind(("0.0.0.0", 80)));
//! // … connect from hosts.client to hosts.server_addresses()[0] …
//! let report = network.stop()?;
//! for link in &report.links {
//!     println!("{}: {} lost", link.name, link.counters.drops);
//! }
//! # Ok(()) }
//! ```
//!
//! File descriptors of this process hold all resources: the namespaces have no name and the TUN ports are not persistent. When the
//! [`Network`] is dropped, or the process ends in any way, the kernel frees them. Only a connection that ends with data in flight
//! keeps its namespace in the kernel's memory, unreachable, until TCP gives up some minutes later.

mod error;
pub mod features;
mod host;
mod linux;
mod measurement;
mod network;
mod process;
mod runner;
mod supported;
pub mod vm;

pub use error::Error;
pub use host::{Host, check};
pub use linux::namespace::Namespace;
pub use network::{
    Hosts, HostsSpec, Lateness, LinkReport, MAX_PATHS, Network, NetworkReport, NetworkSpec,
};
pub use runner::{Job, Runner};
pub use supported::unsupported;
pub use vm::Vm;
