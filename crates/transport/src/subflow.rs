//! A subflow: one TCP connection of an MPTCP connection, or plain TCP. Its server's end is a sender, its client's end a
//! receiver.

mod handshake;
pub(crate) mod receiver;
pub(crate) mod recovery;
pub(crate) mod sender;
