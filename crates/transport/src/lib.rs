//! Simulated endpoints: TCP and MPTCP as Linux does them, UDP, and the applications on them.
//!
//! A [`Simulation`] puts connections on a network of `netsim` and runs them in virtual time. Their congestion control is
//! `cc/`, called where Linux calls it.

mod application;
mod connection;
mod packet;
mod profile;
mod simulation;
mod spec;
mod subflow;
pub mod trace;

pub use application::pace::{Pace, Turns};
pub use application::udp::UdpSpec;
pub use connection::receive::buffer::window_scale;
pub use packet::{SubflowId, Wire};
pub use profile::{Detection, Profile};
pub use simulation::{Report, Simulation, SubflowReport};
pub use spec::{Application, ConnectionSpec, PathManager};
pub use subflow::sender::Tally;
pub use trace::{Content, Flow, Observer, Packet, Quiet, View};
