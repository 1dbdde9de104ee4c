//! Transfers over real sockets, and their measurement: samples of the sender's subflows, and the events of its algorithm.

pub(crate) mod events;
pub(crate) mod outcome;
pub(crate) mod series;
mod socket;
pub(crate) mod transfer;
