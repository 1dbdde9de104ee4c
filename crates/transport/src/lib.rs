//! Simulated endpoints: Linux's TCP and MPTCP, UDP, and the applications on them.
//!
//! A [`Simulation`] runs connections on a network of `netsim` in virtual time. Their congestion control is `cc/`,
//! called where Linux calls `tcp_congestion_ops`.

mod application;
mod connection;
mod environment;
mod packet;
mod profile;
mod receive_stream;
mod simulation;
mod spec;
mod subflow;
pub mod trace;

pub use application::pace::{OnOff, Pace, Turns};
pub use application::udp::UdpSpec;
pub use application::{Application, Reply};
pub use connection::send::SlowStartTotals;
pub use packet::{ByteRange, SubflowId, Wire};
pub use profile::{BufferSize, Detection, Profile, SackRoom};
pub use receive_stream::buffer::{smallest_receive_buffer, window_scale};
pub use simulation::{Report, Simulation, SubflowReport, SubflowState, UdpReport};
pub use spec::{ConnectionSpec, PathManager, SubflowRoutes};
pub use subflow::sender::LimitedTimes;
pub use subflow::sender::{Counters, Credits, SlowStartExit};
pub use trace::{Content, Credit, Flow, Observer, Packet, Quiet, View};
