//! Scenarios on real Linux endpoints.
//!
//! A [`Host`] runs scenarios (`--on host`): it loads the algorithms that they name, builds the network, moves the
//! data by real sockets and measures. A [`Vm`] does so on another kernel, in virtual time (`--on vm`).
//!
//! A [`Network`] is two endpoints, each in a network namespace of its own, joined by TUN ports to
//! links of `netsim` in real time. Sockets made in [`Network::client`] and [`Network::server`] are
//! the kernel's own; only the links between them are ours. It needs root, `/dev/net/tun` and a
//! kernel with MPTCP.
//!
//! ```no_run
//! use lisa_lab::{Network, NetworkSpec};
//! use netsim::{Rate, Span};
//! use topology::{Properties, Queue, SharedBottleneck, Spec};
//!
//! # fn main() -> Result<(), lisa_lab::Error> {
//! // Two paths of 70 ms that share 2.5 Mbit/s and a queue of 30 packets.
//! let (rate, queue) = (Rate::from_bits_per_second(2_500_000), Queue::DropTailPackets(30));
//! let mut network = Network::build(&NetworkSpec {
//!     topology: Spec::SharedBottleneck(SharedBottleneck {
//!         bottleneck: Properties::shaped(rate, queue, Span::ZERO),
//!         rtts: vec![Span::from_millis(70); 2],
//!         access: None,
//!     }),
//!     link_seed: 1,
//!     receive_window: Some(4 << 20),
//!     backup: Vec::new(),
//! })?;
//! network.start()?;
//! let listener = network.server.run(|| std::net::TcpListener::bind(("0.0.0.0", 80)));
//! // … connect from network.client to network.server_addresses()[0] …
//! let report = network.stop()?;
//! for link in &report.links {
//!     println!("{}: {} lost", link.name, link.counters.drops);
//! }
//! # Ok(()) }
//! ```
//!
//! Everything lives in file descriptors of this process: the namespaces have no name and the TUN
//! ports are not persistent. When the [`Network`] is dropped, or the process dies however it dies,
//! the kernel takes it all down. Only a connection that dies with data under way keeps its
//! namespace in the kernel's memory, unreachable, until TCP gives it up some minutes later.

mod addressing;
mod child;
mod emulator;
mod error;
mod host;
mod measure;
mod namespace;
mod netlink;
mod network;
mod packet;
mod path_manager;
mod socket;
mod supported;
mod sysctl;
mod transfer;
mod tun;
pub mod vm;
mod watch;
mod wiring;

pub use emulator::Lateness;
pub use error::Error;
pub use host::{Host, check};
pub use namespace::Namespace;
pub use network::{LinkReport, Network, NetworkReport};
pub use vm::Vm;
pub use wiring::{MAX_PATHS, NetworkSpec};
