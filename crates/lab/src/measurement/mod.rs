//! Transfers over real sockets, and their measurement: samples of the sender's subflows, and the events of its algorithm.

pub(crate) mod ends;
pub(crate) mod events;
pub(crate) mod flow;
mod limits;
pub(crate) mod outcome;
mod receiver;
mod sender;
pub(crate) mod series;
mod socket;
mod source;
pub(crate) mod stream;
pub(crate) mod transfer;
mod udp;
