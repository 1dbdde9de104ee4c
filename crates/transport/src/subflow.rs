//! A subflow: one TCP connection of an MPTCP connection, or plain TCP. The server's end is a sender, the client's end a receiver.

mod handshake;
pub(crate) mod receiver;
pub(crate) mod recovery;
pub(crate) mod sender;
