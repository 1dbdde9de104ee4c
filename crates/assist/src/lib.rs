//! The endpoint of network assistance: it follows the events of MPTCP's path manager, reports the subflows of connections with an algorithm
//! of this project to a topology manager, and sets the groups that the manager decides.
//!
//! Whatever the manager does or does not do, the connections keep running. A connection is separated only as the manager decided, and only
//! while all its subflows are part of that decision; without contact for [`CONTACT`] all are coupled.
//!
//! [`follow`] separates privileges: TLS, HTTP, JSON and the loop run in a process without any, which reads and changes the kernel
//! by requests ([`requests`]) to the process that may.

mod agent;
mod budget;
mod client;
mod error;
mod events;
mod follow;
mod loaded;
pub mod requests;

pub use agent::{Agent, CONTACT, Event, Kernel, Seen, SeenSubflow};
pub use client::{Manager, Target};
pub use error::{Error, Result};
pub use events::PathManagerEvents;
pub use follow::follow;
pub use loaded::Loaded;

#[cfg(test)]
mod hostile_tests;
#[cfg(test)]
mod tests;
