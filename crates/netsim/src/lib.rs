//! Links, queues and routes, in real or in virtual time.
//!
//! A [`Network`] moves packets. It uses their size only, so the payload is a type parameter: real IP packets in the lab, a few
//! bytes of TCP state in a simulation. A network reads no clock: the present time is an argument of every call, and
//! [`Network::next_event`] returns the time of the next event. [`drive`] connects a network to a [`Clock`] and to [`Ports`], through
//! which packets enter and leave.
//!
//! ```
//! use netsim::{DropTail, Exit, LinkSpec, Network, PortId, Rate, Span, Time};
//!
//! let mut network = Network::new();
//! // 2.5 Mbit/s, 35 ms, a queue of up to 30 packets.
//! let bottleneck = network.add_link(LinkSpec::shaped(
//!     Rate::from_bits_per_second(2_500_000),
//!     DropTail::new(30),
//!     Span::from_millis(35),
//! ));
//! let route = network.add_route(&[bottleneck], PortId(0));
//!
//! assert!(network.inject(Time::ZERO, route, 1500, ()).is_none());
//! // 12 000 bits: 4.8 ms of serialisation, 35 ms of propagation.
//! let due = network.next_event().unwrap();
//! assert_eq!(due, Time::ZERO + Span::from_micros(39_800));
//! let Some(Exit::Arrived { bytes, .. }) = network.poll(due) else { panic!() };
//! assert_eq!(bytes, 1500);
//! ```

mod clock;
mod driver;
mod events;
mod impairment;
mod link;
mod network;
mod packet;
mod queue;
mod random;
mod time;
mod trace;

pub use clock::Clock;
#[cfg(unix)]
pub use clock::RealClock;
pub use driver::{Arrival, Ports, drive};
pub use events::Tournament;
pub use impairment::{Detour, Jitter, Loss, Outage, Reorder};
pub use link::{LinkCounters, LinkSpec};
pub use network::{BurstTiming, Exit, LinkId, Network, PortId, RouteId};
pub use packet::Payload;
pub use queue::Queue;
pub use queue::codel::CoDel;
pub use queue::droptail::DropTail;
pub use queue::fq_codel::FqCoDel;
pub use queue::pie::Pie;
pub use queue::policer::Policer;
pub use queue::red::Red;
pub use random::RandomStream;
pub use time::{Rate, Span, Time};
pub use trace::{Trace, TraceError};
