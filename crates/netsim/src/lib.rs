//! Links, queues and routes, in real or in virtual time.
//!
//! A [`Network`] moves packets; it knows their size and nothing else about them, so the payload is
//! a type parameter: real IP packets in the lab, a few bytes of TCP state in a simulation. It
//! reads no clock: every call says what time it is, and [`Network::next_event`] says when it next
//! has something to do. [`drive`] joins it to a [`Clock`] and to [`Ports`] where packets come and
//! go.
//!
//! ```
//! use netsim::{DropTail, Exit, LinkSpec, Network, PortId, Rate, Span, Time};
//!
//! let mut network = Network::new();
//! // 2.5 Mbit/s, 35 ms, up to 30 packets waiting.
//! let bottleneck = network.add_link(LinkSpec::shaped(
//!     Rate::from_bits_per_second(2_500_000),
//!     DropTail::new(30),
//!     Span::from_millis(35),
//! ));
//! let route = network.add_route(&[bottleneck], PortId(0));
//!
//! assert!(network.inject(Time::ZERO, route, 1500, ()).is_none());
//! // 12 000 bits take 4.8 ms to send and 35 ms to cross.
//! let due = network.next_event().unwrap();
//! assert_eq!(due, Time::ZERO + Span::from_micros(39_800));
//! let Some(Exit::Arrived { bytes, .. }) = network.poll(due) else { panic!() };
//! assert_eq!(bytes, 1500);
//! ```

mod clock;
mod dice;
mod driver;
mod events;
mod impairment;
mod link;
mod network;
mod packet;
mod queue;
mod time;
mod trace;

pub use clock::{Clock, RealClock};
pub use dice::Dice;
pub use driver::{Arrival, Ports, drive};
pub use events::Tournament;
pub use impairment::{Loss, Outage, Reorder};
pub use link::{LinkCounters, LinkSpec};
pub use network::{Exit, LinkId, Network, PortId, RouteId};
pub use packet::Payload;
pub use queue::Queue;
pub use queue::codel::CoDel;
pub use queue::droptail::DropTail;
pub use queue::fq_codel::FqCoDel;
pub use queue::red::Red;
pub use time::{Rate, Span, Time};
pub use trace::{Trace, TraceError};
