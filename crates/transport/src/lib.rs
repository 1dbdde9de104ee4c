//! Simulated endpoints: TCP and MPTCP as Linux does them, UDP, and the applications on them.
//!
//! A [`Simulation`] puts connections on a network of `netsim` and runs them in virtual time. Their congestion control is
//! `cc/`, called where Linux calls it.

mod burst;
mod connection;
mod endpoint;
mod host;
#[cfg(any(debug_assertions, test))]
mod invariants;
mod pace;
mod packet;
mod profile;
mod reassembly;
mod receive_window;
mod receiver;
mod recovery;
mod reinjection;
mod rtt;
mod scheduler;
mod scoreboard;
mod send_queue;
mod sender;
mod simulation;
mod stream;
mod timers;
pub mod trace;
mod udp;
mod wheel;
mod writing;

pub use pace::{Pace, Turns};
pub use packet::Wire;
pub use profile::{Detection, Profile};
pub use receive_window::window_scale;
pub use sender::Tally;
pub use simulation::{Application, ConnectionSpec, PathManager, Report, Simulation, SubflowReport};
pub use trace::{Content, Observer, Packet, Quiet, View, Who};
pub use udp::UdpSpec;
